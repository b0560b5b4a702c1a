"""A fuzzer on verification, guided by coverage: ``nox -s fuzz`` (needs atheris; arguments go to libFuzzer).

Whatever bytes a bundle and its attestations are made of, verifying answers: no exception but the errors of
this package, no verdict and no claim of a bundle that is not intact, no anchor without the reader's key.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

CORPUS = Path(__file__).with_name("corpus")
"""Inputs that reached something new, found by earlier runs; small ones are worth committing."""


def main() -> int:
    """Fuzz until a limit of libFuzzer's is reached, and return an exit code."""
    try:
        import atheris  # noqa: PLC0415  # optional: not for every version of Python
    except ImportError:
        sys.stderr.write("fuzz: atheris is not installed; `pip install atheris` into .nox/toolchain\n")
        return 2
    with atheris.instrument_imports(include=["assay"]), tempfile.TemporaryDirectory() as folder:
        from tests.fuzz.target import fuzz_one, seeds  # noqa: PLC0415  # imported only when it is instrumented

        for number, data in enumerate(seeds()):
            (Path(folder) / f"seed-{number}").write_bytes(data)
        given = sys.argv[1:] or ["-max_total_time=300"]
        atheris.Setup([sys.argv[0], *given, "-max_len=65536", folder, str(CORPUS)], fuzz_one)
        atheris.Fuzz()
    return 0


if __name__ == "__main__":
    sys.exit(main())

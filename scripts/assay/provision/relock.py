"""Write the locks anew from their inputs: requirements with the hashes of every file, and no address.

``uv pip compile --universal`` resolves once for all platforms and writes the SHA-256 of *every* file of each
version, so that one lock serves x86-64 and aarch64, each supported Python, and Windows where wheels exist.
The index is whatever uv is configured to use; its address is never written.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from assay import process
from assay.errors import AssayError, FetchError
from assay.files import write_atomic
from assay.provision.lockfile import LOCKS, LOCKS_FOLDER, OLDEST_PYTHON, parse_lock

_DEADLINE_S = 600


def lock_argv(source: Path, constraints: tuple[Path, ...] = (), *, upgrade: bool = False) -> list[str]:
    """Return the command that resolves ``source`` and prints the lock.

    Args:
        source: the input, one requirement a line.
        constraints: locks whose versions must be kept, so that no package is locked twice differently.
        upgrade: take newer versions, as far as the inputs let.
    """
    argv = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    argv += ["--python-version", OLDEST_PYTHON, "--fork-strategy", "fewest"]
    argv += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    argv += [part for constraint in constraints for part in ("--constraints", str(constraint))]
    argv += ["--upgrade"] if upgrade else []
    return [*argv, str(source)]


def relock(
    environ: Mapping[str, str], folder: Path = LOCKS_FOLDER, *, upgrade: bool = False
) -> tuple[Path, ...]:
    """Write every lock of the embedded selection anew and return their paths.

    Args:
        environ: uv's environment.
        folder: where inputs and locks lie.
        upgrade: take newer versions, as far as the inputs let; otherwise the locked ones are kept.

    Raises:
        FetchError: uv could not resolve an input.
        StorageError: what it printed is no lock, or a lock cannot be written.
    """
    written: tuple[Path, ...] = ()
    for name in LOCKS:
        target = folder / f"{name}.txt"
        kept = () if upgrade or not target.is_file() else (target,)
        argv = lock_argv(folder / f"{name}.in", (*kept, *written), upgrade=upgrade)
        write_atomic(target, _resolve(argv, environ, f"{name}.in", target.name).encode())
        written = (*written, target)
    return written


def _resolve(argv: list[str], environ: Mapping[str, str], source: str, target: str) -> str:
    """Run the command and return the lock's text, which is parsed before it is believed."""
    ended = process.run(argv, env=environ, deadline_s=_DEADLINE_S)
    if ended.exit != 0:
        said = ended.stderr.decode(errors="replace").strip()
        raise FetchError(
            f"uv could not lock {source}: {said}",
            "an input whose packages the index has",
            "correct the input, or check network and index; uv comes with the dependency group `lock`",
        )
    text = f"# Written by `nox -s lock` from {source}; do not edit.\n{ended.stdout.decode()}"
    parse_lock(target, text)
    return text


def main(arguments: list[str]) -> int:
    """Run ``python -m assay.provision.relock [--upgrade]`` and return the exit code."""
    parser = argparse.ArgumentParser(prog="assay.provision.relock", description="Write the locks anew.")
    parser.add_argument("--upgrade", action="store_true", help="take newer versions than the locks have")
    options = parser.parse_args(arguments)
    try:
        written = relock(os.environ, upgrade=options.upgrade)
    except AssayError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.writelines(f"{path}\n" for path in written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

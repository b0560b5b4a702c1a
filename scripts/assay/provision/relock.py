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


def lock_argv(
    uv: str, source: Path, constraints: tuple[Path, ...] = (), *, upgrade: bool = False
) -> list[str]:
    """Return the command that resolves ``source`` and prints the lock.

    Args:
        uv: the uv executable.
        source: the input, one requirement a line.
        constraints: locks whose versions must be kept, so that no package is locked twice differently.
        upgrade: take newer versions than the present lock's.
    """
    argv = [uv, "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
    argv += ["--python-version", OLDEST_PYTHON, "--fork-strategy", "fewest"]
    argv += ["--no-header", "--no-annotate", "--no-emit-index-url", "--no-emit-find-links"]
    argv += [part for constraint in constraints for part in ("--constraints", str(constraint))]
    argv += ["--upgrade"] if upgrade else []
    return [*argv, str(source)]


def relock(uv: str, environ: Mapping[str, str], *, upgrade: bool = False) -> tuple[Path, ...]:
    """Write every lock of the embedded selection anew and return their paths.

    Raises:
        FetchError: uv could not resolve the input.
        StorageError: a lock cannot be written.
    """
    return tuple(_lock(uv, environ, index, upgrade=upgrade) for index in range(len(LOCKS)))


def _lock(uv: str, environ: Mapping[str, str], index: int, *, upgrade: bool) -> Path:
    """Write the lock at ``index``, which keeps the versions of those before it."""
    source, target = (LOCKS_FOLDER / f"{LOCKS[index]}{suffix}" for suffix in (".in", ".txt"))
    before = tuple(LOCKS_FOLDER / f"{name}.txt" for name in LOCKS[:index])
    argv = lock_argv(uv, source, before, upgrade=upgrade)
    ended = process.run(argv, env=dict(environ), deadline_s=_DEADLINE_S)
    if ended.exit != 0:
        said = ended.stderr.decode(errors="replace").strip()
        raise FetchError(
            f"uv could not lock {source.name}: {said}", "a resolvable input", "correct the input"
        )
    header = f"# Written by `nox -s lock` from {source.name}; do not edit.\n"
    text = header + ended.stdout.decode()
    parse_lock(target.name, text)
    write_atomic(target, text.encode())
    return target


def main(arguments: list[str]) -> int:
    """Run ``python -m assay.provision.relock [--upgrade] [--uv PATH]`` and return the exit code."""
    parser = argparse.ArgumentParser(prog="assay.provision.relock", description=__doc__)
    parser.add_argument("--uv", default="uv", help="the uv executable")
    parser.add_argument("--upgrade", action="store_true", help="take newer versions than the locks have")
    options = parser.parse_args(arguments)
    try:
        written = relock(options.uv, os.environ, upgrade=options.upgrade)
    except AssayError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    sys.stdout.writelines(f"{path}\n" for path in written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

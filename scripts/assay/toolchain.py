"""The toolchain's own environment: what gates, tests and sessions run with, from a hash-locked list.

One environment serves every session.  It lies in ``.nox/toolchain`` of the project, is kept between runs and
is built anew when the lock or the interpreter changes.  This tree is installed there as an editable package:
``.nox/toolchain/bin/assay`` is its command; ``python -I -m assay.cli`` runs it whatever ``PYTHONPATH`` the
caller has selected.

This module is imported before anything is installed: it needs the standard library alone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from assay import process
from assay.errors import AssayError, FetchError, UsageError
from assay.files import read_bounded, storage_errors, write_atomic

LOCK = Path(__file__).parent / "locks" / "toolchain.txt"
"""Exact versions of every tool with the hashes of their files, and no address; ``nox -s lock`` writes it."""

SOURCES = Path(__file__).parent.parent
"""The folder that holds this package."""

ENVIRONMENT = Path(".nox/toolchain")
"""Where the environment lies, relative to the project."""

OLDEST, NEWEST = (3, 11), (3, 14)
"""Versions of Python for which the lock has files (``requires-python``)."""

_KEY = "assay-toolchain"
_LOCK_LIMIT = 1 << 20
_DEADLINE_S = 900
_WINDOWS = os.name == "nt"


def toolchain(project: Path, say: Callable[[str], None]) -> Path:
    """Return the interpreter that has the toolchain's packages.

    In the source tree that is the environment's own, built first where it is missing or out of date.  Where
    the package is installed, its packages were installed with it, and this interpreter is the one.

    Args:
        project: the folder under which the environment lies.
        say: gets one line before what takes long.

    Raises:
        UsageError: this version of Python is not supported.
        FetchError: the packages could not be installed.
        StorageError: the environment cannot be written.
    """
    if not (SOURCES.parent / "pyproject.toml").is_file():
        return Path(sys.executable)
    check_version(sys.version_info[:2])
    folder = project.resolve() / ENVIRONMENT
    python = interpreter_of(folder)
    key = environment_key(read_bounded(LOCK, _LOCK_LIMIT), SOURCES, sys.version, sys.base_prefix)
    with _alone(folder.with_suffix(".lock")):
        if not is_current(folder, key):
            _check_outside(folder)
            say(f"building the toolchain's environment in {folder}: about 220 MB, a minute or less, once")
            _build(folder, key)
    return python


def check_version(version: tuple[int, ...]) -> None:
    """Refuse an interpreter that the lock was not made for.

    Raises:
        UsageError: it is older or newer.
    """
    if not OLDEST <= version <= NEWEST:
        raise UsageError(
            f"nox runs under Python {'.'.join(map(str, version))}",
            "Python 3.11 to 3.14",
            "install nox under one of these, as in `pipx install --python python3.12 nox`",
        )


def _check_outside(folder: Path) -> None:
    """Refuse to replace the environment that this process runs in.

    Raises:
        UsageError: this process runs in it.
    """
    if Path(sys.prefix).resolve() == folder:
        raise UsageError(
            f"nox runs in {folder}, which must be built anew",
            "nox from another environment",
            f"remove {folder} and run nox from elsewhere, as in `pipx run nox`",
        )


def environment_key(lock: bytes, sources: Path, version: str, base: str) -> str:
    """Return what the environment was made from: lock, sources' folder and interpreter, as SHA-256 (hex)."""
    return hashlib.sha256(
        b"\0".join([lock, os.fsencode(sources), version.encode(), os.fsencode(base)])
    ).hexdigest()


def interpreter_of(folder: Path) -> Path:
    """Return a virtual environment's interpreter."""
    return folder / "Scripts" / "python.exe" if _WINDOWS else folder / "bin" / "python"


def is_current(folder: Path, key: str) -> bool:
    """Return whether the environment is whole and was made from ``key``, which is written last."""
    mark = folder / _KEY
    return interpreter_of(folder).is_file() and mark.is_file() and mark.read_text("ascii", "replace") == key


def _build(folder: Path, key: str) -> None:
    """Make the environment from nothing; its key is written when all else is done."""
    with storage_errors("replace", folder):
        if folder.exists():
            shutil.rmtree(folder)
        folder.parent.mkdir(parents=True, exist_ok=True)
    python = interpreter_of(folder)
    _run([sys.executable, "-I", "-m", "venv", str(folder)], "make a virtual environment")
    pip = [str(python), "-I", "-m", "pip", "--disable-pip-version-check", "--no-input"]
    locked = ["--require-hashes", "--only-binary", ":all:", "--requirement", str(LOCK)]
    _run([*pip, "install", "--quiet", *locked], "install the locked packages")
    offline = ["--no-index", "--no-build-isolation", "--no-deps"]
    _run([*pip, "install", "--quiet", *offline, "--editable", str(SOURCES.parent)], "install this project")
    write_atomic(folder / _KEY, key.encode())


def _run(argv: list[str], purpose: str) -> None:
    """Run one step to its end.

    Raises:
        FetchError: it failed or took longer than its deadline.
    """
    ended = process.run(argv, env=_environment(os.environ), deadline_s=_DEADLINE_S)
    if ended.exit != 0:
        said = (ended.stderr or ended.stdout).decode(errors="replace").strip()[-2000:]
        raise FetchError(
            f"cannot {purpose} ({ended.exit}): {said}",
            "a package index that pip is configured for, or its cache",
            "look at the last lines above; then run the same session again",
        )


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the caller's environment (pip's configuration is in it) without what steers Python itself."""
    return {name: value for name, value in environ.items() if not name.startswith("PYTHON")}


@contextlib.contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Hold a lock between processes for the block, so that two sessions never build at once."""
    with storage_errors("lock", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        stream = path.open("ab")
    with stream:
        _lock(stream.fileno())
        yield  # closing the file gives the lock back


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        """Wait for the lock; ``LK_LOCK`` gives up after ten seconds, so it is asked for again."""
        while True:
            with contextlib.suppress(OSError):
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
                return

else:
    import fcntl

    def _lock(handle: int) -> None:
        """Wait for the lock."""
        fcntl.flock(handle, fcntl.LOCK_EX)


def main() -> int:
    """Build the environment where it is not current, print its interpreter, and return an exit code."""
    try:
        python = toolchain(SOURCES.parent, lambda line: print(line, file=sys.stderr))
    except AssayError as error:
        print(f"assay: {error}", file=sys.stderr)
        return error.exit_code
    print(python)
    return 0


if __name__ == "__main__":
    sys.exit(main())

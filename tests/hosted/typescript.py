"""Checks Bun's side: ``tsc --noEmit``, oxlint and Prettier, from npm's packages as their lock has them.

``--install`` brings them with Bun itself, into ``.assay``; the folder's name holds the lock's digest, and it
takes that name only when it is whole.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent / "tools"
PROJECT = HERE.parents[2]
SOURCES = PROJECT / "scripts" / "assay" / "hosted"
BUN = PROJECT / ".assay" / "selection" / "hosted" / "bun"

FILES = ("package.json", "bun.lock")


def tools_folder() -> Path:
    """Return where the tools of this lock lie."""
    digest = hashlib.sha256(b"".join((HERE / name).read_bytes() for name in FILES)).hexdigest()
    return PROJECT / ".assay" / f"typescript-{digest[:12]}"


def commands(sources: Path) -> tuple[tuple[str, ...], ...]:
    """Return each tool's words over a folder of sources; a tool is JavaScript, which Bun runs."""
    modules = tools_folder() / "node_modules"
    start = (str(BUN), "--bun", "--no-install")
    scripts = sorted(str(path) for path in sources.glob("*.ts"))
    project = ("--noEmit", "--project", str(sources), "--typeRoots", str(modules / "@types"))
    return (
        (*start, str(modules / ".bin" / "tsc"), *project),
        (*start, str(modules / ".bin" / "oxlint"), "--config", str(HERE / "oxlint.json"), *scripts),
        (
            *start,
            str(modules / ".bin" / "prettier"),
            "--config",
            str(HERE / "prettier.json"),
            "--check",
            *scripts,
        ),
    )


def _configured(name: str) -> tuple[str, str]:
    """Return the words that name a tool's configuration."""
    return "--config", str(HERE / name)


def check(sources: Path = SOURCES) -> int:
    """Run the tools and return 0 where all of them are content."""
    if not BUN.is_file() or not tools_folder().is_dir():
        sys.stderr.write("typescript: run `nox -s provision` and `nox -s peers` first\n")
        return 1
    return max(run(words, sources) for words in commands(sources))


def install() -> int:
    """Install the tools where they are not there yet, and return an exit code."""
    target = tools_folder()
    if target.is_dir():
        return 0
    if not BUN.is_file():
        sys.stderr.write("typescript: run `nox -s provision` first: it brings Bun\n")
        return 1
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        for name in FILES:
            shutil.copy(HERE / name, folder)
        code = run(
            (str(BUN), "install", "--frozen-lockfile", "--ignore-scripts", "--no-summary"), Path(folder)
        )
        if code == 0:
            Path(folder).rename(target)
            Path(folder).mkdir()  # for the clean-up
    return code


def run(words: Sequence[str], folder: Path) -> int:
    """Run a tool and return its exit code, 1 for a signal."""
    environment = {**os.environ, "DO_NOT_TRACK": "1"}
    code = subprocess.run(words, cwd=folder, env=environment, check=False).returncode  # noqa: S603  # words are ours
    return code if code >= 0 else 1


if __name__ == "__main__":
    sys.exit(install() if sys.argv[1:] == ["--install"] else check())

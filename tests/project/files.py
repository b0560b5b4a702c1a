"""The project's own files, as git would list them, with or without git."""

from __future__ import annotations

import lzma
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

FOLDERS = (".ci", "kernels", "receipts", "scripts", "tests")
FILES = (
    ".gitattributes",
    ".gitignore",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "LICENSE",
    "README.md",
    "noxfile.py",
    "pyproject.toml",
)
"""DESIGN, "Layout": what lies at the top level, and nothing else."""

_GENERATED = frozenset({"__pycache__", ".mypy_cache", ".ruff_cache", ".import_linter_cache"})


def environment_of_children() -> dict[str, str]:
    """Return this environment without what a gate adds for its own pytest, or against nested runs."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "ASSAY_"))}


def top_level() -> set[str]:
    """Return the names at the top level: those that git tracks, or without git those that are not hidden."""
    listed = list_tracked()
    if listed is None:
        hidden = {".ci", ".gitattributes", ".gitignore"}
        return {
            path.name for path in PROJECT.iterdir() if not path.name.startswith(".") or path.name in hidden
        }
    return {name.partition("/")[0] for name in listed}


def list_tracked() -> list[str] | None:
    """Return what git tracks, or None where the project is no git checkout or there is no git."""
    git = shutil.which("git")
    if git is None or not (PROJECT / ".git").exists():
        return None
    argv = [git, "-c", f"safe.directory={PROJECT}", "ls-files", "-z"]
    ended = subprocess.run(argv, cwd=PROJECT, capture_output=True, check=True)  # noqa: S603  # argv is ours
    return ended.stdout.decode().split("\0")[:-1]


def project_files() -> list[Path]:
    """Return every source file; of ``receipts`` only what is released (git ignores runs and their pages)."""
    found = [PROJECT / name for name in FILES]
    for folder in FOLDERS:
        inside = (PROJECT / folder).glob("*") if folder == "receipts" else (PROJECT / folder).rglob("*")
        kept = (path for path in inside if folder != "receipts" or path.suffix != ".html")
        found += [path for path in kept if path.is_file() and not _GENERATED & set(path.parts)]
    return sorted(found)


def texts() -> dict[Path, str]:
    """Return the text of every source file that is text, by its path in the project."""
    found = {}
    for path in project_files():
        data = path.read_bytes()
        if b"\0" not in data:
            found[path.relative_to(PROJECT)] = data.decode("utf-8", "surrogateescape")
    return found


@cache
def rejected_bundle() -> Path:
    """Return the bundle of the rejected run, unpacked: as a tar it is too large for the repository."""
    packed = PROJECT / "receipts" / "20261201T045419Z-d3f4a01a.tar.xz"
    bundle = Path(tempfile.mkdtemp(prefix="assay-tests-")) / packed.stem
    bundle.write_bytes(lzma.decompress(packed.read_bytes()))
    return bundle

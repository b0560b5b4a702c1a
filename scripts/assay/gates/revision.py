"""Which revision the project's folder is at, whether it is clean, and a fresh copy of what is to be built.

*Clean* means: git sees no difference between the revision, the index and the folder, no untracked file that
is not ignored, and no file that it was told not to look at (``assume-unchanged``, ``skip-worktree``).
Untracked files in the folders that assay itself writes (``OWN``) do not count: a second run would otherwise
find the bundle of the first.

A clean tree is copied out of git itself, so that what is built is the revision's bytes whatever happens in
the folder meanwhile; git's own line-ending conversion is off, so that it is the same bytes on every machine.
A tree that is not clean is copied as it lies, ignored files left out; a folder without git is copied but for
the caches and outputs of ``NEVER_COPIED``.  Submodules are not part of a copy.

git runs without optional locks and without a file-system monitor: looking changes nothing.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from assay.errors import GateError
from assay.files import storage_errors
from assay.gates.context import Context
from assay.gates.finished import ended
from assay.process import Finished

UNKNOWN = "unknown"
"""The revision where there is no git."""

ANCHOR = "pyproject.toml"
"""A file that every project has: a repository that does not track it is not the project's."""

OWN = ("receipts", ".assay", ".nox")
"""Folders below the project's that assay and its sessions write."""

NEVER_COPIED = (
    *(*OWN, ".git", ".hg", ".svn", ".tox", ".venv", "venv", "node_modules", "dist", "build"),
    *("__pycache__", ".hypothesis", ".import_linter_cache", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
)

_LISTED = 100
"""Changed files that are named; the rest is counted."""

_GIT = ("git", "--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.autocrlf=false")
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


@dataclass(frozen=True)
class Revision:
    """What git says of the project's folder.

    Attributes:
        revision: the commit's hash, or ``unknown``.
        clean: whether the folder is exactly that commit; None where there is no git.
        reason: why the revision is unknown.
        changed: the first changed, untracked or hidden paths, each after git's two-letter state.
        changed_count: how many there are.
        prefix: the project's folder inside the repository, ``""`` or ending in ``/``.
    """

    revision: str
    clean: bool | None
    reason: str = ""
    changed: tuple[str, ...] = ()
    changed_count: int = 0
    prefix: str = ""


def read_revision(context: Context) -> Revision:
    """Return the revision of the project's folder.

    Raises:
        DeadlineError: git does not end.
        GateError: git ends with an error after it knew the revision.
    """
    reason = _no_git(context)
    if reason:
        return Revision(UNKNOWN, None, reason)
    named = context.execute([*_GIT, "rev-parse", "--show-prefix", "HEAD^{commit}", "--"], cwd=context.project)
    prefix, _, commit = _text(named).removesuffix("\n--\n").rpartition("\n")
    if named.exit != 0 or not _HASH.fullmatch(commit):
        said = named.stderr.decode("utf-8", "replace").strip() or "git knows no commit"
        return Revision(UNKNOWN, None, said[:500])
    tracked = _records(context, "ls-files", "-z", "-v", "--cached", "--", ".")
    if ANCHOR not in {entry[2:] for entry in tracked}:
        return Revision(UNKNOWN, None, f"the repository around the project does not track its {ANCHOR}")
    changed = (*_hidden(tracked), *_status(context, prefix))
    return Revision(commit, not changed, "", changed[:_LISTED], len(changed), prefix)


def copy_tree(context: Context, revision: Revision, target: Path) -> Path:
    """Put a copy of what is to be built below ``target`` and return its folder.

    Raises:
        DeadlineError: git does not end.
        GateError: git ends with an error.
        StorageError: a file cannot be read or written.
    """
    folder = target / revision.prefix
    if revision.clean:
        with storage_errors("make", target):
            target.mkdir(parents=True)
        _git(context, "checkout-index", "--all", f"--prefix={target}/")
    elif revision.clean is None:
        with storage_errors("copy", context.project):
            shutil.copytree(
                context.project, folder, symlinks=True, ignore=shutil.ignore_patterns(*NEVER_COPIED)
            )
    else:
        _copy_files(context.project, _names(context), folder)
    with storage_errors("make", folder):
        (folder / ".git").mkdir()  # build backends look no further up for ignore files
    return folder


def _no_git(context: Context) -> str:
    """Return why there is no git to ask, ``""`` where there is."""
    if not any((folder / ".git").exists() for folder in (context.project, *context.project.parents)):
        return "the project's folder is not in a git repository"
    if shutil.which("git", path=context.plain_environment().get("PATH", "")) is None:
        return "git is not on PATH"
    return ""


def _hidden(tracked: Iterable[str]) -> Iterable[str]:
    """Yield the tracked files that git does not look at (``git ls-files -v``: lower case, or ``S``)."""
    for entry in tracked:
        if entry[:1].islower() or entry[:1] == "S":
            yield f"-{entry[:1]} {entry[2:]}"


def _status(context: Context, prefix: str) -> tuple[str, ...]:
    """Return ``XY path`` of each changed or untracked file, the path from the repository's top."""
    options = ("--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--ignore-submodules=none")
    own = tuple(f"?? {prefix}{folder}/" for folder in OWN)
    return tuple(
        entry for entry in _records(context, "status", *options, "--", ".") if not entry.startswith(own)
    )


def _records(context: Context, *arguments: str) -> tuple[str, ...]:
    """Return what a git command lists, separated by NUL."""
    finished = _git(context, *arguments)
    if finished.truncated:
        raise GateError(
            f"git {arguments[0]} lists more than can be read", "a smaller tree", "qualify a smaller tree"
        )
    return tuple(entry for entry in _text(finished).split("\0") if entry)


def _git(context: Context, *arguments: str) -> Finished:
    """Run git in the project's folder."""
    finished = ended(context.execute([*_GIT, *arguments], cwd=context.project), f"git {arguments[0]}")
    if finished.exit != 0:
        said = finished.stderr.decode("utf-8", "replace").strip()[:500]
        raise GateError(
            f"git {arguments[0]} ended with {finished.exit}: {said}", "0", "repair the repository"
        )
    return finished


def _text(finished: Finished) -> str:
    """Return what a command printed; a path of other bytes than UTF-8 keeps them."""
    return finished.stdout.decode("utf-8", "surrogateescape")


def _names(context: Context) -> tuple[str, ...]:
    """Return the tracked files, and the untracked ones that are neither ignored nor assay's own."""
    others = _records(context, "ls-files", "-z", "--others", "--exclude-standard", "--", ".")
    own = tuple(f"{folder}/" for folder in OWN)
    tracked = _records(context, "ls-files", "-z", "--cached", "--", ".")
    return (*tracked, *(name for name in others if not name.startswith(own)))


def _copy_files(source: Path, names: Sequence[str], target: Path) -> None:
    """Copy files by relative name; one that is tracked but deleted is left out, a link stays a link."""
    for name in names:
        path = source / name
        if path.is_symlink() or path.is_file():
            with storage_errors("copy", path):
                (target / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target / name, follow_symlinks=False)

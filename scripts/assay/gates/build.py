"""Observes gate ``build``: the revision, wheel and sdist made twice (or a wheel taken), the kernels compiled.

Wheel and sdist are made by Hatchling, the backend that ``hatch build`` calls, in the interpreter that runs
assay, from two fresh copies of the tree in folders of different names; ``gates.revision`` says what a copy
holds.  ``SOURCE_DATE_EPOCH`` is fixed.  With ``--artifact`` nothing is built: that wheel is read, checked and
kept as it is.

``judge.build`` has the form of the facts.
"""

from __future__ import annotations

import importlib.metadata
import platform
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.archives import Member, content_digest, file_members
from assay.errors import StorageError
from assay.files import copy_atomic, read_bounded, sha256_file, storage_errors
from assay.gates.context import Context
from assay.gates.finished import ended, last_words
from assay.gates.kernels import compile_kernels
from assay.gates.revision import Revision, copy_tree, read_revision
from assay.gates.shaders import compile_shader
from assay.gates.wheelfile import check_wheel_like, read_wheel
from assay.judge.build import BACKEND, BUILT, GIVEN
from assay.judge.hosted import ABI_FUNCTIONS
from assay.model import Facts, Json

EPOCH = 315_532_800
"""1980-01-01T00:00:00Z, the earliest time that a zip can hold (PKWARE APPNOTE, 4.4.6): the bytes of a wheel
then depend on its content alone, not on the day of the commit."""

_COPIES = ("first", "second-in-a-longer-folder")
_PYPROJECT_LIMIT = 1 << 20
_DIFFERING = 20
"""Members that are named where two builds differ."""


@dataclass(frozen=True)
class _Built:
    """What one build left: its files by suffix, or why there are none."""

    files: Mapping[str, Path]
    problem: str = ""


def observe(context: Context) -> Facts:
    """Return what ``judge.build`` reads.

    Raises:
        DeadlineError: git, the build or a compiler does not end.
        GateError: git breaks.
        StorageError: a file cannot be read or written.
    """
    revision = read_revision(context)
    made = _given(context, context.artifact) if context.artifact else _packages(context, revision)
    return {
        "changed": list(revision.changed),
        "changed_count": revision.changed_count,
        "clean": revision.clean,
        "reason": revision.reason,
        "revision": revision.revision,
        **made,
        **compile_kernels(context),
        **_shader(context),
        **_host(context),
    }


def _shader(context: Context) -> dict[str, Json]:
    """Return the facts of the planned shader, nothing where none is planned."""
    wanted = context.plan.shared_buffers
    return {} if wanted is None else {"shader": compile_shader(context, wanted)}


def _host(context: Context) -> dict[str, Json]:
    """Return the selected host library, kept, with what it exports of its ABI, if there is one."""
    path = context.selection.host_library
    if "hosted" not in context.plan.gates or path is None or not Path(path).is_file():
        return {}
    exports = context.machine.binary(path).exports
    kept = context.keep(Path(path), Path(path).name)
    return {"host": {**kept.to_json(), "exports": sorted(exports & set(ABI_FUNCTIONS)), "path": path}}


def _given(context: Context, path: Path) -> dict[str, Json]:
    """Return the facts of a wheel that is taken as it is."""
    private = context.scratch / "given" / path.name
    with storage_errors("make", private):
        private.parent.mkdir()
    try:
        check_wheel_like(path)
        copy_atomic(path, private)  # what is read is then what is kept, whatever happens to the original
    except StorageError as error:
        return {"origin": GIVEN, "wheel": {"invalid": error.observed, "name": path.name}}
    return {"origin": GIVEN, "wheel": _wheel(context, private)}


def _packages(context: Context, revision: Revision) -> dict[str, Json]:
    """Return the facts of two builds."""
    trees = [copy_tree(context, revision, context.scratch / name) for name in _COPIES]
    facts: dict[str, Json] = {"origin": BUILT}
    packaging: dict[str, Json] = {
        "backend": _backend(trees[0]),
        "epoch": EPOCH,
        "hatchling": _version("hatchling"),
        "python": platform.python_version(),
        "problem": "",
    }
    if packaging["backend"] != BACKEND or not packaging["hatchling"]:
        return {**facts, "packaging": packaging}
    first, second = (_build(context, tree) for tree in trees)
    packaging["problem"] = first.problem or second.problem
    if packaging["problem"]:
        return {**facts, "packaging": packaging}
    again = [_again(first.files[kind], second.files[kind]) for kind in sorted(first.files)]
    wheel, sdist = _wheel(context, first.files["wheel"]), _archive(context, first.files["sdist"])
    return {**facts, "again": again, "packaging": packaging, "sdist": sdist, "wheel": wheel}


def _backend(tree: Path) -> str:
    """Return the project's build backend, ``""`` where it names none (PEP 517) or cannot be read."""
    try:
        document = tomllib.loads(read_bounded(tree / "pyproject.toml", _PYPROJECT_LIMIT).decode())
    except (StorageError, tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError):
        return ""
    system = document.get("build-system")
    backend = system.get("build-backend") if isinstance(system, dict) else None
    return backend if isinstance(backend, str) else ""


def _version(distribution: str) -> str:
    """Return the version of a distribution of the toolchain, ``""`` where it is missing."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _build(context: Context, tree: Path) -> _Built:
    """Build wheel and sdist of one copy."""
    output = tree.parent / f"{tree.name}-made"
    env = {**context.plain_environment(), "PYTHONDONTWRITEBYTECODE": "1", "SOURCE_DATE_EPOCH": str(EPOCH)}
    # -P: a module of the tree must not stand in for one of the build.
    argv = (sys.executable, "-P", "-m", "hatchling", "build", "--directory", str(output))
    finished = ended(context.execute(argv, env=env, cwd=tree), "the build")
    if finished.exit != 0:
        return _Built({}, f"the build ended with {finished.exit}:\n{last_words(finished)}")
    return _left(output)


def _left(output: Path) -> _Built:
    """Return the files that a build left: exactly one wheel and one sdist."""
    with storage_errors("read", output):
        names = sorted(path.name for path in output.iterdir()) if output.is_dir() else []
    kinds = {"wheel": ".whl", "sdist": ".tar.gz"}
    found = {kind: [name for name in names if name.endswith(suffix)] for kind, suffix in kinds.items()}
    if len(names) != len(kinds) or any(len(each) != 1 for each in found.values()):
        return _Built({}, f"the build left {', '.join(names) or 'nothing'}")
    return _Built({kind: output / each[0] for kind, each in found.items()})


def _again(first: Path, second: Path) -> dict[str, Json]:
    """Return the fact of the second build's file, with the members in which it differs from the first."""
    sha256, _ = sha256_file(second)
    differing = [] if sha256 == sha256_file(first)[0] else list(_differing(first, second))
    return {"differing": differing[:_DIFFERING], "name": second.name, "sha256": sha256}


def _differing(first: Path, second: Path) -> Iterator[str]:
    """Yield the names of members that are not the same in both archives."""
    ours, theirs = _digests(file_members(first)), _digests(file_members(second))
    yield from (name for name in sorted({*ours, *theirs}) if ours.get(name) != theirs.get(name))


def _digests(members: tuple[Member, ...]) -> Mapping[str, str]:
    """Return digest by member name."""
    return {member.name: member.sha256 for member in members}


def _archive(context: Context, path: Path) -> dict[str, Json]:
    """Keep an archive and return its fact."""
    kept = context.keep(path, path.name)
    return {**kept.to_json(), "content_sha256": content_digest(file_members(path))}


def _wheel(context: Context, path: Path) -> dict[str, Json]:
    """Keep a wheel and return its fact; one that is none is told, not kept."""
    try:
        wheel = read_wheel(path)
    except StorageError as error:
        return {"invalid": f"{path.name}: {error.observed}", "name": path.name}
    told = {"content_sha256": wheel.content_sha256, "project": wheel.project, "version": wheel.version}
    return {**context.keep(path, path.name).to_json(), **told, "invalid": ""}

"""Reads the plan of a project folder: ``[tool.assay]`` and every ``kernels/<chain>/chain.toml``."""

from __future__ import annotations

import hashlib
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path

from assay.errors import PlanError, StorageError
from assay.files import read_bounded
from assay.plan.find import FILE
from assay.plan.kernels import FILE_NAME
from assay.plan.measures import CHAIN_NAME
from assay.plan.parse import parse_plan
from assay.plan.reading import Table
from assay.plan.values import Plan

_LIMIT = 1 << 20


def plan_if_any(project: Path) -> Plan | None:
    """Return the plan of a folder with a ``pyproject.toml``, None where that has no ``[tool.assay]`` in it.

    Raises:
        PlanError: as ``load_plan``.
    """
    document = _toml(project / FILE, FILE)
    table = document.get("tool")
    return _plan(document, project) if isinstance(table, Mapping) and table.get("assay") else None


def load_plan(project: Path) -> Plan:
    """Return the plan of the project in ``project``.

    Raises:
        PlanError: a file is missing or not TOML, or the plan is wrong.
    """
    return _plan(_toml(project / FILE, FILE), project)


def _plan(document: Mapping[str, object], project: Path) -> Plan:
    """Return the plan that a project's document holds."""
    table = Table(Table(document, "").table("tool", {}).raw("assay", None) or {}, "tool.assay")
    if not table.names():
        raise PlanError("tool.assay", "is missing from pyproject.toml", "a plan", "add a [tool.assay] table")
    name = Table(document.get("project", {}), "project").text("name")
    given = {key: table.raw(key) for key in table.names()}
    for taken in ("project", "kernels"):
        if taken in given:
            raise PlanError(f"tool.assay.{taken}", "is set", "no such key: it is read elsewhere", "remove it")
    if "shared-buffers" in given:
        given["shared-buffers"] = _shader(given["shared-buffers"], project / "kernels")
    return parse_plan({**given, "project": name, "kernels": _kernels(project / "kernels")})


def _shader(value: object, kernels: Path) -> dict[str, object]:
    """Return what is shared with the digest of the shader, which lies beside its chain's kernels."""
    where = "tool.assay.shared-buffers"
    name = Table(value, where).text("chain", match=CHAIN_NAME)
    return _with_digest(value, kernels / name, where)


def _kernels(folder: Path) -> dict[str, object]:
    """Return every chain of the kernels folder with its digests put in."""
    if not folder.is_dir():
        return {}
    return {path.parent.name: _chain(path) for path in sorted(folder.glob("*/chain.toml"))}


def _chain(path: Path) -> dict[str, object]:
    """Return one parsed ``chain.toml`` with the digests of itself and of its sources."""
    where = f"kernels.{path.parent.name}"
    chain = dict(_toml(path, f"{where}.chain.toml"))
    stages = chain.get("stage")
    if not isinstance(stages, list):
        raise PlanError(f"{where}.stage", "is missing or not a list", "[[stage]] tables", "")
    chain["sha256"] = hashlib.sha256(_read(path, where)).hexdigest()
    chain["stage"] = [
        _with_digest(stage, path.parent, f"{where}.stage.{n}") for n, stage in enumerate(stages)
    ]
    return chain


def _with_digest(stage: object, folder: Path, where: str) -> dict[str, object]:
    """Return a stage with the digest of its source."""
    table = Table(stage, where)
    source = table.text("source")
    if not re.fullmatch(FILE_NAME, source):
        raise PlanError(f"{where}.source", f"is {source!r}", f"a file name like {FILE_NAME}", "")
    if "sha256" in table.names():
        raise PlanError(f"{where}.sha256", "is set", "no such key: it is computed", "remove it")
    data = _read(folder / source, f"{where}.source")
    if not data.isascii():
        # PyCUDA writes a source in the locale's encoding, so other characters would not arrive everywhere.
        raise PlanError(f"{where}.source", f"{source} is not ASCII", "a kernel source in ASCII", "")
    digest = hashlib.sha256(data).hexdigest()
    return {**{key: table.raw(key) for key in table.names()}, "sha256": digest}


def _toml(path: Path, where: str) -> Mapping[str, object]:
    """Return a decoded TOML file."""
    try:
        return tomllib.loads(_read(path, where).decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise PlanError(
            where, f"is not TOML: {error}", "a TOML document in UTF-8", "correct the file"
        ) from error
    except RecursionError as error:
        raise PlanError(where, "is nested too deeply", "a flat document", "") from error


def _read(path: Path, where: str) -> bytes:
    """Return a file's bytes, or name the key that needs it."""
    try:
        return read_bounded(path, _LIMIT)
    except StorageError as error:
        raise PlanError(where, error.observed, error.expected, "add the file or correct its name") from error

"""The layering is a law, and its contracts speak of every module."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.project.files import PROJECT
from tests.project.test_pyproject import CONFIG

PACKAGE = PROJECT / "scripts" / "assay"
CONTRACTS: list[dict[str, Any]] = CONFIG["tool"]["importlinter"]["contracts"]
EVIDENCE_HALF = {"archives", "canonical", "errors", "evidence", "files", "judge", "model", "plan", "zipped"}

ALONE = {"chain", "rehearsal"}
"""Folders that run in the selected interpreter, each shipped alone."""


def parts() -> set[str]:
    """Return the names of the package's own modules and folders."""
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    return folders | {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}


def _contract(word: str) -> dict[str, Any]:
    """Return the one contract whose name has a word."""
    (found,) = [contract for contract in CONTRACTS if word in contract["name"]]
    return found


def _own(modules: list[str]) -> set[str]:
    """Return the package's parts among modules."""
    return {module.removeprefix("assay.") for module in modules if module.startswith("assay.")}


def lint_imports(project: Path) -> subprocess.CompletedProcess[str]:
    """Run import-linter over a project, without a cache."""
    code = "import sys; sys.path.insert(0, 'scripts'); import importlinter.cli as c; c.lint_imports_command()"
    argv = [sys.executable, "-c", code, "--no-cache"]
    return subprocess.run(argv, cwd=project, capture_output=True, text=True, check=False)  # noqa: S603  # argv is ours


def test_every_contract_is_kept() -> None:
    ended = lint_imports(PROJECT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"Contracts: {len(CONTRACTS)} kept, 0 broken" in ended.stdout


@pytest.mark.parametrize(
    ("module", "line"),
    [
        ("evidence/ustar.py", "import subprocess"),
        ("evidence/ustar.py", "from assay.process import run"),
        ("judge/verdict.py", "import time"),
        ("chain/values.py", "from assay.model import Tier"),
        ("gates/toolkit.py", "import cuda"),
        ("machine/machine.py", "from assay.engine.run import run_plan"),
        ("machine/machine.py", "import subprocess"),
        ("toolchain.py", "import requests"),
    ],
)
def test_a_forbidden_import_breaks_a_contract(tmp_path: Path, module: str, line: str) -> None:
    (tmp_path / "pyproject.toml").write_bytes((PROJECT / "pyproject.toml").read_bytes())
    for path in PACKAGE.rglob("*.py"):
        target = tmp_path / path.relative_to(PROJECT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(path.read_bytes())
    with (tmp_path / "scripts" / "assay" / module).open("a") as stream:
        stream.write(f"\n{line}\n")
    ended = lint_imports(tmp_path)
    assert ended.returncode == 1
    assert "BROKEN" in ended.stdout


@pytest.mark.gate
def test_the_layers_name_every_part_but_those_that_ship_alone() -> None:
    layers = _contract("The layers")
    named = {name for layer in layers["layers"] for name in layer.split(" | ")}
    assert named == parts() - ALONE
    assert layers["exhaustive"] is True


@pytest.mark.gate
def test_the_evidence_half_is_shut_off_from_everything_else() -> None:
    shut_off = _contract("Evidence and judge")
    assert _own(shut_off["forbidden_modules"]) == parts() - EVIDENCE_HALF
    assert _own(_contract("standard library alone, with")["source_modules"]) == EVIDENCE_HALF


@pytest.mark.gate
def test_what_ships_alone_is_shut_off_and_only_the_chain_has_the_gpu() -> None:
    for name in ALONE:
        assert _own(_contract(f"The {name} imports nothing")["forbidden_modules"]) == parts() - {name}
    gpu = _contract("Only the chain")
    assert _own(gpu["source_modules"]) == parts() - ALONE
    assert {"cuda", "pycuda", "wgpu", "pynvml", "assay.chain"} <= set(gpu["forbidden_modules"])


@pytest.mark.gate
def test_every_part_but_process_is_held_from_starting_processes() -> None:
    assert _own(_contract("Only process starts")["source_modules"]) == parts() - ALONE - {"process"}

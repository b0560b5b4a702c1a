"""The gates over the selection on this very machine, with this interpreter as the selected one."""

from __future__ import annotations

import hashlib
import platform
import sys
import sysconfig
from pathlib import Path
from typing import Any

from assay.gates import environment, provider, toolkit
from assay.judge.row import GateRow
from assay.judge.table import GATES
from tests.gates.running import bench, ids, judged
from tests.machines.build_elf import elf_bytes
from tests.plan.support import plan_table

SITE = sysconfig.get_paths()["purelib"]


def row(name: str) -> GateRow:
    return next(each for each in GATES if each.name == name)


def plan_of(*gates: str, **changes: Any) -> dict[str, Any]:  # noqa: ANN401  # a plan's keys
    return {**plan_table(), "gates": [*gates, "lint"], "deadlines": {}, "claim": [], **changes}


def test_this_interpreter_is_described_as_it_is(tmp_path: Path) -> None:
    chosen = {"BUN_PYTHON_EXECUTABLE": sys.executable, "PYTHONPATH": SITE}
    plan = plan_of("environment", "installed", versions={"linux": {"pytest": ">=8"}}, chains={})
    with bench(tmp_path, plan=plan, selection=chosen) as made:
        facts = made.observe(environment.observe)
        found = judged(row("environment"), made.case(), facts)
    interpreter = facts["interpreter"]
    assert isinstance(interpreter, dict)
    assert interpreter["version"] == platform.python_version()
    assert interpreter["implementation"] == "cpython"
    recorded = facts["selected"]
    assert isinstance(recorded, dict)
    digest = hashlib.sha256(Path(sys.executable).read_bytes()).hexdigest()
    assert recorded["BUN_PYTHON_EXECUTABLE"]["sha256"] == digest
    assert recorded["BUN_PYTHON_EXECUTABLE"]["reported"]["version"] == platform.python_version()
    assert set(ids(found)) <= {"ENVIRONMENT-KEPT-OUT"}


def test_a_built_by_of_the_plan_is_recorded_as_unverified(tmp_path: Path) -> None:
    plan = plan_of("environment", **{"built-by": {"BUN_PYTHON_EXECUTABLE": "the release team"}})
    with bench(tmp_path, plan=plan, selection={"BUN_PYTHON_EXECUTABLE": sys.executable}) as made:
        facts = made.observe(environment.observe)
    recorded = facts["selected"]
    assert isinstance(recorded, dict)
    built_by = {"text": "the release team", "verified": False}
    assert recorded["BUN_PYTHON_EXECUTABLE"]["built_by"] == built_by


def test_an_unpinned_library_is_never_loaded(tmp_path: Path) -> None:
    library = tmp_path / "provider.so"
    library.write_bytes(elf_bytes(soname="provider.so"))
    chosen = {"BUN_PYTHON_EXECUTABLE": sys.executable, "BUV_RUNTIME_LIB": str(library)}
    with bench(tmp_path, plan=plan_of("provider"), selection=chosen) as made:
        facts = made.observe(provider.observe)
        found = judged(row("provider"), made.case(), facts)
        assert made.context.commands == []
    assert ids(found) == ["PROVIDER-DIGEST"]
    assert "binary" not in str(facts["file"])


def test_a_folder_that_is_no_toolkit_lacks_every_part(tmp_path: Path) -> None:
    (tmp_path / "toolkit").mkdir()
    with bench(tmp_path, plan=plan_of("toolkit"), selection={"CUDA_PATH": str(tmp_path / "toolkit")}) as made:
        facts = made.observe(toolkit.observe)
        found = judged(row("toolkit"), made.case(), facts)
    assert ids(found).count("TOOLKIT-PART-MISSING") == len(("nvcc", "NVRTC", "cuda.h", "cudart", "NVVM"))
    assert {each for each in ids(found) if each.startswith("TOOLKIT-NVCC")} == set()

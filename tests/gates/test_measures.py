"""Gates ``shared-buffers`` and ``throughput``: what starts nothing, and a real child without a GPU."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assay.gates.measures import observe_shared_buffers, observe_throughput
from assay.judge.reading import objects, text
from assay.judge.table import row
from assay.model import Facts, Outcome, Severity, outcome_of
from assay.plan import load_plan, plan_json
from assay.selection import Selection
from tests.conftest import PROJECT
from tests.gates.running import Bench, bench, ids, judged
from tests.rehearsal.driver.rehearsing import prepared_rehearsal

SPIRV = bytes.fromhex("03022307") * 8
OBSERVERS = {"shared-buffers": observe_shared_buffers, "throughput": observe_throughput}
ZERO = "0" * 64


def project_plan() -> dict[str, Any]:
    """Return the project's plan with small sizes and no bound: no speed of this machine is judged."""
    plan: dict[str, Any] = json.loads(json.dumps(plan_json(load_plan(PROJECT))))
    speed = {**plan["throughput"], "floor-size": 37, "floors": {}, "sizes": [1, 37], "turns": 3}
    return {**plan, "throughput": speed}


def with_spirv(folder: Path, data: bytes = SPIRV) -> dict[str, Facts]:
    """Keep SPIR-V as gate build does and return that gate's facts."""
    sha256 = hashlib.sha256(data).hexdigest()
    (folder / "run" / "artifacts").mkdir(parents=True)
    (folder / "run" / "artifacts" / sha256).write_bytes(data)
    return {"build": {"shader": {"spirv": {"sha256": sha256}}}}


def found(on: Bench, gate: str, facts: Facts) -> list[str]:
    """Return the ids of what the gate's judge finds."""
    return ids(judged(row(on.setup.plan, gate), on.case(), facts))


@pytest.fixture(scope="module")
def driver() -> Path:
    """Return the folder of a CUDA driver that computes on the CPU."""
    rehearsal = prepared_rehearsal().rehearsal
    assert rehearsal is not None
    return rehearsal.driver


@pytest.mark.parametrize("gate", OBSERVERS)
def test_without_a_selection_it_is_said_what_lacks(tmp_path: Path, gate: str) -> None:
    facts = with_spirv(tmp_path)
    with bench(tmp_path, plan=project_plan(), project=PROJECT, facts=facts) as on:
        seen = on.observe(OBSERVERS[gate])
        assert found(on, gate, seen) == ["SHARED-NOT-RUN"]
    assert seen["lacking"]
    assert "measured" not in seen


@pytest.mark.parametrize("gate", OBSERVERS)
@pytest.mark.parametrize(
    ("made", "told"),
    [
        ({}, "glslangValidator"),
        ({"build": {"shader": {"problem": "it was refused"}}}, "it was refused"),
        ({"build": {"shader": {"spirv": {"sha256": ZERO}}}}, "glslangValidator"),
    ],
    ids=["no build", "refused", "artifact gone"],
)
def test_without_spirv_nothing_starts(
    selection: Selection, tmp_path: Path, gate: str, made: dict[str, Facts], told: str
) -> None:
    with bench(tmp_path, plan=project_plan(), project=PROJECT, selection=selection.values, facts=made) as on:
        seen = on.observe(OBSERVERS[gate])
        (one,) = judged(row(on.setup.plan, gate), on.case(), seen)
    assert (one.id, one.severity) == ("SHARED-SHADER-MISSING", Severity.UNAVAILABLE)
    assert told in one.observed


@pytest.mark.parametrize(("gate", "observe"), OBSERVERS.items(), ids=OBSERVERS)
def test_the_real_child_on_a_cpu_s_driver_is_never_taken_for_a_gpu(
    selection: Selection, driver: Path, tmp_path: Path, gate: str, observe: Callable[..., Facts]
) -> None:
    environ = {"LD_LIBRARY_PATH": str(driver)}
    facts = with_spirv(tmp_path)
    with bench(
        tmp_path,
        plan=project_plan(),
        project=PROJECT,
        selection=selection.values,
        environ=environ,
        facts=facts,
    ) as on:
        seen = on.observe(observe)
        every = judged(row(on.setup.plan, gate), on.case(), seen)
    errors = objects(seen, "child.errors")
    assert {text(each, "kind") for each in errors} == {"unavailable"}
    assert set(ids(every)) == {"CHAIN-UNAVAILABLE", "CHAIN-NVML", "CHAIN-MODULE-OUTSIDE"}
    assert outcome_of(every) is not Outcome.PASSED
    assert text(seen, "child.ended.reason") == "done"
    assert text(seen, "shader.sha256") == hashlib.sha256(SPIRV).hexdigest()
    assert not objects(seen, "measured")

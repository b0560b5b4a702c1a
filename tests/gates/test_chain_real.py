"""The real chain child in the embedded selection, under the real parent.

Where the machine has no CUDA driver, the tests' own driver on the CPU takes its place: what is shown then is
that every part fits, and that nobody takes it for a GPU.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.gates.chain import observe
from assay.judge.chain import judge
from assay.judge.reading import objects, text, texts
from assay.judge.tier import derive_tier
from assay.model import Severity, Tier
from assay.plan import load_plan, plan_json
from assay.selection import Selection
from tests.chain.support import compile_driver
from tests.conftest import PROJECT
from tests.gates.running import bench


def plan_of(*chains: str) -> dict[str, Any]:
    """Return the project's plan with other chains, for rehearsal."""
    plan = dict(plan_json(load_plan(PROJECT)))
    return {**plan, "chains": {"linux": list(chains)}, "tier": "rehearsal"}


@pytest.fixture(scope="module")
def driver(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a CUDA driver that computes on the CPU."""
    return compile_driver(selection, tmp_path_factory.mktemp("driver")).parent


def test_the_real_child_runs_both_cuda_runtimes_and_is_seen(
    selection: Selection, driver: Path, tmp_path: Path
) -> None:
    environ = {"LD_LIBRARY_PATH": str(driver)}
    with bench(
        tmp_path, plan=plan_of("cuda-only"), project=PROJECT, selection=selection.values, environ=environ
    ) as on:
        facts = on.observe(observe)
        found, tier = judge(on.case(), facts), derive_tier(on.case(), facts)
    on_the_cpu = text(facts, "child.driver_folder") == str(driver)
    assert [each for each in found if each.severity in {Severity.FAILURE, Severity.ERROR}] == []
    assert tier is (Tier.REHEARSAL if on_the_cpu else Tier.PHYSICAL)
    assert found == () or not on_the_cpu
    assert texts(facts, "child.closed") == ("nvrtc", "pycuda")
    assert any("libnvrtc.so" in text(each, "path") for each in objects(facts, "mapped"))


def test_what_the_machine_lacks_is_named_by_the_real_child(selection: Selection, tmp_path: Path) -> None:
    plan = plan_of("pipeline")
    plan["backend"] = {"linux": "D3D12"}  # no Linux has it, with or without a GPU
    with bench(tmp_path, plan=plan, project=PROJECT, selection=selection.values) as on:
        found = judge(on.case(), on.observe(observe))
    assert "CHAIN-UNAVAILABLE" in {each.id for each in found}
    assert not any(each.severity is Severity.FAILURE for each in found)
    assert any("wgpu" in each.observed for each in found)

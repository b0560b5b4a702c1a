"""The project's kernels: which values they are to give, worked out by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from assay.plan import load_plan
from assay.plan.kernels import expected_values

PROJECT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.gate

CHAINS = {
    "pipeline": (range(37), [range(0, 74, 2), range(1, 75, 2), range(2, 147, 4)]),
    "consolidation": (range(1, 38), [range(2, 75, 2), range(2, 75, 2)]),
    "cuda-only": (range(37), [range(0, 74, 2), range(1, 75, 2)]),
}
"""Canonical values, then what each stage gives."""

RUNTIMES = {
    "pipeline": ["pycuda", "wgpu", "nvrtc"],
    "consolidation": ["wgpu", "nvrtc"],
    "cuda-only": ["pycuda", "nvrtc"],
}


def test_these_are_all_the_chains() -> None:
    assert set(load_plan(PROJECT).kernels) == set(CHAINS)


@pytest.mark.parametrize("name", CHAINS)
def test_a_chain_gives_these_values_in_these_runtimes(name: str) -> None:
    chain = load_plan(PROJECT).kernels[name]
    values, results = CHAINS[name]
    assert chain.values == tuple(values)
    assert len(chain.values) == 37
    assert [list(result) for result in expected_values(chain, chain.values)] == [list(one) for one in results]
    assert [stage.runtime for stage in chain.stages] == RUNTIMES[name]
    assert all(stage.ulp is None for stage in chain.stages)


@pytest.mark.parametrize("name", CHAINS)
def test_every_entry_is_in_its_source_and_every_source_is_used(name: str) -> None:
    folder = PROJECT / "kernels" / name
    plan = load_plan(PROJECT)
    chain, shared = plan.kernels[name], plan.shared_buffers
    assert shared is not None
    shader = {shared.source} if shared.chain == name else set()
    for stage in chain.stages:
        text = (folder / stage.source).read_text(encoding="ascii")
        assert re.search(rf"\b{stage.entry}\(", text)
    sources = {stage.source for stage in chain.stages}
    assert {path.name for path in folder.iterdir()} == sources | shader | {"chain.toml"}

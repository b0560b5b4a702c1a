"""One device before and after, the plan's backend, and one GPU for CUDA and wgpu."""

from __future__ import annotations

import copy

import pytest

from assay.judge.device import Relation, relation
from tests.judge.chainfacts import (
    CHILD_PID,
    UUID,
    Document,
    facts_with,
    findings,
    ids,
    make_case,
    plan_document,
)

pytestmark = pytest.mark.gate


def gpus(*listed: tuple[str, list[int], list[int]], **second: object) -> Document:
    """Return the facts of a machine with GPUs given as (uuid, compute processes, graphics processes)."""
    facts = facts_with()
    first = facts["nvml"]["after"]["gpus"][0]
    many = [
        {**copy.deepcopy(first), "compute_processes": compute, "graphics_processes": graphics, "uuid": uuid}
        for uuid, compute, graphics in listed
    ]
    if second:
        many[1] |= second
    for when in ("before", "after"):
        facts["nvml"][when]["gpus"] = many
    return facts


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        (gpus((UUID, [], [])), Relation.SHOWN),
        (gpus((UUID.upper(), [], [])), Relation.SHOWN),
        (gpus((UUID, [CHILD_PID], []), ("GPU-2", [], [])), Relation.SHOWN),
        (gpus((UUID, [CHILD_PID], [CHILD_PID]), ("GPU-2", [7], [8])), Relation.SHOWN),
        (gpus((UUID, [], []), ("GPU-2", [], [])), Relation.AMBIGUOUS),
        (gpus((UUID, [CHILD_PID], []), ("GPU-2", [CHILD_PID], [])), Relation.AMBIGUOUS),
        (gpus((UUID, [CHILD_PID], []), ("GPU-2", [], [CHILD_PID])), Relation.EXCLUDED),
        (gpus((UUID, [], []), ("GPU-2", [], []), name="NVIDIA L4"), Relation.SHOWN),
        (gpus(("GPU-2", [], [])), Relation.AMBIGUOUS),
        (facts_with(adapter__device="NVIDIA L4"), Relation.EXCLUDED),
        (facts_with(adapter__device_id=1), Relation.EXCLUDED),
        (facts_with(adapter__vendor_id=0x1002), Relation.EXCLUDED),
        (facts_with(nvml__after={"problem": "NVML does not start"}), Relation.AMBIGUOUS),
    ],
)
def test_the_relation_of_adapter_and_cuda_device(facts: Document, expected: Relation) -> None:
    assert relation(facts) is expected


def test_another_gpu_is_a_failure_and_an_ambiguous_one_undecided() -> None:
    other = gpus((UUID, [CHILD_PID], []), ("GPU-2", [], [CHILD_PID]))
    assert ids(other) == ["CHAIN-GPU-OTHER"]
    assert ids(gpus((UUID, [], []), ("GPU-2", [], []))) == ["CHAIN-GPU-AMBIGUOUS"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("devices__after__name", "NVIDIA L4"),
        ("devices__after__uuid", "GPU-2"),
        ("devices__before__multiprocessors", 131),
        ("nvml__before__driver_version", "580.1"),
        ("nvml__before__gpus__0__vbios", "96.00"),
        ("nvml__before__gpus__0__ecc", [0, 1]),
        ("nvml__before__gpus__0__mig", [1, 1]),
        ("nvml__before__gpus", []),
        ("proc__before__module__version", "580.1"),
    ],
)
def test_whatever_changed_while_the_chain_ran_is_named(path: str, value: object) -> None:
    found = findings(facts_with(**{path: value}))
    assert "CHAIN-DEVICE-CHANGED" in {each.id for each in found}


def test_processes_may_come_and_go() -> None:
    assert ids(facts_with(nvml__before__gpus__0__compute_processes=[1, 2])) == []


def test_nvml_that_answered_only_once_is_compared_with_nothing() -> None:
    facts = facts_with(nvml__before={"problem": "NVML does not start"})
    assert ids(facts) == ["CHAIN-NVML"]


def test_a_hang_before_the_chain_is_named_too() -> None:
    assert ids(facts_with(nvml__before={"problem": "deadline"})) == ["CHAIN-NVML-DEADLINE"]


def test_a_plan_without_a_backend_for_the_platform_shows_no_backend() -> None:
    plan = plan_document()
    del plan["backend"]["linux"]
    assert ids(facts_with(), make_case(plan=plan)) == ["CHAIN-BACKEND"]


def test_wgsl_that_ran_on_nothing_is_named() -> None:
    assert ids(facts_with(adapter=None)) == ["CHAIN-BACKEND"]


@pytest.mark.parametrize(("name", "found"), [("Microsoft Direct3D12 (NVIDIA H200)", []), ("llvmpipe", None)])
def test_only_the_software_that_the_plan_names_is_allowed(name: str, found: list[str] | None) -> None:
    case = make_case(plan={**plan_document(), "software-adapters": {"linux": ["Microsoft Direct3D12"]}})
    facts = facts_with(adapter__device=name, adapter__adapter_type="CPU", adapter__vendor_id=0x1414)
    assert ids(facts, case) == (["CHAIN-ADAPTER-SOFTWARE"] if found is None else found)

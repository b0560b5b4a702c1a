"""The child that measures: judged as the chain's, and alone on its GPU."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from assay.judge.measuring import judge_measuring
from assay.model import Severity
from tests.judge.cases import ids, with_fact
from tests.judge.chainfacts import digest_of
from tests.judge.measurefacts import measuring_case, shared_facts, speed_facts

FACTS, SPEED = shared_facts(), speed_facts()
CASE = measuring_case()
CHAIN = CASE.plan.kernels["pipeline"]
GPU = "nvml.{}.gpus.0.compute_processes"


def found(facts: dict[str, Any]) -> list[str]:
    """Return the ids of what is found."""
    return ids(tuple(judge_measuring(CASE, CHAIN, facts)))


def processes(before: list[int], after: list[int], facts: dict[str, Any] = FACTS) -> dict[str, Any]:
    """Return facts with these compute processes; the child is 4242."""
    return with_fact(with_fact(facts, GPU.format("before"), before), GPU.format("after"), after)


@pytest.mark.parametrize("facts", [FACTS, SPEED], ids=["shared-buffers", "throughput"])
def test_a_healthy_child_is_not_blamed(facts: dict[str, Any]) -> None:
    assert found(facts) == []


@pytest.mark.parametrize(
    ("before", "after", "others"),
    [
        ([], [4242], ""),
        ([], [], ""),
        ([], [91], ""),
        ([77], [77, 4242], "77"),
        ([77], [4242], "77"),
        ([], [77, 4242], "77"),
        ([], [91, 92], "92"),
        ([77], [77, 91], "77"),
        ([77, 78], [4242], "77, 78"),
    ],
)
def test_another_process_on_the_gpu_is_a_warning(before: list[int], after: list[int], others: str) -> None:
    warned = tuple(judge_measuring(CASE, CHAIN, processes(before, after)))
    assert [each.id for each in warned] == (["GPU-SHARED"] if others else [])
    for each in warned:
        assert each.severity is Severity.WARNING
        assert each.observed.endswith(f": {others}")


def test_a_process_on_another_gpu_is_not_counted() -> None:
    other = {**copy.deepcopy(FACTS["nvml"]["before"]["gpus"][0]), "compute_processes": [77], "uuid": "GPU-1"}
    facts = FACTS
    for when in ("before", "after"):
        gpus = [*facts["nvml"][when]["gpus"], other]
        facts = with_fact(facts, f"nvml.{when}.gpus", gpus)
    assert found(facts) == []


@pytest.mark.parametrize(
    ("path", "value", "entry"),
    [
        ("child.closed", ["cuda"], "CHAIN-CLOSE-ORDER"),
        ("child.closed", ["cuda", "vulkan", "wgpu"], "CHAIN-CLOSE-ORDER"),
        ("child.ended.exit", 1, "CHAIN-CHILD-EXIT"),
        ("child.ended.reason", "malformed", "CHAIN-CHILD-MALFORMED"),
        ("child.ended.reason", "exited", "CHAIN-CHILD-EXITED"),
        ("adapter.backend_type", "OpenGL", "CHAIN-BACKEND"),
        ("adapter.device", "NVIDIA A100", "CHAIN-GPU-OTHER"),
        ("adapter.adapter_type", "CPU", "CHAIN-ADAPTER-SOFTWARE"),
        ("nvml.after.driver_version", "1", "CHAIN-DEVICE-CHANGED"),
        ("images.1.sha256", digest_of("x"), "CHAIN-IMAGE-DIFFERS"),
        ("sources.2", {"chain": "pipeline", "sha256": digest_of("x"), "stage": "y"}, "CHAIN-SOURCE-CHANGED"),
    ],
)
def test_every_part_of_the_chain_s_judgement_holds(path: str, value: object, entry: str) -> None:
    assert entry in found(with_fact(SPEED, path, value))


def test_a_library_that_was_exchanged_is_found() -> None:
    at = next(number for number, each in enumerate(FACTS["mapped"]) if each["path"].endswith("python3.12"))
    assert found(with_fact(FACTS, f"mapped.{at}.sha256", digest_of("x")))
    gone = with_fact(FACTS, "mapped", [])
    assert found(gone)


def test_an_image_that_an_error_kept_away_is_not_a_second_finding() -> None:
    error = {"kind": "unavailable", "message": "no nvcc", "reason": "nvcc-missing", "step": "compile"}
    facts = with_fact(with_fact(FACTS, "child.errors", [error]), "child.ended.exit", 1)
    assert found(with_fact(facts, "images", ...)) == ["CHAIN-UNAVAILABLE"]


@pytest.mark.parametrize(
    ("reason", "code", "kind"),
    [
        ("CUDA_ERROR_OUT_OF_MEMORY", 2, ""),
        ("", None, "VkErrorDeviceLost"),
        ("CUDA_ERROR_ILLEGAL_ADDRESS", 700, ""),
    ],
)
def test_an_error_names_the_size_and_the_reason(reason: str, code: int | None, kind: str) -> None:
    error = {
        "code": code,
        "input": "134217728",
        "kind": "failed",
        "message": "refused",
        "reason": reason,
        "runtime": "throughput",
        "step": "run",
        "type": kind,
    }
    facts = with_fact(with_fact(SPEED, "child.errors", [error]), "child.ended.exit", 1)
    (one,) = judge_measuring(CASE, CHAIN, facts)
    assert (one.id, one.severity) == ("CHAIN-STAGE-FAILED", Severity.FAILURE)
    assert "134217728" in one.observed
    assert (reason or kind) in one.observed


def test_what_could_not_be_closed_is_said_once() -> None:
    error = {"kind": "failed", "message": "lost", "reason": "", "runtime": "vulkan", "step": "close"}
    facts = with_fact(with_fact(FACTS, "child.errors", [error]), "child.ended.exit", 1)
    assert found(with_fact(facts, "child.closed", ["cuda"])) == ["CHAIN-CLOSE-FAILED"]

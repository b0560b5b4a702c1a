"""Gate ``shared-buffers``: what shows one allocation on one device, and everything that does not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.reading import MalformedFacts
from assay.judge.shared_buffers import check, claim, judge
from tests.judge.cases import JSON, ids, judged, paths_of, with_fact
from tests.judge.chainfacts import digest_of
from tests.judge.measurefacts import measuring_case, measuring_plan, shared_facts

FACTS = shared_facts()
CASE = measuring_case()

WRONG: dict[str, tuple[str, object, str]] = {
    "a wrong value": ("measured.0.result.blocks.0.sha256", digest_of("x"), "SHARED-VALUE-WRONG"),
    "a value less": ("measured.0.result.count", 36, "SHARED-VALUE-WRONG"),
    "a block less": ("measured.1.result.blocks", [], "SHARED-VALUE-WRONG"),
    "blocks left out": ("measured.1.result.left_out", 1, "SHARED-VALUE-WRONG"),
    "host memory": ("measured.0.cuda_attributes.memory_type", 1, "SHARED-ALLOCATION"),
    "another handle": ("measured.0.handle", "dma-buf", "SHARED-ALLOCATION"),
    "no semaphore": ("measured.0.semaphore", "", "SHARED-ALLOCATION"),
    "too small": ("measured.0.allocated", 144, "SHARED-ALLOCATION"),
    "no address": ("measured.1.cuda_address", "", "SHARED-ALLOCATION"),
    "a copy within the pass": (
        "measured.0.transfers.1",
        {"bytes": 148, "direction": "device-to-host", "signal": 3},
        "SHARED-COPIED",
    ),
    "a copy more": (
        "measured.1.transfers",
        [{"bytes": 4, "direction": "host-to-device", "signal": 6}],
        "SHARED-COPIED",
    ),
    "no copies recorded": ("measured.0.transfers", ..., "SHARED-COPIED"),
    "a step more": ("measured.0.timeline", 6, "SHARED-COPIED"),
    "no timeline": ("measured.0.timeline", ..., "SHARED-COPIED"),
    "a side left out": ("measured.0.steps.1.side", "vulkan", "SHARED-COPIED"),
    "no pass": ("measured.0.passes", 0, "SHARED-COPIED"),
    "a side that did not wait": ("measured.0.steps.1.wait", 1, "SHARED-COPIED"),
    "a side left open": ("child.closed", ["vulkan"], "CHAIN-CLOSE-ORDER"),
    "another GPU afterwards": ("devices.after.uuid", "GPU-0", "CHAIN-DEVICE-CHANGED"),
    "another device of Vulkan's": ("child.runtimes.vulkan.uuid", "00" * 16, "SHARED-DEVICE-OTHER"),
    "no device of Vulkan's": ("child.runtimes.vulkan", ..., "SHARED-DEVICE-OTHER"),
    "another device of CUDA's": ("child.runtimes.cuda.uuid", "00" * 16, "SHARED-DEVICE-OTHER"),
    "another shader": ("shader.sha256", digest_of("y"), "SHARED-SHADER-OTHER"),
    "no shader": ("shader", None, "SHARED-SHADER-OTHER"),
    "an input less": ("measured.0.input", "other", "SHARED-RESULT-MISSING"),
    "nothing measured": ("measured", [], "SHARED-RESULT-MISSING"),
    "another image": ("images.2.sha256", digest_of("z"), "CHAIN-IMAGE-DIFFERS"),
    "an image less": ("images", [], "CHAIN-IMAGE-DIFFERS"),
    "another source": ("sources.0.sha256", digest_of("z"), "CHAIN-SOURCE-CHANGED"),
    "a child that was killed": ("child.ended.reason", "deadline", "CHAIN-CHILD-DEADLINE"),
    "not isolated": ("child.hello.flags.no_user_site", 0, "CHAIN-ISOLATION"),
    "output": ("child.printed", 7, "CHAIN-CHILD-PRINTED"),
    "nothing seen": ("unseen", "maps cannot be read", "CHAIN-UNSEEN"),
}


@pytest.mark.gate
def test_one_allocation_seen_from_both_sides_passes() -> None:
    assert judged(CASE, "shared-buffers", FACTS) == ()


@pytest.mark.parametrize(("path", "value", "entry"), WRONG.values(), ids=WRONG)
def test_what_shows_less_is_a_finding(path: str, value: object, entry: str) -> None:
    assert entry in ids(judge(CASE, with_fact(FACTS, path, value)))


def test_the_device_is_the_chain_s() -> None:
    elsewhere = measuring_case(chain={"devices": {"after": {"uuid": "GPU-" + "0" * 32}}})
    assert ids(judge(elsewhere, FACTS)) == ["SHARED-DEVICE-OTHER"]


def test_what_was_not_started_says_why() -> None:
    facts = {"lacking": ["glslangValidator"], "not_run": "no-shader"}
    (found,) = judge(CASE, facts)
    assert (found.id, "glslangValidator" in found.observed) == ("SHARED-SHADER-MISSING", True)
    (found,) = judge(CASE, {"lacking": ["CUDA_PATH"], "not_run": "no-selection"})
    assert (found.id, "CUDA_PATH" in found.observed) == ("SHARED-NOT-RUN", True)


def test_a_missing_side_is_told_once_and_not_as_missing_results() -> None:
    error = {"kind": "unavailable", "message": "no device", "reason": "device-missing", "runtime": "vulkan"}
    facts = with_fact(FACTS, "child.errors", [{**error, "step": "open"}])
    facts = with_fact(with_fact(facts, "child.ended.exit", 1), "child.opened", ["cuda"])
    facts = with_fact(with_fact(facts, "child.closed", ["cuda"]), "child.runtimes.vulkan", ...)
    assert ids(judge(CASE, with_fact(facts, "measured", []))) == ["CHAIN-UNAVAILABLE"]


def test_a_plan_without_the_table_is_an_error() -> None:
    plan = measuring_plan()
    plan["gates"].remove("shared-buffers")
    del plan["shared-buffers"]
    assert ids(judge(measuring_case(plan), FACTS)) == ["SHARED-PLAN"]


def test_the_claim_names_the_pair_and_says_of_wgpu_what_was_seen() -> None:
    said = claim(CASE, FACTS)
    assert said.startswith("Vulkan (driver 580.159.4.0) and CUDA computed in place on one allocation")
    assert said.endswith(
        "between wgpu and CUDA nothing is established: the provider exports nothing that hands out its memory"
    )
    handles = with_fact(FACTS, "provider_handles", ["wgpuDeviceExportMemory"])
    assert "exports wgpuDeviceExportMemory, which no gate has tried" in claim(CASE, handles)


@pytest.mark.parametrize(
    "path",
    [
        *("provider_handles", "measured.0.memory.device", "child.runtimes.vulkan.device"),
        "child.runtimes.vulkan.driver_version",
    ],
)
def test_what_the_claim_names_must_be_recorded(path: str) -> None:
    check(CASE, FACTS)
    with pytest.raises(MalformedFacts):
        check(CASE, with_fact(FACTS, path, ...))


SOME = [path for path in paths_of(FACTS) if not path.startswith(("child.modules", "mapped."))]


@given(st.sampled_from(SOME), JSON)
def test_facts_of_any_form_are_judged(path: str, value: object) -> None:
    judged(CASE, "shared-buffers", with_fact(FACTS, path, value))
    claim(CASE, with_fact(FACTS, path, value))

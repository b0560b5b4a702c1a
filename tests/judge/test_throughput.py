"""Gate ``throughput``: right values at every size, every part measured, and the plan's bounds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.reading import MalformedFacts
from assay.judge.speed import FLOORS
from assay.judge.throughput import check, claim, judge
from tests.judge.cases import JSON, ids, judged, paths_of, with_fact
from tests.judge.chainfacts import digest_of
from tests.judge.measurefacts import measuring_case, measuring_plan, speed_facts

FACTS = speed_facts()
CASE = measuring_case()

WRONG: dict[str, tuple[str, object, str]] = {
    "a wrong value of the chain": ("measured.3.chain.result.blocks.1.sha256", digest_of("x"), "VALUE-WRONG"),
    "a wrong value of the script": (
        "measured.0.script.result.blocks.0.sha256",
        digest_of("x"),
        "VALUE-WRONG",
    ),
    "a wrong value of the buffer": (
        "measured.2.shared.result.blocks.0.sha256",
        digest_of("x"),
        "VALUE-WRONG",
    ),
    "no device of Vulkan's": ("child.runtimes.vulkan", ..., "DEVICE-OTHER"),
    "a block too few": ("measured.3.chain.result.blocks.0.times", 1, "VALUE-WRONG"),
    "no shared buffer": ("measured.1.shared", None, "MISSING"),
    "a size less": ("measured.1.size", 38, "MISSING"),
    "a cold start less": ("cold.turns.3.exit", 1, "MISSING"),
    "a wrong value of a cold start": ("cold.turns.3.values.36", "00000000", "VALUE-WRONG"),
    "an image less": ("cold.images", [], "MISSING"),
    "a turn less": ("measured.0.hops.wgpu", [40, 40], "MISSING"),
    "a turn more": ("measured.3.chain.ns", [1, 1, 1, 1], "MISSING"),
    "too slow": ("measured.3.chain.ns", [101, 101, 101], "FLOOR"),
}


@pytest.mark.gate
def test_right_values_at_every_size_and_reached_bounds_pass() -> None:
    assert judged(CASE, "throughput", FACTS) == ()


@pytest.mark.parametrize(("path", "value", "entry"), WRONG.values(), ids=WRONG)
def test_what_is_less_is_a_finding(path: str, value: object, entry: str) -> None:
    found = judged(CASE, "throughput", with_fact(FACTS, path, value))
    assert set(ids(found)) == {f"{'SHARED' if entry == 'DEVICE-OTHER' else 'THROUGHPUT'}-{entry}"}


@pytest.mark.parametrize(("path", "value"), [("cold.turns.3.end", None), ("cold.turns", []), ("cold", None)])
def test_no_bound_is_judged_without_cold_starts_that_ended(path: str, value: object) -> None:
    assert ids(judged(CASE, "throughput", with_fact(FACTS, path, value))) == ["FACTS-MALFORMED"]


def test_an_image_that_gate_build_did_not_make_is_named() -> None:
    facts = with_fact(FACTS, "cold.images.0.sha256", digest_of("x"))
    assert ids(judge(CASE, facts)) == ["CHAIN-IMAGE-DIFFERS"]
    facts = with_fact(FACTS, "cold.images.0.arch", "sm_90")
    assert ids(judge(CASE, facts)) == ["CHAIN-IMAGE-DIFFERS"]


@pytest.mark.parametrize("value", [[], [0], [-1], ["1"], [True], None, [1.5]], ids=repr)
@pytest.mark.parametrize("path", ["measured.0.hops.wgpu", "measured.2.chain.ns", "measured.1.shared.ns"])
def test_durations_that_are_none_are_malformed(path: str, value: object) -> None:
    assert ids(judged(CASE, "throughput", with_fact(FACTS, path, value))) == ["FACTS-MALFORMED"]


def test_a_bound_is_reached_exactly_or_not() -> None:
    assert FLOORS["chain-of-script"](FACTS["measured"][3]) == 1000
    just_below = with_fact(FACTS, "measured.3.script.ns", [999, 999, 999])
    (found,) = judge(CASE, just_below)
    assert (found.id, found.observed, found.expected) == (
        "THROUGHPUT-FLOOR",
        "chain-of-script is 999 % over 10000 values",
        "at least 1000 %",
    )


def test_a_kernel_without_time_stamps_is_missing_where_it_is_bounded() -> None:
    plan = measuring_plan()
    plan["throughput"]["floors"] = {"kernel-of-device-copy": 90}
    facts = with_fact(FACTS, "measured.3.kernels.wgpu", [])
    assert ids(judge(measuring_case(plan), FACTS)) == []
    assert ids(judge(measuring_case(plan), facts)) == ["THROUGHPUT-MISSING"]
    assert ids(judge(CASE, facts)) == []


def test_the_shared_buffer_passes_as_often_as_it_was_measured() -> None:
    (found,) = judge(CASE, with_fact(FACTS, "measured.2.shared.passes", 5))
    assert (found.id, found.observed) == ("SHARED-COPIED", "4096 values: passes: 5")


def test_the_first_cold_start_fills_the_caches_and_is_not_counted() -> None:
    assert FLOORS["cold-of-script"](FACTS) == 200
    assert FLOORS["cold-of-script"](with_fact(FACTS, "cold.turns.1.end", 10**9)) == 200


def test_a_plan_without_the_table_is_an_error() -> None:
    plan = measuring_plan()
    plan["gates"].remove("throughput")
    del plan["throughput"]
    assert ids(judge(measuring_case(plan), FACTS)) == ["THROUGHPUT-PLAN"]


def test_the_claim_says_ratios_of_this_run() -> None:
    assert claim(CASE, FACTS) == (
        "over 10000 float32 the chain through host memory takes 0 us, 166 % of its six pinned copies and "
        "10 % of a documentation-style script in the same process; its first exact result comes 0 ms "
        "(50 % of such a script's) after the start; a pass over the shared buffer takes 0 us"
    )


@pytest.mark.parametrize(
    "path",
    [
        "measured.0.turns",
        "measured.1.chain.memory",
        "measured.2.script.memory.host_peak",
        "measured.0.shared.memory",
    ],
)
def test_what_the_claim_rests_on_must_be_recorded(path: str) -> None:
    check(CASE, FACTS)
    with pytest.raises(MalformedFacts):
        check(CASE, with_fact(FACTS, path, ...))


SOME = [
    path
    for path in paths_of(FACTS)
    if path.startswith(("measured", "cold", "images", "shader", "child.ended"))
]


@given(st.sampled_from(SOME), JSON)
def test_facts_of_any_form_are_judged(path: str, value: object) -> None:
    judged(CASE, "throughput", with_fact(FACTS, path, value))
    claim(CASE, with_fact(FACTS, path, value))


OUT_OF_MEMORY = {
    "input": "1",
    "kind": "failed",
    "message": "over 1 values",
    "reason": "CUDA_ERROR_OUT_OF_MEMORY",
    "runtime": "throughput",
    "step": "run",
}


def test_a_size_that_failed_is_told_as_what_it_is_though_no_cold_start_followed() -> None:
    facts = with_fact(with_fact(FACTS, "child.errors", [OUT_OF_MEMORY]), "child.ended.exit", 1)
    facts = with_fact(with_fact(facts, "cold", None), "measured.0", ...)
    (found,) = judged(CASE, "throughput", facts)
    assert (found.id, "CUDA_ERROR_OUT_OF_MEMORY" in found.observed) == ("CHAIN-STAGE-FAILED", True)


def test_other_bounds_are_judged_where_no_cold_start_followed() -> None:
    facts = with_fact(with_fact(FACTS, "child.errors", [OUT_OF_MEMORY]), "child.ended.exit", 1)
    facts = with_fact(with_fact(facts, "cold", None), "measured.3.script.ns", [999] * 3)
    assert ids(judged(CASE, "throughput", facts)) == ["CHAIN-STAGE-FAILED", "THROUGHPUT-FLOOR"]

"""Ratios in percent from medians: worked by hand, bounded exactly, and never from what is no duration."""

from __future__ import annotations

import contextlib
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.reading import MalformedFacts
from assay.judge.speed import FLOORS, durations, median, ratio
from assay.plan import measures
from tests.judge.cases import JSON, with_fact
from tests.judge.measurefacts import speed_facts

SPEED = speed_facts()
SEEN: dict[str, Any] = {**SPEED["measured"][3], "cold": SPEED["cold"]}

BY_HAND = {
    "kernel-of-device-copy": 100 * 10 // 11,
    "copies-of-pinned-copies": 100 * (10 + 10) // 21,
    "wgpu-of-script": 100 * 400 // 40,
    "chain-of-script": 100 * 1000 // 100,
    "chain-of-pinned-copies": 100 * 3 * (10 + 10) // 100,
    "shared-of-chain": 100 * 100 // 5,
    "cold-of-script": 100 * 2000 // 1000,
}
RESTS = {
    "kernel-of-device-copy": ("floors.device-copy", "kernels.nvrtc", "kernels.wgpu"),
    "copies-of-pinned-copies": ("floors.pinned-to-host", "hops.pycuda", "hops.nvrtc"),
    "wgpu-of-script": ("script.hops", "hops.wgpu"),
    "chain-of-script": ("script.ns", "chain.ns"),
    "chain-of-pinned-copies": ("floors.pinned-to-device", "chain.ns"),
    "shared-of-chain": ("chain.ns", "shared.ns"),
    "cold-of-script": ("cold.turns",),
}
MOVED_BY = {
    key: [name for name, paths in RESTS.items() if any(p.startswith(key) for p in paths)] for key in SEEN
}
NONE = [[], [0], [10, -1], ["10"], [True], {}, "x", 3]


@pytest.mark.gate
def test_every_bound_of_the_plan_has_its_ratio_and_each_is_right() -> None:
    assert set(FLOORS) == set(measures.FLOORS) == set(BY_HAND)
    assert {name: of(SEEN) for name, of in FLOORS.items()} == BY_HAND


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in RESTS.items() for path in paths])
@pytest.mark.parametrize("value", NONE, ids=repr)
def test_a_ratio_of_what_is_no_duration_is_refused(name: str, path: str, value: object) -> None:
    with pytest.raises(MalformedFacts):
        FLOORS[name](with_fact(SEEN, path, value))


@pytest.mark.parametrize(("name", "path"), [(name, path) for name, paths in RESTS.items() for path in paths])
def test_a_ratio_of_what_is_not_recorded_is_refused(name: str, path: str) -> None:
    with pytest.raises(MalformedFacts):
        FLOORS[name](with_fact(SEEN, path, ...))


def test_the_slowest_kernel_and_the_slowest_hop_count() -> None:
    slow = with_fact(SEEN, "kernels.wgpu", [40, 40, 40])
    assert FLOORS["kernel-of-device-copy"](slow) == 25
    slow = with_fact(SEEN, "hops.nvrtc", [80, 80, 80])
    assert FLOORS["copies-of-pinned-copies"](slow) == 25


@given(st.lists(st.integers(1, 10**15), min_size=1, max_size=30))
def test_the_median_is_that_of_the_sorted_middle(values: list[int]) -> None:
    ordered, middle = sorted(values), len(values) // 2
    expected = ordered[middle] if len(values) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
    assert median({"ns": list(values)}, "ns") == int(expected)
    assert durations({"ns": list(values)}, "ns") == tuple(values)


@given(st.integers(0, 10**15), st.integers(1, 10**15))
def test_a_ratio_is_never_rounded_up(numerator: int, denominator: int) -> None:
    exact = Fraction(100 * numerator, denominator)
    assert ratio(numerator, denominator) <= exact < ratio(numerator, denominator) + 1


@given(st.sampled_from(sorted(FLOORS)), st.sampled_from(sorted(SEEN)), JSON)
def test_any_facts_give_a_ratio_or_are_malformed(name: str, key: str, value: Any) -> None:  # noqa: ANN401  # JSON
    found = -1
    with contextlib.suppress(MalformedFacts):
        found = FLOORS[name]({**SEEN, key: value})
    assert found == BY_HAND[name] or name in MOVED_BY[key]

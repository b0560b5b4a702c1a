"""Values are compared bit for bit, or within the plan's tolerance; the first wrong one is named."""

from __future__ import annotations

import hashlib
import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.results import canonical_words, fresh_words, ulp_distance
from tests.judge.chainfacts import (
    CASE,
    digest_of,
    facts_with,
    findings,
    fresh,
    ids,
    make_case,
    plan_document,
    words,
)

pytestmark = pytest.mark.gate


def word(value: float) -> str:
    """Return the word of a float."""
    return struct.pack(">f", value).hex()


def test_the_first_wrong_value_is_named_with_value_and_bits() -> None:
    facts = facts_with(
        chains__0__stages__2__canonical__36=word(145), chains__0__stages__2__canonical__5=word(23)
    )
    (found,) = findings(facts)
    assert found.observed == "pipeline/double-again/canonical: value 5 is 23.0 (0x41b80000)"
    assert found.expected == "22.0 (0x41b00000), bit for bit"
    assert found.where == ("pipeline/double-again/canonical",)


def test_the_pipeline_ends_in_the_values_of_the_field_notes() -> None:
    stage = facts_with()["chains"][0]["stages"][2]
    assert stage["canonical"] == words(range(2, 147, 4))
    assert findings(facts_with()) == ()


@pytest.mark.parametrize("value", ["-0.0", "x", "3f80000", "3F800000", "", None, 3, [], {}])
def test_what_is_no_word_is_wrong(value: object) -> None:
    found = findings(facts_with(chains__0__stages__0__canonical__0=value))
    assert [each.id for each in found] == ["CHAIN-VALUE-WRONG"]
    assert "no float32 word" in found[0].observed


def test_minus_zero_is_not_zero_bit_for_bit() -> None:
    assert ids(facts_with(chains__0__stages__0__canonical__0="80000000")) == ["CHAIN-VALUE-WRONG"]


@pytest.mark.parametrize("count", [0, 1, 36, 38])
def test_the_count_of_values_must_be_right(count: int) -> None:
    values = (words(range(0, 74, 2)) * 2)[:count]
    (found,) = findings(facts_with(chains__0__stages__0__canonical=values))
    assert (found.id, found.expected) == ("CHAIN-VALUE-WRONG", "37 values")


def with_ulp(distance: int) -> dict[str, object]:
    """Return the plan with a tolerance in its first stage."""
    plan = plan_document()
    plan["kernels"]["pipeline"]["stage"][0]["compare"] = {"ulp": distance}
    return plan


@pytest.mark.parametrize(("bits", "right"), [(2, True), (-2, True), (3, False)])
def test_a_tolerance_of_two_units_is_two_units(bits: int, right: bool) -> None:  # noqa: FBT001  # a parameter
    case = make_case(plan=with_ulp(2))
    moved = f"{int(word(10), 16) + bits:08x}"
    assert ids(facts_with(chains__0__stages__0__canonical__5=moved), case) == (
        [] if right else ["CHAIN-VALUE-WRONG"]
    )


def test_many_values_are_compared_by_their_digest() -> None:
    plan = plan_document()
    plan["kernels"]["pipeline"]["values"] = {"count": 5000, "start": 0}
    case, facts = make_case(plan=plan), facts_with()
    results = {
        "double": range(0, 10000, 2),
        "add-one": range(1, 10001, 2),
        "double-again": range(2, 20002, 4),
    }
    for stage in facts["chains"][0]["stages"]:
        data = bytes.fromhex("".join(words(results[stage["name"]])))
        stage["canonical"] = {"count": 5000, "sha256": digest_of_bytes(data)}
        for copied in stage["transfers"]:
            copied["bytes"] = 20000 if copied["input"] == "canonical" else copied["bytes"]
    assert ids(facts, case) == []
    facts["chains"][0]["stages"][1]["canonical"]["sha256"] = digest_of("others")
    assert ids(facts, case) == ["CHAIN-VALUE-WRONG"]
    facts["chains"][0]["stages"][1]["canonical"] = {"count": 4999, "sha256": digest_of("others")}
    assert ids(facts, case) == ["CHAIN-VALUE-WRONG"]


def digest_of_bytes(data: bytes) -> str:
    """Return a SHA-256."""
    return hashlib.sha256(data).hexdigest()


def test_few_values_may_not_hide_behind_a_digest() -> None:
    facts = facts_with(chains__0__stages__0__canonical={"count": 37, "sha256": digest_of("any")})
    assert ids(facts) == ["CHAIN-VALUE-WRONG"]


def test_a_stage_that_is_missing_doubled_or_unplanned() -> None:
    stages = facts_with()["chains"][0]["stages"]
    assert ids(facts_with(chains__0__stages=stages[:2])) == ["CHAIN-RESULT-MISSING"]
    assert ids(facts_with(chains__0__stages=[*stages, stages[0]])) == ["CHAIN-RESULT-DOUBLED"]
    assert ids(facts_with(chains__0__stages=[*stages, {"name": "more"}])) == ["CHAIN-RESULT-UNPLANNED"]


def test_a_copy_of_another_runtime_or_size_is_none_of_the_stages() -> None:
    for path, value in (
        ("runtime", "wgpu"),
        ("bytes", 144),
        ("direction", "device-to-device"),
        ("input", "x"),
    ):
        changed = facts_with(**{f"chains__0__stages__0__transfers__0__{path}": value})
        assert ids(changed) == ["CHAIN-TRANSFER-UNRECORDED"]


def test_the_inputs_of_the_child_are_the_plans() -> None:
    chain = CASE.plan.kernels["pipeline"]
    assert canonical_words(chain) == tuple(words(range(37)))
    assert fresh_words(CASE, chain) == tuple(words(fresh()))


FLOATS = st.floats(width=32, allow_nan=False)


@given(FLOATS, st.integers(1, 50))
def test_the_distance_counts_the_floats_in_between(value: float, steps: int) -> None:
    moved = value
    for _ in range(steps):
        moved = next_float(moved)
    if not math.isfinite(moved):
        return
    assert ulp_distance(word(value), word(moved)) == steps


def next_float(value: float) -> float:
    """Return the next larger float32, by its bits' meaning (IEEE 754-2019, 3.4)."""
    (bits,) = struct.unpack(">i", struct.pack(">f", value))
    bits = 1 if value == 0 else bits + (1 if value > 0 else -1)
    following: float = struct.unpack(">f", struct.pack(">i", bits))[0]
    return following


@given(FLOATS, FLOATS)
def test_the_distance_is_symmetric_and_zero_only_for_equal_numbers(left: float, right: float) -> None:
    distance = ulp_distance(word(left), word(right))
    assert distance == ulp_distance(word(right), word(left))
    assert (distance == 0) is (left == right)


@pytest.mark.parametrize("other", ["7fc00000", "ffc00001", "xyz", ""])
def test_a_nan_or_no_word_is_far_from_everything(other: str) -> None:
    assert ulp_distance(word(1), other) == ulp_distance(other, word(1)) == 2**32
    assert ulp_distance(other, other) == 2**32

"""Runs of equal blocks: right values by integers written out here, and every other description refused."""

from __future__ import annotations

import contextlib
import hashlib
import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.blocks import LENGTH, computed, wrong_blocks
from assay.judge.reading import MalformedFacts
from tests.judge.cases import JSON, with_fact
from tests.judge.measurefacts import measuring_case, result

STAGES = measuring_case().plan.kernels["pipeline"].stages
GIVEN = [index % 1000 for index in range(LENGTH)]
RIGHT = [2 * (2 * x + 1) for x in GIVEN]


@pytest.mark.gate
def test_the_canonical_values_come_out_by_hand() -> None:
    assert computed(STAGES, range(37)) == tuple(range(2, 150, 4))


def test_a_description_by_hand_of_two_whole_blocks_and_a_rest() -> None:
    whole = b"".join(struct.pack(">f", value) for value in RIGHT)
    facts: dict[str, Any] = {
        "blocks": [
            {"count": 4096, "sha256": hashlib.sha256(whole).hexdigest(), "times": 2},
            {"count": 3, "sha256": hashlib.sha256(whole[:12]).hexdigest(), "times": 1},
        ],
        "count": 8195,
        "left_out": 0,
    }
    assert wrong_blocks(facts, RIGHT, 8195) == ""
    assert "8195 values instead of 8194" in wrong_blocks(facts, RIGHT, 8194)


@given(st.integers(1, 5 * LENGTH))
def test_every_length_is_accepted_as_it_is_and_as_no_other(count: int) -> None:
    facts = result(RIGHT, count)
    assert wrong_blocks(facts, RIGHT, count) == ""
    assert wrong_blocks(facts, RIGHT, count + 1)
    assert wrong_blocks({**facts, "count": count + 1}, RIGHT, count + 1)
    assert wrong_blocks({**facts, "blocks": facts["blocks"][:-1]}, RIGHT, count)
    assert wrong_blocks({**facts, "blocks": [*facts["blocks"], facts["blocks"][-1]]}, RIGHT, count)


@given(st.integers(1, 3 * LENGTH), st.data())
def test_one_wrong_value_in_any_place_is_found(count: int, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, min(count, LENGTH) - 1))
    wrong = [value + (index == at) for index, value in enumerate(RIGHT)]
    assert wrong_blocks(result(wrong, count), RIGHT, count).startswith("run 0 is ")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("count", None),
        ("count", 10001),
        ("left_out", None),
        ("left_out", 1),
        ("blocks", None),
        ("blocks.0.times", 3),
        ("blocks.0.count", 4095),
        ("blocks.0.sha256", "0" * 64),
        ("blocks.1.sha256", ""),
        ("blocks.1.times", ...),
    ],
)
def test_another_description_is_wrong(path: str, value: object) -> None:
    assert wrong_blocks(with_fact(result(RIGHT, 10000), path, value), RIGHT, 10000)


@given(st.dictionaries(st.sampled_from(["blocks", "count", "left_out"]), JSON))
def test_any_description_is_judged_or_malformed(facts: dict[str, Any]) -> None:
    wrong = "malformed"
    with contextlib.suppress(MalformedFacts):
        wrong = wrong_blocks(facts, RIGHT, 10000)
    assert wrong

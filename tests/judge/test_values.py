"""Fresh and expected values, by another route than the code's."""

from __future__ import annotations

import hashlib
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.case import Case
from assay.judge.values import expected_words, floats, fresh_values, values_digest, words
from assay.model import Platform
from assay.plan import parse_plan
from tests.plan.support import plan_table

pytestmark = pytest.mark.gate

PLAN = parse_plan(plan_table())


def case(nonce: str = "00" * 16, challenge: str = "") -> Case:
    return Case(PLAN, "cd" * 32, Platform.LINUX, nonce, challenge, {})


def test_fresh_values_follow_the_stated_recipe_byte_by_byte() -> None:
    document = '["assay/fresh/1","pipeline","' + "cd" * 32 + '","' + "00" * 16 + '","beef"]'
    seed = hashlib.sha256(document.encode()).digest()
    values = fresh_values(case(challenge="beef"), "pipeline")
    assert len(values) == 4096
    for index in (0, 1, 255, 4095):
        block = hashlib.sha256(seed + index.to_bytes(4, "big")).digest()
        assert values[index] == (block[0] * 256 + block[1]) % 4096


def test_nonce_challenge_and_chain_each_change_every_run() -> None:
    base = fresh_values(case(), "pipeline")
    assert base != fresh_values(case(nonce="01" * 16), "pipeline")
    assert base != fresh_values(case(challenge="00"), "pipeline")
    assert base != fresh_values(case(), "cuda-only")
    assert base == fresh_values(case(), "pipeline")
    assert set(base) <= set(range(4096))


def test_words_of_known_floats() -> None:
    assert words([0, 1, 2, -2, 146]) == ("00000000", "3f800000", "40000000", "c0000000", "43120000")


@given(st.lists(st.integers(-(2**24), 2**24), max_size=50))
def test_words_hold_every_exact_integer(values: list[int]) -> None:
    assert floats(words(values)) == tuple(values)


def test_expected_words_of_a_chain() -> None:
    doubled, plus_one = expected_words(PLAN.kernels["pipeline"], (0, 1, 36))
    assert doubled == words([0, 2, 72])
    assert plus_one == words([1, 3, 73])


def test_digest_of_many_values_is_over_their_bits() -> None:
    data = struct.pack(">3f", 1.0, 2.0, -0.0)
    assert values_digest(["3f800000", "40000000", "80000000"]) == hashlib.sha256(data).hexdigest()

"""What the fuzzer gives to verification holds for its corpus, its seeds and what Hypothesis makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz import target

CORPUS = Path(target.__file__).with_name("corpus")
SEEDS = tuple(target.seeds())


def test_every_input_that_once_reached_something_new_is_answered() -> None:
    inputs = sorted(CORPUS.iterdir())
    assert len(inputs) > 10
    for path in inputs:
        target.fuzz_one(path.read_bytes())


def test_every_seed_is_answered() -> None:
    assert {seed[:1] for seed in SEEDS} == {b"A", b"J", b"m"}
    for seed in SEEDS:
        target.fuzz_one(seed)


@given(st.data())
def test_seeds_with_any_part_replaced_are_answered(data: st.DataObject) -> None:
    seed = data.draw(st.sampled_from(SEEDS))
    start = data.draw(st.integers(0, len(seed)))
    end = data.draw(st.integers(start, min(len(seed), start + 600)))
    target.fuzz_one(seed[:start] + data.draw(st.binary(max_size=600)) + seed[end:])


@given(st.sampled_from([b"A", b"J", b""]), st.binary(max_size=2000))
def test_any_bytes_are_answered(kind: bytes, data: bytes) -> None:
    target.fuzz_one(kind + data)


def test_the_target_would_notice_a_verifier_that_believes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "check_attestations", lambda *_: 1)
    with pytest.raises(AssertionError, match="a signature of nobody"):
        target.fuzz_one(b"Aanything")

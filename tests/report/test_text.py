"""Words for values, and text in pieces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report.authored import PROVES
from assay.report.pieces import LONGEST, authored_pieces, seen_pieces
from assay.report.text import (
    count_text,
    duration_text,
    joined,
    memory_text,
    shortened,
    size_text,
    spaced,
    text_at,
    time_text,
)
from assay.report.view import Piece

pytestmark = pytest.mark.gate


@pytest.mark.parametrize(
    ("given_", "words"),
    [
        (size_text(1), "1 byte"),
        (size_text(0), "0 bytes"),
        (size_text(1234567), "1,234,567 bytes"),
        (memory_text(150109880320), "139.8 GiB"),  # an H200's
        (memory_text(None), ""),
        (duration_text(0), "0.000 s"),
        (duration_text(59_999_000_000), "59.999 s"),
        (duration_text(61_500_000_000), "1 min 1.5 s"),
        (time_text("2026-11-30T20:56:42.5Z"), "2026-11-30 20:56:42 UTC"),
        (count_text(1, "gate"), "1 gate"),
        (count_text(4096, "value"), "4,096 values"),
        (joined(()), ""),
        (joined(("a",)), "a"),
        (joined(("a", "b", "c")), "a, b and c"),
        (spaced("", "a", "", "b"), "a b"),
        (shortened("x" * 80), "x" * 80),
        (shortened("x" * 81), "x" * 80 + "…"),
        (text_at({"a": {"b": 7}}, "a.b"), "7"),
        (text_at({"a": True}, "a"), ""),
        (text_at({"a": []}, "a.b"), ""),
    ],
)
def test_values_are_words(given_: str, words: str) -> None:
    assert given_ == words


def test_code_and_emphasis_of_our_own_text_stand_apart() -> None:
    assert authored_pieces("a `b c` *d* e") == (
        Piece("text", "a "),
        Piece("code", "b c"),
        Piece("text", " "),
        Piece("em", "d"),
        Piece("text", " e"),
    )


def test_code_and_digests_of_a_sentence_stand_apart_and_stars_do_not() -> None:
    digest = "ab" * 32
    assert seen_pieces(f"`x*` of SHA-256 {digest} *no*") == (
        Piece("code", "x*"),
        Piece("text", " of SHA-256 "),
        Piece("digest", digest),
        Piece("text", " *no*"),
    )


@given(st.text(st.sampled_from("`*ab "), max_size=60))
def test_no_letter_of_a_text_is_lost(text: str) -> None:
    for pieces, marks in ((authored_pieces(text), "`*"), (seen_pieces(text), "`")):
        assert all(piece.text for piece in pieces)
        whole = "".join(piece.text for piece in pieces)
        assert [each for each in whole if each not in marks] == [each for each in text if each not in marks]


def test_a_long_sentence_is_cut_before_it_is_looked_at() -> None:
    pieces = seen_pieces("`a` " * 100_000)
    assert pieces[-1].text.endswith(f"({400_000 - LONGEST} more characters)")
    assert len(pieces) <= LONGEST


def test_the_authored_text_has_no_mark_that_stands_alone() -> None:
    assert len(PROVES) == 4
    for paragraph in PROVES:
        shown = "".join(piece.text for piece in authored_pieces(paragraph))
        assert not set("`*") & set(shown)

"""What gates make of a command that has ended."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import DeadlineError
from assay.gates.finished import ended, last_words
from assay.process import Finished


def test_a_command_that_ended_is_returned_and_one_that_did_not_is_an_error() -> None:
    assert ended(Finished(exit=3), "the build").exit == 3
    with pytest.raises(DeadlineError, match="the build did not end"):
        ended(Finished(exit="timeout"), "the build")


def test_last_words_are_the_last_lines_plain_and_errors_last() -> None:
    out = b"".join(b"line %d\r\n\n" % number for number in range(40))
    words = last_words(
        Finished(exit=1, stdout=out, stderr=b"\x1b[1;31merror\x1b[0m: \xff\x00\n")
    ).splitlines()
    assert (len(words), words[0], words[-2], words[-1]) == (20, "line 21", "line 39", "error: \ufffd")


@given(st.binary(max_size=5000), st.binary(max_size=5000))
def test_last_words_of_any_bytes_are_short_text(out: bytes, err: bytes) -> None:
    words = last_words(Finished(exit=1, stdout=out, stderr=err))
    assert len(words) <= 2000
    assert "\0" not in words
    assert len(words.splitlines()) <= 20

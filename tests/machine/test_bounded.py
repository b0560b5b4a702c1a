"""A stream with a budget: no read is too large, too many or beyond the end."""

from __future__ import annotations

import io

import pytest

from assay.errors import BinaryFormatError
from assay.machine import bounded
from assay.machine.bounded import BoundedStream, text_at


def test_reads_and_positions_like_the_stream_below() -> None:
    stream = BoundedStream(io.BytesIO(b"0123456789"))
    assert (stream.readable(), stream.seekable()) == (True, True)
    assert stream.seek(4) == 4
    assert (stream.read(3), stream.tell()) == (b"456", 7)
    assert stream.seek(-1, io.SEEK_END) == 9
    assert stream.read_at(2, 2) == b"23"


@pytest.mark.parametrize("size", [-1, bounded.READ_LIMIT + 1])
def test_one_read_is_bounded(size: int) -> None:
    with pytest.raises(BinaryFormatError, match="bounds"):
        BoundedStream(io.BytesIO(b"x")).read(size)


def test_all_reads_together_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "TOTAL_LIMIT", 10)
    stream = BoundedStream(io.BytesIO(b"x" * 100))
    assert stream.read(10) == b"x" * 10
    with pytest.raises(BinaryFormatError, match="more than 10 bytes"):
        stream.read(1)


def test_the_number_of_reads_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "CALLS_LIMIT", 2)
    stream = BoundedStream(io.BytesIO(b"x" * 100))
    assert stream.read(1) + stream.read(1) == b"xx"
    with pytest.raises(BinaryFormatError, match="too many reads"):
        stream.read(1)


@pytest.mark.parametrize("offset", [-1, 1 << 70])
def test_no_file_has_such_an_offset(offset: int) -> None:
    with pytest.raises(BinaryFormatError, match="offset"):
        BoundedStream(io.BytesIO(b"x")).seek(offset)


def test_what_is_not_all_there_is_an_error() -> None:
    with pytest.raises(BinaryFormatError, match="ends 3 bytes early at offset 10"):
        BoundedStream(io.BytesIO(b"0123456789")).read_at(8, 5)


def test_strings_of_a_table() -> None:
    table = b"\0abc\0\xff\0"
    assert [text_at(table, offset) for offset in (0, 1, 2, 5)] == ["", "abc", "bc", r"\xff"]
    assert text_at(table, 1, 3) == "abc"


@pytest.mark.parametrize(("offset", "limit"), [(-1, 9), (7, 9), (1, 2)])
def test_a_string_must_begin_and_end_in_its_table(offset: int, limit: int) -> None:
    with pytest.raises(BinaryFormatError, match="no string"):
        text_at(b"\0abc\0\xff\0", offset, limit)


def test_a_string_without_an_end_is_an_error() -> None:
    with pytest.raises(BinaryFormatError, match="no string"):
        text_at(b"\0abc", 1)

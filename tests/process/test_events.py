"""Events out of bytes: any cut of the bytes gives the same events, and every excess is named."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.process import Ended, Ending, Event, EventLimits
from assay.process.events import EventReader

VALUES = st.dictionaries(
    st.text(max_size=6), st.integers(-9, 9) | st.text(max_size=6) | st.none(), max_size=3
)


def drained(reader: EventReader) -> list[Event | Ended]:
    """Return what a reader hands out until it needs more or has ended."""
    came: list[Event | Ended] = []
    while (one := reader.next()) is not None:
        came.append(one)
        if isinstance(one, Ended):
            break
    return came


def fault(data: bytes, limits: EventLimits | None = None) -> Ended:
    reader = EventReader(limits or EventLimits())
    reader.feed(data)
    last = drained(reader)[-1]
    assert isinstance(last, Ended)
    return last


@given(st.lists(VALUES, max_size=6), st.lists(st.integers(1, 9), max_size=40))
def test_any_cut_of_the_bytes_gives_the_same_events(values: list[dict[str, object]], cuts: list[int]) -> None:
    data = b"".join(json.dumps(value).encode() + b"\n" for value in values)
    reader, came = EventReader(EventLimits()), []
    for size in [*cuts, len(data)]:
        reader.feed(data[:size])
        data = data[size:]
        came += drained(reader)
    assert came == [Event(value) for value in values]  # type: ignore[arg-type]  # made of JSON above
    assert reader.count == len(values)
    assert not reader.mid_line
    assert not reader.ready


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b"", "not JSON"),
        (b"hello", "not JSON"),
        (b"[1]", "is not an object"),
        (b"1", "is not an object"),
        (b'{"a":1.5}', "1.5"),
        (b'{"a":1,"a":2}', "twice"),
        (b'{"a":"\xff"}', "not UTF-8"),
        (b'{"a":NaN}', "NaN"),
        (b'{"a":' + b"[" * 500 + b"]" * 500 + b"}", "deep"),
        (b'{"a":1}{"b":2}', "not JSON"),
    ],
)
def test_a_line_that_is_no_event_is_malformed_and_shown(line: bytes, says: str) -> None:
    found = fault(b'{"first":1}\n' + line + b'\n{"later":3}\n')
    assert found.reason is Ending.MALFORMED
    assert found.detail.startswith("event 2 ")
    assert says in found.detail
    assert found.detail.isascii()
    assert len(found.detail) < 400


def test_the_first_fault_is_the_last_word() -> None:
    reader = EventReader(EventLimits())
    reader.feed(b'{"a":1}\nwrong\n{"b":2}\n')
    first, second = drained(reader)
    assert first == Event({"a": 1})
    reader.feed(b'{"c":3}\n')
    assert drained(reader) == [second]
    assert reader.ready


@pytest.mark.parametrize(
    ("data", "limits", "says"),
    [
        (b"x" * 11, EventLimits(line=10), "line is longer than 10 bytes"),
        (b'{"a":"' + b"x" * 20 + b'"}\n', EventLimits(line=10), "line is longer than 10 bytes"),
        (b"{}\n" * 5, EventLimits(total=14), "more than 14 bytes"),
        (b"{}\n" * 5, EventLimits(count=4), "more than 4 events"),
        (b"\n" * 5000, EventLimits(count=4), "more than 4 events"),
    ],
)
def test_a_flood_is_named(data: bytes, limits: EventLimits, says: str) -> None:
    found = fault(data, limits)
    assert found.reason is Ending.FLOOD
    assert says in found.detail


def test_just_within_the_limits() -> None:
    reader = EventReader(EventLimits(line=7, total=16, count=2))
    reader.feed(b'{"a":1}\n{"b":2}\n')
    assert drained(reader) == [Event({"a": 1}), Event({"b": 2})]


def test_a_line_without_its_end_is_waited_for() -> None:
    reader = EventReader(EventLimits())
    reader.feed(b'{"a"')
    assert (reader.next(), reader.mid_line, reader.ready) == (None, True, False)
    reader.feed(b":1}\n")
    assert (reader.next(), reader.mid_line) == (Event({"a": 1}), False)


@given(st.lists(st.binary(max_size=30), max_size=10))
def test_no_bytes_crash_the_reader_and_none_pile_up(pieces: list[bytes]) -> None:
    reader = EventReader(EventLimits(line=50, total=200, count=5))
    for piece in pieces:
        reader.feed(piece)
        assert all(isinstance(one, Event | Ended) for one in drained(reader))
    assert reader.count <= 5

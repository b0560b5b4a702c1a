"""The device's memory and its shadow."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from assay.rehearsal import BadAddressError, Memory, OutOfMemoryError
from assay.rehearsal.written import Written


@pytest.mark.gate
def test_bytes_come_back() -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(100)
    memory.write(place + 10, b"some bytes")
    assert memory.read(place + 10, 10) == b"some bytes"
    assert place % 256 == 0


@pytest.mark.gate
def test_a_large_allocation_is_refused_and_costs_nothing() -> None:
    memory = Memory(1 << 30)
    with pytest.raises(OutOfMemoryError, match="10000000000 bytes asked for, 1073741824 left"):
        memory.allocate(10_000_000_000)
    assert memory.used == 0
    assert memory.leaked() == ()


def test_capacity_is_given_back_by_free() -> None:
    memory = Memory(1000)
    place = memory.allocate(1000)
    with pytest.raises(OutOfMemoryError):
        memory.allocate(1)
    memory.free(place)
    assert memory.allocate(1000) != place


@pytest.mark.gate
@pytest.mark.parametrize(("offset", "size"), [(0, 101), (100, 1), (-1, 1), (50, 51)])
def test_the_host_is_told_of_accesses_outside(offset: int, size: int) -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(100)
    with pytest.raises(BadAddressError) as told:
        memory.read(place + offset, size)
    assert told.value.kind == "out-of-bounds"
    assert not memory.contains(place + offset, size)


def test_the_host_is_told_of_use_after_free_and_of_double_free() -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(100)
    memory.free(place)
    with pytest.raises(BadAddressError) as read:
        memory.read(place + 50, 1)
    with pytest.raises(BadAddressError) as freed:
        memory.free(place)
    assert read.value.kind == freed.value.kind == "use-after-free"


def test_an_address_inside_an_allocation_is_not_freed() -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(100)
    with pytest.raises(BadAddressError):
        memory.free(place + 1)
    assert memory.contains(place, 100)


def test_what_is_still_allocated_has_leaked() -> None:
    memory = Memory(1 << 20)
    first, second, third = memory.allocate(10), memory.allocate(20, "host"), memory.allocate(30, "module")
    memory.free(first)
    assert [(a.address, a.size, a.kind) for a in memory.leaked()] == [(second, 20, "host")]
    assert memory.contains(third)


@pytest.mark.parametrize(("pattern", "count"), [(b"\x07", 10), (b"\x01\x02", 5), (b"\x01\x02\x03\x04", 3)])
def test_fill_repeats_its_pattern(pattern: bytes, count: int) -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(64)
    memory.fill(place + 4, pattern, count)
    assert memory.read(place + 4, len(pattern) * count) == pattern * count


def test_copies_may_overlap_and_keep_what_is_known_of_the_bytes() -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(16)
    memory.write(place, bytes(range(8)))
    memory.copy(place + 4, place, 12)
    assert memory.read(place, 12) == bytes([0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7])
    allocation = memory.find(place)
    assert allocation is not None
    assert allocation.written.state(0, 16).tolist() == [1] * 12 + [0] * 4


def test_pinned_memory_has_its_real_address() -> None:
    memory = Memory(1 << 20)
    place = memory.allocate(8, "host")
    ctypes.c_uint64.from_address(place).value = 0x0123456789ABCDEF
    assert memory.read(place, 8) == bytes.fromhex("efcdab8967452301")


def test_registered_memory_is_the_callers_own() -> None:
    memory = Memory(1 << 20)
    array = np.arange(100, dtype=np.uint8)
    start = array.ctypes.data + 3
    memory.adopt(start, 50)
    memory.write(start + 1, b"\xff")
    assert array[4] == 255
    assert memory.read(start, 4) == bytes([3, 255, 5, 6])
    assert not memory.contains(start - 1)
    assert memory.leaked() == ()
    with pytest.raises(BadAddressError):
        memory.adopt(start + 10, 4)
    memory.free(start)
    assert memory.used == 0


class Reference(RuleBasedStateMachine):
    """Memory against a dictionary of byte arrays."""

    def __init__(self) -> None:
        super().__init__()
        self.memory = Memory(4096)
        self.known: dict[int, bytearray] = {}

    @rule(size=st.integers(1, 2048))
    def allocate(self, size: int) -> None:
        room = 4096 - sum(map(len, self.known.values()))
        if size > room:
            with pytest.raises(OutOfMemoryError):
                self.memory.allocate(size)
        else:
            place = self.memory.allocate(size)
            self.known[place] = bytearray(self.memory.read(place, size))

    @rule(pick=st.integers(0, 99))
    def free(self, pick: int) -> None:
        if self.known:
            place = list(self.known)[pick % len(self.known)]
            self.memory.free(place)
            del self.known[place]

    @rule(pick=st.integers(0, 99), offset=st.integers(0, 2050), data=st.binary(min_size=1, max_size=64))
    def write(self, pick: int, offset: int, data: bytes) -> None:
        if not self.known:
            return
        place = list(self.known)[pick % len(self.known)]
        held = self.known[place]
        if offset + len(data) <= len(held):
            self.memory.write(place + offset, data)
            held[offset : offset + len(data)] = data
        else:
            with pytest.raises(BadAddressError):
                self.memory.write(place + offset, data)

    @invariant()
    def agrees(self) -> None:
        assert self.memory.used == sum(map(len, self.known.values()))
        for place, held in self.known.items():
            assert self.memory.read(place, len(held)) == held


TestMemoryAgainstADictionary = Reference.TestCase


@given(
    st.lists(
        st.tuples(st.integers(0, 15), st.integers(1, 8), st.sampled_from([0, 1, 2, 4])),
        max_size=12,
    )
)
def test_what_was_written_is_known_byte_for_byte(marks: list[tuple[int, int, int]]) -> None:
    """Ranges (width 0) and elements of a width, in any order, against a plain list."""
    shadow, plain = Written(64), [0] * 64
    for start, count, width in marks:
        if width:
            index = np.arange(start, start + count)[:: 1 if count % 2 else -1]
            index = index[(index + 1) * width <= 64]
            if index.size:
                shadow.mark_elements(index, width)
            for element in index:
                plain[element * width : (element + 1) * width] = [1] * width
        else:
            shadow.mark(start, start + count)
            plain[start : start + count] = [1] * count
    assert shadow.state(0, 64).tolist() == plain
    assert shadow.covers(0, 64) == all(plain)
    unread = shadow.unwritten(np.arange(16), 4)
    assert unread.tolist() == [not any(plain[4 * i : 4 * i + 4]) for i in range(16)]

"""The system's own shared memory: the registers that say where it is, and what lies beside it."""

from __future__ import annotations

import numpy as np
import pytest

from assay.rehearsal import LaunchError
from assay.rehearsal.device import SYSTEM_SHARED
from tests.rehearsal.support import Device, body, kinds_of

PLACE = "mad.wide.u32 %d1, %r0, 4, %d0;"
"""Each thread's own element of the result."""

STATIC, DYNAMIC = 40, 256


def asked(register: str) -> int:
    """Return what a register reads as in a kernel with shared memory of its own."""
    device = Device(
        body(
            f"mov.u32 %r1, held; st.shared.u32 [%r1], 1; mov.u32 %r2, {register}; st.global.u32 [%d0], %r2;",
            f".shared .align 4 .b8 held[{STATIC}];",
        )
    )
    out = device.empty(4)
    assert device.run("k", 1, 1, "Q", out, shared=DYNAMIC).findings == ()
    return int(device.download(out, np.uint32, 1)[0])


@pytest.mark.parametrize("name", ["begin", "0", "1"])
def test_the_registers_point_behind_what_the_block_has(name: str) -> None:
    place = asked(f"%reserved_smem_offset_{name}")
    assert place >= STATIC + DYNAMIC
    assert place % 128 == 0


@pytest.mark.parametrize("name", ["end", "cap"])
def test_what_no_document_gives_a_value_is_refused(name: str) -> None:
    with pytest.raises(LaunchError, match=f"%reserved_smem_offset_{name} is not supported"):
        asked(f"%reserved_smem_offset_{name}")


def system(text: str) -> Device:
    """Return a kernel with %r1 where the system's memory begins and %r2 this thread's own word of it."""
    start = "mov.u32 %r1, %reserved_smem_offset_1; mad.lo.u32 %r2, %r0, 4, %r1;"
    return Device(body(f"{PLACE} {start} {text}"))


def test_what_the_system_has_is_each_blocks_own_and_counts_as_written() -> None:
    device = system(
        "red.shared.add.u32 [%r1], 1; bar.sync 0; ld.shared.u32 %r3, [%r1]; mov.u32 %r4, %ctaid.x;"
        "mad.wide.u32 %d1, %r4, 4, %d0; st.global.u32 [%d1], %r3;"
    )
    out = device.empty(4 * 3)
    assert device.run("k", 3, 96, "Q", out).findings == ()
    assert device.download(out, np.uint32, 3).tolist() == [96, 96, 96]


def test_threads_that_meet_nowhere_race_there_too() -> None:
    device = system(
        "st.shared.u32 [%r2], %r0; xor.b32 %r3, %r0, 32; mad.lo.u32 %r3, %r3, 4, %r1;"
        "ld.shared.u32 %r4, [%r3]; st.global.u32 [%d1], %r4;"
    )
    assert "race" in kinds_of(device.run("k", 1, 64, "Q", device.empty(4 * 64)).findings)


@pytest.mark.parametrize(("offset", "kinds"), [(SYSTEM_SHARED - 4, []), (SYSTEM_SHARED, ["out-of-bounds"])])
def test_it_ends_where_the_system_says(offset: int, kinds: list[str]) -> None:
    device = system(f"st.shared.u32 [%r1+{offset}], %r0;")
    assert kinds_of(device.run("k", 1, 1, "Q", device.empty(4)).findings) == kinds


@pytest.mark.parametrize(("index", "kinds"), [(DYNAMIC - 4, []), (DYNAMIC, ["out-of-bounds"])])
def test_a_kernel_that_does_not_ask_for_it_has_only_its_own(index: int, kinds: list[str]) -> None:
    device = Device(body(f"mov.u32 %r1, {index}; st.shared.u32 [%r1], %r0;"))
    assert kinds_of(device.run("k", 1, 1, "Q", device.empty(4), shared=DYNAMIC).findings) == kinds

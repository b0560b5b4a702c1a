"""Values that nothing wrote: dropped without a word, and told of where something depends on them."""

from __future__ import annotations

import numpy as np
import pytest

from assay.rehearsal import Finding
from tests.rehearsal.support import HEAD, Device, body

LOAD = "ld.global.u32 %r1, [%d0+4];"
"""The word behind the first, which nothing wrote."""

STORE = "st.global.u32 [%d0+8], %r2;"


def findings(text: str, registers: str = "", *, threads: int = 1, written: bytes = bytes(4)) -> list[Finding]:
    """Return what a kernel over a place of 64 words finds, whose first bytes are written."""
    device = Device(body(text, registers))
    place = device.empty(256)
    device.memory.write(place, written)
    return list(device.run("k", 1, threads, "Q", place).findings)


@pytest.mark.gate
@pytest.mark.parametrize(
    "text",
    [
        "",
        "add.u32 %r2, %r1, 1; mov.u32 %r2, 7; st.global.u32 [%d0+8], %r2;",
        "mov.u32 %r1, 3; setp.eq.u32 %p1, %r1, 3; @%p1 bra E; mov.u32 %r3, 1; E: mov.u32 %r3, 2;",
        "setp.eq.u32 %p1, %r0, 0; selp.b32 %r2, 5, %r1, %p1; st.global.u32 [%d0+8], %r2;",
        "mov.u32 %r3, 0; and.b32 %r2, %r1, %r3; st.global.u32 [%d0+8], %r2;",
        "and.b32 %r2, 0, %r1; st.global.u32 [%d0+8], %r2;",
        "or.b32 %r2, %r1, -1; st.global.u32 [%d0+8], %r2;",
        "setp.eq.u32 %p1, %r1, 9; setp.ne.u32 %p2, %r0, 0; and.pred %p3, %p1, %p2; @%p3 bar.sync 0;",
        "setp.ne.u32 %p2, %r0, 0; setp.eq.and.u32 %p1, %r1, 9, %p2; @%p1 bra E; mov.u32 %r2, 1; E:",
        "setp.eq.u32 %p2, %r0, 0; setp.eq.or.u32 %p1, %r1, 9, %p2; @%p1 bra E; mov.u32 %r2, 1; E:",
        "setp.ne.u32 %p1, %r0, 0; @%p1 st.global.u32 [%d0+8], %r1;",
        "mov.b64 %d3, {%r1, %r0}; mov.b64 {%r3, %r4}, %d3; mov.u32 %r3, 0;",
        "prefetch.global.L1 [%d0+4];",
        "atom.global.exch.b32 %r3, [%d0+12], 5;",
    ],
)
def test_what_nothing_depends_on_is_no_mistake(text: str) -> None:
    assert findings(f"{LOAD} {text}") == []


@pytest.mark.gate
@pytest.mark.parametrize(
    ("text", "how"),
    [
        ("st.global.u32 [%d0+8], %r1;", "stores it"),
        (f"mov.u32 %r2, %r1; {STORE}", "stores it"),
        (f"mad.lo.u32 %r2, %r0, 3, %r1; {STORE}", "stores it"),
        ("st.global.v2.u32 [%d0+8], {%r0, %r1};", "stores it"),
        (f"cvt.rn.f32.u32 %f1, %r1; cvt.rzi.u32.f32 %r2, %f1; {STORE}", "stores it"),
        (f"and.b32 %r2, %r1, 1; {STORE}", "stores it"),
        (f"or.b32 %r2, %r1, 1; {STORE}", "stores it"),
        (f"setp.eq.u32 %p1, %r0, 0; selp.b32 %r2, %r1, 5, %p1; {STORE}", "stores it"),
        (f"setp.eq.u32 %p1, %r1, 0; selp.b32 %r2, 4, 5, %p1; {STORE}", "stores it"),
        ("setp.eq.u32 %p1, %r0, 0; @%p1 st.global.u32 [%d0+8], %r1;", "stores it"),
        ("setp.eq.u32 %p1, %r1, 0; @%p1 bra E; mov.u32 %r2, 1; E:", "branches on it"),
        ("setp.eq.u32 %p1, %r1, 0; @!%p1 mov.u32 %r2, 1;", "branches on it"),
        ("setp.eq.u32 %p1, %r1, 0; @%p1 bar.sync 0;", "branches on it"),
        ("and.b32 %r1, %r1, 4; cvt.u64.u32 %d3, %r1; add.u64 %d3, %d0, %d3; ld.global.u32 %r2, [%d3];",
         "uses it as an address"),
        ("atom.global.add.u32 %r2, [%d0], %r1;", "depends on it"),
        ("red.global.add.u32 [%d0], %r1;", "depends on it"),
        ("atom.global.exch.b32 %r2, [%d0], %r1;", "stores it"),
        (f"shfl.sync.idx.b32 %r2, %r1, 0, 31, -1; {STORE}", "stores it"),
        (f"setp.eq.u32 %p1, %r1, 0; vote.sync.ballot.b32 %r2, %p1, -1; {STORE}", "stores it"),
        (f"redux.sync.add.u32 %r2, %r1, -1; {STORE}", "stores it"),
        ("setp.eq.u32 %p1, %r1, 0; barrier.red.popc.u32 %r2, 0, %p1;", "depends on it"),
        ("sub.u32 %r1, %r1, %r1; T: .branchtargets E; brx.idx %r1, T; E:", "depends on it"),
    ],
)  # fmt: skip
def test_what_something_depends_on_is_told_at_the_read(text: str, how: str) -> None:
    (found,) = findings(f"{LOAD} {text}")
    assert (found.kind, found.thread, found.count) == ("uninitialised", (0, 0, 0), 1)
    assert "a read of 4 bytes at 0x1000000000004 that nothing wrote" in found.message
    assert found.message.endswith(how)
    (loads,) = [at for at, line in enumerate(body(f"{LOAD} {text}").splitlines(), 1) if "%d0+4" in line]
    assert found.ptx_line == loads


@pytest.mark.gate
def test_an_atomic_operation_on_what_nothing_wrote_depends_on_it_even_where_nobody_reads_its_result() -> None:
    (found,) = findings("red.global.add.u32 [%d0+12], 1;")
    assert (found.kind, found.address) == ("uninitialised", (1 << 48) + 12)
    (found,) = findings(f"atom.global.exch.b32 %r2, [%d0+12], 5; {STORE}")
    assert (found.kind, found.address) == ("uninitialised", (1 << 48) + 12)


@pytest.mark.gate
@pytest.mark.parametrize("space", ["shared", "local"])
def test_a_copy_through_memory_of_the_block_or_thread_keeps_it_undefined(space: str) -> None:
    held = f".{space} .align 4 .b8 held[8];"
    there = f"{LOAD} st.{space}.u32 [held], %r1; ld.{space}.u32 %r2, [held];"
    assert findings(there, held) == []
    (found,) = findings(f"{there} {STORE}", held)
    assert found.kind == "uninitialised"
    again = f"{LOAD} st.{space}.u32 [held], %r1; st.{space}.u32 [held], 5; ld.{space}.u32 %r2, [held];"
    assert findings(f"{again} {STORE}", held) == []


@pytest.mark.gate
def test_through_shared_memory_the_first_read_is_told_of_with_its_own_thread() -> None:
    text = (
        "mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1; ld.global.u32 %r1, [%d1];"
        " mov.u32 %r5, held; mad.lo.u32 %r3, %r0, 4, %r5; st.shared.u32 [%r3], %r1; bar.sync 0;"
        " xor.b32 %r4, %r0, 32; mad.lo.u32 %r3, %r4, 4, %r5; ld.shared.u32 %r2, [%r3];"
        " setp.eq.u32 %p1, %r0, 3; @%p1 st.global.u32 [%d0], %r2;"
    )
    (found,) = findings(text, ".shared .align 4 .b8 held[256];", threads=64, written=bytes(4 * 30))
    assert (found.thread, found.address, found.count) == ((35, 0, 0), (1 << 48) + 4 * 35, 1)


@pytest.mark.gate
@pytest.mark.parametrize(("used", "count"), [("%r2", 1), ("%r3", 0)])
def test_an_asynchronous_copy_to_shared_memory_keeps_it_undefined(used: str, count: int) -> None:
    text = (
        "cp.async.ca.shared.global [held], [%d0], 8; cp.async.wait_all;"
        f" ld.shared.v2.u32 {{%r3, %r2}}, [held]; st.global.u32 [%d0+8], {used};"
    )
    assert len(findings(text, ".shared .align 16 .b8 held[16];")) == count


@pytest.mark.gate
@pytest.mark.parametrize(("returned", "count"), [("given", 1), ("0", 0)])
def test_a_call_hands_it_on_and_back(returned: str, count: int) -> None:
    value = "%r1" if returned == "given" else returned
    text = f"""{HEAD}
.func (.param .b32 result) same(.param .b32 given)
{{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [given];
    st.param.b32 [result], {value};
    ret;
}}
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<9>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [out];
    ld.global.u32 %r1, [%d0];
    {{
    .param .b32 x; .param .b32 y;
    st.param.b32 [x], %r1;
    call.uni (y), same, (x);
    ld.param.b32 %r2, [y];
    }}
    st.global.u32 [%d0], %r2;
    ret;
}}
"""
    device = Device(text)
    found = device.run("k", 1, 1, "Q", device.empty(4)).findings
    assert [each.kind for each in found] == ["uninitialised"] * count


@pytest.mark.gate
def test_threads_are_told_apart() -> None:
    text = (
        "mul.wide.u32 %d1, %r0, 4; add.u64 %d1, %d0, %d1; ld.global.u32 %r1, [%d1];"
        " and.b32 %r2, %r0, 1; setp.eq.u32 %p1, %r2, 1; @%p1 bra ODD;"
        " mov.u32 %r1, 0; ODD: st.global.u32 [%d1], %r1;"
    )
    (found,) = findings(text, threads=16, written=bytes(4 * 6))
    assert (found.count, found.thread) == (5, (7, 0, 0))


@pytest.mark.gate
def test_a_loop_tells_of_every_read_that_is_used_and_forgets_the_rest() -> None:
    text = (
        "mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u64 %d1, %d0;"
        " L: ld.global.u32 %r1, [%d1]; setp.lt.u32 %p1, %r3, 3; @%p1 add.u32 %r4, %r4, %r1;"
        " add.u64 %d1, %d1, 4; add.u32 %r3, %r3, 1; setp.lt.u32 %p2, %r3, 10; @%p2 bra L;"
        " st.global.u32 [%d0+128], %r4;"
    )
    assert findings(text, written=bytes(12)) == []
    (found,) = findings(text, written=bytes(8))
    assert found.kind == "uninitialised"


@pytest.mark.gate
def test_more_reads_than_are_followed_do_not_grow_memory_without_end() -> None:
    text = "".join(f"ld.global.u32 %r1, [%d0+{4 * (number % 60)}];" for number in range(3000))
    device = Device(body(f"{text} st.global.u32 [%d0], %r1;"))
    report = device.run("k", 4, 256, "Q", device.empty(256))
    assert np.isin([each.kind for each in report.findings], ["uninitialised"]).all()

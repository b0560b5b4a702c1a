"""Instructions that the random kernels do not use, each against the PTX ISA's words or plain Python."""

from __future__ import annotations

import random
import struct
from collections.abc import Callable

import numpy as np
import pytest

from assay.rehearsal import LaunchError
from assay.rehearsal.driver.devices import ATTRIBUTES
from tests.rehearsal.gpu_approximate import FUNCTIONS, approximate_ptx, judged
from tests.rehearsal.support import HEAD, Array, Device, body

THREADS = 64
RANDOM = random.Random(99)  # noqa: S311  # data, no secret


def results(text: str, kind: str = "u4", *, threads: int = THREADS, registers: str = "") -> Array:
    """Return what each thread of one block leaves in ``%r9`` (``u4``, ``f4``: %f9, ``u8``: %d9)."""
    register, store = {"u4": ("%r9", "u32"), "f4": ("%f9", "f32"), "u8": ("%d9", "u64")}[kind]
    size = int(kind[1])
    end = f"mad.wide.u32 %d40, %r0, {size}, %d0; st.global.{store} [%d40], {register};"
    device = Device(body(f"{text} {end}", registers))
    out = device.empty(size * threads)
    assert device.run("k", 1, threads, "Q", out).findings == ()
    return device.download(out, kind, threads)


def shuffled(mode: str, lane: int, offset: int, clamp: int) -> tuple[int, bool]:
    """Return the source lane and the predicate, word for word from section 9.7.9.6."""
    bval, cval, segmask = offset & 31, clamp & 31, clamp >> 8 & 31
    max_lane = (lane & segmask) | (cval & ~segmask)
    min_lane = lane & segmask
    if mode == "up":
        j, pval = lane - bval, lane - bval >= max_lane
    elif mode == "down":
        j, pval = lane + bval, lane + bval <= max_lane
    elif mode == "bfly":
        j, pval = lane ^ bval, (lane ^ bval) <= max_lane
    else:
        j = min_lane | (bval & ~segmask)
        pval = j <= max_lane
    return (j if pval else lane), pval


@pytest.mark.gate
@pytest.mark.parametrize("mode", ["up", "down", "bfly", "idx"])
@pytest.mark.parametrize(
    ("offset", "clamp"), [(1, 31), (5, 31), (16, 31), (3, 0x1807), (2, 0x1C03), (1, 0), (9, 0x1000)]
)
def test_shuffles(mode: str, offset: int, clamp: int) -> None:
    told = results(
        "mad.lo.u32 %r1, %r0, 100, 7;"
        f" shfl.sync.{mode}.b32 %r2|%p1, %r1, {offset}, {clamp}, -1;"
        " selp.b32 %r3, 1, 0, %p1; shl.b32 %r3, %r3, 31; or.b32 %r9, %r2, %r3;"
    )
    for thread in range(THREADS):
        source, valid = shuffled(mode, thread % 32, offset, clamp)
        assert told[thread] == (thread // 32 * 32 + source) * 100 + 7 | valid << 31


@pytest.mark.gate
def test_shuffles_wait_for_the_lanes_that_the_mask_names() -> None:
    """Lanes come to one shuffle from both sides of a branch; they exchange once all are there."""
    told = results(
        "setp.lt.u32 %p1, %r0, 40; mov.u32 %r1, 5; @%p1 bra A; mov.u32 %r1, 9;"
        " A: shfl.sync.bfly.b32 %r9, %r1, 31, 31, -1;"
    )
    assert told.tolist() == [5] * 32 + [9] * 24 + [5] * 8


@pytest.mark.gate
def test_a_lane_that_is_not_there_gives_zero() -> None:
    told = results("add.u32 %r1, %r0, 1; shfl.sync.down.b32 %r9, %r1, 4, 31, -1;", threads=10)
    assert told.tolist() == [5, 6, 7, 8, 9, 10, 0, 0, 0, 0]


@pytest.mark.gate
@pytest.mark.parametrize(
    ("name", "fold"),
    [
        ("add.s32", lambda values: sum(values) % 2**32),
        ("min.s32", lambda values: min(values, key=lambda v: v - (v >> 31 << 32))),
        ("max.u32", max),
        ("and.b32", lambda values: int(np.bitwise_and.reduce(values))),
        ("or.b32", lambda values: int(np.bitwise_or.reduce(values))),
        ("xor.b32", lambda values: int(np.bitwise_xor.reduce(values))),
    ],
)
def test_reductions_of_a_warp(name: str, fold: Callable[[list[int]], int]) -> None:
    told = results(
        "mul.lo.u32 %r1, %r0, 0x9E3779B9; and.b32 %r2, %r0, 8; setp.ne.u32 %p1, %r2, 0;"
        " mov.u32 %r3, 0xFF00FF00; @%p1 bra A; mov.u32 %r3, 0x00FF00FF;"
        f" A: redux.sync.{name} %r9, %r1, %r3;"
    )
    values = [thread * 0x9E3779B9 % 2**32 for thread in range(THREADS)]
    for thread in range(THREADS):
        group = [values[t] for t in range(THREADS) if t // 32 == thread // 32 and (t & 8) == (thread & 8)]
        assert told[thread] == fold(group)


@pytest.mark.gate
def test_match_and_elect() -> None:
    told = results("shr.u32 %r1, %r0, 5; match.all.sync.b32 %r9|%p1, %r1, -1; @!%p1 mov.u32 %r9, 7;")
    assert told.tolist() == [0xFFFFFFFF] * THREADS
    told = results("match.all.sync.b32 %r9|%p1, %r0, -1; @!%p1 add.u32 %r9, %r9, 7;")
    assert told.tolist() == [7] * THREADS
    told = results("elect.sync %r1|%p1, 0xFFFFFFF0; selp.b32 %r2, 100, 0, %p1; add.u32 %r9, %r1, %r2;")
    assert told[:6].tolist() == [4, 4, 4, 4, 104, 4]


@pytest.mark.gate
def test_active_lanes_and_masks() -> None:
    told = results("mov.u32 %r9, 0; and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; @%p1 activemask.b32 %r9;")
    assert told.tolist() == [0x55555555, 0] * 32
    masks: tuple[tuple[str, Callable[[int], int]], ...] = (
        ("lt", lambda lane: (1 << lane) - 1),
        ("le", lambda lane: (2 << lane) - 1),
        ("eq", lambda lane: 1 << lane),
        ("ge", lambda lane: 2**32 - (1 << lane)),
        ("gt", lambda lane: (2**32 - (2 << lane)) % 2**32),
    )
    for name, expected in masks:
        assert results(f"mov.u32 %r9, %lanemask_{name};").tolist() == [
            expected(t % 32) for t in range(THREADS)
        ]


@pytest.mark.gate
@pytest.mark.parametrize(
    ("name", "kind", "expected"), [("popc", "u32", 21), ("and", "pred", 0), ("or", "pred", 1)]
)
def test_reductions_at_a_barrier(name: str, kind: str, expected: int) -> None:
    destination = "%r9" if kind == "u32" else "%p2"
    told = results(
        "rem.u32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 1;"
        f" bar.red.{name}.{kind} {destination}, 0, %p1;"
        + ("" if kind == "u32" else " selp.b32 %r9, 1, 0, %p2;")
    )
    assert told.tolist() == [expected] * THREADS


@pytest.mark.gate
def test_blocks_and_threads_have_three_axes() -> None:
    text = """
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ctaid.y; mov.u32 %r3, %ctaid.z;
    mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z;
    mov.u32 %r6, %nctaid.x; mov.u32 %r7, %nctaid.y; mov.u32 %r8, %ntid.x;
    mov.u32 %r10, %ntid.y; mov.u32 %r11, %ntid.z;
    mad.lo.u32 %r12, %r3, %r7, %r2; mad.lo.u32 %r12, %r12, %r6, %r1;
    mad.lo.u32 %r13, %r5, %r10, %r4; mad.lo.u32 %r13, %r13, %r8, %r0;
    mul.lo.u32 %r14, %r8, %r10; mul.lo.u32 %r14, %r14, %r11; mad.lo.u32 %r15, %r12, %r14, %r13;
    mad.wide.u32 %d1, %r15, 8, %d0; st.global.v2.u32 [%d1], {%r15, %r3};
    """
    device = Device(body(text))
    out = device.empty(8 * 30 * 24)
    assert device.run("k", (2, 3, 5), (4, 3, 2), "Q", out).findings == ()
    told = device.download(out, np.uint32, 2 * 30 * 24).reshape(-1, 2)
    assert told[:, 0].tolist() == list(range(720))
    assert told[:, 1].tolist() == [block // 6 for block in range(30) for _ in range(24)]


@pytest.mark.gate
def test_generic_addresses_find_their_space() -> None:
    """Each third of the threads writes and reads another space through one instruction."""
    told = results(
        "mov.u64 %d1, held; cvta.shared.u64 %d1, %d1; mad.wide.u32 %d1, %r0, 4, %d1;"
        " mov.u64 %d2, own; cvta.local.u64 %d2, %d2; mad.wide.u32 %d3, %r0, 4, %d0;"
        " rem.u32 %r1, %r0, 3; setp.eq.u32 %p1, %r1, 0; setp.eq.u32 %p2, %r1, 1;"
        " selp.b64 %d4, %d1, %d3, %p1; selp.b64 %d4, %d2, %d4, %p2;"
        " add.u32 %r2, %r0, 1000; st.u32 [%d4], %r2; ld.u32 %r3, [%d4];"
        " isspacep.shared %p3, %d4; isspacep.local %p4, %d4; isspacep.global %p5, %d4;"
        " selp.b32 %r4, 0x10000, 0, %p3; selp.b32 %r5, 0x20000, 0, %p4; selp.b32 %r6, 0x40000, 0, %p5;"
        " add.u32 %r9, %r3, %r4; add.u32 %r9, %r9, %r5; add.u32 %r9, %r9, %r6;",
        registers=".shared .align 4 .b8 held[256]; .local .align 4 .b8 own[4];",
    )
    spaces = (0x10000, 0x20000, 0x40000)
    assert told.tolist() == [thread + 1000 + spaces[thread % 3] for thread in range(THREADS)]


@pytest.mark.gate
def test_vectors_are_read_and_written_whole() -> None:
    device = Device(
        body(
            "mad.wide.u32 %d1, %r0, 16, %d0; ld.global.v4.u32 {%r1, %r2, _, %r4}, [%d1];"
            " st.global.v2.u32 [%d1+8], {%r1, %r4};"
        )
    )
    values = np.arange(4 * THREADS, dtype=np.uint32)
    place = device.upload(values)
    assert device.run("k", 1, THREADS, "Q", place).findings == ()
    told = device.download(place, np.uint32, values.size).reshape(-1, 4)
    rows = values.reshape(-1, 4)
    assert (told == np.stack([rows[:, 0], rows[:, 1], rows[:, 0], rows[:, 3]], axis=1)).all()


@pytest.mark.gate
@pytest.mark.parametrize(
    ("kind", "pattern", "expected"),
    [
        ("u8", 0x80FF1234, 0x34),
        ("s8", 0x000000F0, 0xFFFFFFF0),
        ("s16", 0x8001, 0xFFFF8001),
        ("u16", 0x8001, 0x8001),
    ],
)
def test_narrow_loads_are_extended_by_their_type(kind: str, pattern: int, expected: int) -> None:
    told = results(
        f"mov.u32 %r1, {pattern}; st.local.u32 [own], %r1; ld.local.{kind} %r9, [own];",
        registers=".local .align 4 .b8 own[4];",
    )
    assert set(told.tolist()) == {expected}


@pytest.mark.gate
def test_asynchronous_copies_arrive() -> None:
    text = (
        "mov.u32 %r1, held; mad.lo.u32 %r1, %r0, 16, %r1; mad.wide.u32 %d1, %r0, 16, %d0;"
        " cp.async.cg.shared.global [%r1], [%d1], 16;"
        " cp.async.commit_group; cp.async.wait_group 0; bar.sync 0;"
        " xor.b32 %r2, %r0, 1; mov.u32 %r3, held; mad.lo.u32 %r3, %r2, 16, %r3;"
        " ld.shared.v4.u32 {%r4, %r5, %r6, %r7}, [%r3]; add.u32 %r4, %r4, %r7; st.global.u32 [%d1], %r4;"
    )
    device = Device(body(text, ".shared .align 16 .b8 held[1024];"))
    values = np.arange(4 * THREADS, dtype=np.uint32)
    place = device.upload(values)
    assert device.run("k", 1, THREADS, "Q", place).findings == ()
    told = device.download(place, np.uint32, values.size).reshape(-1, 4)[:, 0]
    assert told.tolist() == [8 * (t ^ 1) + 3 for t in range(THREADS)]


@pytest.mark.gate
def test_a_short_asynchronous_copy_is_filled_with_zeros() -> None:
    text = (
        "cp.async.ca.shared.global [held], [%d0], 8, 4;"
        " cp.async.wait_all; ld.shared.v2.u32 {%r4, %r5}, [held];"
        " st.global.v2.u32 [%d0], {%r5, %r4};"
    )
    device = Device(body(text, ".shared .align 16 .b8 held[16];"))
    place = device.upload(np.array([7, 9], np.uint32))
    device.run("k", 1, 1, "Q", place)
    assert device.download(place, np.uint32, 2).tolist() == [0, 7]


@pytest.mark.gate
def test_parameters_are_read_through_their_address() -> None:
    text = f"""{HEAD}
.visible .entry k(.param .u64 out, .param .align 4 .b8 table[256])
{{
    .reg .b32 %r<9>; .reg .b64 %d<9>;
    ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x; mov.b64 %d1, table;
    mad.wide.u32 %d2, %r0, 4, %d1; ld.param.u32 %r1, [%d2];
    cvta.param.u64 %d3, %d2; ld.u32 %r2, [%d3]; ld.param.u32 %r3, [table+8];
    add.u32 %r1, %r1, %r2; add.u32 %r1, %r1, %r3;
    mad.wide.u32 %d4, %r0, 4, %d0; st.global.u32 [%d4], %r1;
    ret;
}}
"""
    device = Device(text)
    out = device.empty(256)
    assert device.run("k", 1, 64, "Q64I", out, *range(100, 164)).findings == ()
    assert device.download(out, np.uint32, 64).tolist() == [2 * (100 + i) + 102 for i in range(64)]


@pytest.mark.gate
def test_initialisers_hold_addresses() -> None:
    text = f"""{HEAD}
.global .align 4 .u32 words[2] = {{11, 22}};
.global .align 8 .u64 table[2] = {{generic(words)+4, words}};
.visible .entry k(.param .u64 out)
{{
    .reg .b32 %r<9>; .reg .b64 %d<9>;
    ld.param.u64 %d0, [out]; ld.global.u64 %d1, [table]; ld.global.u64 %d2, [table+8];
    ld.u32 %r1, [%d1]; ld.u32 %r2, [%d2]; mad.lo.u32 %r1, %r1, 100, %r2; st.global.u32 [%d0], %r1;
    ret;
}}
"""
    device = Device(text)
    out = device.empty(4)
    device.run("k", 1, 1, "Q", out)
    assert device.download(out, np.uint32, 1)[0] == 2211


def half_bits(value: float) -> int:
    return int.from_bytes(struct.pack("<e", value), "little")


@pytest.mark.gate
def test_pairs_of_halves() -> None:
    a, b = (1.5, -2.25), (0.125, 3.0)
    words = [half_bits(x[1]) << 16 | half_bits(x[0]) for x in (a, b)]
    load = f"mov.b32 %r1, {words[0]}; mov.b32 %r2, {words[1]};"
    for instruction, expected in (
        ("add.f16x2 %r9, %r1, %r2", [x + y for x, y in zip(a, b, strict=True)]),
        ("mul.rn.f16x2 %r9, %r1, %r2", [x * y for x, y in zip(a, b, strict=True)]),
        ("fma.rn.f16x2 %r9, %r1, %r2, %r1", [x * y + x for x, y in zip(a, b, strict=True)]),
        ("max.f16x2 %r9, %r1, %r2", [max(x, y) for x, y in zip(a, b, strict=True)]),
        ("neg.f16x2 %r9, %r1", [-x for x in a]),
        ("fma.rn.relu.f16x2 %r9, %r1, %r2, %r1", [max(0.0, x * y + x) for x, y in zip(a, b, strict=True)]),
    ):
        word = half_bits(expected[1]) << 16 | half_bits(expected[0])
        assert set(results(f"{load} {instruction};").tolist()) == {word}, instruction


@pytest.mark.gate
@pytest.mark.parametrize(
    ("value", "mode", "expected"),
    [
        (0x3F808000, "rn", 0x3F80),
        (0x3F818000, "rn", 0x3F82),
        (0x3F80FFFF, "rz", 0x3F80),
        (0xBF808001, "rn", 0xBF81),
        (0x7F7FFFFF, "rn", 0x7F80),
        (0x7FC00001, "rn", 0x7FFF),
    ],
)
def test_bf16_is_a_short_float32(value: int, mode: str, expected: int) -> None:
    """Half way goes to the even one; NaN is canonical."""
    told = results(f"mov.b32 %f1, {value}; cvt.{mode}.bf16.f32 %h1, %f1; cvt.u32.u16 %r9, %h1;")
    assert set(told.tolist()) == {expected}


@pytest.mark.gate
def test_two_floats_become_a_pair() -> None:
    told = results("mov.f32 %f1, 0f40490FDB; mov.f32 %f2, 0fC02DF854; cvt.rn.f16x2.f32 %r9, %f1, %f2;")
    assert set(told.tolist()) == {half_bits(3.14159274) << 16 | half_bits(-2.71828175)}


@pytest.mark.gate
@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("cvt.pack.sat.s16.s32 %r9, 40000, -5", 0x7FFFFFFB),
        ("cvt.pack.sat.u8.s32.b32 %r9, 300, -5, 0xAABBCCDD", 0xCCDDFF00),
        ("bmsk.clamp.b32 %r9, 4, 8", 0xFF0),
        ("bmsk.wrap.b32 %r9, 36, 40", 0xFF0),
        ("szext.clamp.s32 %r9, 0x1F0, 9", 0xFFFFFFF0),
        ("szext.wrap.u32 %r9, 0xFFFF, 36", 0xF),
        ("mul24.hi.u32 %r9, 0xFFFFFF, 0xFFFFFF", 0xFFFFFE00 | 0),
        ("mad24.lo.s32 %r9, -3, 5, 100", 85),
        ("bfind.s32 %r9, -1", 0xFFFFFFFF),
        ("bfind.u32 %r9, 0x00010000", 16),
        ("set.lt.u32.s32 %r9, -5, 3", 0xFFFFFFFF),
        ("set.gt.f32.s32 %r9, 5, 3", 0x3F800000),
        ("shf.l.clamp.b32 %r9, 0x12345678, 0x9ABCDEF0, 40", 0x12345678),
        ("add.s16x2 %r9, 0x00017FFF, 0xFFFF0001", 0x00008000),
        ("max.u16x2 %r9, 0x00017FFF, 0x80000001", 0x80007FFF),
    ],
)
def test_single_results(instruction: str, expected: int) -> None:
    assert set(results(f"{instruction};").tolist()) == {expected}


@pytest.mark.gate
@pytest.mark.parametrize(
    ("instruction", "expected"),
    [
        ("min.f32 %f9, 0f7FC00000, 0f40000000", 0x40000000),
        ("min.NaN.f32 %f9, 0f7FC00000, 0f40000000", 0x7FFFFFFF),
        ("min.f32 %f9, 0f7FC00000, 0f7F800001", 0x7FFFFFFF),
        ("max.f32 %f9, 0f80000000, 0f00000000", 0x00000000),
        ("min.ftz.f32 %f9, 0f80000001, 0f3F800000", 0x80000000),
        ("mul.rn.ftz.f32 %f9, 0f3F7FFFFF, 0f80800000", 0x80000000),  # 24 bits below it (H200)
        ("mul.rp.ftz.f32 %f9, 0f3F7FFFFF, 0f00800000", 0x00000000),
        ("mul.rn.ftz.f32 %f9, 0f3F800000, 0f80800000", 0x80800000),
        ("mul.rn.f32 %f9, 0f3F7FFFFF, 0f80800000", 0x80800000),
        ("fma.rn.ftz.f32 %f9, 0f14000000, 0f00800000, 0f80800000", 0x80800000),  # rounded to it (H200)
        ("max.xorsign.abs.f32 %f9, 0fC0000000, 0f3F800000", 0xC0000000),
        ("add.f32 %f9, 0f7F800000, 0fFF800000", 0x7FFFFFFF),
        ("abs.f32 %f9, 0f80000000", 0x00000000),
        ("sqrt.rn.f32 %f9, 0fBF800000", 0x7FFFFFFF),
        ("rcp.approx.ftz.f32 %f9, 0f80000001", 0xFF800000),
        ("ex2.approx.f32 %f9, 0f41200000", 0x44800000),
        ("lg2.approx.f32 %f9, 0f44800000", 0x41200000),
        ("div.approx.f32 %f9, 0f3F800000, 0f7F000000", 0x00000000),
        ("div.full.f32 %f9, 0f40C00000, 0f40400000", 0x40000000),
        ("rsqrt.approx.f32 %f9, 0f80000000", 0xFF800000),
        ("add.rm.f32 %f9, 0f3F800000, 0fBF800000", 0x80000000),
        ("cvt.rni.f32.f32 %f9, 0f40200000", 0x40000000),
    ],
)
def test_special_floats(instruction: str, expected: int) -> None:
    told = results(f"{instruction};", "f4")
    assert set(told.view(np.uint32).tolist()) == {expected}


@pytest.mark.gate
def test_properties_of_floats() -> None:
    words = (0x3F800000, 0x00000001, 0x7F800000, 0x7FC00000, 0x80000000)
    names = ("finite", "infinite", "number", "notanumber", "normal", "subnormal")
    expected = {
        0x3F800000: (1, 0, 1, 0, 1, 0),
        0x00000001: (1, 0, 1, 0, 0, 1),
        0x7F800000: (0, 1, 1, 0, 0, 0),
        0x7FC00000: (0, 0, 0, 1, 0, 0),
        0x80000000: (1, 0, 1, 0, 0, 0),
    }
    for word in words:
        text = "mov.u32 %r9, 0;" + "".join(
            f" testp.{name}.f32 %p1, 0f{word:08X}; @%p1 or.b32 %r9, %r9, {1 << bit};"
            for bit, name in enumerate(names)
        )
        told = int(results(text)[0])
        assert tuple(told >> bit & 1 for bit in range(6)) == expected[word]


@pytest.mark.gate
def test_lop3_with_a_predicate() -> None:
    told = results(
        "setp.eq.u32 %p1, %r0, 3; lop3.or.b32 %r1|%p2, %r0, 1, 0, 0xC0, %p1; selp.b32 %r9, 1, 0, %p2;"
    )
    assert told.tolist() == [int(bool(t & 1) or t == 3) for t in range(THREADS)]


@pytest.mark.gate
def test_approximate_functions_stay_within_the_errors_that_the_isa_states() -> None:
    device = Device(approximate_ptx())
    for name, function in FUNCTIONS.items():
        values = function.inputs(np.random.default_rng(3), 1 << 12)
        out = device.empty(values.nbytes)
        device.run(f"f_{name}", values.size // 128, 128, "QQ", device.upload(values), out)
        bad, worst = judged(function, values, device.download(out, np.float32, values.size))
        assert bad == 0, f"{name}: {worst}"


@pytest.mark.gate
def test_clocks_move_on() -> None:
    told = results("mov.u64 %d1, %clock64; mov.u64 %d2, %clock64; sub.u64 %d9, %d2, %d1;", "u8")
    assert (told > 0).all()


@pytest.mark.gate
def test_trap_names_thread_and_line() -> None:
    device = Device(body("setp.eq.u32 %p1, %r0, 33;\n @%p1 trap;"))
    with pytest.raises(LaunchError, match=r"thread \(33, 0, 0\) executed trap") as told:
        device.run("k", 1, THREADS, "Q", device.empty(4))
    assert told.value.reason == "trap"


@pytest.mark.gate
def test_threads_of_one_warp_hand_a_value_on_through_volatile_memory() -> None:
    """Odd threads wait for what even ones write after them: both make progress."""
    text = (
        "and.b32 %r1, %r0, 1; setp.eq.u32 %p1, %r1, 0; mad.wide.u32 %d1, %r0, 4, %d0; @%p1 bra WRITE;"
        " WAIT: ld.volatile.global.u32 %r2, [%d1+-4]; setp.eq.u32 %p2, %r2, 0; @%p2 bra WAIT;"
        " add.u32 %r2, %r2, 1; st.volatile.global.u32 [%d1], %r2; bra END;"
        " WRITE: add.u32 %r3, %r0, 5; st.volatile.global.u32 [%d1], %r3; END:"
    )
    device = Device(body(text))
    place = device.upload(np.zeros(THREADS, np.uint32))
    assert device.run("k", 1, THREADS, "Q", place).findings == ()
    assert device.download(place, np.uint32, THREADS).tolist() == [
        t // 2 * 2 + 5 + t % 2 for t in range(THREADS)
    ]


@pytest.mark.gate
def test_device_memory_from_malloc_is_given_back_or_told() -> None:
    calls = """
    { .param .b64 p0; st.param.b64 [p0], 16; .param .b64 r0;
    call (r0), malloc, (p0); ld.param.b64 %d1, [r0]; }
    st.u32 [%d1+12], %r0; ld.u32 %r1, [%d1+12]; mad.wide.u32 %d2, %r0, 4, %d0; st.global.u32 [%d2], %r1;
    setp.eq.u32 %p1, %r0, 5; @%p1 bra KEEP;
    { .param .b64 p0; st.param.b64 [p0], %d1; call free, (p0); }
    KEEP:
    """
    text = (
        HEAD + ".extern .func (.param .b64 r) malloc (.param .b64 s);\n.extern .func free (.param .b64 p);\n"
    )
    device = Device(text + body(calls).removeprefix(HEAD))
    out = device.empty(4 * THREADS)
    assert device.run("k", 1, THREADS, "Q", out).findings == ()
    assert device.download(out, np.uint32, THREADS).tolist() == list(range(THREADS))
    assert [a.kind for a in device.memory.leaked()] == ["device", "heap"]
    host, kernel = device.memory.leaks()
    assert (host.kind, host.kernel, host.address) == ("leak", "", out)
    assert (kernel.kind, kernel.kernel, kernel.thread) == ("leak", "k", (5, 0, 0))
    assert kernel.ptx_line > 0


@pytest.mark.gate
def test_the_multiprocessors_are_those_that_the_device_s_attributes_tell() -> None:
    device = Device(body("mov.u32 %r1, %ctaid.x; mov.u32 %r2, %smid; mov.u32 %r3, %nsmid;"
        " mad.wide.u32 %d1, %r1, 8, %d0; st.global.v2.u32 [%d1], {%r2, %r3};"))  # fmt: skip
    out = device.empty(8 * 100)
    assert device.run("k", 100, 1, "Q", out).findings == ()
    told = device.download(out, np.uint32, 200).reshape(100, 2)
    count = ATTRIBUTES[16]  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT
    assert (told[:, 1] == count).all()
    assert told[:, 0].max() < count
    assert len(set(told[:, 0].tolist())) == min(100, count)

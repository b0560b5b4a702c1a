"""Mistakes in kernels that a GPU would not tell: each with kernel, line, thread and address."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.rehearsal import LaunchError
from assay.selection import Selection
from tests.rehearsal.support import HEAD, Device, body, kinds_of, nvcc_ptx

MISTAKES = """\
extern "C" __global__ void past_the_end(int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= count)
        out[i] = i;
}
extern "C" __global__ void misaligned(char *out)
{
    *reinterpret_cast<int *>(out + threadIdx.x) = 1;
}
extern "C" __global__ void never_written(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x];
}
extern "C" __global__ void shared_never_written(int *out)
{
    __shared__ int held[64];
    if (threadIdx.x < 63)
        held[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = held[threadIdx.x];
}
extern "C" __global__ void divergent(int *out)
{
    if (threadIdx.x < 40) {
        __syncthreads();
        out[threadIdx.x] = 1;
    }
}
extern "C" __global__ void no_barrier(int *out)
{
    __shared__ int held[64];
    held[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = held[63 - threadIdx.x];
}
extern "C" __global__ void same_place(int *out)
{
    __shared__ int last;
    last = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = last;
}
extern "C" __global__ void same_value(int *out)
{
    __shared__ int flag;
    flag = 7;
    __syncthreads();
    out[threadIdx.x] = flag;
}
extern "C" __global__ void within_a_warp(int *out)
{
    __shared__ int held[64];
    held[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = held[threadIdx.x ^ 1];
}
extern "C" __global__ void past_one_array(int *out)
{
    __shared__ int first[32], second[32];
    first[threadIdx.x] = 1;
    second[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] = first[threadIdx.x + (out ? 1 : 0)] + second[threadIdx.x];
}
extern "C" __global__ void through_null(int *out, int *other)
{
    int *chosen = threadIdx.x == 5 ? other : out;
    chosen[threadIdx.x] = 1;
}
__device__ __forceinline__ int picked(const int *in, int place)
{
    return in[place + 1];
}
extern "C" __global__ void in_an_inlined_function(const int *in, int *out)
{
    out[threadIdx.x] = picked(in, threadIdx.x);
}
extern "C" __global__ void in_a_header(int *out)
{
    atomicAdd(&out[threadIdx.x + 1], 1);
}
#include <cassert>
extern "C" __global__ void asserts(int limit)
{
    assert(threadIdx.x < limit);
}
"""
"""Each mistake in one line of a kernel; the lines are those of this text."""


@pytest.fixture(scope="module")
def mistakes(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Device]:
    folder = tmp_path_factory.mktemp("mistakes")
    (folder / "mistakes.cu").write_text(f'#line 1 "/kernels/mistakes.cu"\n{MISTAKES}')
    text = nvcc_ptx(selection, folder / "mistakes.cu", folder / "mistakes.ptx")
    return lambda: Device(text)


def line_of(code: str) -> int:
    """Return the line of the first kernel line that has this code."""
    return next(number for number, line in enumerate(MISTAKES.splitlines(), 1) if code in line)


def test_a_write_past_the_end(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    out = device.empty(4 * 300)
    report = device.run("past_the_end", 2, 256, "Qi", out, 300)
    (finding,) = report.findings
    assert (finding.kind, finding.kernel, finding.count) == ("out-of-bounds", "past_the_end", 1)
    assert (finding.file, finding.line) == ("/kernels/mistakes.cu", line_of("out[i] = i"))
    assert (finding.block, finding.thread, finding.address) == ((1, 0, 0), (44, 0, 0), out + 1200)
    assert "0 bytes past the end of 1200 bytes" in finding.message
    assert finding.fatal
    assert device.download(out, np.int32, 300).tolist() == list(range(300))


def test_a_misaligned_write(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    out = device.upload(np.zeros(4, np.int32))
    (finding,) = device.run("misaligned", 1, 5, "Q", out).findings
    assert (finding.kind, finding.thread, finding.address) == ("misaligned", (1, 0, 0), out + 1)
    assert finding.count == 3
    assert device.download(out, np.int32, 4).tolist() == [1, 1, 0, 0]


def test_use_after_free(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    given, out = device.upload(np.zeros(8, np.int32)), device.empty(32)
    device.memory.free(given)
    device.empty(1 << 16)
    (finding,) = device.run("never_written", 1, 8, "QQ", given, out).findings
    assert (finding.kind, finding.address, finding.count) == ("use-after-free", given, 8)


def test_a_read_of_memory_that_nothing_wrote(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    given, out = device.empty(128), device.empty(128)
    device.memory.write(given, bytes(64))
    (finding,) = device.run("never_written", 1, 32, "QQ", given, out).findings
    assert (finding.kind, finding.address, finding.count) == ("uninitialised", given + 64, 16)
    assert finding.thread == (16, 0, 0)
    assert not finding.fatal


def test_a_read_of_shared_memory_that_nothing_wrote(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    (finding,) = device.run("shared_never_written", 2, 64, "Q", device.empty(256)).findings
    assert (finding.kind, finding.address, finding.count) == ("uninitialised", 252, 2)
    assert finding.line == line_of("out[threadIdx.x] = held[threadIdx.x]")


def test_a_barrier_in_divergent_code(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    (finding,) = device.run("divergent", 1, 64, "Q", device.empty(256)).findings
    assert (finding.kind, finding.line) == ("barrier", line_of("if (threadIdx.x < 40)") + 1)
    assert finding.address is None
    assert "24 threads of the block have returned" in finding.message


def test_a_race_across_warps(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    (finding,) = device.run("no_barrier", 1, 64, "Q", device.empty(256)).findings
    assert (finding.kind, finding.line) == ("race", line_of("held[63 - threadIdx.x]"))
    assert "thread (63, 0, 0)" in finding.message


def test_a_race_between_writes(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    (finding,) = device.run("same_place", 1, 64, "Q", device.empty(256)).findings
    assert (finding.kind, finding.line, finding.address) == ("race", line_of("last = threadIdx.x"), 0)


@pytest.mark.parametrize("kernel", ["same_value", "within_a_warp"])
def test_what_is_no_race(mistakes: Callable[[], Device], kernel: str) -> None:
    device = mistakes()
    assert device.run(kernel, 3, 64, "Q", device.empty(256)).findings == ()


def test_an_index_past_one_shared_array_does_not_meet_the_next(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    (finding,) = device.run("past_one_array", 1, 32, "Q", device.empty(128)).findings
    assert (finding.kind, finding.thread) == ("out-of-bounds", (31, 0, 0))


def test_a_null_pointer(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    out = device.empty(32)
    (finding,) = device.run("through_null", 1, 8, "QQ", out, 0).findings
    assert (finding.kind, finding.address, finding.thread) == ("out-of-bounds", 20, (5, 0, 0))
    assert "nothing is allocated" in finding.message


@pytest.mark.parametrize(
    ("kernel", "code"),
    [("in_an_inlined_function", "in[place + 1]"), ("in_a_header", "atomicAdd(&out[threadIdx.x + 1]")],
)
def test_what_was_inlined_is_told_with_the_line_in_the_author_s_own_source(
    mistakes: Callable[[], Device], kernel: str, code: str
) -> None:
    device = mistakes()
    place = device.upload(np.zeros(8, np.int32))
    given = ("QQ", place, device.empty(32)) if kernel == "in_an_inlined_function" else ("Q", place)
    (finding,) = device.run(kernel, 1, 8, *given).findings
    assert (finding.kind, finding.thread) == ("out-of-bounds", (7, 0, 0))
    assert (finding.file, finding.line) == ("/kernels/mistakes.cu", line_of(code))


def test_a_failed_assertion(mistakes: Callable[[], Device]) -> None:
    with pytest.raises(LaunchError) as told:
        mistakes().run("asserts", 1, 32, "i", 30)
    assert told.value.reason == "trap"
    (finding,) = told.value.report.findings
    assert (finding.kind, finding.thread, finding.count) == ("assertion", (30, 0, 0), 2)
    assert "Assertion `threadIdx.x < limit` failed" in finding.message


@pytest.mark.gate
def test_local_memory_that_nothing_wrote() -> None:
    text = body("ld.local.u32 %r1, [place+4]; st.global.u32 [%d0], %r1;", ".local .align 4 .b8 place[8];")
    device = Device(text)
    (finding,) = device.run("k", 1, 1, "Q", device.empty(4)).findings
    assert (finding.kind, finding.address) == ("uninitialised", 4)
    assert (
        finding.ptx_line == text.splitlines().index(next(x for x in text.splitlines() if "ld.local" in x)) + 1
    )


@pytest.mark.gate
def test_a_half_written_element_is_no_mistake() -> None:
    device = Device(body("ld.global.u64 %d1, [%d0]; st.global.u64 [%d0], %d1;"))
    place = device.empty(8)
    device.memory.write(place, b"\1\2\3")
    assert device.run("k", 1, 1, "Q", place).findings == ()


@pytest.mark.gate
def test_findings_of_one_instruction_are_counted_not_repeated() -> None:
    device = Device(body("ld.global.u32 %r1, [%d0+4]; st.global.u32 [%d0], %r1;"))
    (finding,) = device.run("k", 100, 256, "Q", device.empty(4)).findings
    assert finding.count == 100 * 256


@pytest.mark.gate
def test_threads_that_wait_for_different_barriers_are_told_apart_from_a_slow_kernel() -> None:
    text = body(
        "setp.lt.u32 %p1, %r0, 32; @%p1 bra A; bar.sync 1; bra B; A: bar.sync 2; B: st.global.u32 [%d0], 1;"
    )
    device = Device(text)
    with pytest.raises(LaunchError) as told:
        device.run("k", 1, 64, "Q", device.empty(4))
    assert told.value.reason == "deadlock"
    assert kinds_of(told.value.report.findings) == ["barrier", "barrier"]


@pytest.mark.gate
def test_one_barrier_from_two_places_of_one_warp_is_divergent() -> None:
    text = body(
        "setp.lt.u32 %p1, %r0, 7; @%p1 bra A; bar.sync 0; bra B; A: bar.sync 0; B: st.global.u32 [%d0], 1;"
    )
    device = Device(text)
    (finding,) = device.run("k", 1, 32, "Q", device.empty(4)).findings
    assert finding.kind == "barrier"
    assert "other threads of the warp" in finding.message


@pytest.mark.gate
def test_a_named_barrier_waits_for_as_many_threads_as_it_says() -> None:
    text = f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .shared .align 4 .b8 held[256];
    .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %d<4>;
    ld.param.u64 %d0, [out]; mov.u32 %r0, %tid.x;
    setp.ge.u32 %p1, %r0, 64; @%p1 bra WAITS;
    mov.u32 %r1, held; mad.lo.u32 %r2, %r0, 4, %r1; st.shared.u32 [%r2], %r0;
    bar.arrive 3, 128;
    ret;
WAITS:
    bar.sync 3, 128;
    mov.u32 %r1, held; sub.u32 %r3, 127, %r0; mad.lo.u32 %r2, %r3, 4, %r1; ld.shared.u32 %r4, [%r2];
    sub.u32 %r3, %r0, 64; mul.wide.u32 %d1, %r3, 4; add.u64 %d0, %d0, %d1; st.global.u32 [%d0], %r4;
    ret;
}}
"""
    device = Device(text)
    out = device.empty(256)
    assert device.run("k", 1, 128, "Q", out).findings == ()
    assert device.download(out, np.uint32, 64).tolist() == list(range(63, -1, -1))


def test_paths_of_findings_are_those_of_the_source(mistakes: Callable[[], Device]) -> None:
    device = mistakes()
    (finding,) = device.run("same_place", 1, 64, "Q", device.empty(256)).findings
    assert Path(finding.file) == Path("/kernels/mistakes.cu")
    assert str(finding).startswith("race: same_place at /kernels/mistakes.cu:")

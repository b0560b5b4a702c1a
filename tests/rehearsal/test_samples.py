"""Kernels in the style of the CUDA samples, compiled by nvcc, against NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from assay.rehearsal import Limits
from tests.rehearsal.support import Array, Device

Sample = Callable[[str], Device]

RANDOM = np.random.default_rng(20261130)


def test_vectors_are_added(sample: Sample) -> None:
    device, count = sample("vector_add"), 50_000
    a, b = (RANDOM.random(count, dtype=np.float32) for _ in range(2))
    left, right, out = device.upload(a), device.upload(b), device.empty(4 * count)
    report = device.run("vector_add", 196, 256, "QQQi", left, right, out, count)
    assert (device.download(out, np.float32, count) == a + b).all()
    assert report.findings == ()
    report = device.run("add_vectors_of_four", 49, 256, "QQQi", left, right, out, count // 4)
    assert (device.download(out, np.float32, count) == a + b).all()
    assert report.findings == ()


def test_multiplication_and_addition_are_rounded_once(sample: Sample) -> None:
    device, count = sample("vector_add"), 10_000
    x, y = (RANDOM.standard_normal(count).astype(np.float32) for _ in range(2))
    place = device.upload(y)
    device.run("saxpy_strided", 7, 96, "f4xQQi", float(np.float32(1.7)), device.upload(x), place, count)
    exact = np.float64(np.float32(1.7)) * x.astype(np.float64) + y.astype(np.float64)
    assert (device.download(place, np.float32, count) == exact.astype(np.float32)).all()


KINDS = {"int": np.int32, "float": np.float32, "double": np.float64}
REDUCTIONS = {
    "interleaved": (256, 1),
    "strided": (256, 1),
    "halving": (256, 1),
    "first_add": (256, 2),
    "unrolled_64": (64, 2),
    "unrolled_128": (128, 2),
    "unrolled_512": (512, 2),
    "walking_64": (64, 4),
    "walking_256": (256, 4),
    "walking_256_power": (256, 8),
    "grouped": (256, 4),
}
"""Threads of a block, and elements that each thread adds up."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_add_up(sample: Sample, name: str, kind: str) -> None:
    block, each = REDUCTIONS[name]
    device, element = sample("reduction"), KINDS[kind]
    count = 1 << 14 if "power" in name else (1 << 14) - 371
    values = RANDOM.integers(-50, 50, count).astype(element)
    grid = -(-count // (block * each))
    given, out = device.upload(values), device.empty(8 * grid)
    report = device.run(f"{name}_{kind}", grid, block, "QQI", given, out, count, shared=8 * block)
    assert device.download(out, element, grid).sum() == values.sum()
    assert report.findings == ()


def test_the_last_block_adds_up_what_the_others_left(sample: Sample) -> None:
    device, count, grid = sample("reduction"), 20_000, 37
    values = RANDOM.integers(0, 9, count).astype(np.float32)
    given, partial, out = device.upload(values), device.empty(4 * grid), device.empty(4)
    report = device.run("single_pass", grid, 256, "QQQI", given, partial, out, count)
    assert device.download(out, np.float32, 1)[0] == values.sum()
    assert report.findings == ()


@pytest.mark.parametrize(
    "name",
    [
        "copy",
        "copy_through_shared",
        "transpose_naive",
        "transpose_tiled",
        "transpose_padded",
        "transpose_diagonal",
    ],
)
@pytest.mark.parametrize("shape", [(96, 64), (64, 64)])
def test_matrices_are_transposed(sample: Sample, name: str, shape: tuple[int, int]) -> None:
    device, (height, width) = sample("transpose"), shape
    values = RANDOM.random(shape, dtype=np.float32)
    given, out = device.upload(values), device.empty(values.nbytes)
    report = device.run(name, (width // 32, height // 32), (32, 8), "QQii", out, given, width, height)
    expected = values if name.startswith("copy") else values.T
    assert (device.download(out, np.float32, values.size).reshape(expected.shape) == expected).all()
    assert report.findings == ()


def exclusive(values: Array) -> Array:
    """Return prefix sums without each element itself, along the last axis, as wrapping uint32."""
    sums: Array = np.cumsum(values, axis=-1, dtype=np.uint32) - values
    return sums


def test_scans(sample: Sample) -> None:
    device = sample("scan")
    values = RANDOM.integers(0, 2**32, (8, 1024), dtype=np.uint32)
    given, out, tops = device.upload(values), device.empty(values.nbytes), device.empty(4 * 8)
    first = device.run("scan_arrays", 8, 256, "QQI", out, given, 1024)
    assert (device.download(out, np.uint32, 8 * 1024).reshape(8, 1024) == exclusive(values)).all()
    second = device.run("scan_tops", 1, 256, "QQQII", tops, out, given, 8, 1024)
    third = device.run("add_tops", 8, 256, "QQ", out, tops)
    assert (device.download(out, np.uint32, 8 * 1024) == exclusive(values.reshape(-1))).all()
    assert first.findings == second.findings == third.findings == ()


def test_scans_by_shuffles(sample: Sample) -> None:
    device = sample("scan")
    values = RANDOM.integers(-1000, 1000, (16, 256)).astype(np.int32)
    data, sums = device.upload(values), device.empty(4 * 16)
    report = device.run("scan_by_shuffles", 16, 256, "QQ", data, sums, shared=4 * 8)
    assert (device.download(data, np.int32, 16 * 256).reshape(16, 256) == np.cumsum(values, axis=1)).all()
    assert (device.download(sums, np.int32, 16) == values.sum(axis=1)).all()
    assert report.findings == ()


def test_histograms(sample: Sample) -> None:
    device, grid = sample("histogram"), 16
    values = RANDOM.integers(0, 256, 1 << 15).astype(np.uint8)
    given, partial, bins = device.upload(values), device.empty(4 * 256 * grid), device.empty(4 * 256)
    reports = [device.run("histogram_64", grid, 64, "QQI", partial, given, values.size // 16)]
    reports.append(device.run("merge", 64, 256, "QQI", bins, partial, grid))
    assert (device.download(bins, np.uint32, 64) == np.bincount(values >> 2, minlength=64)).all()
    reports.append(device.run("histogram_256", grid, 192, "QQI", partial, given, values.size // 4))
    reports.append(device.run("merge", 256, 256, "QQI", bins, partial, grid))
    assert (device.download(bins, np.uint32, 256) == np.bincount(values, minlength=256)).all()
    device.memory.fill(bins, b"\0", 1024)
    reports.append(device.run("histogram_global", 128, 256, "QQI", bins, given, values.size))
    assert (device.download(bins, np.uint32, 256) == np.bincount(values, minlength=256)).all()
    assert all(report.findings == () for report in reports)


@pytest.mark.parametrize("tile", [16, 32])
def test_matrices_are_multiplied(sample: Sample, tile: int) -> None:
    device = sample("matrix_mul")
    a, b = RANDOM.random((64, 96), dtype=np.float32), RANDOM.random((96, 32), dtype=np.float32)
    out = device.empty(4 * 64 * 32)
    report = device.run(
        f"matrix_mul_{tile}",
        (32 // tile, 64 // tile),
        (tile, tile),
        "QQQii",
        out,
        device.upload(a),
        device.upload(b),
        96,
        32,
    )
    expected = np.zeros((64, 32), np.float32)
    for k in range(96):
        term = a[:, k : k + 1].astype(np.float64) * b[k].astype(np.float64)
        expected = (term + expected).astype(np.float32)
    assert (device.download(out, np.float32, 64 * 32).reshape(64, 32) == expected).all()
    assert report.findings == ()


def test_a_matrix_of_256_is_multiplied(sample: Sample) -> None:
    device = sample("matrix_mul")
    a, b = (RANDOM.random((256, 256), dtype=np.float32) for _ in range(2))
    out = device.empty(a.nbytes)
    device.run(
        "matrix_mul_16", (16, 16), (16, 16), "QQQii", out, device.upload(a), device.upload(b), 256, 256
    )
    assert np.allclose(device.download(out, np.float32, a.size).reshape(a.shape), a @ b, rtol=1e-4)


def test_a_vector_of_many_chunks_is_added(sample: Sample) -> None:
    device, count = sample("vector_add"), 1 << 20
    a = RANDOM.random(count, dtype=np.float32)
    given, out = device.upload(a), device.empty(4 * count)
    assert device.run("vector_add", count // 256, 256, "QQQi", given, given, out, count).findings == ()
    assert (device.download(out, np.float32, count) == a + a).all()


def test_calls_pass_values_and_return_one(sample: Sample) -> None:
    device, count = sample("language"), 1000
    x = RANDOM.standard_normal(count).astype(np.float32)
    out = device.empty(4 * count)
    assert device.run("calls", 4, 256, "QQi", device.upload(x), out, count).findings == ()
    i = np.arange(count)
    a, b = np.where(i % 3, 2.0, -1.0).astype(np.float32), np.where(i % 3, 1.0, 0.5)
    square = (a * x).astype(np.float64) * x + b
    assert (device.download(out, np.float32, count) == square.astype(np.float32)).all()


def test_functions_call_themselves(sample: Sample) -> None:
    device = sample("language")
    out = device.empty(4 * 16)
    assert device.run("recursion", 1, 16, "Q", out).findings == ()
    assert device.download(out, np.uint32, 16).tolist() == [
        0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610,
    ]  # fmt: skip


def test_calls_through_addresses(sample: Sample) -> None:
    device = sample("language")
    out = device.empty(4 * 64)
    assert device.run("virtual_calls", 1, 64, "Q", out).findings == ()
    assert device.download(out, np.int32, 64).tolist() == [i * i if i % 2 else i * (i + 1) for i in range(64)]


def test_switches_go_everywhere(sample: Sample) -> None:
    device, count = sample("language"), 3000
    values = RANDOM.integers(-(2**31), 2**31, count).astype(np.int32)
    out = device.empty(4 * count)
    assert device.run("switches", 12, 256, "QQi", device.upload(values), out, count).findings == ()
    assert device.download(out, np.int32, count).tolist() == [_switched(int(value)) for value in values]


def _switched(value: int) -> int:
    quotient = abs(value) // 7 * (1 if value >= 0 else -1)
    remainder = abs(value) % 11 * (1 if value >= 0 else -1)
    result = [
        value * 3 + 1,
        value ^ 0x55,
        (value - 100) << 2,
        value << 2,
        (value & 0xFFFFFFFF).bit_count(),
        quotient,
        remainder,
        -value,
    ][value & 7]
    return (result + 2**31) % 2**32 - 2**31


def test_loops_end_for_each_thread_by_itself(sample: Sample) -> None:
    device, count = sample("language"), 2000
    values = np.arange(1, count + 1, dtype=np.uint32)
    out = device.empty(4 * count)
    assert device.run("collatz", 8, 256, "QQi", device.upload(values), out, count).findings == ()
    assert device.download(out, np.uint32, count).tolist() == [_collatz(int(value)) for value in values]


def _collatz(value: int) -> int:
    steps = 0
    while value != 1:
        value = 3 * value + 1 if value & 1 else value // 2
        steps += 1
    return steps


def test_local_arrays_are_each_threads_own(sample: Sample) -> None:
    device, count = sample("language"), 500
    values = RANDOM.integers(0, 1000, count).astype(np.int32)
    out = device.empty(4 * count)
    assert device.run("local_arrays", 2, 256, "QQi", device.upload(values), out, count).findings == ()
    assert device.download(out, np.int32, count).tolist() == [_local(int(value)) for value in values]


def _local(value: int) -> int:
    held = [value + k * k for k in range(16)]
    total = 0
    for k in range(5):
        total += held[(value + 3 * k) & 15]
        held[(value + k) & 15] = total
    return total


def test_printf_formats_as_c_does(sample: Sample) -> None:
    report = sample("language").run("prints", 1, 32, "i", 3)
    assert report.printed.decode() == "".join(
        f"{i} of four: {i * 0.5:5.2f} {i + 255:#x} {'abc'[i]} {-5_000_000_000 * i}%\n" for i in range(3)
    )


def test_printf_stops_at_its_limit(sample: Sample) -> None:
    report = sample("language").run("prints", 1, 32, "i", 1, limits=Limits(output=1 << 10))
    assert len(report.printed) < 1 << 10


def test_votes_and_matches(sample: Sample) -> None:
    device = sample("language")
    values = RANDOM.integers(-100, 100, 64).astype(np.int32)
    out = device.empty(16 * 64)
    assert device.run("votes", 1, 64, "QQ", device.upload(values), out).findings == ()
    told = device.download(out, np.uint32, 256).reshape(64, 4)
    positive = int((values > 0).sum())
    for thread in range(64):
        warp = [int(value) for value in values[thread // 32 * 32 :][:32]]
        group = int(warp[thread % 32] / 16)
        assert told[thread, 0] == sum(1 << lane for lane, value in enumerate(warp) if value > 0)
        assert told[thread, 1] == any(v > 90 for v in warp) + 2 * all(v > -90 for v in warp)
        assert told[thread, 2] == sum(
            1 << lane for lane, value in enumerate(warp) if int(value / 16) == group
        )
        assert told[thread, 3] == (0xFFFFFFFF + positive) % 2**32


def test_threads_that_wait_for_a_lock_let_its_holder_go_on(sample: Sample) -> None:
    device = sample("language")
    total = device.upload(np.zeros(1, np.int32))
    device.run("locks", 2, 96, "Q", total)
    assert device.download(total, np.int32, 1)[0] == 2 * sum(range(96))


def test_constants_and_initialised_variables(sample: Sample) -> None:
    device = sample("language")
    out = device.empty(4 * 32)
    assert device.run("constants", 1, 32, "Q", out).findings == ()
    expected = [2.0 ** (i & 7) + (0.25, -1.5, 3.0)[i % 3] for i in range(32)]
    assert device.download(out, np.float32, 32).tolist() == expected


def test_structures_are_passed_by_value(sample: Sample) -> None:
    device = sample("language")
    out = device.empty(8 * 8)
    values = (0.5, 1.5, -2.0, 4.0, 8.0, 16.0)
    report = device.run("structures", 1, 8, "i6f4xdQ", 7, *values, 2.5, out)
    assert report.findings == ()
    assert device.download(out, np.float64, 8).tolist() == [7 + values[i % 6] * 2.5 for i in range(8)]


def test_compare_and_swap_loops_add_up(sample: Sample) -> None:
    device = sample("language")
    values = RANDOM.integers(0, 1000, 256).astype(np.float64)
    total = device.upload(np.zeros(1))
    assert device.run("compare_and_swap", 1, 256, "QQ", total, device.upload(values)).findings == ()
    assert device.download(total, np.float64, 1)[0] == values.sum()


def test_atomics_come_one_after_the_other(sample: Sample) -> None:
    device, count = sample("language"), 1024
    words = np.zeros(16 + 2 * count, np.int32)
    words[5], words[8] = -1, -7
    place = device.upload(words)
    wide, real = device.upload(np.zeros(1, np.uint64)), device.upload(np.zeros(1, np.float32))
    assert device.run("atomics", 4, 256, "QQQ", place, wide, real).findings == ()
    told = device.download(place, np.int32, words.size)
    numbers = np.arange(count)
    assert told[:6].tolist() == [count, count - 1, 1 - count, -1, int(np.bitwise_xor.reduce(numbers)), -65536]
    assert told[6] == count % 17
    assert told[7] == (-count) % 101
    exchanged = [*told[16 : 16 + count].tolist(), int(told[8])]
    assert sorted(exchanged) == [-7, *range(count)]
    assert sorted(told[16 + count :].tolist()) == list(range(0, 2 * count, 2))
    assert device.download(wide, np.uint64, 1)[0] == 16 * (2**64 - 1) % 2**64
    assert device.download(real, np.float32, 1)[0] == count / 2

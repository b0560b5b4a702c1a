"""Launches of the samples' kernels with random inputs, as data: what the comparison with a real GPU runs.

Buffers are NumPy arrays by name; a launch's arguments are names of buffers or NumPy scalars.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Step:
    """One launch."""

    kernel: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    arguments: tuple[Any, ...]
    shared: int = 0


@dataclass(frozen=True)
class Case:
    """A sample's launches, one after the other on the same buffers.

    Attributes:
        name: of the case.
        sample: the file it comes from, without ``.cu``.
        buffers: before the first launch.
        steps: the launches.
        loose: buffers whose bits depend on the order of floating-point atomics, with a relative tolerance.
        unordered: buffers that hold the old values of atomics: only their sorted elements agree.
    """

    name: str
    sample: str
    buffers: dict[str, Array]
    steps: tuple[Step, ...]
    loose: dict[str, float] = field(default_factory=dict)
    unordered: dict[str, str] = field(default_factory=dict)


def _one(kernel: str, grid: int, block: int, *arguments: Any, shared: int = 0) -> Step:  # noqa: ANN401  # NumPy scalars
    return Step(kernel, (grid, 1, 1), (block, 1, 1), arguments, shared)


def cases(seed: int) -> list[Case]:
    """Return all cases, with inputs drawn from a seed."""
    random = np.random.default_rng(seed)
    return [
        *_vectors(random),
        *_reductions(random),
        *_transposes(random),
        *_scans(random),
        *_histograms(random),
        *_products(random),
        *_language(random),
    ]


def _floats(random: np.random.Generator, count: int) -> Array:
    """Return float32 of many magnitudes, some of them special."""
    values = random.standard_normal(count).astype(np.float32) * np.float32(2.0) ** random.integers(
        -30, 30, count
    )
    special = np.array([0, -0.0, np.inf, -np.inf, 1e-45, -1e-40, 3.4e38, 1, -1], np.float32)
    values[:: max(1, count // 97)] = random.choice(special, values[:: max(1, count // 97)].size)
    return np.asarray(values, np.float32)


def _vectors(random: np.random.Generator) -> list[Case]:
    count = 40_001
    a, b, c = _floats(random, count), _floats(random, count), np.zeros(count, np.float32)
    buffers: dict[str, Array] = {"a": a, "b": b, "c": c}
    number = np.int32(count)
    factor = np.float32(1.7)
    return [
        Case("add", "vector_add", buffers, (_one("vector_add", 157, 256, "a", "b", "c", number),)),
        Case("saxpy", "vector_add", buffers, (_one("saxpy_strided", 9, 96, factor, "a", "b", number),)),
        Case(
            "four",
            "vector_add",
            buffers,
            (_one("add_vectors_of_four", 40, 256, "a", "b", "c", np.int32(count // 4)),),
        ),
    ]


def _reductions(random: np.random.Generator) -> list[Case]:
    made = []
    blocks = {"interleaved": 256, "strided": 256, "halving": 256, "first_add": 256, "unrolled_64": 64}
    blocks |= {"unrolled_128": 128, "unrolled_512": 512, "walking_64": 64, "walking_256": 256}
    blocks |= {"walking_256_power": 256, "grouped": 256}
    for suffix, kind in (("int", np.int32), ("float", np.float32), ("double", np.float64)):
        for name, block in blocks.items():
            count = 1 << 13
            values = (random.standard_normal(count) * 1000).astype(kind)
            grid = count // (2 * block) if name[:8] in {"first_ad", "unrolled"} else count // block
            grid = min(grid, 7) if name.startswith(("walking", "grouped")) and "power" not in name else grid
            grid = 4 if "power" in name else grid
            step = _one(f"{name}_{suffix}", grid, block, "in", "out", np.uint32(count), shared=8 * block)
            buffers = {"in": values, "out": np.zeros(grid, kind)}
            made.append(Case(f"{name} {suffix}", "reduction", buffers, (step,)))
    return made


def _transposes(random: np.random.Generator) -> list[Case]:
    names = ("copy", "copy_through_shared", "transpose_naive", "transpose_tiled", "transpose_padded")
    values = random.random((64, 96), dtype=np.float32)
    size = (np.int32(96), np.int32(64))
    return [
        Case(
            name,
            "transpose",
            {"in": values, "out": np.zeros_like(values)},
            (Step(name, (3, 2, 1), (32, 8, 1), ("out", "in", *size)),),
        )
        for name in (*names, "transpose_diagonal")
    ]


def _scans(random: np.random.Generator) -> list[Case]:
    values = random.integers(0, 2**32, 8 * 1024, dtype=np.uint32)
    buffers = {"in": values, "out": np.zeros_like(values), "tops": np.zeros(8, np.uint32)}
    steps = (
        _one("scan_arrays", 8, 256, "out", "in", np.uint32(1024)),
        _one("scan_tops", 1, 256, "tops", "out", "in", np.uint32(8), np.uint32(1024)),
        _one("add_tops", 8, 256, "out", "tops"),
    )
    data = {"data": random.integers(-99, 99, 4096).astype(np.int32), "sums": np.zeros(16, np.int32)}
    shuffles = (_one("scan_by_shuffles", 16, 256, "data", "sums", shared=32),)
    return [Case("scan", "scan", buffers, steps), Case("scan by shuffles", "scan", data, shuffles)]


def _histograms(random: np.random.Generator) -> list[Case]:
    data = random.integers(0, 256, 1 << 15).astype(np.uint8)
    buffers: dict[str, Array] = {
        "data": data,
        "partial": np.zeros(256 * 16, np.uint32),
        "bins": np.zeros(256, np.uint32),
    }
    words = np.uint32(data.size // 4)
    first = (
        _one("histogram_64", 16, 64, "partial", "data", np.uint32(data.size // 16)),
        _one("merge", 64, 256, "bins", "partial", np.uint32(16)),
    )
    second = (
        _one("histogram_256", 16, 192, "partial", "data", words),
        _one("merge", 256, 256, "bins", "partial", np.uint32(16)),
    )
    third = (_one("histogram_global", 128, 256, "bins", "data", np.uint32(data.size)),)
    return [
        Case("64 bins", "histogram", buffers, first),
        Case("256 bins", "histogram", buffers, second),
        Case("global bins", "histogram", buffers, third),
    ]


def _products(random: np.random.Generator) -> list[Case]:
    a, b = random.random((128, 96), dtype=np.float32), random.random((96, 64), dtype=np.float32)
    buffers = {"a": a, "b": b, "c": np.zeros((128, 64), np.float32)}
    widths = (np.int32(96), np.int32(64))
    return [
        Case(
            f"tiles of {tile}",
            "matrix_mul",
            buffers,
            (
                Step(
                    f"matrix_mul_{tile}",
                    (64 // tile, 128 // tile, 1),
                    (tile, tile, 1),
                    ("c", "a", "b", *widths),
                ),
            ),
        )
        for tile in (16, 32)
    ]


def _language(random: np.random.Generator) -> list[Case]:
    count, number = 3000, np.int32(3000)
    any_words = random.integers(-(2**31), 2**31, count).astype(np.int32)
    small = random.integers(1, 5000, count).astype(np.int32)
    out = np.zeros(count, np.int32)
    atomics = np.zeros(16 + 2 * 1024, np.int32)
    atomics[5] = -1
    made: list[tuple[str, dict[str, Array], Step]] = [
        ("calls", {"in": _floats(random, count), "out": out}, _one("calls", 12, 256, "in", "out", number)),
        ("recursion", {"out": out}, _one("recursion", 1, 20, "out")),
        ("virtual calls", {"out": out}, _one("virtual_calls", 1, 64, "out")),
        ("switches", {"in": any_words, "out": out}, _one("switches", 12, 256, "in", "out", number)),
        ("collatz", {"in": small, "out": out}, _one("collatz", 12, 256, "in", "out", number)),
        ("local arrays", {"in": small, "out": out}, _one("local_arrays", 12, 256, "in", "out", number)),
        ("votes", {"in": any_words % 100, "out": out}, _one("votes", 1, 64, "in", "out")),
        ("constants", {"out": out}, _one("constants", 1, 32, "out")),
        ("locks", {"out": out}, _one("locks", 2, 96, "out")),
    ]
    found = [Case(name, "language", buffers, (step,)) for name, buffers, step in made]
    steps = (_one("atomics", 4, 256, "words", "wide", "real"),)
    words: dict[str, Array] = {
        "words": atomics,
        "wide": np.zeros(1, np.uint64),
        "real": np.zeros(1, np.float32),
    }
    found.append(Case("atomics", "language", words, steps, unordered={"words": "i4"}))
    values = random.integers(0, 1000, 256).astype(np.float64)
    steps = (_one("compare_and_swap", 1, 256, "sum", "in"),)
    found.append(Case("compare and swap", "language", {"sum": np.zeros(1), "in": values}, steps))
    return found

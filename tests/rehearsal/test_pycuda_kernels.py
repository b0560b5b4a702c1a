"""PyCUDA's own elementwise, reduction and scan kernels, their source as the installed PyCUDA writes it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.selection import Selection
from tests.rehearsal.support import Device, nvcc_ptx

SCRIPT = Path(__file__).resolve().parent / "pycuda_sources.py"
RANDOM = np.random.default_rng(7)


@pytest.fixture(scope="module")
def pycuda(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Device]:
    """Return how one of PyCUDA's kernels becomes a device with its module loaded."""
    folder = tmp_path_factory.mktemp("pycuda")
    command = [str(selection.executable), "-B", str(SCRIPT)]
    told = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)  # noqa: S603  # the selected interpreter
    include = next(Path(path) for path in selection.site_packages) / "pycuda" / "cuda"
    sources = json.loads(told.stdout)

    def load(name: str) -> Device:
        source = folder / f"{name}.cu"
        if not source.exists():
            source.write_text(sources[name])
        return Device(
            nvcc_ptx(selection, source, source.with_suffix(".ptx"), "-arch=sm_75", "-I", str(include))
        )

    return load


def test_elementwise(pycuda: Callable[[str], Device]) -> None:
    device, count = pycuda("axpy"), 3000
    x, y = (RANDOM.standard_normal(count).astype(np.float32) for _ in range(2))
    out = device.empty(4 * count)
    report = device.run("axpy", 5, 128, "f4xQQQQ", 1.5, device.upload(x), device.upload(y), out, count)
    assert report.findings == ()
    expected = 1.5 * x.astype(np.float64) + np.sin(y.astype(np.float64))
    assert np.abs(device.download(out, np.float32, count) - expected).max() < 2e-6


@pytest.mark.parametrize(("start", "stop", "step"), [(3, 900, 7), (900, 3, -7), (0, 1000, 1)])
def test_elementwise_over_a_range(pycuda: Callable[[str], Device], start: int, stop: int, step: int) -> None:
    device = pycuda("double_range")
    x = RANDOM.standard_normal(1000).astype(np.float32)
    place = device.upload(x)
    assert device.run("double_range", 2, 64, "Qqqq", place, start, stop, step).findings == ()
    x[start:stop:step] *= 2
    assert (device.download(place, np.float32, 1000) == x).all()


@pytest.mark.parametrize("count", [1, 511, 512, 5000])
def test_reduction(pycuda: Callable[[str], Device], count: int) -> None:
    device = pycuda("dot")
    x, y = (RANDOM.integers(-8, 8, count).astype(np.float32) for _ in range(2))
    blocks = -(-count // (512 * 4))
    out = device.empty(4 * blocks)
    arguments = (out, device.upload(x), device.upload(y), 4, count)
    assert device.run("dot", blocks, 512, "QQQI4xQ", *arguments, shared=4 * 512).findings == ()
    assert device.download(out, np.float32, blocks).sum() == x @ y


def test_reduction_by_another_operation(pycuda: Callable[[str], Device]) -> None:
    device, count = pycuda("largest"), 2000
    x = RANDOM.integers(-(10**6), 10**6, count).astype(np.int32)
    out = device.empty(8)
    report = device.run("largest", 2, 256, "QQI4xQ", out, device.upload(x), 4, count, shared=4 * 256)
    assert report.findings == ()
    assert device.download(out, np.int32, 2).max() == x.max()


@pytest.mark.parametrize("count", [1, 100, 1536, 10_000])
@pytest.mark.parametrize("kind", ["inclusive", "exclusive"])
def test_scan(pycuda: Callable[[str], Device], kind: str, count: int) -> None:
    first, second = pycuda(f"{kind}_1"), pycuda(f"{kind}_2")
    x = RANDOM.integers(-1000, 1000, count).astype(np.int32)
    interval = 128 * 6 * 2
    groups = -(-count // interval)
    out, sums, dummy = first.empty(4 * count), first.empty(4 * groups), first.empty(4)
    arguments = (first.upload(x), count, interval, out, sums)
    reports = [first.run("scan_scan_intervals", groups, 128, "QQI4xQQ", *arguments)]
    reports.append(first.run("scan_scan_intervals", 1, 128, "QQI4xQQ", sums, groups, interval, sums, dummy))
    place = second.upload(first.download(out, np.int32, count))
    totals = second.upload(first.download(sums, np.int32, groups))
    reports.append(second.run("scan_final_update", groups, 256, "QQI4xQ", place, count, interval, totals))
    result = second.download(place, np.int32, count)
    if kind == "inclusive":
        assert (result == np.cumsum(x)).all()
    else:
        before = np.maximum.accumulate(np.concatenate([[-1_000_000], x[:-1]]))
        assert (result == before).all()
    # Where an interval is not full, the kernel reads the rest of its shared memory, which nothing wrote, and
    # does not use it: no mistake.
    assert [report.findings for report in reports] == [(), (), ()]

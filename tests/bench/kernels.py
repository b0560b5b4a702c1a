"""The interpreter of PTX: a kernel over many values beside the same NumPy expression, and a tiled product."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.errors import UsageError
from assay.model import Platform
from assay.selection import resolve_selection
from tests.bench.measure import Line, alternate, bounded, compared
from tests.rehearsal.support import SAMPLES, Device, nvcc_ptx

COUNT = 1 << 24
SIDE = 256
ELEMENTWISE_RATIO = 60.0
PRODUCT_LIMIT_S = 10.0
TURNS = 5


def kernel_lines(project: Path, folder: Path) -> list[Line]:
    """Measure kernels of the samples, compiled by the embedded selection's nvcc into ``folder``.

    Raises:
        UsageError: there is no embedded selection.
    """
    selection = resolve_selection({}, project, None, Platform.LINUX)
    if selection.toolkit is None:
        raise UsageError("there is no embedded selection", "one to compile with", "run: nox -s provision")

    def device(name: str) -> Device:
        return Device(nvcc_ptx(selection, SAMPLES / f"{name}.cu", folder / f"{name}.ptx"))

    return [elementwise(device("vector_add")), product(device("matrix_mul"))]


def elementwise(device: Device) -> Line:
    """Measure a sum of two vectors beside NumPy's."""
    values = np.random.default_rng(1).random(COUNT, dtype=np.float32)
    given, out = device.upload(values), device.empty(values.nbytes)
    ours, numpy = alternate(
        TURNS,
        lambda: device.run("vector_add", COUNT // 256, 256, "QQQi", given, given, out, COUNT),
        lambda: values + values,
    )
    return compared("elementwise float32, 2^24 values", ours, "NumPy", numpy, ELEMENTWISE_RATIO)


def product(device: Device) -> Line:
    """Measure a tiled product of two square matrices."""
    values = np.random.default_rng(1).random((SIDE, SIDE), dtype=np.float32)
    a, b, out = device.upload(values), device.upload(values), device.empty(values.nbytes)
    blocks = (SIDE // 16, SIDE // 16)
    (times,) = alternate(
        TURNS, lambda: device.run("matrix_mul_16", blocks, (16, 16), "QQQii", out, a, b, SIDE, SIDE)
    )
    return bounded(f"tiled matrixMul {SIDE}x{SIDE}", times, PRODUCT_LIMIT_S)

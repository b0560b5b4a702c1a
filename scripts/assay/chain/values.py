"""What travels between compiler, runtime and events: images, transfers and runs, immutable."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from .words import Array

CUDA_BLOCK = (256, 1, 1)
"""Threads of a block; CUDA kernels take their index from ``blockIdx`` and ``blockDim``, and check it."""

TO_DEVICE = "host-to-device"
TO_HOST = "device-to-host"


@dataclass(frozen=True)
class Image:
    """What is given to a runtime: PTX, a CUBIN, or WGSL.

    Attributes:
        name: ``<chain>.<stage>.<architecture>.<kind>``, for WGSL without architecture.
        kind: ``ptx``, ``cubin`` or ``wgsl``.
        data: the bytes; PTX ends in a newline, not in NUL.
        compiler: what made it, such as ``nvcc 13.0.88``; empty for WGSL.
        each: values that one thread computes.
    """

    name: str
    kind: str
    data: bytes
    compiler: str = ""
    each: int = 1

    def to_json(self) -> dict[str, object]:
        """Return the event's form, without the bytes."""
        sha256 = hashlib.sha256(self.data).hexdigest()
        return {"kind": self.kind, "name": self.name, "sha256": sha256, "size": len(self.data)}


@dataclass(frozen=True)
class Transfer:
    """One copy between host and device memory; ``direction`` is ``TO_DEVICE`` or ``TO_HOST``."""

    direction: str
    size: int
    runtime: str

    def to_json(self) -> dict[str, object]:
        """Return the event's form."""
        return {"bytes": self.size, "direction": self.direction, "runtime": self.runtime}


def both_ways(size: int, runtime: str) -> tuple[Transfer, Transfer]:
    """Return the two copies of a run whose input and output have ``size`` bytes each."""
    return Transfer(TO_DEVICE, size, runtime), Transfer(TO_HOST, size, runtime)


@dataclass(frozen=True)
class Ran:
    """One kernel's run: its output of shape (n,), launch geometry (x, y, z) and host transfers."""

    values: Array
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    transfers: tuple[Transfer, ...]


def cuda_grid(count: int, each: int = 1) -> tuple[int, int, int]:
    """Return how many blocks run over ``count`` values, ``each`` to a thread (at most 2**31 - 1 over x)."""
    return (-(-count // (CUDA_BLOCK[0] * each)), 1, 1)

"""What provisioning costs: measured figures, from which size and time are said beforehand.

Measured on Linux x86-64, two cores, CPython 3.11, over a fast line; downloads are the sizes of the files.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path

from assay.errors import StorageError
from assay.files import storage_errors

MB = 1_000_000


@dataclass(frozen=True)
class Estimate:
    """What is to be expected: bytes downloaded, bytes of disk at the end and at the most, seconds."""

    download: int
    disk: int
    peak: int
    seconds: int

    def __add__(self, other: Estimate) -> Estimate:
        """Return the sum of two parts."""
        parts = ("download", "disk", "peak", "seconds")
        return Estimate(*(getattr(self, part) + getattr(other, part) for part in parts))


PACKAGES = Estimate(download=87 * MB, disk=230 * MB, peak=320 * MB, seconds=15)
"""Environment, NumPy, wgpu, cuda-python, what PyCUDA imports, and Bun."""

TOOLKIT = Estimate(download=195 * MB, disk=510 * MB, peak=710 * MB, seconds=10)
"""The embedded CUDA toolkit."""

BUILD_FIXED_S, BUILD_CPU_S = 15, 110
"""Making PyCUDA's wheel: build environment and download, and processor seconds that its cores share."""


def build_estimate(cores: int) -> Estimate:
    """Return what building PyCUDA's wheel costs on ``cores`` cores."""
    return Estimate(4 * MB, 2 * MB, 250 * MB, BUILD_FIXED_S + BUILD_CPU_S // max(cores, 1))


def estimate(*, toolkit: bool, build: bool, cores: int, offline: bool) -> Estimate:
    """Return what provisioning costs.

    Args:
        toolkit: whether the embedded toolkit is installed.
        build: whether PyCUDA's wheel has still to be built.
        cores: compilers at once.
        offline: whether files come from a wheelhouse.
    """
    parts = PACKAGES
    parts += TOOLKIT if toolkit else Estimate(0, 0, 0, 0)
    parts += build_estimate(cores) if build else Estimate(0, 0, 0, 0)
    return Estimate(0, parts.disk, parts.peak, parts.seconds) if offline else parts


def sentence(expected: Estimate, cores: int) -> str:
    """Return the estimate as one sentence for the user."""
    download = f"downloads about {expected.download // MB} MB" if expected.download else "downloads nothing"
    return (
        f"{download}, takes about {expected.disk // MB} MB of disk and {expected.seconds} s "
        f"(measured on a fast line; {cores} cores here)"
    )


def require_space(folder: Path, expected: Estimate) -> None:
    """Check that the file system of ``folder`` has room for the most that is taken at once.

    Raises:
        StorageError: it has not.
    """
    with storage_errors("look at", folder):
        free = shutil.disk_usage(folder).free
    if free < expected.peak:
        raise StorageError(
            f"the file system of {folder} has {free // MB} MB free",
            f"at least {expected.peak // MB} MB while provisioning",
            "free space, or put the project on a larger file system",
        )

"""A CUDA toolkit folder: what of it is there, by its layout and its headers, without running it.

Layouts that are understood: a system toolkit (``bin``, ``include``, ``lib64``, ``nvvm``), whose ``include``
and ``lib64`` may be links into ``targets/<machine>-linux``; PyPI's ``nvidia/cu13`` (``lib``, no ``lib64``).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import UsageError
from assay.provision.driver_names import cuda_version, read_header
from assay.provision.lockfile import TOOLKIT, locked

MAJOR = 13
"""CUDA's major version that the locked cuda-python speaks to."""

_LIBRARY_FOLDERS = ("lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib", "lib/x64")

_NEEDED = ("bin/nvcc", "include/cuda.h", "include/cudaProfiler.h")
"""What PyCUDA's build and its compiler need."""

NVRTC = "NVRTC"
"""Name of the part that compiles at run time."""

_PARTS = (
    (NVRTC, ("libnvrtc.so*",)),
    ("NVRTC's builtins", ("libnvrtc-builtins.so*",)),
    ("the CUDA runtime", ("libcudart.so*",)),
)
"""Libraries that the gates look for later: name, file patterns in the library folders."""

_NVVM = ("nvvm/bin/cicc", "nvvm/libdevice/libdevice.10.bc")


@dataclass(frozen=True)
class Toolkit:
    """A toolkit folder.

    Attributes:
        root: absolute path with every link resolved: nvcc finds its headers relative to its real place.
        version: ``CUDA_VERSION`` of its ``cuda.h``, such as 13000.
        missing: parts that are not there and that building does not need.
    """

    root: Path
    version: int
    missing: tuple[str, ...]

    @property
    def nvcc(self) -> Path:
        """Return the compiler's path."""
        return self.root / "bin" / "nvcc"

    @property
    def include(self) -> Path:
        """Return the folder of headers."""
        return self.root / "include"

    @property
    def library_folder(self) -> Path:
        """Return the first folder of libraries that is there."""
        return next((self.root / name for name in _LIBRARY_FOLDERS if (self.root / name).is_dir()), self.root)

    @property
    def release(self) -> str:
        """Return ``13.0`` for 13000."""
        return f"{self.version // 1000}.{self.version % 1000 // 10}"


def locked_version() -> int:
    """Return ``CUDA_VERSION`` of the embedded toolkit, such as 13000, as the lock has it.

    Raises:
        StorageError: the lock cannot be read.
    """
    major, minor, *_ = locked(TOOLKIT, "cuda-toolkit").version.split(".")
    return int(major) * 1000 + int(minor) * 10


def inspect_toolkit(folder: Path) -> Toolkit:
    """Return what a toolkit folder holds.

    Raises:
        UsageError: it is no folder, lacks a part without which PyCUDA cannot be built or used, or is of
            another major version than cuda-python of the locks.
    """
    root = folder.resolve()
    if not root.is_dir():
        raise _unfit(folder, "is not a folder")
    if absent := [name for name in _NEEDED if not (root / name).is_file()]:
        raise _unfit(folder, f"has no {', no '.join(absent)}")
    version = cuda_version(read_header(root / "include" / "cuda.h"))
    if version is None or version // 1000 != MAJOR:
        raise _unfit(folder, f"has a cuda.h of CUDA_VERSION {version}")
    return Toolkit(root, version, _missing(root))


def _missing(root: Path) -> tuple[str, ...]:
    """Return the names of parts that are not there."""
    folders = [root / name for name in _LIBRARY_FOLDERS]
    libraries = [
        name
        for name, patterns in _PARTS
        if not any(found for folder in folders for pattern in patterns for found in folder.glob(pattern))
    ]
    return (*libraries, *(name for name in _NVVM if not (root / name).is_file()))


def _unfit(folder: Path, what: str) -> UsageError:
    """Return the error of a toolkit that cannot be selected."""
    return UsageError(
        f"{folder} {what}",
        f"a CUDA {MAJOR} toolkit with bin/nvcc, include/cuda.h and include/cudaProfiler.h",
        "name a whole toolkit with --toolkit (cudaProfiler.h is in the package cuda-profiler-api), or leave "
        "the option out for the embedded toolkit",
    )

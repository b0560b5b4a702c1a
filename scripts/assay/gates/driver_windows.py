r"""Observes for gate ``driver`` on Windows: the display driver's files, in System32 and in the driver store.

The facts are described in ``assay.judge.driver_windows``.
"""

from __future__ import annotations

from assay.gates.context import Context
from assay.gates.driver_live import live_facts
from assay.gates.driver_signs import has_driver
from assay.gates.probes import probes_of
from assay.gates.toolkit_driver import windows_version
from assay.machine import Machine
from assay.model import Facts, Json

SYSTEM = r"C:\Windows\System32"
STORE = SYSTEM + r"\DriverStore\FileRepository"

FILES = ("nvcuda.dll", "nvapi64.dll", "nvml.dll", r"drivers\nvlddmkm.sys")
"""What the driver's package copies into System32; ``nvlddmkm.sys`` is the kernel's part."""

STORED = (
    "nvlddmkm.sys",
    "nvcuda64.dll",
    "nvcuda_loader64.dll",
    "nvwgf2umx.dll",
    "nvldumdx.dll",
    "nvapi64.dll",
)
"""What a package in the driver store holds: the kernel's part, CUDA, and the part of Direct3D."""

MAX_PACKAGES = 50


def observe_windows(context: Context) -> Facts:
    """Return the facts of a Windows machine; without a driver nobody is asked."""
    machine = context.machine
    return {
        "d3d12": machine.is_file(SYSTEM + r"\d3d12.dll"),
        "files": [_file(machine, SYSTEM, name) for name in FILES if machine.is_file(rf"{SYSTEM}\{name}")],
        "packages": _packages(machine),
        **live_facts(context, probes_of(context), driver=has_driver(machine)),
    }


def _packages(machine: Machine) -> list[Json]:
    """Return the packages of the driver store that have a display driver's files."""
    folders = machine.glob(rf"{STORE}\nv*.inf_*")[:MAX_PACKAGES]
    found = (_package(machine, folder) for folder in folders)
    return [package for package in found if package["files"]]


def _package(machine: Machine, folder: str) -> dict[str, Json]:
    """Return a package of the driver store with those of its files that tell something."""
    there = [name for name in STORED if machine.is_file(rf"{folder}\{name}")]
    return {"files": [_file(machine, folder, name) for name in there], "folder": folder}


def _file(machine: Machine, folder: str, name: str) -> Json:
    """Return a file with its own version, NVIDIA's version of it, and why it has none."""
    binary = machine.binary(rf"{folder}\{name}", symbols=False)
    return {
        "file_version": binary.version,
        "name": name.rpartition("\\")[2],
        "path": binary.path,
        "problem": binary.problem[:300],
        "version": windows_version(binary.version),
    }

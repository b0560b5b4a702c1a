"""Findings of gate ``driver`` that only WSL or only Windows has."""

from __future__ import annotations

from assay.judge.catalogue.driver_live import DEAD
from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_WSL = "NVIDIA: CUDA on WSL User Guide"
_REMOVE = (
    "remove the Linux display driver's packages (nvidia-driver-*, libnvidia-compute-*, cuda-drivers) "
    "from WSL, keep the toolkit's alone, then `wsl --shutdown`"
)
_CLEAN = "install NVIDIA's display driver anew, as a clean installation, then restart"

ENTRIES = (
    Entry(
        "DRIVER-WSL-NOT-PROJECTED",
        "the Windows host has no NVIDIA driver, or one that is too old for WSL",
        Severity.UNAVAILABLE,
        "libcuda.so.1 in /usr/lib/wsl/lib",
        "install NVIDIA's current display driver on the Windows host (never a Linux one in WSL), then "
        "`wsl --shutdown`; without an NVIDIA GPU, `nox -s rehearse` runs the same chain on the CPU",
        _WSL,
        explains=("DRIVER-WSL-NO-DEVICE", *DEAD),
    ),
    Entry(
        "DRIVER-WSL-NO-DEVICE",
        "WSL has no paravirtual GPU",
        Severity.UNAVAILABLE,
        "/dev/dxg",
        "use WSL 2 (`wsl --set-version`), remove gpuSupport=false from .wslconfig, `wsl --update`; "
        "give it to a container with --device /dev/dxg",
        _WSL,
        explains=DEAD,
    ),
    Entry(
        "DRIVER-WSL-SHADOWED",
        "another libcuda shadows the projected driver",
        Severity.FAILURE,
        "/usr/lib/wsl/lib first on the loader's path",
        _REMOVE,
        _WSL,
        explains=("DRIVER-WSL-LINUX-DRIVER", *DEAD),
    ),
    Entry(
        "DRIVER-WSL-LINUX-DRIVER",
        "parts of a Linux display driver are installed in WSL",
        Severity.WARNING,
        "the projected driver alone",
        _REMOVE,
        _WSL,
    ),
    Entry(
        "DRIVER-WSL-MODULE",
        "a Linux kernel module of NVIDIA is loaded in WSL",
        Severity.FAILURE,
        "no NVIDIA kernel module: the Windows driver is the driver",
        f"{_REMOVE}; unload the module",
        _WSL,
    ),
    Entry(
        "DRIVER-WINDOWS-MIXED",
        "the display driver's files are of different versions",
        Severity.FAILURE,
        "one version in System32 and in the driver store",
        _CLEAN,
        "Microsoft: Driver store",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-WINDOWS-D3D12",
        "a part of Direct3D 12 is missing",
        Severity.FAILURE,
        "Windows' d3d12.dll and the driver's user-mode part",
        f"update Windows; {_CLEAN}",
        "Microsoft: Direct3D 12 programming guide",
        explains=("CHAIN-UNAVAILABLE",),
    ),
    Entry(
        "DRIVER-WINDOWS-MODEL",
        "the GPU's driver model has no Direct3D",
        Severity.FAILURE,
        "driver model WDDM",
        "nvidia-smi -dm 0 (WDDM) as administrator, then restart; a GPU that has no WDDM cannot run D3D12",
        "nvidia-smi(1), driver model",
        explains=("CHAIN-UNAVAILABLE",),
    ),
    Entry(
        "DRIVER-WINDOWS-MODEL-PENDING",
        "the GPU's driver model changes with the next start",
        Severity.WARNING,
        "the same model now and after a restart",
        "restart the machine",
        "nvidia-smi(1), driver model",
    ),
)

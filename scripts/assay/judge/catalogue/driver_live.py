"""Findings of gate ``driver``: what NVML, CUDA and ``nvidia-smi`` of a running driver say."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.judge.catalogue.vulkan import WITHOUT_DRIVER
from assay.model import Platform, Severity

_NVML = "NVML API: nvmlReturn_t"
_CUDA = "CUDA Driver API: CUresult"
_MEMORY = "NVIDIA GPU Memory Error Management"
_RESET = "stop what uses the GPU and reset it (nvidia-smi --gpu-reset), or restart the machine"
_HANG = "look for a hung GPU or driver in the kernel's log (Xid, NVRM); reset the GPU or restart the machine"

SILENT = (
    *("DRIVER-NVML-SILENT", "DRIVER-CUDA-SILENT", "DRIVER-SMI-SILENT", "TOOLKIT-NVML-SILENT"),
    *("CHAIN-NVML-DEADLINE", "CHAIN-CHILD-DEADLINE"),
)
"""What a driver that no longer answers leads to."""

NO_CUDA = (
    *("DRIVER-CUDA-FAILED", "DRIVER-CUDA-MISMATCH", "DRIVER-CUDA-NO-DEVICE", "CHAIN-UNAVAILABLE"),
    *("CHAIN-NVML", "CHAIN-TIER-UNSHOWN"),
)
"""What CUDA then says, in this gate and in the chain."""

DEAD = (
    *("DRIVER-NVML-NOT-LOADED", "DRIVER-NVML-MISSING", "DRIVER-NVML-MISMATCH", "DRIVER-NVML-UNKNOWN"),
    *("DRIVER-NVML-FAILED", *NO_CUDA, *SILENT, *WITHOUT_DRIVER),
)
"""What follows from a driver that is not whole: NVML, CUDA and Vulkan do not start."""

_STARTING = (
    Entry(
        "DRIVER-NVML-SILENT",
        "NVML did not answer within its deadline",
        Severity.UNAVAILABLE,
        "an answer of the driver",
        _HANG,
        "NVML API: nvmlInit",
        explains=tuple(each for each in SILENT if each != "DRIVER-NVML-SILENT"),
    ),
    Entry(
        "DRIVER-CUDA-SILENT",
        "CUDA did not start within its deadline",
        Severity.UNAVAILABLE,
        "an answer of cuInit",
        _HANG,
        "CUDA Driver API: cuInit",
        explains=("CHAIN-CHILD-DEADLINE",),
    ),
    Entry(
        "DRIVER-SMI-SILENT",
        "nvidia-smi did not answer within its deadline",
        Severity.UNAVAILABLE,
        "an answer of nvidia-smi --version",
        _HANG,
        "nvidia-smi(1)",
    ),
    Entry(
        "DRIVER-NVML-NOT-LOADED",
        "NVML finds no kernel module",
        Severity.FAILURE,
        "a loaded NVIDIA kernel module",
        "load it (modprobe nvidia); in a container, give it the GPU's device nodes",
        f"{_NVML}, NVML_ERROR_DRIVER_NOT_LOADED",
        {
            Platform.WSL: "end WSL (`wsl --shutdown`) and start it again; then update the Windows driver",
            Platform.WINDOWS: "enable the GPU in the device manager, or install NVIDIA's display driver anew",
        },
        explains=NO_CUDA,
    ),
    Entry(
        "DRIVER-NVML-MISSING",
        "NVML's library is not found",
        Severity.FAILURE,
        "libnvidia-ml.so.1 (nvml.dll) of the driver",
        "install the driver's library of the module's version; in a container add utility to "
        "NVIDIA_DRIVER_CAPABILITIES",
        f"{_NVML}, NVML_ERROR_LIBRARY_NOT_FOUND",
        {Platform.WINDOWS: "install NVIDIA's display driver anew, as a clean installation"},
    ),
    Entry(
        "DRIVER-NVML-MISMATCH",
        "NVML's library and the kernel module are of different versions",
        Severity.FAILURE,
        "one whole version",
        "restart the machine, so that the module of the installed version is loaded; if they differ still, "
        "reinstall the whole driver",
        f"{_NVML}, NVML_ERROR_LIB_RM_VERSION_MISMATCH",
        explains=(*NO_CUDA, "TOOLKIT-NVML-SILENT"),
    ),
    Entry(
        "DRIVER-NVML-UNKNOWN",
        "NVML fails for a reason that it does not know",
        Severity.FAILURE,
        "an NVML that starts",
        "read what the kernel's log says of the GPU (NVRM, Xid); in a container that lost its GPU "
        "while it ran (systemctl daemon-reload on the host), start it anew",
        f"{_NVML}, NVML_ERROR_UNKNOWN",
        explains=NO_CUDA,
    ),
    Entry(
        "DRIVER-NVML-FAILED",
        "NVML fails",
        Severity.FAILURE,
        "an NVML that starts and reaches every GPU",
        "start nvidia-smi by hand, and read what the kernel's log says of the GPU (NVRM, Xid)",
        _NVML,
        explains=NO_CUDA,
    ),
    Entry(
        "DRIVER-GPU-RESET",
        "a GPU waits for its reset",
        Severity.FAILURE,
        "a GPU that answers",
        _RESET,
        f"{_NVML}, NVML_ERROR_RESET_REQUIRED",
        explains=("DRIVER-XID", *NO_CUDA),
    ),
    Entry(
        "DRIVER-CUDA-FAILED",
        "CUDA does not start",
        Severity.FAILURE,
        "a cuInit that returns 0",
        "look up the named error; read what the kernel's log says of the GPU (NVRM, Xid)",
        _CUDA,
        explains=("CHAIN-UNAVAILABLE",),
    ),
    Entry(
        "DRIVER-CUDA-MISMATCH",
        "libcuda and the kernel module are of different versions",
        Severity.FAILURE,
        "one whole version",
        "restart the machine, so that the module of the installed version is loaded; if they differ still, "
        "reinstall the whole driver",
        f"{_CUDA}, CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        explains=("CHAIN-UNAVAILABLE",),
    ),
    Entry(
        "DRIVER-CUDA-NO-DEVICE",
        "CUDA counts no device",
        Severity.FAILURE,
        "at least one CUDA device",
        "look at CUDA_VISIBLE_DEVICES, at the container's devices, and at what the kernel's log says "
        "of the GPU",
        f"{_CUDA}, CUDA_ERROR_NO_DEVICE",
        {
            Platform.WSL: "remove every Linux display driver from WSL, update the Windows driver, then "
            "`wsl --shutdown`"
        },
        explains=("CHAIN-UNAVAILABLE",),
    ),
    Entry(
        "DRIVER-FABRIC",
        "the GPUs wait for the fabric manager of their NVSwitches",
        Severity.FAILURE,
        "a running nvidia-fabricmanager of the driver's version",
        "install nvidia-fabricmanager of exactly the driver's version and start it (systemctl start "
        "nvidia-fabricmanager)",
        f"{_CUDA}, CUDA_ERROR_SYSTEM_NOT_READY; NVIDIA: Fabric Manager User Guide",
        explains=("CHAIN-UNAVAILABLE",),
    ),
    Entry(
        "DRIVER-MIG-EMPTY",
        "MIG is on, and no instance was made",
        Severity.FAILURE,
        "a MIG instance with a compute instance, or MIG off",
        "make one (nvidia-smi mig -cgi PROFILE -C), or turn MIG off (nvidia-smi -mig 0)",
        "NVIDIA Multi-Instance GPU User Guide",
        explains=("CHAIN-UNAVAILABLE",),
    ),
)

_GPU = (
    Entry(
        "DRIVER-ECC-UNCORRECTED",
        "a GPU's memory had errors that could not be corrected",
        Severity.FAILURE,
        "no uncorrected ECC error since the driver was loaded",
        f"{_RESET}; if it comes back, have the GPU examined",
        _MEMORY,
    ),
    Entry(
        "DRIVER-ECC-PENDING",
        "a GPU's ECC mode changes with its next reset",
        Severity.WARNING,
        "the same mode now and after a reset",
        _RESET,
        "nvidia-smi(1), ecc.mode.pending",
    ),
    Entry(
        "DRIVER-REMAP-FAILED",
        "a row of a GPU's memory could not be remapped",
        Severity.FAILURE,
        "no failed row remap",
        "have the GPU examined: its spare rows are used up, or the remap failed",
        _MEMORY,
    ),
    Entry(
        "DRIVER-REMAP-PENDING",
        "rows or pages of a GPU's memory wait for the next reset to be taken out of use",
        Severity.WARNING,
        "nothing that waits",
        _RESET,
        _MEMORY,
    ),
    Entry(
        "DRIVER-SLOWDOWN",
        "a GPU's clocks are held down",
        Severity.WARNING,
        "no hardware or thermal slowdown",
        "look at its cooling and power supply (nvidia-smi -q -d PERFORMANCE,TEMPERATURE,POWER)",
        "NVML API: nvmlClocksEventReasons",
    ),
    Entry(
        "DRIVER-PERSISTENCE",
        "nothing keeps the GPU started between two processes",
        Severity.WARNING,
        "persistence mode, or nvidia-persistenced",
        "start nvidia-persistenced (or nvidia-smi -pm 1): else each first call takes seconds, and "
        "settings are lost",
        "NVIDIA Driver Persistence",
    ),
    Entry(
        "DRIVER-COMPUTE-PROHIBITED",
        "a GPU's compute mode lets no process compute",
        Severity.FAILURE,
        "compute mode Default",
        "nvidia-smi -c DEFAULT, as root",
        "nvidia-smi(1), compute mode",
        explains=("DRIVER-CUDA-FAILED", "DRIVER-CUDA-NO-DEVICE", "CHAIN-UNAVAILABLE"),
    ),
    Entry(
        "DRIVER-COMPUTE-EXCLUSIVE",
        "a GPU serves one process alone, and another one has it",
        Severity.WARNING,
        "a GPU that nobody else computes on, or compute mode Default",
        "end that process, or nvidia-smi -c DEFAULT as root",
        "nvidia-smi(1), compute mode",
        explains=("DRIVER-CUDA-FAILED", "CHAIN-UNAVAILABLE"),
    ),
    Entry(
        "DRIVER-MIG-PENDING",
        "a GPU's MIG mode changes with its next reset",
        Severity.WARNING,
        "the same mode now and after a reset",
        _RESET,
        "NVIDIA Multi-Instance GPU User Guide",
    ),
)

ENTRIES = (*_STARTING, *_GPU)

"""Findings of gate ``chain``: what got into the child, and on which device it ran."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Platform, Severity

_HASHED = "DESIGN: Laws, 3"
_DERIVED = "DESIGN: The words, tier; Laws, 2 and 3"
_SWAP = "keep the selection still while it is qualified, and qualify again"
_UNASKED = (
    "find what brought it in (a wrapper around the interpreter, /etc/ld.so.preload, a plug-in) and remove it"
)

PROVIDER = (
    Entry(
        "CHAIN-PROVIDER-SWAPPED",
        "the provider that was loaded is not the one that was hashed",
        Severity.FAILURE,
        "the bytes that gate `provider` hashed",
        _SWAP,
        _HASHED,
    ),
    Entry(
        "CHAIN-PROVIDER-UNPINNED",
        "the provider that was loaded is not pinned",
        Severity.FAILURE,
        "a digest that the plan pins for this platform",
        "select the pinned provider, or pin this one if you trust it",
        _HASHED,
    ),
    Entry(
        "CHAIN-PROVIDER-OTHER",
        "another wgpu library than the selected provider was loaded",
        Severity.FAILURE,
        "the selected provider alone",
        "find what made wgpu load its own copy: the provider must be a library that WGPU_LIB_PATH can name",
        _HASHED,
    ),
    Entry(
        "CHAIN-PROVIDER-UNMAPPED",
        "the provider was not loaded, although a stage ran through wgpu",
        Severity.FAILURE,
        "the selected provider among the mapped files",
        "find which package gave `wgpu` in the selection: it does not use the provider",
        _HASHED,
    ),
)

TOOLKIT = (
    Entry(
        "CHAIN-NVRTC-SECOND",
        "more than one NVRTC was loaded",
        Severity.FAILURE,
        "one NVRTC, the selected toolkit's",
        "remove the other from site-packages (pip uninstall nvidia-cuda-nvrtc), or select its toolkit",
        _HASHED,
    ),
    Entry(
        "CHAIN-NVRTC-OUTSIDE",
        "the NVRTC that was loaded is not the selected toolkit's",
        Severity.FAILURE,
        "an NVRTC below $TOOLKIT",
        "remove it from site-packages (pip uninstall nvidia-cuda-nvrtc), or set CUDA_PATH to its toolkit",
        _HASHED,
    ),
    Entry(
        "CHAIN-NVRTC-UNMAPPED",
        "no NVRTC was loaded, although a stage was compiled by it",
        Severity.FAILURE,
        "the selected toolkit's NVRTC among the mapped files",
        "find which package gave `cuda.bindings.nvrtc` in the selection: it does not use the toolkit",
        _HASHED,
    ),
    Entry(
        "CHAIN-TOOLKIT-MIXED",
        "a part of another toolkit was loaded",
        Severity.FAILURE,
        "parts of the selected toolkit alone",
        "remove the named library from site-packages, or set CUDA_PATH to its toolkit",
        _HASHED,
    ),
)

DRIVER = (
    Entry(
        "CHAIN-LIBCUDA-INSIDE",
        "the CUDA driver library came from the selection or the toolkit",
        Severity.FAILURE,
        "the driver's own libcuda, outside selection and toolkit",
        "take stub and compat folders off every library path: libcuda belongs to the installed driver",
        _HASHED,
    ),
    Entry(
        "CHAIN-LIBCUDA-SECOND",
        "more than one CUDA driver library was loaded",
        Severity.FAILURE,
        "one libcuda, the driver's",
        "remove the other one; a second libcuda usually is a stub, or left over from another driver",
        _HASHED,
    ),
    Entry(
        "CHAIN-LIBCUDA-VERSION",
        "libcuda and the kernel module are of different versions",
        Severity.FAILURE,
        "equal whole versions",
        "reboot after a driver update; in a container, mount the libraries of the host's driver",
        _HASHED,
    ),
)

UNASKED = (
    Entry(
        "CHAIN-LIBRARY-UNASKED",
        "a library got into the child unasked",
        Severity.FAILURE,
        "libraries of the selection, the toolkit, the driver and the system",
        _UNASKED,
        _HASHED,
    ),
    Entry(
        "CHAIN-LIBRARY-PRELOADED",
        "a library is preloaded into every process of this machine",
        Severity.FAILURE,
        "no entry in /etc/ld.so.preload",
        "remove it from /etc/ld.so.preload, or qualify on a machine without it",
        _HASHED,
    ),
    Entry(
        "CHAIN-LIBRARY-REPLACED",
        "a mapped library could not be hashed as it was mapped",
        Severity.FAILURE,
        "files that stay as they are while they are mapped",
        _SWAP,
        _HASHED,
    ),
    Entry(
        "CHAIN-LAYER",
        "an implicit Vulkan layer got into the child",
        Severity.FAILURE,
        "no Vulkan layer",
        "uninstall the layer, or update the Vulkan loader to 1.3.234 or newer, which can keep layers out",
        _HASHED,
    ),
    Entry(
        "CHAIN-MODULE-OUTSIDE",
        "a Python module came from outside the selection",
        Severity.FAILURE,
        "modules of the selection, its standard library and the chain's zip",
        "install the named package into the selection; editable installs and .pth paths lead outside",
        _HASHED,
    ),
    Entry(
        "CHAIN-MODULE-BYTECODE",
        "bytecode ran whose source was not read",
        Severity.FAILURE,
        "modules compiled from their source, by an empty bytecode cache",
        "remove the .pyc file that has no source beside it, and install its package anew",
        _HASHED,
    ),
    Entry(
        "CHAIN-MODULE-INJECTED",
        "a module ran at start-up that nobody imported",
        Severity.FAILURE,
        "no sitecustomize, no usercustomize, no importing .pth file",
        "remove the named file from the selection",
        _HASHED,
    ),
    Entry(
        "CHAIN-EXECUTABLE-OTHER",
        "the interpreter that ran is not the one that was selected and hashed",
        Severity.FAILURE,
        "the bytes that gate `environment` hashed",
        "select the interpreter itself, not a wrapper around it, and keep it still while it is qualified",
        _HASHED,
    ),
    Entry(
        "CHAIN-LIBPYTHON-OTHER",
        "the libpython that was loaded is not the selected one",
        Severity.FAILURE,
        "the bytes that gate `environment` hashed",
        "set BUN_PYTHON_LIBPYTHON to the library that this interpreter uses",
        _HASHED,
    ),
    Entry(
        "CHAIN-ISOLATION",
        "the interpreter did not start isolated",
        Severity.FAILURE,
        "-s and -B in force, and the private bytecode cache",
        "select the interpreter itself, not a wrapper that changes its options",
        _HASHED,
    ),
    Entry(
        "CHAIN-ENVIRONMENT-UNASKED",
        "a variable got into the child that brings code",
        Severity.FAILURE,
        "the environment that was built for it",
        "select the interpreter itself, not a wrapper that sets variables",
        _HASHED,
    ),
    Entry(
        "CHAIN-UNSEEN",
        "what the child had loaded could not be seen from outside",
        Severity.UNAVAILABLE,
        "a system that shows a process's mapped files and open devices to its parent",
        "qualify on Linux or WSL, as the user who owns the child, with /proc mounted",
        _HASHED,
        {Platform.WINDOWS: "this release reads mapped files on Linux and WSL only: qualify there"},
    ),
)

DEVICE = (
    Entry(
        "CHAIN-DEVICE-CHANGED",
        "the device was another one after the chain than before it",
        Severity.FAILURE,
        "the same GPU, driver and mode before and after",
        "look for a reset, a lost GPU or a driver update in the kernel's log, and qualify again",
        "DESIGN: Laws, 3",
    ),
    Entry(
        "CHAIN-NVML",
        "NVML did not answer",
        Severity.UNAVAILABLE,
        "NVML's word on GPU and driver",
        "run nvidia-smi: it fails the same way and says more",
        "DESIGN: Laws, 3",
    ),
    Entry(
        "CHAIN-NVML-DEADLINE",
        "NVML hung and was ended at its deadline",
        Severity.ERROR,
        "an answer within its deadline",
        "nvidia-smi hangs the same way: reset the GPU or reboot",
        "DESIGN: The chain child",
    ),
    Entry(
        "CHAIN-BACKEND",
        "the WGSL stage ran on another backend than the plan's",
        Severity.FAILURE,
        "the plan's backend for this platform",
        "install the driver's part for that backend, or change tool.assay.backend",
        "DESIGN: Platforms",
    ),
    Entry(
        "CHAIN-ADAPTER-SOFTWARE",
        "the WGSL stage ran on a software adapter that the plan does not allow",
        Severity.FAILURE,
        "the NVIDIA GPU's adapter",
        "install the Vulkan part of the NVIDIA driver and the Vulkan loader (libvulkan1)",
        "DESIGN: Platforms",
    ),
    Entry(
        "CHAIN-GPU-OTHER",
        "wgpu's adapter is another GPU than the CUDA device",
        Severity.FAILURE,
        "one GPU for all three runtimes",
        "keep the other GPU out (VK_DRIVER_FILES, CUDA_VISIBLE_DEVICES, both named in allow-environment)",
        "DESIGN: Platforms",
    ),
    Entry(
        "CHAIN-GPU-AMBIGUOUS",
        "it could not be shown that wgpu's adapter is the CUDA device",
        Severity.UNAVAILABLE,
        "NVML's list of processes, or one GPU of that name",
        "qualify with one GPU visible, or where NVML lists a GPU's processes (no PID namespace of its own)",
        "DESIGN: Platforms",
    ),
    Entry(
        "CHAIN-TIER-UNSHOWN",
        "the facts show no tier, or contradict one another",
        Severity.UNAVAILABLE,
        "all marks of one tier and none of another",
        "restore what is named; for a run on the CPU use `nox -s rehearse`",
        _DERIVED,
    ),
    Entry(
        "CHAIN-TIER-OTHER",
        "the chain ran at another tier than the plan's",
        Severity.UNAVAILABLE,
        "the plan's tier",
        "run where that tier is, on an NVIDIA GPU under its own driver; `nox -s rehearse` is for the CPU",
        _DERIVED,
    ),
)

ENTRIES = (*PROVIDER, *TOOLKIT, *DRIVER, *UNASKED, *DEVICE)

"""Findings of gate ``toolkit``: one CUDA toolkit, for this driver, this device and this compiler."""

from __future__ import annotations

from assay.judge.catalogue.driver_live import NO_CUDA
from assay.judge.catalogue.entry import Entry
from assay.model import Platform, Severity

_SELECTION = "DESIGN: Selection"
_ONE = "DESIGN: Selection (one toolkit)"
_NVCC = "CUDA Compiler Driver NVCC: Supported host compilers, --compiler-bindir"
_NOTES = "CUDA Toolkit Release Notes: CUDA Toolkit and minimum required driver version"
_CHOOSE = (
    "choose another with -ccbin or NVCC_CCBIN (CUDAHOSTCXX for CMake), naming it in the plan's "
    "allow-environment, or put a supported gcc first in the selection's PATH"
)
_CHOOSE_MSVC = (
    "start from a shell of the plan's toolset (vcvarsall.bat x64 -vcvars_ver=VERSION), which puts its cl.exe "
    "on PATH, or put that folder in the selection's PATH, or name it with -ccbin or NVCC_CCBIN"
)

ENTRIES = (
    Entry(
        "TOOLKIT-NONE",
        "no toolkit is selected",
        Severity.UNAVAILABLE,
        "a CUDA toolkit",
        "set CUDA_PATH in an explicit selection, or make the embedded one with `nox -s provision`",
        _SELECTION,
    ),
    Entry(
        "TOOLKIT-QUOTED",
        "CUDA_PATH has quotation marks around its value",
        Severity.FAILURE,
        "the path itself, spaces included, without quotation marks",
        "set CUDA_PATH without the marks: they belong to the shell's command line, not to the value",
        _SELECTION,
    ),
    Entry(
        "TOOLKIT-FOLDER",
        "CUDA_PATH does not name a folder that can be read",
        Severity.FAILURE,
        "the toolkit's folder, such as /usr/local/cuda-13.0",
        "correct CUDA_PATH: it is the folder that holds bin/ and include/",
        _SELECTION,
        {
            Platform.WINDOWS: r"correct CUDA_PATH: usually "
            r"C:\Program Files\NVIDIA GPU Computing Toolkit\CUDA\v13.0, without quotation marks"
        },
    ),
    Entry(
        "TOOLKIT-PART-MISSING",
        "the toolkit lacks a part",
        Severity.FAILURE,
        "nvcc, NVRTC and its builtins, cuda.h, cudart and NVVM in one toolkit",
        "install the missing part of the same version into that toolkit (packages cuda-nvcc, cuda-nvrtc, "
        "cuda-cudart-dev, libnvvm), or select a toolkit that is complete",
        _ONE,
    ),
    Entry(
        "TOOLKIT-MIXED",
        "parts of different toolkits are mixed",
        Severity.FAILURE,
        "every part from the selected toolkit, of one version",
        "select one complete toolkit, and remove the other one's packages (nvidia-cuda-* wheels) or folders",
        _ONE,
        explains=("TOOLKIT-BUILTINS", "TOOLKIT-VERSION"),
    ),
    Entry(
        "TOOLKIT-SHADOWED",
        "another NVRTC would be loaded in the selected toolkit's place",
        Severity.FAILURE,
        "the selected toolkit's NVRTC",
        "uninstall the other NVRTC from the selection (package nvidia-cuda-nvrtc), or select that toolkit",
        "cuda.pathfinder: search order (site-packages, conda, loader, CUDA_PATH)",
    ),
    Entry(
        "TOOLKIT-BUILTINS",
        "NVRTC lacks its builtins, or has those of another version",
        Severity.FAILURE,
        "libnvrtc-builtins of NVRTC's own version, beside it",
        "install or copy both libraries together, from one toolkit",
        "NVRTC: User Guide, Installation",
    ),
    Entry(
        "TOOLKIT-NVCC-NOT-ON-PATH",
        "no nvcc is found on PATH",
        Severity.FAILURE,
        "the selected toolkit's nvcc, first on PATH",
        "put the toolkit's bin folder first in the selection's PATH",
        "PyCUDA: pycuda.compiler (starts nvcc by name)",
    ),
    Entry(
        "TOOLKIT-NVCC-OTHER",
        "the first nvcc on PATH belongs to another toolkit",
        Severity.FAILURE,
        "the selected toolkit's nvcc, first on PATH",
        "put the selected toolkit's bin folder before the other one in PATH",
        "PyCUDA: pycuda.compiler (starts nvcc by name)",
    ),
    Entry(
        "TOOLKIT-NVCC-LINK",
        "the first nvcc on PATH is a symbolic link away from its toolkit",
        Severity.FAILURE,
        "nvcc itself, or a script that starts it: nvcc looks for its headers beside the name it has",
        'replace the link with a script (exec TOOLKIT/bin/nvcc "$@"), or put the toolkit\'s bin on PATH',
        "CUDA Compiler Driver NVCC: nvcc.profile",
    ),
    Entry(
        "TOOLKIT-NVCC-FAILED",
        "nvcc does not run",
        Severity.FAILURE,
        "an nvcc that prints its version",
        "start nvcc --version by hand; reinstall the toolkit if it fails",
        "CUDA Compiler Driver NVCC: --version",
    ),
    Entry(
        "TOOLKIT-VERSION",
        "the toolkit is not of a version that the plan accepts",
        Severity.FAILURE,
        "a toolkit of the plan's versions",
        "select a toolkit that fits, or change versions.<platform>.cuda in the plan",
        "plan: versions.<platform>.cuda",
    ),
    Entry(
        "TOOLKIT-ARCHITECTURE",
        "parts of the toolkit are for another processor",
        Severity.FAILURE,
        "a toolkit for the machine's processor",
        "select the toolkit's build for this processor (x86_64, or sbsa for Arm servers)",
        _ONE,
    ),
    Entry(
        "TOOLKIT-DRIVER-VERSION",
        "the driver is not of a version that the plan accepts",
        Severity.FAILURE,
        "a driver of the plan's versions",
        "install a driver that fits, or change versions.<platform>.driver in the plan",
        "plan: versions.<platform>.driver",
        {Platform.WSL: "install a Windows display driver that fits; never a Linux one inside WSL"},
    ),
    Entry(
        "TOOLKIT-DRIVER-OLD",
        "the driver is too old for the toolkit",
        Severity.FAILURE,
        "a driver of the branch that the toolkit's major version needs, or newer",
        "install a newer driver, or select a toolkit of an older major version",
        _NOTES,
        {Platform.WSL: "install a newer Windows display driver; never a Linux one inside WSL"},
    ),
    Entry(
        "TOOLKIT-PTX-NEW",
        "the driver cannot read the PTX of this toolkit",
        Severity.FAILURE,
        "a toolkit no newer than the CUDA version of the driver: PTX has no minor-version compatibility",
        "select an older toolkit, compile to CUBIN for the device, or install a newer driver",
        "CUDA Compatibility: minor version compatibility, limitations (PTX)",
    ),
    Entry(
        "TOOLKIT-DEVICE-ARCHITECTURE",
        "the toolkit does not build for this device",
        Severity.FAILURE,
        "a device among those that the toolkit builds for",
        "select a toolkit that still, or already, builds for it: 12.x is the last for Maxwell, Pascal, Volta",
        "CUDA Toolkit Release Notes: Deprecated Architectures",
    ),
    Entry(
        "TOOLKIT-PLAN-ARCHITECTURE",
        "the toolkit does not build for an architecture of the plan",
        Severity.FAILURE,
        "a toolkit that builds for every architecture of the plan",
        "select a toolkit that does, or remove the architecture from the plan",
        "plan: architectures; nvcc --list-gpu-arch",
    ),
    Entry(
        "TOOLKIT-COMPILER-MISSING",
        "nvcc finds no host compiler",
        Severity.FAILURE,
        "a host compiler on the selection's PATH",
        f"install gcc and g++ (build-essential, gcc-c++), or {_CHOOSE}",
        _NVCC,
        {Platform.WINDOWS: _CHOOSE_MSVC},
    ),
    Entry(
        "TOOLKIT-COMPILER-RANGE",
        "the host compiler is outside the range that nvcc accepts",
        Severity.FAILURE,
        "a host compiler in nvcc's range",
        _CHOOSE,
        f"{_NVCC}; the toolkit's crt/host_config.h",
        {Platform.WINDOWS: _CHOOSE_MSVC},
    ),
    Entry(
        "TOOLKIT-MSVC-TOOLSET",
        "the MSVC toolset is not the plan's",
        Severity.FAILURE,
        "the MSVC toolset of the plan",
        _CHOOSE_MSVC,
        "plan: msvc-toolset",
    ),
    Entry(
        "TOOLKIT-STUB",
        "the libcuda that would be loaded is a toolkit's stub",
        Severity.FAILURE,
        "the driver's own libcuda: a stub is for linking and answers every call with error 34",
        "remove the toolkit's stubs folder from the loader's configuration and from LD_LIBRARY_PATH",
        "CUDA Driver API: CUDA_ERROR_STUB_LIBRARY",
        explains=("DRIVER-LIBRARY-SHADOWED", "DRIVER-LIBRARY-UNTOLD", "DRIVER-USERSPACE-MIXED", *NO_CUDA),
    ),
    Entry(
        "TOOLKIT-STUB-KEPT-OUT",
        "a stubs folder on LD_LIBRARY_PATH puts a stub in libcuda's place; the children were kept from it",
        Severity.WARNING,
        "no stubs folder on LD_LIBRARY_PATH; for linking, LIBRARY_PATH is enough",
        "remove the stubs folder from LD_LIBRARY_PATH: programs started from this shell fail with error 34",
        "CUDA Driver API: CUDA_ERROR_STUB_LIBRARY",
    ),
    Entry(
        "TOOLKIT-NVML-SILENT",
        "NVML did not answer within its deadline",
        Severity.UNAVAILABLE,
        "an answer of the driver",
        "look for a hung GPU or driver in the kernel's log (Xid, NVRM); reset the GPU or restart the machine",
        "NVML API: nvmlInit",
    ),
)

"""Findings of gate ``vulkan``: the loader, NVIDIA's driver for it, and what it lists."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_DISCOVERY = "Vulkan loader: LoaderDriverInterface.md, Driver Discovery on Linux"
_OVERRIDING = (
    "Vulkan loader: LoaderDriverInterface.md, Overriding the Default Driver Discovery, Driver Filtering"
)
_MANIFEST = "Vulkan loader: LoaderDriverInterface.md, Driver Manifest File Format"
_COMPONENTS = "NVIDIA Linux driver README, Installed Components"
_GRAPHICS = (
    "in a container start it anew with graphics among NVIDIA_DRIVER_CAPABILITIES (or all); else install the "
    "driver's part for graphics, of the kernel module's version (nvidia-vulkan-icd; libnvidia-gl-NNN; "
    "nvidia-driver-libs; nvidia-utils)"
)

UNLISTED = ("VULKAN-FAILED", "VULKAN-NO-DEVICE")
"""What the loader then says."""

WITHOUT_DRIVER = ("VULKAN-NO-DRIVER", "VULKAN-NODE-DENIED", "VULKAN-SILENT", *UNLISTED)
"""What follows from a driver that is not there, or not whole."""

WITHOUT_PARTS = (
    "VULKAN-ICD-MISSING",
    "VULKAN-SOFTWARE-ONLY",
    "VULKAN-LIBRARY-MISSING",
    "VULKAN-DRIVER-INCOMPLETE",
)
"""What follows where the driver's files are not there, or not given to a container."""

_NO_GPU = (*UNLISTED, "CHAIN-ADAPTER-SOFTWARE", "CHAIN-UNAVAILABLE")

ENTRIES = (
    Entry(
        "VULKAN-NO-DRIVER",
        "without an NVIDIA driver Vulkan has no NVIDIA GPU to show",
        Severity.UNAVAILABLE,
        "a running NVIDIA driver",
        "see what gate driver says; `nox -s rehearse` runs the same chain on the CPU, without qualifying "
        "anything",
        "DESIGN: Laws, 2",
    ),
    Entry(
        "VULKAN-LOADER-MISSING",
        "the Vulkan loader is missing: programs fall back to the processor without an error",
        Severity.UNAVAILABLE,
        "libvulkan.so.1 where the dynamic loader looks",
        "install the Vulkan loader: libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora, Alpine), "
        "vulkan-icd-loader (Arch)",
        "Vulkan loader: LoaderInterfaceArchitecture.md",
        explains=("PROVIDER-VULKAN-LOADER", *_NO_GPU),
    ),
    Entry(
        "VULKAN-OVERRIDE",
        "a variable hides NVIDIA's Vulkan driver",
        Severity.FAILURE,
        "variables that leave NVIDIA's manifest to the loader, or none",
        "unset the variable, or have it name NVIDIA's manifest (nvidia_icd.json)",
        _OVERRIDING,
        explains=("VULKAN-SHELL-OTHER", *_NO_GPU),
    ),
    Entry(
        "VULKAN-ICD-MISSING",
        "NVIDIA's manifest is nowhere that the loader looks: the driver's part for graphics is missing",
        Severity.FAILURE,
        "nvidia_icd.json in /etc/vulkan/icd.d or /usr/share/vulkan/icd.d",
        f"{_GRAPHICS}; where the manifest lies elsewhere, name it in VK_DRIVER_FILES",
        _DISCOVERY,
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-SOFTWARE-ONLY",
        "the only Vulkan driver found computes on the processor",
        Severity.FAILURE,
        "nvidia_icd.json in /etc/vulkan/icd.d or /usr/share/vulkan/icd.d",
        f"{_GRAPHICS}; where the manifest lies elsewhere, name it in VK_DRIVER_FILES",
        _DISCOVERY,
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-MANIFEST",
        "the manifest of NVIDIA's Vulkan driver cannot be used",
        Severity.FAILURE,
        "JSON with file_format_version, and library_path and api_version of its ICD",
        "install the driver's package anew that has it; give every user the right to read it",
        _MANIFEST,
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-LIBRARY-MISSING",
        "NVIDIA's manifest names a library that is not found, or cannot be loaded",
        Severity.FAILURE,
        "the library that the manifest names, for this processor, where the dynamic loader looks",
        f"{_GRAPHICS}; where it lies elsewhere, name its folder in /etc/ld.so.conf.d and run ldconfig",
        f"{_MANIFEST}; ld.so(8)",
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-DRIVER-VERSION",
        "Vulkan would run on another version of the driver than the kernel module's",
        Severity.FAILURE,
        "one whole version",
        "restart the machine; if they differ still, reinstall the whole driver, and remove what an installer "
        "left behind (nvidia-uninstall)",
        _COMPONENTS,
        explains=(*_NO_GPU, "VULKAN-SILENT"),
    ),
    Entry(
        "VULKAN-DRIVER-INCOMPLETE",
        "parts of the driver that Vulkan needs are missing",
        Severity.FAILURE,
        "every library of the driver that its Vulkan part loads, of its own version",
        _GRAPHICS,
        _COMPONENTS,
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-SYSTEM-LIBRARY",
        "libraries of the system that NVIDIA's Vulkan driver loads are missing",
        Severity.FAILURE,
        "every library that it loads",
        "install them: libegl1 with libglvnd0 for libEGL.so.1 (Debian, Ubuntu; libglvnd-egl on Fedora, "
        "libglvnd on Arch), libx11-6 and libxext6 for libX11.so.6 and libXext.so.6, also where there is no "
        "display",
        f"{_COMPONENTS}; ld.so(8)",
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-NODE-DENIED",
        "Vulkan lists no NVIDIA GPU, and its device nodes may not be opened",
        Severity.FAILURE,
        "device nodes that this user may read and write",
        "give the user the node's group (often video or render) or mode 0666 (NVreg_DeviceFileMode); in a "
        "container allow the device",
        "NVIDIA Linux driver README, How and when are the NVIDIA device files created?",
        explains=_NO_GPU,
    ),
    Entry(
        "VULKAN-SILENT",
        "Vulkan did not list its devices within the deadline",
        Severity.UNAVAILABLE,
        "an answer of vkEnumeratePhysicalDevices",
        "look for a hung GPU or driver in the kernel's log (Xid, NVRM); reset the GPU or restart the "
        "machine; leave other drivers out with VK_DRIVER_FILES to see which one hangs",
        "Vulkan: vkEnumeratePhysicalDevices",
        explains=("CHAIN-CHILD-DEADLINE",),
    ),
    Entry(
        "VULKAN-FAILED",
        "Vulkan does not start",
        Severity.FAILURE,
        "an instance whose devices can be listed",
        "start vulkaninfo with VK_LOADER_DEBUG=all and read which manifest or library is refused",
        "Vulkan: vkCreateInstance; Vulkan loader: LoaderDebugging.md",
        explains=("CHAIN-UNAVAILABLE", "CHAIN-ADAPTER-SOFTWARE"),
    ),
    Entry(
        "VULKAN-NO-DEVICE",
        "Vulkan lists no NVIDIA GPU",
        Severity.FAILURE,
        "the NVIDIA GPU among the devices that are listed",
        "start vulkaninfo with VK_LOADER_DEBUG=all and read why NVIDIA's driver lists none; look at the "
        "kernel's log (NVRM)",
        "Vulkan: vkEnumeratePhysicalDevices; Vulkan loader: LoaderDebugging.md",
        explains=("CHAIN-UNAVAILABLE", "CHAIN-ADAPTER-SOFTWARE"),
    ),
    Entry(
        "VULKAN-DOUBLED",
        "two manifests name NVIDIA's Vulkan driver: its GPUs may be listed twice",
        Severity.WARNING,
        "one manifest of NVIDIA's",
        "remove the manifest that no package owns",
        _DISCOVERY,
        explains=("CHAIN-GPU-AMBIGUOUS",),
    ),
    Entry(
        "VULKAN-SHELL-OTHER",
        "a program of this shell would not get NVIDIA's Vulkan driver; the children were kept from it",
        Severity.WARNING,
        "variables that leave NVIDIA's manifest to the loader, or none",
        "unset the variable, or have it name NVIDIA's manifest (nvidia_icd.json)",
        _OVERRIDING,
    ),
    Entry(
        "VULKAN-LAYER-BROKEN",
        "an implicit Vulkan layer of this shell cannot be loaded",
        Severity.WARNING,
        "layers whose libraries are there, or none",
        "remove the package or manifest of the layer, or set the variable that its manifest names under "
        "disable_environment; the children get no implicit layer",
        "Vulkan loader: LoaderLayerInterface.md, Layer Manifest File Format",
    ),
)

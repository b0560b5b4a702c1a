"""Findings of gate ``driver``: the kernel module, what belongs to it, and how it gets into a process.

What WSL and Windows have of their own, and what a running driver says, is in ``driver_elsewhere`` and
``driver_live``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from assay.judge.catalogue import driver_elsewhere, driver_live
from assay.judge.catalogue.driver_live import DEAD, NO_CUDA, SILENT
from assay.judge.catalogue.entry import Entry
from assay.judge.catalogue.vulkan import WITHOUT_DRIVER, WITHOUT_PARTS
from assay.model import Platform, Severity

_README = "NVIDIA Accelerated Linux Graphics Driver: README"
_COMPONENTS = f"{_README}, Installed Components"
_OPEN = f"{_README}, Open Linux Kernel Modules"
_GSP = f"{_README}, GSP Firmware"
_CONTAINER = "NVIDIA Container Toolkit: Driver Capabilities"
_REHEARSE = "`nox -s rehearse` runs the same chain on the CPU, without qualifying anything"
_GIVE = "start the container with its GPUs (--gpus all with the NVIDIA Container Toolkit)"

_ONE: Mapping[Platform, str] = MappingProxyType(
    {Platform.WSL: "update the NVIDIA driver on the Windows host, then `wsl --shutdown`"}
)

_MODULE = (
    Entry(
        "DRIVER-NO-GPU",
        "the machine has no NVIDIA GPU",
        Severity.UNAVAILABLE,
        "an NVIDIA GPU",
        f"qualify on a machine with an NVIDIA GPU; {_REHEARSE}",
        "DESIGN: Laws, 2",
        {
            Platform.WINDOWS: "install NVIDIA's display driver if the machine has a GPU of theirs; "
            f"{_REHEARSE} (under WSL or in a Linux container)"
        },
        explains=("CHAIN-UNAVAILABLE", "CHAIN-TIER-UNSHOWN", *WITHOUT_DRIVER),
    ),
    Entry(
        "DRIVER-NOT-INSTALLED",
        "an NVIDIA GPU is there, and no NVIDIA kernel module",
        Severity.FAILURE,
        "NVIDIA's driver, its kernel module among it",
        "install the distribution's package of NVIDIA's driver (nvidia-driver, nvidia-open, "
        "akmod-nvidia; in a container: on its host), then restart",
        f"{_README}, Installing the NVIDIA Driver",
        explains=("DRIVER-NOUVEAU", *DEAD),
    ),
    Entry(
        "DRIVER-NOT-BUILT",
        "the NVIDIA kernel module was not built for the running kernel",
        Severity.FAILURE,
        "a module nvidia for this kernel",
        "install this kernel's headers and build the module (dkms autoinstall, akmods --force, or the "
        "package of prebuilt modules for this kernel), or start a kernel that has it",
        f"{_README}, Installing the NVIDIA Driver; dkms(8)",
        explains=("DRIVER-NOUVEAU", *DEAD),
    ),
    Entry(
        "DRIVER-NOT-LOADED",
        "the NVIDIA kernel module is there and not loaded",
        Severity.FAILURE,
        "module nvidia, loaded",
        "load it (modprobe nvidia) and read what the kernel's log says; where it refuses the key, "
        "enrol the key that signed the module (mokutil --import) or turn Secure Boot off; remove a "
        "blacklist that names nvidia",
        f"{_README}, Installing the NVIDIA Driver (signing the kernel module); modprobe.d(5)",
        explains=("DRIVER-NOUVEAU", *DEAD),
    ),
    Entry(
        "DRIVER-NOUVEAU",
        "nouveau drives the GPU in the NVIDIA driver's place",
        Severity.FAILURE,
        "the GPU bound to nvidia",
        "blacklist nouveau (blacklist nouveau and options nouveau modeset=0 in /etc/modprobe.d), make the "
        "initramfs anew, restart",
        f"{_README}, Interaction with the Nouveau Driver",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-VFIO",
        "every GPU is kept for virtual machines",
        Severity.FAILURE,
        "a GPU bound to nvidia",
        "qualify inside the virtual machine that has the GPU, or remove its numbers from the options "
        "of vfio-pci and restart",
        "Linux kernel: VFIO",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-NOT-BOUND",
        "the NVIDIA module is loaded and drives no GPU",
        Severity.FAILURE,
        "a GPU bound to nvidia",
        "read what the kernel's log says of the GPU (NVRM): an unsupported GPU, the module's other "
        "flavour, or another driver that has it",
        f"{_README}, Common Problems",
        explains=("DRIVER-FIRMWARE-UNSEEN", "DRIVER-NODE-MISSING", *DEAD),
    ),
    Entry(
        "DRIVER-GPU-LEFT-OUT",
        "a GPU is left out",
        Severity.WARNING,
        "every GPU bound to nvidia",
        "nothing, if this GPU is not the one to be qualified; else bind it to nvidia",
        f"{_README}, Common Problems",
    ),
    Entry(
        "DRIVER-GPU-EXCLUDED",
        "every GPU is excluded from use",
        Severity.FAILURE,
        "a GPU that is not excluded",
        "remove NVreg_ExcludedGpus from the options of module nvidia, then load it anew",
        f"{_README}, NVreg_ExcludedGpus",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-GPU-UNSUPPORTED",
        "the driver no longer, or not yet, supports the GPU",
        Severity.FAILURE,
        "a driver of a branch that supports it",
        "install a driver of that branch: 470 is the last for Kepler, 580 for Maxwell, Pascal and Volta",
        f"{_README}, Supported NVIDIA GPU Products",
        explains=("DRIVER-NOT-BOUND", "DRIVER-INIT-FAILED", "DRIVER-NODE-MISSING", *DEAD),
    ),
    Entry(
        "DRIVER-FLAVOUR-OPEN",
        "the GPU needs the open kernel module, and the proprietary one is loaded",
        Severity.FAILURE,
        "the open kernel module: Grace Hopper, Blackwell and later work with no other",
        "install the open flavour of the same version (nvidia-open, nvidia-driver-NNN-open, "
        "kmod-nvidia-open-dkms; -m=kernel-open for NVIDIA's installer), then restart",
        _OPEN,
        explains=(
            "DRIVER-NOT-BOUND",
            "DRIVER-INIT-FAILED",
            "DRIVER-FIRMWARE-MISSING",
            "DRIVER-NODE-MISSING",
            *DEAD,
        ),
    ),
    Entry(
        "DRIVER-FLAVOUR-PROPRIETARY",
        "the GPU needs the proprietary kernel module, and the open one is loaded",
        Severity.FAILURE,
        "the proprietary kernel module: GPUs before Turing have no GPU System Processor",
        "install the proprietary flavour, of branch 580 or older, then restart",
        _OPEN,
        explains=("DRIVER-NOT-BOUND", "DRIVER-INIT-FAILED", "DRIVER-NODE-MISSING", *DEAD),
    ),
    Entry(
        "DRIVER-MODULE-UNTOLD",
        "the version of the loaded kernel module is not told",
        Severity.UNAVAILABLE,
        "a whole version in /proc/driver/nvidia/version or /sys/module/nvidia/version",
        "restart the machine; if it stays so, reinstall the driver",
        f"{_README}, Using the /proc File System Interface",
        explains=WITHOUT_DRIVER,
    ),
    Entry(
        "DRIVER-MODULES-MIXED",
        "the driver's kernel modules are of different versions",
        Severity.FAILURE,
        "nvidia, nvidia_uvm, nvidia_modeset and nvidia_drm of one version",
        "restart the machine; if it stays so, reinstall the driver, so that one version's modules are built",
        _COMPONENTS,
        explains=("VULKAN-DRIVER-VERSION", *DEAD),
    ),
    Entry(
        "DRIVER-FIRMWARE-MISSING",
        "the GSP firmware of the driver's version is missing",
        Severity.FAILURE,
        "firmware of the kernel module's whole version",
        "install the firmware of exactly this version (nvidia-kernel-common, firmware-nvidia-gsp, "
        "nvidia-gsp-firmware), or the whole driver anew, make the initramfs anew if the module is in "
        "it, restart",
        _GSP,
        explains=("DRIVER-INIT-FAILED", "DRIVER-NODE-MISSING", *DEAD),
    ),
    Entry(
        "DRIVER-FIRMWARE-OTHER",
        "the GPU runs GSP firmware of another version than the kernel module",
        Severity.FAILURE,
        "firmware of the kernel module's whole version",
        "restart the machine, so that module and firmware are loaded together; then reinstall the "
        "driver if they still differ",
        _GSP,
        explains=DEAD,
    ),
    Entry(
        "DRIVER-FIRMWARE-UNSEEN",
        "the version of the running GSP firmware was not seen",
        Severity.UNAVAILABLE,
        "firmware of the kernel module's whole version, as /proc or NVML tells it",
        "let a process use the GPU once (nvidia-smi), and mount /proc/driver/nvidia into a container",
        _GSP,
    ),
)

_NODES = (
    Entry(
        "DRIVER-UVM-NOT-LOADED",
        "module nvidia_uvm is not loaded: CUDA cannot start without it",
        Severity.FAILURE,
        "module nvidia_uvm and /dev/nvidia-uvm",
        "load it (modprobe nvidia_uvm, or nvidia-modprobe -u -c=0, which makes the node too), and have "
        "it loaded at every start (/etc/modules-load.d)",
        f"{_README}, Unified Memory; nvidia-modprobe(1)",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-NODE-MISSING",
        "a device node of the GPU is missing",
        Severity.FAILURE,
        "/dev/nvidiactl, /dev/nvidia-uvm and a /dev/nvidia<n> for each GPU",
        f"make it (nvidia-modprobe -u -c=0, with the set-user-ID bit); in a container: {_GIVE}",
        f"{_README}, How and when are the NVIDIA device files created?",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-NODE-DENIED",
        "a device node of the GPU may not be opened",
        Severity.FAILURE,
        "device nodes that this user may read and write",
        "give the user the node's group (often video or render) or mode 0666 (NVreg_DeviceFileMode); in a "
        f"container allow the device: {_GIVE}",
        f"{_README}, How and when are the NVIDIA device files created?; the kernel's device controller",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-CONTAINER-NOT-GIVEN",
        "the host has a GPU and a driver, and the container was given neither",
        Severity.UNAVAILABLE,
        "device nodes and libraries of the driver inside the container",
        f"{_GIVE}; {_REHEARSE}",
        "NVIDIA Container Toolkit: Specialized Configurations with Docker",
        explains=(*WITHOUT_PARTS, *DEAD),
    ),
    Entry(
        "DRIVER-CONTAINER-CAPABILITIES",
        "the container asked for the driver without what computing needs",
        Severity.FAILURE,
        "NVIDIA_DRIVER_CAPABILITIES with compute and utility, or unset, or all",
        "set NVIDIA_DRIVER_CAPABILITIES=all, or compute,utility (and graphics for Vulkan), then start "
        "it anew",
        _CONTAINER,
        explains=("DRIVER-LIBRARY-MISSING", *WITHOUT_PARTS, *DEAD),
    ),
    Entry(
        "DRIVER-CONTAINER-MEMORY",
        "the container's memory hardly suffices to start CUDA and to compile",
        Severity.WARNING,
        "2 GiB or more",
        "raise the container's limit of memory: what needs more is killed by the kernel",
        "Linux kernel: Control Group v2, memory.max",
    ),
)

_LIBRARIES = (
    Entry(
        "DRIVER-VERSION-MISMATCH",
        "kernel module and userspace of the driver are of different versions",
        Severity.FAILURE,
        "one whole version",
        "restart the machine, so that the module of the installed version is loaded (or unload the "
        "modules and load them anew); if they differ still, reinstall the whole driver",
        _COMPONENTS,
        explains=("CHAIN-LIBCUDA-VERSION", "VULKAN-DRIVER-VERSION", *DEAD),
    ),
    Entry(
        "DRIVER-USERSPACE-MIXED",
        "the driver's libraries are of different versions",
        Severity.FAILURE,
        "every library of the kernel module's version",
        "reinstall the driver's packages of one version; what an installer left behind is removed with "
        "nvidia-uninstall first",
        _COMPONENTS,
        explains=("VULKAN-DRIVER-VERSION", *DEAD),
    ),
    Entry(
        "DRIVER-LIBRARY-SHADOWED",
        "the driver's own library is there, and another one comes first",
        Severity.FAILURE,
        "the library of the kernel module's version, first on the loader's path",
        "remove the other installation, or its folder from LD_LIBRARY_PATH or /etc/ld.so.conf.d (then "
        "ldconfig)",
        "ld.so(8); ldconfig(8)",
        explains=("VULKAN-DRIVER-VERSION", *DEAD),
    ),
    Entry(
        "DRIVER-COMPAT",
        "a forward-compatibility libcuda would be loaded in the driver's place",
        Severity.FAILURE,
        "the driver's own libcuda",
        "remove the toolkit's compat folder from the loader's path, or install a driver of that version",
        "CUDA Compatibility: Forward Compatibility",
        explains=("CHAIN-LIBCUDA-VERSION", *DEAD),
    ),
    Entry(
        "DRIVER-LIBRARY-MISSING",
        "the kernel module is loaded, and libraries of the driver are missing",
        Severity.FAILURE,
        "libcuda, NVML and the PTX compiler of the driver",
        "install the driver's libraries of the module's version (libcuda1, libnvidia-ml1, "
        "libnvidia-ptxjitcompiler1; libnvidia-compute-NNN; nvidia-utils; nvidia-driver-cuda); in a "
        f"container: {_GIVE}",
        _COMPONENTS,
        {Platform.WINDOWS: "install NVIDIA's display driver anew, as a clean installation", **_ONE},
        explains=(*WITHOUT_PARTS, *DEAD),
    ),
    Entry(
        "DRIVER-LIBRARY-UNTOLD",
        "the version of a library of the driver is not told",
        Severity.UNAVAILABLE,
        "a library that tells its version by its name or contents",
        "reinstall the driver's library from its package: it lies under its whole version and is linked to",
        _COMPONENTS,
        {Platform.WINDOWS: "install NVIDIA's display driver anew, as a clean installation"},
    ),
    Entry(
        "DRIVER-SHELL-OTHER",
        "a program started from this shell would load another driver's library; the children were kept "
        "from it",
        Severity.WARNING,
        "the kernel module's version",
        "remove the folder from LD_LIBRARY_PATH",
        "ld.so(8)",
    ),
)

_LOG = (
    Entry(
        "DRIVER-CLIENT-OLD",
        "a process still runs the libraries of another driver version",
        Severity.FAILURE,
        "only processes that were started after the driver was changed",
        "restart that process (for a daemon: systemctl restart NAME), or the machine",
        "NVIDIA open kernel modules: osapi.c (API mismatch)",
    ),
    Entry(
        "DRIVER-XID",
        "the GPU reported a fault of hardware, memory or firmware since the machine was started",
        Severity.FAILURE,
        "no such event since the last start",
        "reset the GPU (nvidia-smi --gpu-reset) or restart the machine, and qualify again; if it comes back, "
        "have the GPU examined",
        "NVIDIA: Xid Errors",
        explains=SILENT,
    ),
    Entry(
        "DRIVER-XID-PROGRAM",
        "the GPU reported events that mostly programs cause",
        Severity.WARNING,
        "no Xid event since the last start",
        "nothing, if a program's fault explains them; compute-sanitizer finds faults of memory in a kernel",
        "NVIDIA: Xid Errors",
    ),
    Entry(
        "DRIVER-INIT-FAILED",
        "the kernel module could not start a GPU",
        Severity.FAILURE,
        "a GPU that starts",
        "read the lines before it in the kernel's log; without any, power the machine off and on",
        f"{_README}, Common Problems",
        explains=DEAD,
    ),
    Entry(
        "DRIVER-GPU-LOST",
        "a GPU has fallen off the bus",
        Severity.FAILURE,
        "a GPU that answers",
        "power the machine off and on; if it comes back, examine power, seat and cooling of the GPU",
        "NVML API: NVML_ERROR_GPU_IS_LOST; NVIDIA: Xid Errors (79)",
        explains=("DRIVER-XID", "DRIVER-INIT-FAILED", *NO_CUDA, *SILENT),
    ),
)

ENTRIES = (*_MODULE, *_NODES, *_LIBRARIES, *_LOG, *driver_live.ENTRIES, *driver_elsewhere.ENTRIES)

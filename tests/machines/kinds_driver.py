"""Kinds 1 to 9: what goes wrong with the driver, natively and under WSL."""

from __future__ import annotations

from tests.machines.kindparts import GL, Kind, Layer, chain, client, driver, machine

_NO_UVM: Layer = {"modules": ["nvidia"], "nodes": ["/dev/nvidiactl", "/dev/nvidia0"]}
_MISMATCH = ("DRIVER-NVML-MISMATCH", "VULKAN-DRIVER-VERSION")

DRIVER = (
    Kind(
        1,
        "the userspace is of another version than the kernel module",
        "DRIVER-VERSION-MISMATCH",
        {
            "last digit": driver("faults/driver-mismatch", version="580.159.04", userspace="580.159.03"),
            "long after": driver(version="580.159.04", userspace="580.65.06"),
            "a beginning": driver(version="595.71.05", userspace="595.71"),
            "fedora": driver(on="healthy/fedora", version="595.71.05", userspace="595.58.03"),
            "debian": driver(on="healthy/debian-driver", version="550.163.01", userspace="550.144.03"),
            "conda": driver(
                "faults/driver-mismatch", on="healthy/conda", version="580.95.05", userspace="580.105.08"
            ),
            "with a hidden device": {
                **driver(userspace="580.95.05"),
                "env": {"CUDA_VISIBLE_DEVICES": ""},
            },
        },
        follows={
            "last digit": _MISMATCH,
            "conda": _MISMATCH,
            "fedora": ("VULKAN-DRIVER-VERSION",),
        },
        also={"with a hidden device": ("ENVIRONMENT-DEVICES-HIDDEN",)},
    ),
    Kind(
        2,
        "the firmware of this version is missing",
        "DRIVER-FIRMWARE-MISSING",
        {
            "another version's": driver(
                "faults/driver-firmware-missing", version="580.159.04", firmware="580.95.05"
            ),
            "none": driver(firmware="", running="N/A"),
            "fedora": driver(on="healthy/fedora", firmware="595.58.03", running="N/A"),
            "turing": machine("faults/driver-firmware-turing"),
            "debian's 550": driver(
                on="healthy/debian-driver", version="550.163.01", firmware="550.144.03", running="N/A"
            ),
        },
        follows={"another version's": ("DRIVER-INIT-FAILED",)},
    ),
    Kind(
        3,
        "the module is of the flavour that does not drive this GPU",
        "DRIVER-FLAVOUR-OPEN",
        {
            "blackwell": driver("faults/driver-flavour-open"),
            "grace hopper": machine("faults/driver-flavour-open-hopper"),
            "said by the log": machine("faults/driver-flavour-open-said"),
            "open on volta": machine("faults/driver-flavour-proprietary"),
            "fedora": driver(on="healthy/fedora", flavour="proprietary"),
        },
        roots={"open on volta": "DRIVER-FLAVOUR-PROPRIETARY"},
        follows={"blackwell": ("DRIVER-INIT-FAILED",), "open on volta": ("DRIVER-NOT-BOUND",)},
    ),
    Kind(
        4,
        "nvidia_uvm is not loaded",
        "DRIVER-UVM-NOT-LOADED",
        {
            "cuda says unknown": driver("faults/driver-uvm-not-loaded"),
            "proprietary": driver(version="580.126.09", flavour="proprietary", **_NO_UVM),
            "fedora": driver(on="healthy/fedora", **_NO_UVM),
            "conda": driver(on="healthy/conda", **_NO_UVM),
        },
        follows={"cuda says unknown": ("DRIVER-CUDA-FAILED",)},
    ),
    Kind(
        5,
        "a process still runs the driver before the upgrade",
        "DRIVER-CLIENT-OLD",
        {
            "persistenced": client("nvidia-persiste", "580.95.05", "580.159.04"),
            "unnamed": machine("faults/driver-client-old-unnamed"),
            "debian's 550": client("Xorg", "550.144.03", "550.163.01", on="healthy/debian-driver"),
            "a display": client("Xorg", "595.58.03", "595.71.05", on="healthy/fedora"),
            "several at once": {
                **client(
                    "python3",
                    "580.95.05",
                    "580.159.04",
                    "[ 99.1] NVRM: Xid (PCI:0000:1b:00): 48, pid=1, name=x, DBE",
                ),
                "driver": _NO_UVM,
            },
        },
        also={"several at once": ("DRIVER-CLIENT-OLD", "DRIVER-XID")},
        roots={"several at once": "DRIVER-UVM-NOT-LOADED"},
    ),
)

_NOTHING_SELECTED = dict.fromkeys(
    ("BUN_PYTHON_EXECUTABLE", "BUN_PYTHON_LIBPYTHON", "PYTHONPATH", "BUV_RUNTIME_LIB", "CUDA_PATH")
)
_LINUX_LIBCUDA = {f"{GL}/libcuda.so.580.95.05": {"soname": "libcuda.so.1", "needed": ["libc.so.6"]}}
_PROJECTED = "/usr/lib/wsl/lib"
_WSL_BARE = {
    "remove": [f"{_PROJECTED}/libcuda.so.1"],
    "elf": {f"{_PROJECTED}/libd3d12.so": {"soname": "libd3d12.so"}},
    "probes": chain(nvml=None),
}

WSL = (
    Kind(
        6,
        "a Linux display driver's libcuda hides the projected one",
        "DRIVER-WSL-SHADOWED",
        {
            "configuration": machine("faults/driver-wsl-shadowed"),
            "fedora": machine("faults/driver-wsl-shadowed-fedora"),
            "variable": machine("faults/driver-wsl-shadowed-variable"),
            "a newer branch": machine(
                "healthy/wsl",
                elf=_LINUX_LIBCUDA,
                links={f"{GL}/libcuda.so.1": "libcuda.so.580.95.05"},
                files={"/etc/ld.so.conf.d/000-nvidia.conf": f"{GL}\n"},
            ),
            "with a hidden device": machine(
                "faults/driver-wsl-shadowed-variable", env={"CUDA_VISIBLE_DEVICES": ""}
            ),
        },
        follows={"configuration": ("DRIVER-CUDA-NO-DEVICE", "DRIVER-WSL-LINUX-DRIVER")},
        also={"with a hidden device": ("ENVIRONMENT-DEVICES-HIDDEN",)},
    ),
    Kind(
        7,
        "Windows projects no NVIDIA driver",
        "DRIVER-WSL-NOT-PROJECTED",
        {
            "only d3d12 and dxcore": machine("healthy/wsl", **_WSL_BARE),
            "nothing at all": machine("faults/driver-wsl-not-projected-at-all"),
            "debian": machine(
                "healthy/wsl", **{**_WSL_BARE, "files": {"/etc/os-release": "ID=debian\nVERSION_ID=12\n"}}
            ),
            "with a Linux driver": machine("faults/driver-wsl-not-projected-linux-driver"),
        },
    ),
    Kind(
        8,
        "under WSL, NVIDIA-SMI and driver tell other versions",
        "",
        {
            "525 and 522": machine("healthy/wsl-versions", env=_NOTHING_SELECTED),
            "581 and 580": machine(
                "healthy/wsl",
                probes={
                    "nvidia-smi": {
                        "exit": 0,
                        "output": "NVIDIA-SMI 580.95.02    Driver Version: 581.42    CUDA Version: 13.0\n",
                    },
                    "chain": {
                        "nvml": {"facts": {"driver_version": "581.42", "nvml_version": "13.580.95.02"}}
                    },
                },
            ),
            "596 and 595": machine(
                "healthy/wsl",
                probes={
                    "nvidia-smi": {
                        "exit": 0,
                        "output": "NVIDIA-SMI 595.20    Driver Version: 596.02    CUDA Version: 13.2\n",
                    },
                    "chain": {
                        "nvml": {
                            "facts": {
                                "driver_version": "596.02",
                                "nvml_version": "13.595.20",
                                "cuda_version": 13020,
                            }
                        }
                    },
                },
            ),
        },
    ),
    Kind(
        9,
        "under WSL, libcuda.so.1 is a regular file",
        "",
        {
            "regular": machine("healthy/wsl"),
            "beside its versioned name": machine(
                "healthy/wsl",
                elf={f"{_PROJECTED}/libcuda.so.1.1": {"soname": "libcuda.so.1", "needed": ["libc.so.6"]}},
            ),
            "debian": machine("healthy/wsl", files={"/etc/os-release": "ID=debian\nVERSION_ID=12\n"}),
        },
    ),
)

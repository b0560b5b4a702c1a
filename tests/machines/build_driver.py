"""Describes a native Linux driver as a layer of a fake machine: module, firmware, nodes, libraries, GPUs.

Forms are those of the driver's README and of ``nv-procfs.c``; names of libraries are those of "Installed
Components".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Layer = dict[str, Any]

SONAMES = {
    "libEGL_nvidia": "libEGL_nvidia.so.0",
    "libGLX_nvidia": "libGLX_nvidia.so.0",
    "libcuda": "libcuda.so.1",
    "libnvidia-ml": "libnvidia-ml.so.1",
    "libnvidia-ptxjitcompiler": "libnvidia-ptxjitcompiler.so.1",
}
PRIVATE = (
    *("libnvidia-eglcore", "libnvidia-glcore", "libnvidia-glsi", "libnvidia-glvkspirv", "libnvidia-gpucomp"),
    "libnvidia-tls",
)
H200: Mapping[str, Any] = {
    "bus": "0000:1b:00.0",
    "device": "2335",
    "name": "NVIDIA H200",
    "capability": "9.0",
}
ICD = """{{
    "file_format_version" : "1.0.1",
    "ICD": {{
        "library_path": "{library}",
        "api_version" : "1.4.312"
    }}
}}
"""
"""What driver 580 installs as ``nvidia_icd.json``."""
_NEEDED = {
    "libGLX_nvidia": ("libnvidia-glsi", "libnvidia-tls", "libnvidia-glcore", "libX11.so.6", "libXext.so.6"),
    "libEGL_nvidia": ("libnvidia-glsi",),
    "libnvidia-glcore": ("libnvidia-tls", "libnvidia-gpucomp"),
    "libnvidia-eglcore": ("libnvidia-glsi", "libnvidia-gpucomp"),
}
"""What libraries of driver 580 need besides the C library; the driver's own by their whole version."""
_LINES = {
    "open": "NVIDIA UNIX Open Kernel Module for x86_64  {}  Release Build  (root@host)  Tue Oct 20 2026",
    "proprietary": "NVIDIA UNIX x86_64 Kernel Module  {}  Thu Oct 19 18:56:32 UTC 2023",
}


@dataclass(frozen=True)
class Driver:
    """A driver and its GPUs; what is not given is of ``version`` and whole.

    Attributes:
        version: the loaded kernel module's; ``""`` where none is loaded.
        flavour: ``open`` or ``proprietary``.
        userspace: the libraries' version; ``""`` where there are none.
        libraries: the folder of the libraries.
        firmware: the version whose GSP firmware lies there; ``""`` for none.
        firmware_files: its files.
        firmware_root: the folder that the kernel loads firmware from.
        running: what ``/proc`` says of the running firmware.
        modules: the modules that are loaded.
        nodes: the device nodes.
        icd: the library that its Vulkan manifest names; ``""`` for no manifest.
        icd_folder: the folder of the manifest.
        gpus: each with bus, device, name, capability, and the kernel driver that is bound (nvidia).
    """

    version: str = "580.159.04"
    flavour: str = "open"
    userspace: str | None = None
    libraries: str = "/usr/lib/x86_64-linux-gnu"
    firmware: str | None = None
    firmware_files: Sequence[str] = ("gsp_ga10x.bin", "gsp_tu10x.bin")
    firmware_root: str = "/usr/lib/firmware"
    running: str | None = None
    modules: Sequence[str] = ("nvidia", "nvidia_uvm")
    nodes: Sequence[str] | None = None
    icd: str = "libGLX_nvidia.so.0"
    icd_folder: str = "/usr/share/vulkan/icd.d"
    gpus: Sequence[Mapping[str, Any]] = field(default_factory=lambda: (H200,))


def driver_layer(keywords: Mapping[str, Any]) -> Layer:
    """Return the layer of a driver that ``keywords`` (the attributes of ``Driver``) describe."""
    driver = Driver(**keywords)
    files = {**_module(driver), **_firmware(driver), **_buses(driver)}
    nodes = driver.nodes
    if nodes is None:
        count = len(driver.gpus)
        nodes = ("/dev/nvidia-uvm", "/dev/nvidiactl", *(f"/dev/nvidia{number}" for number in range(count)))
    libraries = _libraries(driver)
    links = {
        f"/sys/bus/pci/devices/{gpu['bus']}/driver": f"../../drivers/{gpu.get('driver', 'nvidia')}"
        for gpu in driver.gpus
        if gpu.get("driver", "nvidia")
    }
    return {
        "elf": libraries["elf"],
        "files": {**files, **_icd(driver), **dict.fromkeys(nodes if driver.version else (), "")},
        "folders": ["/sys/bus/pci/drivers/nvidia"],
        "links": {**libraries["links"], **links},
        "probes": _probes(driver) if driver.version else {},
    }


def _module(driver: Driver) -> dict[str, str]:
    """Return the loaded module's files, none where none is loaded."""
    if not driver.version:
        return {}
    line = _LINES[driver.flavour].format(driver.version)
    listed = "".join(f"{name} 14942208 1 - Live 0x0000000000000000 (OE)\n" for name in driver.modules)
    return {
        "/proc/driver/nvidia/version": f"NVRM version: {line}\nGCC version:  gcc version 13.3.0\n",
        "/proc/modules": listed,
        **{f"/sys/module/{name}/version": f"{driver.version}\n" for name in driver.modules},
        **{
            f"/proc/driver/nvidia/gpus/{gpu['bus']}/information": _information(driver, number, gpu)
            for number, gpu in enumerate(driver.gpus)
            if gpu.get("driver", "nvidia") == "nvidia"
        },
    }


def _information(driver: Driver, number: int, gpu: Mapping[str, Any]) -> str:
    """Return the text of a GPU's ``information``."""
    running = driver.running
    if running is None:
        running = driver.version if driver.flavour == "open" else "N/A"
    return (
        f"Model: \t\t {gpu['name']}\nIRQ:   \t\t 41\n"
        f"GPU UUID: \t GPU-4b1ae1a1-c3e2-f709-11d2-a8b0c4d5e6f{number}\nVideo BIOS: \t 96.00.a5.00.1a\n"
        f"Bus Type: \t PCIe\nDMA Size: \t 52 bits\nDMA Mask: \t 0xfffffffffffff\n"
        f"Bus Location: \t {gpu['bus']}\nDevice Minor: \t {number}\nGPU Firmware: \t {running}\n"
        f"GPU Excluded:\t {gpu.get('excluded', 'No')}\n"
    )


def _firmware(driver: Driver) -> dict[str, str]:
    """Return the files of GSP firmware."""
    version = driver.version if driver.firmware is None else driver.firmware
    folder = f"{driver.firmware_root}/nvidia/{version}"
    return {f"{folder}/{name}": "" for name in driver.firmware_files} if version else {}


def _buses(driver: Driver) -> dict[str, str]:
    """Return what sysfs shows of the GPUs."""
    return {
        f"/sys/bus/pci/devices/{gpu['bus']}/{name}": f"0x{value}\n"
        for gpu in driver.gpus
        for name, value in (
            ("vendor", "10de"),
            ("class", gpu.get("class", "030200")),
            ("device", gpu["device"]),
        )
    }


def _libraries(driver: Driver) -> Layer:
    """Return the libraries of the userspace with their links."""
    version = driver.version if driver.userspace is None else driver.userspace
    if not version:
        return {"elf": {}, "links": {}}
    sonames = {**SONAMES, **{name: f"{name}.so.{version}" for name in PRIVATE}}
    return {
        "elf": {
            f"{driver.libraries}/{name}.so.{version}": {
                "soname": soname,
                "needed": [*_needed(name, version), "libc.so.6"],
            }
            for name, soname in sonames.items()
        },
        "links": {f"{driver.libraries}/{soname}": f"{name}.so.{version}" for name, soname in SONAMES.items()},
    }


def _needed(name: str, version: str) -> list[str]:
    """Return what a library of the driver needs."""
    return [each if ".so." in each else f"{each}.so.{version}" for each in _NEEDED.get(name, ())]


def _icd(driver: Driver) -> dict[str, str]:
    """Return the manifest of the driver's Vulkan part; none where there is no userspace."""
    if not driver.icd or driver.userspace == "" or not (driver.version or driver.userspace):
        return {}
    return {f"{driver.icd_folder}/nvidia_icd.json": ICD.format(library=driver.icd)}


def _probes(driver: Driver) -> Layer:
    """Return what NVML of this driver says."""
    gpus = [
        {"compute_capability": gpu.get("capability"), "index": number, "name": gpu["name"], "reached": True}
        for number, gpu in enumerate(driver.gpus)
    ]
    major = int(driver.version.partition(".")[0])
    facts = {
        "cuda_version": 13000 if major >= 580 else 12040,
        "driver_version": driver.version,
        "gpus": gpus,
        "nvml_version": f"13.{driver.version}",
        "refused": [],
    }
    return {"chain": {"nvml": {"facts": facts}}}

"""The machine, as the facts of several gates have it."""

from __future__ import annotations

from collections.abc import Iterable

from assay.judge.chain import VIRTUALIZATION
from assay.model import Facts
from assay.report.subject import Subject
from assay.report.text import (
    joined,
    mapping_at,
    memory_text,
    number_at,
    objects_at,
    shortened,
    spaced,
    text_at,
)
from assay.report.view import Group, Row

CHAIN, DRIVER, ENVIRONMENT, PROVIDER, TOOLKIT = "chain", "driver", "environment", "provider", "toolkit"


def device_text(subject: Subject) -> str:
    """Say on which device the chain ran, in a few words."""
    chain = subject.facts(CHAIN)
    name = shortened(text_at(chain, "devices.after.name"))
    if not name:
        return "with no CUDA device seen"
    driver, cuda = shortened(_driver(subject)), _cuda(number_at(chain, "devices.after.cuda_version"))
    details = [*([f"driver {driver}"] if driver else []), *([f"CUDA {cuda}"] if cuda else [])]
    return f"on {name} ({', '.join(details)})" if details else f"on {name}"


def machine_of(subject: Subject) -> tuple[Group, ...]:
    """Return what is known of the machine, by part; what was not recorded is left out."""
    groups = (
        Group("GPU", _rows(_gpu(subject))),
        Group("Driver and CUDA", _rows(_software(subject))),
        Group("Computer", _rows(_computer(subject))),
    )
    return tuple(group for group in groups if group.rows)


def _rows(found: Iterable[tuple[str, str]]) -> tuple[Row, ...]:
    """Return the rows that have a value."""
    return tuple(Row(name, value) for name, value in found if value)


def _gpu(subject: Subject) -> Iterable[tuple[str, str]]:
    """Return what is known of the GPU."""
    chain = subject.facts(CHAIN)
    device = mapping_at(chain, "devices.after")
    nvml = _same(device, objects_at(chain, "nvml.after.gpus"))
    listed = tuple(text_at(gpu, "model") for gpu in objects_at(subject.facts(DRIVER), "gpus"))
    yield "Name", text_at(device, "name")
    yield "GPUs that the driver lists", joined(tuple(filter(None, listed)))
    yield "UUID", text_at(device, "uuid")
    yield "Compute capability", text_at(device, "compute_capability")
    yield "Memory", memory_text(number_at(device, "memory"))
    yield "Multiprocessors", text_at(device, "multiprocessors")
    yield "PCI bus", text_at(device, "pci_bus")
    yield "GSP firmware", text_at(nvml, "gsp_firmware")
    yield "VBIOS", text_at(nvml, "vbios")
    yield "Virtualisation", VIRTUALIZATION.get(number_at(nvml, "virtualization") or 0, "")
    adapter = mapping_at(chain, "adapter")
    yield "Adapter for WGSL", spaced(text_at(adapter, "device"), text_at(adapter, "adapter_type"))
    yield "Its backend", spaced(text_at(adapter, "backend_type"), text_at(adapter, "description"))


def _software(subject: Subject) -> Iterable[tuple[str, str]]:
    """Return what is known of driver, toolkit and host compiler."""
    chain, toolkit = subject.facts(CHAIN), subject.facts(TOOLKIT)
    yield "Driver", _driver(subject)
    yield "Kernel module", text_at(chain, "proc.after.module.text")
    yield "libcuda", text_at(chain, "libcuda.path")
    yield "CUDA that the driver offers", _cuda(number_at(chain, "devices.after.cuda_version"))
    yield "CUDA toolkit", text_at(toolkit, "version_full") or text_at(toolkit, "version")
    yield "nvcc", text_at(toolkit, "nvcc.version")
    yield "Host compiler", spaced(text_at(toolkit, "compiler.family"), text_at(toolkit, "compiler.version"))


def _computer(subject: Subject) -> Iterable[tuple[str, str]]:
    """Return what is known of the computer."""
    environment, chain = subject.facts(ENVIRONMENT), subject.facts(CHAIN)
    yield "Platform", subject.verification.platform
    yield (
        "Operating system",
        spaced(text_at(environment, "machine.os.id"), text_at(environment, "machine.os.version")),
    )
    yield "Kernel", text_at(subject.facts(DRIVER), "kernel.release")
    yield "Architecture", text_at(environment, "machine.arch")
    yield (
        "C library",
        spaced(text_at(environment, "machine.libc.kind"), text_at(environment, "machine.libc.version")),
    )
    yield "Container", text_at(chain, "virtualisation.container")
    seen = mapping_at(chain, "virtualisation").get("hypervisor")
    yield "Hypervisor", {True: "yes", False: "none seen"}.get(seen, "") if isinstance(seen, bool) else ""


def _same(device: Facts, gpus: tuple[Facts, ...]) -> Facts:
    """Return what NVML says of a device, empty where it lists none of that UUID."""
    uuid = text_at(device, "uuid").lower()
    return next((gpu for gpu in gpus if text_at(gpu, "uuid").lower() == uuid), {})


def _driver(subject: Subject) -> str:
    """Return the driver's version."""
    chain = subject.facts(CHAIN)
    told = ("proc.after.module.version", "nvml.after.driver_version")
    elsewhere = (
        text_at(subject.facts(DRIVER), "module.version"),
        text_at(subject.facts(TOOLKIT), "driver.version"),
    )
    return next(filter(None, (*(text_at(chain, path) for path in told), *elsewhere)), "")


def _cuda(version: int | None) -> str:
    """Return CUDA's version from the driver's number (CUDA Driver API, cuDriverGetVersion)."""
    return "" if version is None else f"{version // 1000}.{version % 1000 // 10}"

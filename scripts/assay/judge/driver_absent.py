"""Judges a native Linux without the NVIDIA kernel module: no GPU, or what exactly lacks.

Facts::

    module.disk {built[], others[], sources[], blacklists[]}
        the module's files for the running kernel, other kernels that have one, versions whose source is kept,
        files that keep it from loading
    kernel {release, secure_boot, lockdown}
        ``secure_boot`` null and ``lockdown`` empty where the machine does not say
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_log import events
from assay.judge.reading import flag, mapping, objects, text, texts
from assay.model import Facts, Finding

NOUVEAU = "nouveau"
RESERVED = ("vfio-pci", "pci-stub", "pciback", "xen-pciback")
"""Drivers that keep a device for virtual machines (the kernel's VFIO and Xen documentation)."""

_LOOKED_AT = ("/sys/bus/pci/devices", "/proc/driver/nvidia/version", "/dev/nvidia*")


def judge_absent(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that there is no GPU, else why the module is not loaded."""
    devices, nodes = objects(facts, "devices"), objects(facts, "nodes")
    if not devices and not nodes:
        yield finding("DRIVER-NO-GPU", _nothing(facts), where=_LOOKED_AT, platform=case.platform)
        return
    reserved = [device for device in devices if text(device, "driver") in RESERVED]
    if devices and len(reserved) == len(devices):
        yield _bound(case, "DRIVER-VFIO", reserved)
        return
    yield _why(case, facts)
    if taken := [device for device in devices if text(device, "driver") == NOUVEAU]:
        yield _bound(case, "DRIVER-NOUVEAU", taken)


def _nothing(facts: Facts) -> str:
    """Return what was looked at in vain; libraries without a GPU are told."""
    found = [text(library, "path") for library in _libraries(facts)]
    also = f"; {', '.join(found)} alone is no driver" if found else ""
    return f"no NVIDIA GPU on the PCI bus, no kernel module, no device node{also}"


def _libraries(facts: Facts) -> tuple[Facts, ...]:
    """Return the libcuda and NVML that a loader finds."""
    loaded = mapping(facts, "libraries.loaded")
    return tuple(mapping(loaded, part) for part in ("libcuda", "nvml") if loaded.get(part) is not None)


def _bound(case: Case, entry: str, devices: list[Facts]) -> Finding:
    """Return the finding of GPUs that another driver has."""
    observed = "; ".join(f"{text(device, 'bus')} is bound to {text(device, 'driver')}" for device in devices)
    return finding(entry, observed, where=("devices",), platform=case.platform)


def _why(case: Case, facts: Facts) -> Finding:
    """Return why the module is not loaded: not installed, not built for this kernel, or kept out."""
    release = text(facts, "kernel.release") or "of an unknown release"
    what = _gpus(facts)
    built, others = texts(facts, "module.disk.built"), texts(facts, "module.disk.others")
    sources = texts(facts, "module.disk.sources")
    if built:
        hints = "".join(f"; {hint}" for hint in _hints(facts))
        observed = f"{what}: {built[0]} is there and not loaded{hints}"
        where = (built[0], *texts(facts, "module.disk.blacklists"))
        return finding("DRIVER-NOT-LOADED", observed, where=where, platform=case.platform)
    if others or sources:
        has = f"kernels {', '.join(others)} have it" if others else f"source {', '.join(sources)} is there"
        observed = f"{what}: no module nvidia for the running kernel {release}; {has}"
        where = ("kernel.release", "module.disk")
        return finding("DRIVER-NOT-BUILT", observed, where=where, platform=case.platform)
    found = [f"{text(each, 'path')} {text(each, 'version')}".rstrip() for each in _libraries(facts)]
    also = f"; of the driver only {', '.join(found)}" if found else ""
    observed = f"{what}: no module nvidia for kernel {release} or any other{also}"
    return finding("DRIVER-NOT-INSTALLED", observed, where=("devices",), platform=case.platform)


def _gpus(facts: Facts) -> str:
    """Return the GPUs in words."""
    buses = [f"{text(device, 'bus')} (10de:{text(device, 'device')})" for device in objects(facts, "devices")]
    return f"GPU {', '.join(buses)}" if buses else "device nodes without a GPU on the PCI bus"


def _hints(facts: Facts) -> Iterator[str]:
    """Yield what may keep a module that is there from being loaded."""
    for path in texts(facts, "module.disk.blacklists"):
        yield f"{path} keeps it out"
    if events(facts, "unsigned"):
        yield "the kernel refused a module that is not signed with a key it knows"
    elif flag(facts, "kernel.secure_boot") or text(facts, "kernel.lockdown") not in {"", "none"}:
        yield "Secure Boot or lockdown is on: only a module that is signed with a known key is loaded"
    if events(facts, "claimed"):
        yield "another driver had taken the GPU when it was loaded"

"""Judges the device: the same before and after, wgpu's adapter as the plan wants it, and one GPU for all.

Facts::

    devices.before, devices.after       the CUDA driver's word: name, uuid, pci_bus, cuda_version, …
    nvml.before, nvml.after             NVML's word {driver_version, gpus[]}, or {problem}
    proc.before, proc.after             {module {version, flavour}, modules {…}, gpus [{…}]} from files
    adapter {backend_type, adapter_type, device, vendor_id, device_id, …}
    child.pid
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.images import ran_stages
from assay.judge.reading import get, items, mapping, number, objects, text
from assay.model import Facts, Finding, Json, Tier

NVIDIA = 0x10DE
"""NVIDIA's PCI vendor number (PCI ID repository)."""

NVML_HUNG = "deadline"
"""The ``problem`` of an NVML that did not answer in time."""

SOFTWARE = "CPU"
"""WebGPU's adapter type of a software renderer."""

_SAME_GPU = ("uuid", "name", "vbios", "ecc", "mig", "virtualization", "pci")
"""What NVML says of a GPU that does not change while a chain runs."""


class Relation(StrEnum):
    """Whether wgpu's adapter and the CUDA device are one GPU (DESIGN, "Platforms")."""

    SHOWN = "shown"
    EXCLUDED = "excluded"
    AMBIGUOUS = "ambiguous"


def judge_device(case: Case, facts: Facts, tier: Tier | None) -> Iterator[Finding]:
    """Yield what is wrong with the device."""
    yield from _nvml(facts, tier)
    yield from _changed(facts)
    adapter = mapping(facts, "adapter")
    if adapter:
        yield from _adapter(case, facts, adapter, tier)
    elif any(stage.runtime == "wgpu" for _, stage, _ in ran_stages(case, facts)):
        yield finding("CHAIN-BACKEND", "WGSL ran and no adapter is recorded", where=("adapter",))


def _nvml(facts: Facts, tier: Tier | None) -> Iterator[Finding]:
    """Yield where NVML hung, or did not answer although CUDA ran on what is no rehearsal."""
    problems = {when: text(facts, f"nvml.{when}.problem") for when in ("before", "after")}
    where = tuple(f"nvml.{when}" for when, problem in problems.items() if problem)
    if NVML_HUNG in problems.values():
        yield finding("CHAIN-NVML-DEADLINE", "NVML gave no answer", where=where)
    elif where and get(facts, "devices.after") is not None and tier is not Tier.REHEARSAL:
        observed = "; ".join(dict.fromkeys(problem for problem in problems.values() if problem))
        yield finding("CHAIN-NVML", observed, where=where)


def _changed(facts: Facts) -> Iterator[Finding]:
    """Yield each fact of the device that is another one after the chain."""
    if get(facts, "devices.before") is None or get(facts, "devices.after") is None:
        return
    before, after = _steady(facts, "before"), _steady(facts, "after")
    for name in sorted(before.keys() & after.keys()):
        if before[name] != after[name]:
            observed = f"{name} was {str(before[name])[:100]} and is {str(after[name])[:100]}"
            yield finding("CHAIN-DEVICE-CHANGED", observed, where=("devices.before", "devices.after"))


def _steady(facts: Facts, when: str) -> dict[str, Json]:
    """Return what must be the same before and after, by the name of its source."""
    found = {f"CUDA {name}": value for name, value in mapping(facts, f"devices.{when}").items()}
    nvml = mapping(facts, f"nvml.{when}")
    if not text(nvml, "problem"):
        found["NVML driver version"] = text(nvml, "driver_version")
        found["NVML GPUs"] = [{name: gpu.get(name) for name in _SAME_GPU} for gpu in objects(nvml, "gpus")]
    found["kernel module"] = text(facts, f"proc.{when}.module.version")
    return found


def _adapter(case: Case, facts: Facts, adapter: Facts, tier: Tier | None) -> Iterator[Finding]:
    """Yield where wgpu's adapter is not of the plan's backend, is software, or is another GPU."""
    backend, wanted = text(adapter, "backend_type"), case.plan.backend.get(case.platform, "")
    shown = f"{text(adapter, 'device')} ({text(adapter, 'adapter_type')}, {backend})"
    if backend != wanted:
        expected = wanted or "a backend in the plan for this platform"
        yield finding("CHAIN-BACKEND", shown, expected=expected, where=("adapter",))
    if is_allowed_software(case, adapter):
        return
    if text(adapter, "adapter_type") == SOFTWARE:
        yield finding("CHAIN-ADAPTER-SOFTWARE", shown, where=("adapter",))
    elif tier is not Tier.REHEARSAL:
        yield from _one_gpu(facts, shown)


def is_allowed_software(case: Case, adapter: Facts) -> bool:
    """Say whether the plan allows this adapter by (a part of) its name although it is no NVIDIA GPU's."""
    hardware = number(adapter, "vendor_id") == NVIDIA and text(adapter, "adapter_type") != SOFTWARE
    allowed = case.plan.software_adapters.get(case.platform, ())
    return not hardware and any(part in text(adapter, "device") for part in allowed)


def _one_gpu(facts: Facts, shown: str) -> Iterator[Finding]:
    """Yield that wgpu's adapter is, or may be, another GPU than the CUDA device."""
    uuid = text(facts, "devices.after.uuid")
    if not uuid:
        return  # no CUDA device: other findings say so
    related = relation(facts)
    if related is Relation.EXCLUDED:
        yield finding("CHAIN-GPU-OTHER", f"{shown} is not {uuid}", where=("adapter", "nvml.after"))
    elif related is Relation.AMBIGUOUS:
        yield finding(
            "CHAIN-GPU-AMBIGUOUS", f"{shown} may be another than {uuid}", where=("adapter", "nvml.after")
        )


def relation(facts: Facts) -> Relation:
    """Return whether wgpu's adapter and the CUDA device are one GPU.

    Excluded: the adapter is not NVIDIA's, NVML's GPU of the CUDA UUID is of another device or name, or NVML
    lists the child among the graphics processes of other GPUs only.  Shown: NVML lists the child for that
    UUID and for no other, or exactly one GPU matches vendor, device and name.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    uuid, gpus = text(facts, "devices.after.uuid").lower(), objects(facts, "nvml.after.gpus")
    matching = {text(gpu, "uuid").lower() for gpu in gpus if _matches(mapping(facts, "adapter"), gpu)}
    if number(facts, "adapter.vendor_id") != NVIDIA:
        return Relation.EXCLUDED
    if uuid not in {text(gpu, "uuid").lower() for gpu in gpus}:
        return Relation.AMBIGUOUS
    graphics, listed = _listed(facts, gpus, "graphics_processes"), _listed(facts, gpus, "compute_processes")
    if uuid not in matching or (graphics and uuid not in graphics):
        return Relation.EXCLUDED
    return Relation.SHOWN if graphics | listed == {uuid} or matching == {uuid} else Relation.AMBIGUOUS


def _matches(adapter: Facts, gpu: Facts) -> bool:
    """Say whether an adapter and a GPU of NVML have the same vendor, device and name."""
    vendor, device = number(gpu, "pci.vendor_id"), number(gpu, "pci.device_id")
    same = (vendor, device) == (number(adapter, "vendor_id"), number(adapter, "device_id"))
    return same and text(gpu, "name") == text(adapter, "device")


def _listed(facts: Facts, gpus: tuple[Facts, ...], kind: str) -> set[str]:
    """Return the UUIDs of the GPUs for which NVML lists the child among processes of ``kind``."""
    pid = number(facts, "child.pid")
    return {text(gpu, "uuid").lower() for gpu in gpus if pid is not None and pid in items(gpu, kind)}

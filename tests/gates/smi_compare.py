"""Holds what ``assay diagnose`` says of a real GPU machine against ``nvidia-smi -q -x``, fact by fact.

``python -m tests.gates.smi_compare [OPTIONS OF assay diagnose]`` prints a line for each fact that both have
and ends with 1 where one differs, or where there is nothing to compare.  Of the reasons for slow clocks only
those count that a finding is made of: whether a GPU is idle changes between two questions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree.ElementTree import Element, fromstring

from assay.judge.driver_gpus import SLOWDOWNS

_MODES = {"Enabled": 1, "Disabled": 0}
_ANSWERS = {"Yes": True, "No": False}
_COMPUTE = {"Default": 0, "Prohibited": 2, "Exclusive_Process": 3}
_SLOW = {
    0x08: "hw_slowdown",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake_slowdown",
}
"""By bit of ``nvmlClocksEventReason*`` (nvml.h), the end of the element's name; older drivers name them after
throttling."""


@dataclass(frozen=True)
class Compared:
    """One fact of both."""

    fact: str
    assay: object
    smi: object

    def __str__(self) -> str:
        """Return one line."""
        if self.assay == self.smi:
            return f"agree     {self.fact}: {self.smi}"
        return f"DISAGREE  {self.fact}: assay says {self.assay}, nvidia-smi says {self.smi}"


def compare(diagnosis: Mapping[str, Any], xml: str) -> tuple[Compared, ...]:
    """Return every fact that a diagnosis (``assay/diagnosis/1``) and ``nvidia-smi -q -x`` both have.

    Raises:
        StopIteration: the diagnosis has no gate ``driver``.
        xml.etree.ElementTree.ParseError: the text is no XML.
    """
    facts = next(gate["facts"] for gate in diagnosis["gates"] if gate["gate"] == "driver")
    nvml = facts["nvml"]["facts"]
    log = fromstring(xml)  # noqa: S314  # the driver wrote it, on this machine
    gpus = {_bus(gpu["pci"]["bus"]): gpu for gpu in nvml.get("gpus", ()) if gpu.get("pci")}
    pairs: list[tuple[str, object, object]] = [
        ("driver version", facts["module"]["version"], _text(log, "driver_version")),
        ("driver version by NVML", nvml.get("driver_version"), _text(log, "driver_version")),
        ("CUDA version", _cuda(nvml.get("cuda_version")), _text(log, "cuda_version")),
        ("number of GPUs", len(nvml.get("gpus", ())), int(_text(log, "attached_gpus") or 0)),
    ]
    for told in log.findall("gpu"):
        bus = _bus(told.get("id", ""))
        pairs += [(f"{bus} {fact}", ours, theirs) for fact, ours, theirs in _gpu(gpus.get(bus, {}), told)]
        pairs += [(f"{bus} {fact}", ours, theirs) for fact, ours, theirs in _proc(facts, bus, told)]
    return tuple(Compared(*pair) for pair in pairs if pair[2] is not None)


def _gpu(gpu: Mapping[str, Any], told: Element) -> Iterator[tuple[str, object, object]]:
    """Yield fact, our word and theirs of one GPU; theirs is None where it does not apply."""
    ecc, mig = gpu.get("ecc") or (None, None), gpu.get("mig") or (None, None)
    remapped, reasons = gpu.get("remapped") or {}, gpu.get("clocks_event_reasons")
    yield "name", gpu.get("name"), _text(told, "product_name")
    yield "UUID", gpu.get("uuid"), _text(told, "uuid")
    yield (
        "PCI address",
        _bus((gpu.get("pci") or {}).get("bus", "")),
        _bus(_text(told, "pci/pci_bus_id") or ""),
    )
    yield "VBIOS", gpu.get("vbios"), _text(told, "vbios_version")
    yield "GSP firmware", gpu.get("gsp_firmware"), _text(told, "gsp_firmware_version")
    yield "persistence", gpu.get("persistence"), _known(_MODES, _text(told, "persistence_mode"))
    yield "display", gpu.get("display"), _known(_MODES, _text(told, "display_active"))
    yield "compute mode", gpu.get("compute_mode"), _known(_COMPUTE, _text(told, "compute_mode"))
    yield "ECC", ecc[0], _known(_MODES, _text(told, "ecc_mode/current_ecc"))
    yield "ECC after a reset", ecc[1], _known(_MODES, _text(told, "ecc_mode/pending_ecc"))
    yield "MIG", mig[0], _known(_MODES, _text(told, "mig_mode/current_mig"))
    yield "MIG after a reset", mig[1], _known(_MODES, _text(told, "mig_mode/pending_mig"))
    for fact in ("pending", "failure"):
        own = remapped.get({"failure": "failed"}.get(fact, fact))
        yield (
            f"rows to be remapped: {fact}",
            own,
            _known(_ANSWERS, _text(told, f"remapped_rows/remapped_row_{fact}")),
        )
    yield "memory in MiB", (gpu.get("memory") or 0) >> 20, _mib(_text(told, "fb_memory_usage/total"))
    for bit, name in _SLOW.items():
        own = None if reasons is None else bool(reasons & bit)
        yield f"clocks: {SLOWDOWNS[bit]}", own, _reason(told, name)


def _proc(facts: Mapping[str, Any], bus: str, told: Element) -> Iterator[tuple[str, object, object]]:
    """Yield what ``/proc`` says of one GPU beside NVML's word."""
    for gpu in facts.get("gpus", ()):
        if _bus(gpu["bus"]) == bus:
            yield "name in /proc", gpu["model"], _text(told, "product_name")
            yield "UUID in /proc", gpu["uuid"], _text(told, "uuid")
            yield "firmware in /proc", gpu["firmware"], _text(told, "gsp_firmware_version")


def _text(element: Element, path: str) -> str | None:
    """Return the text of an element, None where it does not apply (``N/A``) or is not there."""
    found = (element.findtext(path) or "").strip()
    return (
        None
        if found in {"", "N/A", "[N/A]", "Not Supported", "Requested functionality has been deprecated"}
        else found
    )


def _known(names: Mapping[str, object], text: str | None) -> object:
    """Return what a word stands for; a word that is not known stands for itself, and so disagrees."""
    return names.get(text, text) if text is not None else None


def _reason(told: Element, name: str) -> bool | None:
    """Return whether a reason holds the clocks down."""
    for group, prefix in (
        ("clocks_event_reasons", "clocks_event_reason"),
        ("clocks_throttle_reasons", "clocks_throttle_reason"),
    ):
        if (text := _text(told, f"{group}/{prefix}_{name}")) is not None:
            return text == "Active"
    return None


def _bus(address: str) -> str:
    """Return a PCI address with a domain of four digits, in lower case: NVML writes eight."""
    domain, _, rest = address.lower().partition(":")
    return f"{domain[-4:]}:{rest}"


def _cuda(version: int | None) -> str | None:
    """Return 13000 as 13.0."""
    return None if version is None else f"{version // 1000}.{version % 1000 // 10}"


def _mib(text: str | None) -> int | None:
    """Return the number of ``143771 MiB``."""
    return int(text.split()[0]) if text else None


def main(options: Sequence[str]) -> int:
    """Ask both and print what they agree on and what not; return 1 for any disagreement."""
    argv = [sys.executable, "-m", "assay.cli", "diagnose", "--json", *options]
    ours = subprocess.run(argv, stdout=subprocess.PIPE, text=True, check=False).stdout  # noqa: S603  # ours
    theirs = subprocess.run(["nvidia-smi", "-q", "-x"], stdout=subprocess.PIPE, text=True, check=True).stdout  # noqa: S607  # on PATH
    diagnosis = json.loads(ours)
    compared = compare(diagnosis, theirs)
    bad = sum(each.assay != each.smi for each in compared)
    found = [
        f"finding   {each['severity']}: {each['id']}: {each['observed']}" for each in diagnosis["causes"]
    ]
    last = f"{len(compared) - bad} facts agree, {bad} disagree; diagnose ended with {diagnosis['exit']}"
    sys.stdout.write("\n".join((*found, *map(str, compared), last, "")))
    return 1 if bad or not any(each.fact.endswith("UUID") for each in compared) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

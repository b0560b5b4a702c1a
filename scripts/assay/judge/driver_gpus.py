"""Judges each GPU by NVML's word: lost or waiting for a reset, memory faults, slowdown, modes.

Facts are those of ``assay.chain.nvml``; pairs of modes are (current, pending).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import flag, items, number, objects, text
from assay.model import Facts, Finding, Platform

SLOWDOWNS: Mapping[int, str] = MappingProxyType(
    {
        0x08: "hardware slowdown",
        0x20: "software thermal slowdown",
        0x40: "hardware thermal slowdown",
        0x80: "hardware power brake",
    }
)
"""Bits of ``nvmlClocksEventReason*`` (nvml.h) that slow a GPU down for a cause outside of the program."""

_UNREACHED: Mapping[int, str] = MappingProxyType({15: "DRIVER-GPU-LOST", 16: "DRIVER-GPU-RESET"})

EXCLUSIVE, PROHIBITED = 3, 2
"""``nvmlComputeMode_t``: exclusive process, prohibited."""

Said = Iterator[tuple[str, str]]
"""Ids of findings with what was observed of one GPU."""


def judge_gpus(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with each GPU that NVML told of."""
    for at, gpu in enumerate(objects(facts, "nvml.facts.gpus")):
        name = text(gpu, "name") or f"GPU {number(gpu, 'index') if number(gpu, 'index') is not None else at}"
        bus = text(gpu, "pci.bus")
        for check in _CHECKS:
            for entry, said in check(case, gpu):
                observed = f"{name}{f' at {bus}' if bus else ''}: {said}"
                yield finding(entry, observed, where=(f"nvml.facts.gpus.{at}",), platform=case.platform)


def _reached(_: Case, gpu: Facts) -> Said:
    """Tell of a GPU that NVML cannot reach, by its code."""
    codes = [
        number(refused, "code") for refused in objects(gpu, "refused") if text(refused, "fact") == "reached"
    ]
    for code in codes:
        entry = _UNREACHED.get(code if code is not None else -1, "DRIVER-NVML-FAILED")
        yield entry, f"NVML cannot reach it (code {code})"


def _ecc(_: Case, gpu: Facts) -> Said:
    """Tell of ECC that waits for a reset, and of errors that were not corrected since the driver started."""
    if _waits(gpu, "ecc"):
        yield "DRIVER-ECC-PENDING", _pair(gpu, "ecc", "ECC")
    if count := number(gpu, "ecc_uncorrected"):
        yield "DRIVER-ECC-UNCORRECTED", f"{count} uncorrected ECC errors since the driver was loaded"


def _memory(_: Case, gpu: Facts) -> Said:
    """Tell of rows that are to be remapped or could not be, and of pages that are to be retired."""
    if flag(gpu, "remapped.failed"):
        yield "DRIVER-REMAP-FAILED", "a row of its memory could not be remapped"
    if flag(gpu, "remapped.pending"):
        yield "DRIVER-REMAP-PENDING", "rows of its memory wait to be remapped"
    if flag(gpu, "retired_pending"):
        yield "DRIVER-REMAP-PENDING", "pages of its memory wait to be retired"


def _slow(_: Case, gpu: Facts) -> Said:
    """Tell why its clocks are held down."""
    reasons = number(gpu, "clocks_event_reasons") or 0
    if names := [name for bit, name in SLOWDOWNS.items() if reasons & bit]:
        yield "DRIVER-SLOWDOWN", ", ".join(names)


def _modes(_: Case, gpu: Facts) -> Said:
    """Tell of modes in which programs may not compute, or only one may."""
    mode, running = number(gpu, "compute_mode"), items(gpu, "compute_processes")
    if mode == PROHIBITED:
        yield "DRIVER-COMPUTE-PROHIBITED", "compute mode Prohibited"
    if mode == EXCLUSIVE and running:
        pids = ", ".join(map(str, running))
        yield "DRIVER-COMPUTE-EXCLUSIVE", f"compute mode Exclusive_Process, and process {pids} has it"
    if _waits(gpu, "mig"):
        yield "DRIVER-MIG-PENDING", _pair(gpu, "mig", "MIG")


def _persistence(case: Case, gpu: Facts) -> Said:
    """Tell of a GPU of a native Linux that nobody keeps started: no display, no persistence."""
    if case.platform is Platform.LINUX and number(gpu, "persistence") == 0 and number(gpu, "display") == 0:
        yield "DRIVER-PERSISTENCE", "persistence mode is off, and no display is on it"


def _waits(gpu: Facts, fact: str) -> bool:
    """Say whether a mode's pending value is another than the current one."""
    pair = tuple(items(gpu, fact))
    return len(pair) == len(("current", "pending")) and pair[0] != pair[1]


def _pair(gpu: Facts, fact: str, title: str) -> str:
    """Return a pair of modes in words."""
    words = ["on" if each == 1 else "off" for each in items(gpu, fact)]
    return f"{title} is {words[0]}, and {words[1]} after the next reset"


_CHECKS: tuple[Callable[[Case, Facts], Said], ...] = (
    _reached,
    _ecc,
    _memory,
    _slow,
    _modes,
    _persistence,
)

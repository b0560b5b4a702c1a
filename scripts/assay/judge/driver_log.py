"""Judges what the kernel's log says of the GPUs in this boot: old clients, faults, GPUs that did not start.

Facts::

    log {
        events [{kind, count, alive, …}]
            kinds and words are those of ``machine.kernellog``; ``alive`` says whether the process that is
            named still runs, null where that is not known
        sources[], problems[]               what was read, and what could not be
    }
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_userspace import versions_of
from assay.judge.reading import flag, number, objects, text
from assay.model import Facts, Finding


@dataclass(frozen=True)
class Xid:
    """What a number means, and whether the GPU is not to be trusted until it was reset."""

    meaning: str
    grave: bool = False


XIDS: Mapping[int, Xid] = MappingProxyType(
    {
        13: Xid("graphics engine exception, mostly of a program"),
        31: Xid("memory page fault of a program"),
        43: Xid("the GPU stopped processing for a program"),
        45: Xid("work removed early, after another error or at a program's end"),
        48: Xid("double-bit ECC error", grave=True),
        61: Xid("breakpoint of an internal microcontroller", grave=True),
        62: Xid("halt of an internal microcontroller", grave=True),
        63: Xid("a row or page of memory was recorded for remapping or retirement"),
        64: Xid("recording a row or page for remapping or retirement failed", grave=True),
        74: Xid("NVLink error", grave=True),
        79: Xid("the GPU has fallen off the bus", grave=True),
        92: Xid("high rate of single-bit ECC errors"),
        94: Xid("contained memory error"),
        95: Xid("uncontained memory error", grave=True),
        119: Xid("no answer of the GSP in time", grave=True),
        120: Xid("error of the GSP", grave=True),
    }
)
"""NVIDIA, "Xid Errors"; names in the driver's ``nverror.h``."""


def events(facts: Facts, kind: str) -> tuple[Facts, ...]:
    """Return the log's events of a kind."""
    return tuple(event for event in objects(facts, "log.events") if text(event, "kind") == kind)


def judge_log(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield old clients, faults, and GPUs that the module could not start."""
    yield from _clients(case, facts)
    yield from _xids(case, facts)
    yield from _init(case, facts)


def _clients(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each process that still runs another driver's libraries than those that lie here.

    An event of another kernel module than the loaded one is history, and where the libraries on disk are the
    client's own version, they are the fault and not the client.
    """
    module, own = text(facts, "module.version"), {*versions_of(facts).values()}
    for event in events(facts, "api-mismatch"):
        version = text(event, "version")
        if text(event, "module") != module or version in own or flag(event, "alive") is False:
            continue
        name, pid = text(event, "client") or "a process that the log does not name", text(event, "pid")
        observed = f"{name}{f' (pid {pid})' if pid else ''} has version {version}; kernel module {module}"
        yield finding(
            "DRIVER-CLIENT-OLD", observed, expected=module, where=("log.events",), platform=case.platform
        )


def _xids(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the Xid events, the grave ones apart from those that mostly a program causes."""
    told: dict[bool, list[str]] = {True: [], False: []}
    for event in events(facts, "xid"):
        said = text(event, "number")
        known = XIDS.get(
            int(said[:9]) if said.isascii() and said.isdigit() else -1, Xid("see NVIDIA's catalogue")
        )
        count = number(event, "count") or 1
        times = f", {count} times" if count > 1 else ""
        told[known.grave].append(f"Xid {said} on {text(event, 'bus')} ({known.meaning}{times})")
    for grave, entry in ((True, "DRIVER-XID"), (False, "DRIVER-XID-PROGRAM")):
        if told[grave]:
            yield finding(entry, "; ".join(told[grave]), where=("log.events",), platform=case.platform)


def _init(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a GPU could not be started or fell off the bus; what NVML reaches now is history."""
    reached = any(flag(gpu, "reached") for gpu in objects(facts, "nvml.facts.gpus"))
    for kind, entry, what in (
        ("init-failed", "DRIVER-INIT-FAILED", "RmInitAdapter failed"),
        ("off-bus", "DRIVER-GPU-LOST", "fell off the bus"),
    ):
        found = () if reached else events(facts, kind)
        if found:
            observed = "; ".join(
                f"{text(event, 'bus') or 'a GPU'}: {what} {text(event, 'code')}".rstrip() for event in found
            )
            yield finding(entry, observed, where=("log.events",), platform=case.platform)

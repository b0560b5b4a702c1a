"""What the kernel's log says of NVIDIA's GPUs in this boot: mismatches, missing firmware, faults.

Only lines of the driver are kept, and of those only numbers, names and versions: a kernel log tells serial
numbers and names of its host in other lines.

Sources: the driver's messages (NVIDIA/open-gpu-kernel-modules: ``osapi.c``, ``osinit.c``, ``kernel_rc.c``,
``nv.c``) and the kernel's firmware loader (``drivers/base/firmware_loader``).  The old and the new wording
are understood, on one line or several, with the marks that dmesg or syslog put before a line.
"""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from assay.errors import StorageError
from assay.files import storage_errors

if TYPE_CHECKING:
    from pathlib import Path

    from assay.machine.machine import Machine

FILES = ("/var/log/dmesg", "/var/log/kern.log", "/var/log/messages", "/var/log/syslog")
RECORDED = "dmesg"
"""Name of the recorded answer of a machine that is not asked."""

TAIL = 4 << 20
"""Bytes from the end of a log file that are read; a boot has some hundred kilobytes."""

_READ_ALL, _SIZE_BUFFER = 3, 10
"""Actions of syslog(2)."""

MAX_EVENTS = 100
"""Events that are told; a fault that repeats is counted instead."""

_BOOT = re.compile(r"^.*Linux version \d+\.\d+.*$", re.MULTILINE)
"""The first line of every boot (``init/main.c``); what stands before the last one is of another boot."""

_OURS = re.compile(r"NVRM:|[Nn]vidia|nouveau|Lockdown:|key was rejected|[Ff]irmware load for nvidia/")
_MARK = re.compile(r"^.*?NVRM:\s*")
_V = r"(\d{1,5}(?:\.\d{1,5}){1,3})"
_BUS = r"((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}(?:\.[0-9a-fA-F])?)"
_GPU = rf"The NVIDIA v?GPU {_BUS}\s+\(PCI ID: 10de:([0-9a-fA-F]{{4}})\)\s+installed in this system\s+"

_PATTERNS: tuple[tuple[str, re.Pattern[str], tuple[str, ...]], ...] = (
    (
        "api-mismatch",
        re.compile(
            r"API mismatch: the client(?: '([^'\n]{0,64})' \(pid (\d{1,10})\))?\s+has the version "
            rf"{_V},?\s+but\s+this kernel module has\s+the version {_V}"
        ),
        ("client", "pid", "version", "module"),
    ),
    (
        "firmware-missing",
        re.compile(
            rf"[Ff]irmware load for nvidia/{_V}/(gsp\w{{1,40}}\.bin)(?:\.\w{{2,3}})?"
            r" failed with error (-?\d{1,4})"
        ),
        ("version", "file", "error"),
    ),
    ("xid", re.compile(rf"Xid \(PCI:{_BUS}[^)\n]{{0,40}}\):\s*(\d{{1,4}})\b"), ("bus", "number")),
    (
        "init-failed",
        re.compile(rf"(?:GPU {_BUS}: )?RmInitAdapter failed! \(([0-9a-fx:]{{1,40}})\)"),
        ("bus", "code"),
    ),
    (
        "open-required",
        re.compile(_GPU + r"requires use of the\s+NVIDIA open kernel modules"),
        ("bus", "device"),
    ),
    (
        "gsp-required",
        re.compile(_GPU + r"is not supported by\s+open\s+nvidia\.ko\s+because"),
        ("bus", "device"),
    ),
    (
        "unsupported",
        re.compile(_GPU + rf"is not supported by\s+the\s+NVIDIA {_V} driver release"),
        ("bus", "device", "version"),
    ),
    (
        "legacy",
        re.compile(r"GPU installed in this system is\s+supported through the NVIDIA (\d{2,3}\.[\dx]{1,3})"),
        ("version",),
    ),
    ("off-bus", re.compile(rf"GPU (?:at PCI:)?{_BUS}[^!]{{0,80}}?has\s+fallen off the bus"), ("bus",)),
    ("claimed", re.compile(r"This can occur when another driver was loaded"), ()),
    (
        "unsigned",
        re.compile(
            r"(?:Lockdown:[^\n]{0,60}unsigned module loading is restricted"
            r"|Loading of (?:unsigned )?module[^\n]{0,40}(?:is|with unavailable key is) rejected"
            r"|[Kk]ey was rejected by service)"
        ),
        (),
    ),
)
"""By kind of event: how it is worded, and what its groups are."""


@dataclass(frozen=True)
class Event:
    """Something that the log says, as often as ``count``.

    Attributes:
        kind: a kind of ``_PATTERNS``.
        says: what the event names; texts, ``""`` where the message leaves it out.
        count: how often it stands there.
    """

    kind: str
    says: tuple[tuple[str, str], ...]
    count: int = 1


@dataclass(frozen=True)
class Log:
    """The kernel's log.

    Attributes:
        events: what was found, in order of first sight, none twice.
        sources: where something could be read.
        problems: what is there and could not be read, with the reason.
    """

    events: tuple[Event, ...] = ()
    sources: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def read_log(machine: Machine) -> Log:
    """Return what the log says: the kernel's own ring, or its recording, and the files that keep it."""
    texts: dict[str, str] = {}
    problems: list[str] = []
    for name, text, problem in (_ring(machine), *(_file(machine, path) for path in FILES)):
        if text:
            texts[name] = text
        elif problem and problem != "missing":
            problems.append(f"{name}: {problem}"[:300])
    return Log(events_of(texts.values()), tuple(texts), tuple(problems))


def _ring(machine: Machine) -> tuple[str, str, str]:
    """Return name, text and problem of the kernel's ring buffer, or of what was recorded of it."""
    if machine.is_real and machine.probes is None:
        return ("kernel ring buffer", *_live_ring())
    recorded = (machine.probes or {}).get(RECORDED)
    output = recorded.get("output") if isinstance(recorded, Mapping) else None
    return "dmesg", output if isinstance(output, str) else "", "" if recorded is None else "it told nothing"


def _live_ring() -> tuple[str, str]:
    """Return text and problem of the running kernel's ring buffer; reading it never waits (syslog(2))."""
    if sys.platform != "linux":
        return "", "missing"
    import ctypes  # noqa: PLC0415  # 10 ms that only a machine with a driver pays

    library = ctypes.CDLL(None, use_errno=True)
    size = min(library.klogctl(_SIZE_BUFFER, None, 0), TAIL)
    buffer = ctypes.create_string_buffer(max(size, 1))
    count = library.klogctl(_READ_ALL, buffer, len(buffer)) if size > 0 else -1
    if count < 0:
        return "", os.strerror(ctypes.get_errno())
    return buffer.raw[:count].decode("utf-8", "replace"), ""


def _file(machine: Machine, path: str) -> tuple[str, str, str]:
    """Return name, text and problem of the end of a log file."""
    if not machine.exists(path):
        return path, "", machine.peek(path, 1).problem
    try:
        return path, _end(machine.view.regular(path)), ""
    except StorageError as error:
        return path, "", error.observed


def _end(host: Path) -> str:
    """Return the last ``TAIL`` bytes of a file as text.

    Raises:
        StorageError: it cannot be read.
    """
    with storage_errors("read", host), host.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, os.SEEK_END) - TAIL))
        return stream.read(TAIL).decode("utf-8", "replace")


def events_of(texts: Iterable[str]) -> tuple[Event, ...]:
    """Return the events of several logs of one boot, which may tell the same ones."""
    counts: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
    for text in texts:
        said = _messages(text)
        for key, count in Counter(_events(said)).items():
            counts[key] = max(count, counts.get(key, 0))
    kept = list(counts.items())[:MAX_EVENTS]
    return tuple(Event(kind, says, count) for (kind, says), count in kept)


def _messages(text: str) -> str:
    """Return the driver's own lines of the last boot, the marks before each removed."""
    last = max((match.end() for match in _BOOT.finditer(text)), default=0)
    lines = (line for line in text[last:].splitlines() if _OURS.search(line))
    return "\n".join(_MARK.sub("", line).rstrip() for line in lines)


def _events(said: str) -> Iterator[tuple[str, tuple[tuple[str, str], ...]]]:
    """Yield kind and words of every event in the driver's lines, as often as it stands there."""
    for kind, pattern, names in _PATTERNS:
        for match in pattern.finditer(said):
            yield kind, tuple(zip(names, (word or "" for word in match.groups()), strict=True))

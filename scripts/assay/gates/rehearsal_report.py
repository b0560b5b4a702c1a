"""Reads strictly what the CPU's driver told: documents, one a line, each of a known event.

The driver runs inside the child, which is not believed about its results; what it says against a kernel
counts all the same, and what it leaves out is noticed by its end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from assay import canonical
from assay.errors import BundleError, StorageError
from assay.files import read_bounded
from assay.judge.reading import MalformedFacts, get, items, number, text
from assay.model import Facts, Json

SCHEMA = "assay/rehearsal-report/1"

_LIMIT = 16 << 20
_LINES = 4000
"""The driver lists up to a thousand events of each of its four sorts."""


def report_facts(path: Path) -> dict[str, Json]:
    """Return the fact ``rehearsal.report``; ``problem`` says why there is none, or not a whole one."""
    try:
        data = read_bounded(path, _LIMIT) if path.exists() else b""
    except StorageError as error:
        return {**_empty(), "problem": error.observed}
    return read_report(data)


def read_report(data: bytes) -> dict[str, Json]:
    """Return the fact of a report's bytes."""
    facts, lines = _empty(), data.splitlines()
    if not lines:
        return {**facts, "problem": "the CPU's driver told nothing"}
    for place, line in enumerate(lines[:_LINES], start=1):
        try:
            _take(facts, _document(line))
        except (BundleError, MalformedFacts) as error:
            return {**facts, "problem": f"line {place}: {error}"}
    if len(lines) > _LINES:
        return {**facts, "problem": f"it has more than {_LINES} lines"}
    if facts["end"] is None:
        return {**facts, "problem": "it has no end: the driver's interpreter was stopped"}
    return facts


def _empty() -> dict[str, Json]:
    return {
        "driver": None,
        "end": None,
        "findings": [],
        "launches": [],
        "modules": [],
        "problem": "",
        "refused": [],
    }


def _document(line: bytes) -> Facts:
    value = canonical.parse(line, member="rehearsal.jsonl")
    if not isinstance(value, Mapping):
        raise MalformedFacts("event", "an object")
    return value


def _take(facts: dict[str, Json], event: Facts) -> None:
    """Add one event to the facts.

    Raises:
        MalformedFacts: it is none that the driver tells, or comes out of order.
    """
    name = text(event, "event")
    if name not in _EVENTS or (facts["driver"] is None) != (name == "driver") or facts["end"] is not None:
        raise MalformedFacts("event", "an event of the CPU's driver, in order")
    key, read = _EVENTS[name]
    made = read(event)
    if isinstance(facts[key], list):
        facts[key] = [*items(facts, key), made]
    else:
        facts[key] = made


def _driver(event: Facts) -> Json:
    if text(event, "schema") != SCHEMA:
        raise MalformedFacts("schema", SCHEMA)
    return {"pid": _count(event, "pid"), "uuid": text(event, "uuid")}


def _finding(event: Facts) -> Json:
    address = get(event, "address")
    return {
        **{key: text(event, key) for key in ("file", "kernel", "kind", "message")},
        **{key: _count(event, key) for key in ("count", "line", "ptx_line")},
        **{key: _index(event, key) for key in ("block", "thread")},
        "address": None if address is None else text(event, "address"),
    }


def _launch(event: Facts) -> Json:
    return {
        **{key: _index(event, key) for key in ("block", "grid")},
        "instructions": _count(event, "instructions"),
        "kernel": text(event, "kernel"),
    }


def _module(event: Facts) -> Json:
    return {
        **{key: text(event, key) for key in ("sha256", "target", "version")},
        "size": _count(event, "size"),
    }


def _refused(event: Facts) -> Json:
    return {"call": text(event, "call"), "code": _count(event, "code"), "message": text(event, "message")}


def _end(event: Facts) -> Json:
    return {key: _count(event, key) for key in ("findings", "launches")}


def _count(event: Facts, key: str) -> int:
    value = number(event, key)
    if value is None or value < 0:
        raise MalformedFacts(key, "a count")
    return value


def _index(event: Facts, key: str) -> Json:
    values = items(event, key)
    if len(values) != 3 or not all(type(each) is int and each >= 0 for each in values):  # noqa: PLR2004  # x, y, z
        raise MalformedFacts(key, "three counts")
    return list(values)


_EVENTS: Mapping[str, tuple[str, Callable[[Facts], Json]]] = MappingProxyType(
    {
        "driver": ("driver", _driver),
        "end": ("end", _end),
        "finding": ("findings", _finding),
        "launch": ("launches", _launch),
        "module": ("modules", _module),
        "refused": ("refused", _refused),
    }
)

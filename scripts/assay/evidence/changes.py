"""What differs between the recorded facts of two runs, gathered under the headings that an auditor reads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from assay import canonical
from assay.evidence.steps import Run
from assay.model import Facts, Json

_SHOWN = 120
"""Characters of a value that are shown."""

_IDENTITY = ("name", "path", "uuid", "input")
"""Fields that name an entry of a list, the first that all entries have and that tells them apart."""

REST = "other facts"
SECTIONS = ("selection", "machine", "environment", "results", REST)

_SECTION: Mapping[tuple[str, str], str] = MappingProxyType(
    {
        **{("environment", key): "selection" for key in ("explicit", "selected", "site_packages", "source")},
        **{("environment", key): "selection" for key in ("ignored", "variables")},
        **{("chain", key): "machine" for key in ("adapter", "device_nodes", "devices", "libcuda", "nvml")},
        **{("chain", key): "machine" for key in ("proc", "virtualisation")},
        ("chain", "chains"): "results",
        ("environment", "machine"): "machine",
    }
)
_SECTION_OF_GATE: Mapping[str, str] = MappingProxyType(
    {"environment": "environment", "provider": "selection", "toolkit": "selection"}
)

_OF_ONE_RUN = frozenset({"fresh", "duration_ns", "pid"})
"""Facts that differ between any two runs: values drawn from the nonce, times, process numbers."""

_MEASURED = frozenset({("shared-buffers", "measured"), ("throughput", "cold"), ("throughput", "measured")})
"""Facts of one run too: results over values of the nonce, which are judged; durations are timings."""


class Kind(StrEnum):
    """How two recorded values relate."""

    CHANGED = "changed"
    ADDED = "added"
    REMOVED = "removed"
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True)
class Change:
    """One difference: where, how, and what stands in the old and the new run, shortened."""

    path: str
    kind: Kind
    old: str
    new: str

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {"kind": self.kind.value, "new": self.new, "old": self.old, "path": self.path}


def fact_changes(old: Run, new: Run) -> dict[str, list[Change]]:
    """Return the differences between all facts, by section.

    A field that only one run has was added or removed where both were recorded in the same form, by the same
    rules of the same version; else it is not comparable: one of the two knows nothing of it.
    """
    found: dict[str, list[Change]] = {section: [] for section in SECTIONS}
    same_tool = old.manifest.version == new.manifest.version
    for gate in sorted({*old.records.gates, *new.records.gates}):
        one, other = _facts(old, gate), _facts(new, gate)
        if one is None or other is None:
            found[REST].append(missing(gate, one is None))
            continue
        rules = [run.records.receipt(gate).rules for run in (old, new)]
        same_form = same_tool and rules[0] == rules[1]
        for key in sorted(key for key in {*one, *other} if (gate, key) not in _MEASURED):
            section = _SECTION.get((gate, key)) or _SECTION_OF_GATE.get(gate, REST)
            path = f"{gate}.{key}"
            found[section] += _field(path, one, other, key, same_form=same_form)
    return found


def missing(path: str, of_old: bool) -> Change:  # noqa: FBT001  # which of the two, and nothing else
    """Return that only one of the two runs recorded something."""
    words = ("not recorded", "recorded") if of_old else ("recorded", "not recorded")
    return Change(path, Kind.NOT_COMPARABLE, *words)


def shown(value: Json) -> str:
    """Return a value in a length that a reader reads."""
    text = value if isinstance(value, str) else canonical.dumps(value).decode()
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _facts(run: Run, gate: str) -> Facts | None:
    """Return a gate's facts, None where it did not end or did not run."""
    return (run.records.receipt(gate).facts or None) if gate in run.records.gates else None


def _field(path: str, one: Facts, other: Facts, key: str, *, same_form: bool) -> Iterator[Change]:
    """Yield the differences of one field of two objects."""
    if key in one and key in other:
        yield from _values(path, one[key], other[key], same_form=same_form)
    elif not same_form:
        yield missing(path, key not in one)
    elif key in other:
        yield Change(path, Kind.ADDED, "", shown(other[key]))
    else:
        yield Change(path, Kind.REMOVED, shown(one[key]), "")


def _values(path: str, one: Json, other: Json, *, same_form: bool) -> Iterator[Change]:
    """Yield the differences of two values, as deep inside as they lie."""
    if isinstance(one, list) and isinstance(other, list):
        field = _identity([*one, *other], one, other)
        if field is not None:
            yield from _entries(path, _by(field, one), _by(field, other), same_form=same_form)
            return
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for key in sorted({*one, *other} - _OF_ONE_RUN):
            yield from _field(f"{path}.{key}", one, other, key, same_form=same_form)
    elif canonical.dumps(one) != canonical.dumps(other):  # to Python 1 is True, however deep inside
        yield Change(path, Kind.CHANGED, shown(one), shown(other))


def _entries(path: str, one: Facts, other: Facts, *, same_form: bool) -> Iterator[Change]:
    """Yield the differences of two lists whose entries have names: one more is no unknown field."""
    for name in sorted({*one, *other}):
        at = f"{path}[{name}]"
        if name in one and name in other:
            yield from _values(at, one[name], other[name], same_form=same_form)
        else:
            yield from _field(at, _at(one, name, at), _at(other, name, at), at, same_form=True)


def _at(entries: Facts, name: str, path: str) -> Facts:
    """Return one entry under its path, nothing where it is not there."""
    return {path: entries[name]} if name in entries else {}


def _identity(both: Sequence[Json], *lists: Sequence[Json]) -> str | None:
    """Return the field that tells the entries of each list apart, None where there is none."""
    if not both or not all(isinstance(entry, Mapping) for entry in both):
        return None
    for field in _IDENTITY:
        names = [[_name(entry, field) for entry in each] for each in lists]
        if all("" not in each and len(set(each)) == len(each) for each in names):
            return field
    return None


def _name(entry: Json, field: str) -> str:
    """Return what a field names an entry, ``""`` where it does not."""
    value = entry.get(field) if isinstance(entry, Mapping) else None
    return value if isinstance(value, str) else ""


def _by(field: str, entries: Sequence[Json]) -> dict[str, Json]:
    """Return the entries by name."""
    return {_name(entry, field): entry for entry in entries}

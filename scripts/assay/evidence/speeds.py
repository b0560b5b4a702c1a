"""What gate ``throughput`` measured in two runs: every duration, and the ratios that the plan bounds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from assay.evidence.changes import Change, Kind
from assay.evidence.steps import Run
from assay.judge.cold import CHAIN, SCRIPT, turns_of
from assay.judge.reading import MalformedFacts, get, mapping, number, objects
from assay.judge.speed import FLOORS, bounded, durations
from assay.model import Facts

GATE = "throughput"

_GROUPS = ("floors", "hops", "kernels")
_WHOLE = ("chain", "script", "shared")


def measured(run: Run) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what gate ``throughput`` measured, with its durations (ns) in ascending order."""
    facts = _facts(run)
    with contextlib.suppress(MalformedFacts):
        for each in objects(facts, "measured"):
            yield from _of_size(each)
        cold = mapping(facts, "cold")
        for style in (CHAIN, SCRIPT):
            ends = [number(turn, "end") for turn in turns_of(cold, style)[1:]]
            if ends:
                yield f"{GATE}/cold start/{style}", tuple(sorted(end or 0 for end in ends))


def _of_size(each: Facts) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield the durations of one size."""
    place = f"{GATE}/{number(each, 'size')} values"
    paths = [f"{group}.{name}" for group in _GROUPS for name in sorted(mapping(each, group))]
    paths += [f"{whole}.ns" for whole in _WHOLE if get(each, whole) is not None]
    for path in paths:
        if get(each, path) is not None:
            yield f"{place}/{path.removesuffix('.ns')}", tuple(sorted(durations(each, path)))


def speed_changes(old: Run, new: Run) -> Iterator[Change]:
    """Yield each bounded ratio that differs, in percent of what was measured beside it in the same run."""
    one, other = dict(_ratios(old)), dict(_ratios(new))
    for name in FLOORS:
        before, after = one.get(name), other.get(name)
        if before == after:
            continue
        words = ["not recorded" if each is None else f"{each} %" for each in (before, after)]
        kind = Kind.NOT_COMPARABLE if None in {before, after} else Kind.CHANGED
        yield Change(name, kind, words[0], words[1])


def _ratios(run: Run) -> Iterator[tuple[str, int]]:
    """Yield the ratios of a run at the size that its plan bounds."""
    speed, facts = run.document.plan.throughput, _facts(run)
    if speed is None:
        return
    try:
        sizes = {number(each, "size"): each for each in objects(facts, "measured")}
    except MalformedFacts:
        return
    for name, ratio in FLOORS.items() if speed.floor_size in sizes else ():
        with contextlib.suppress(MalformedFacts):
            yield name, ratio(bounded(sizes[speed.floor_size], facts))


def has_speeds(run: Run) -> bool:
    """Say whether a run measured anything."""
    return bool(_facts(run).get("measured"))


def _facts(run: Run) -> Facts:
    """Return the gate's facts, none where it did not end."""
    return (run.records.receipt(GATE).facts or {}) if GATE in run.records.gates else {}

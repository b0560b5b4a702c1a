"""How long things took in two runs: each gate once, each stage of a chain as often as it ran."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass

from assay.evidence.judging import CHAIN
from assay.evidence.speeds import measured
from assay.evidence.steps import Run
from assay.judge.reading import MalformedFacts, number, objects, text
from assay.model import Json

_REPEATED = 3
"""Measurements from which on a spread says something."""


@dataclass(frozen=True)
class Timing:
    """Durations (ns, ascending) of one thing in the old and in the new run; empty where it is not known."""

    path: str
    old: tuple[int, ...]
    new: tuple[int, ...]

    @property
    def percent(self) -> int | None:
        """Return the new median in percent of the old, None where they are not comparable."""
        if not self.old or not self.new or median(self.old) == 0:
            return None
        return round(100 * median(self.new) / median(self.old))

    @property
    def moved(self) -> str:
        """Return ``slower`` or ``faster`` where the two spreads of repeated measurements do not touch."""
        if min(len(self.old), len(self.new)) < _REPEATED:
            return ""
        return "slower" if self.new[0] > self.old[-1] else "faster" if self.new[-1] < self.old[0] else ""

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form, durations in nanoseconds."""
        return {
            "moved": self.moved,
            "new": _spread(self.new),
            "old": _spread(self.old),
            "path": self.path,
            "percent": self.percent,
        }


def median(durations: tuple[int, ...]) -> int:
    """Return the median, the lower of two."""
    return statistics.median_low(durations)


def timings(old: Run, new: Run) -> tuple[Timing, ...]:
    """Return the timings of everything that either run measured."""
    one, other = dict(_measured(old)), dict(_measured(new))
    return tuple(Timing(path, one.get(path, ()), other.get(path, ())) for path in sorted({*one, *other}))


def spread_of(found: tuple[Timing, ...]) -> tuple[int, int, int] | None:
    """Return lowest, median and highest percentage of all comparable timings: how much the runs scatter."""
    percents = [each.percent for each in found if each.percent is not None]
    return (min(percents), statistics.median_low(percents), max(percents)) if percents else None


def _measured(run: Run) -> Iterator[tuple[str, tuple[int, ...]]]:
    """Yield what a run measured, with its durations in ascending order."""
    for gate in run.records.gates:
        yield gate, (run.records.receipt(gate).duration_ns,)
    yield from measured(run)
    if CHAIN not in run.records.gates:
        return
    try:
        stages = [
            (f"{CHAIN}/{text(chain, 'name')}/{text(stage, 'name')}", objects(stage, "runs"))
            for chain in objects(run.records.receipt(CHAIN).facts, "chains")
            for stage in objects(chain, "stages")
        ]
        for path, runs in stages:
            yield path, tuple(sorted(number(each, "duration_ns") or 0 for each in runs))
    except MalformedFacts:
        return


def _spread(durations: tuple[int, ...]) -> Json:
    """Return median and spread, None where there is nothing."""
    if not durations:
        return None
    return {
        "highest_ns": durations[-1],
        "lowest_ns": durations[0],
        "median_ns": median(durations),
        "times": len(durations),
    }

"""Measuring side by side: turns alternate, so that what disturbs one disturbs the other."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Times:
    """Seconds of several turns."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Return the median."""
        return statistics.median(self.seconds)

    def __str__(self) -> str:
        """Return median and spread in milliseconds."""
        low, high = min(self.seconds), max(self.seconds)
        return f"{self.median * 1e3:.1f} ms ({low * 1e3:.1f} to {high * 1e3:.1f})"


@dataclass(frozen=True)
class Line:
    """One line of the table.

    Attributes:
        what: what was measured.
        measured: its times.
        against: what it is compared to, in words.
        ratio: measured median over what it is compared to.
        bound: the highest ratio that is kept.
        floor: the ratio below which nothing can be on this machine, None where that is not known.
    """

    what: str
    measured: Times
    against: str
    ratio: float
    bound: float
    floor: float | None = None

    @property
    def missed(self) -> bool:
        """Return whether the bound is missed."""
        return self.ratio > self.bound


def alternate(turns: int, *actions: Callable[[], object]) -> tuple[Times, ...]:
    """Run each action ``turns`` times, in turn, after one unmeasured turn of each."""
    seconds: list[list[float]] = [[] for _ in actions]
    for turn in range(turns + 1):
        for action, kept in zip(actions, seconds, strict=True):
            began = time.perf_counter()
            action()
            if turn:
                kept.append(time.perf_counter() - began)
    return tuple(Times(tuple(kept)) for kept in seconds)


def compared(  # noqa: PLR0913, PLR0917  # a line has so many parts
    what: str, measured: Times, name: str, other: Times, bound: float, floor: Times | None = None
) -> Line:
    """Return the line of a measurement beside another, and beside what nothing can be faster than."""
    lowest = floor.median / other.median if floor else None
    return Line(what, measured, f"{name}: {other}", measured.median / other.median, bound, lowest)


def bounded(what: str, measured: Times, limit_s: float) -> Line:
    """Return the line of a measurement that has a limit in seconds."""
    return Line(what, measured, f"limit: {limit_s * 1e3:.0f} ms", measured.median / limit_s, 1.0)


def table(lines: Sequence[Line]) -> str:
    """Return the lines as a table of text."""
    head = ("what", "median (spread)", "against", "ratio", "bound", "floor", "")
    body = [
        (
            *(line.what, str(line.measured), line.against, f"{line.ratio:.2f}", f"{line.bound:.2f}"),
            *("" if line.floor is None else f"{line.floor:.2f}", _word(line)),
        )
        for line in lines
    ]
    widths = [max(map(len, column)) for column in zip(head, *body, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() + "\n"
        for row in (head, *body)
    )


def _word(line: Line) -> str:
    """Return whether the bound is kept, in a word."""
    return "MISSED" if line.missed else "kept"

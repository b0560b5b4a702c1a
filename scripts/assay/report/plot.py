"""Where the points of a plot lie: both axes logarithmic, in the units of the drawing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.report.view import Line, Plot, Tick

WIDTH, HEIGHT = 300, 180
"""The drawing area in its own units; the page adds room for the labels."""

_DECADE = 10.0
_WRITTEN_OUT = 3
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def log_plot(
    title: str,
    lines: Mapping[str, Sequence[tuple[float, float]]],
    x_ticks: Mapping[float, str],
    y_unit: str,
) -> Plot | None:
    """Return lines of (x, y) points on two logarithmic axes, None where no point is positive.

    Args:
        title: what is drawn.
        lines: points by name, in the order in which they are drawn; those that are not positive are left out.
        x_ticks: labels of the x axis by value.
        y_unit: what y is in; its axis is labelled at powers of ten.
    """
    kept = {name: [each for each in points if min(each) > 0] for name, points in lines.items()}
    every = [each for points in kept.values() for each in points]
    if not every:
        return None
    xs, ys = _range([x for x, _ in every]), _decades([y for _, y in every])
    drawn = tuple(
        Line(name, number, tuple((_at(x, xs, WIDTH), HEIGHT - _at(y, ys, HEIGHT)) for x, y in points))
        for number, (name, points) in enumerate(kept.items())
        if points
    )
    across = tuple(Tick(_at(x, xs, WIDTH), text) for x, text in x_ticks.items() if xs[0] <= x <= xs[1])
    powers = range(round(math.log10(ys[0])), round(math.log10(ys[1])) + 1)
    up = tuple(Tick(HEIGHT - _at(_DECADE**each, ys, HEIGHT), _power(each)) for each in powers)
    return Plot(title, drawn, across, up, y_unit)


def _range(values: Sequence[float]) -> tuple[float, float]:
    """Return the lowest and highest value, an octave apart at least."""
    return min(values), max(*values, 2 * min(values))


def _decades(values: Sequence[float]) -> tuple[float, float]:
    """Return the powers of ten around values."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return _DECADE**low, _DECADE ** max(high, low + 1)


def _at(value: float, span: tuple[float, float], length: int) -> int:
    """Return where a value lies on an axis."""
    low, high = math.log10(span[0]), math.log10(span[1])
    return round(length * (math.log10(value) - low) / (high - low))


def _power(exponent: int) -> str:
    """Return a power of ten as it is read: short ones written out."""
    if -_WRITTEN_OUT <= exponent <= _WRITTEN_OUT:
        return f"{_DECADE**exponent:g}"
    return "10" + str(exponent).translate(_RAISED)

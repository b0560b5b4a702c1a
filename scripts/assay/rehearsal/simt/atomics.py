"""Atomic operations on many threads at once: as if they came one after the other, by thread number."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..arrays import Array
from .dtypes import DType

Combine: TypeAlias = "Callable[[Array, Array, Array], Array]"
"""(old, operand, second operand) -> new."""

UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "min": np.minimum,
    "max": np.maximum,
}
"""Those that NumPy can accumulate."""

OTHERS: dict[str, Combine] = {
    "exch": lambda _old, b, _c: b,
    "cas": lambda old, b, c: np.where(old == b, c, old),
    "inc": lambda old, b, _c: np.where(old >= b, old.dtype.type(0), old + old.dtype.type(1)),
    "dec": lambda old, b, _c: np.where((old == 0) | (old > b), b, old - old.dtype.type(1)),
}
"""Those that it cannot: the operand of ``cas`` is what is compared, its second one what is put."""


def apply(  # noqa: PLR0913  # an atomic operation has these parts
    elements: Array, index: Array, name: str, kind: DType, operands: tuple[Array, Array], *, wants_old: bool
) -> Array:
    """Apply an operation to elements, in the order of the threads.

    Args:
        elements: raw bits of a space, changed in place.
        index: the element of each thread, shape (n,).
        name: of ``UFUNCS`` or ``OTHERS``.
        kind: what the bits mean.
        operands: two arrays of shape (n,) in that type; most operations use the first.
        wants_old: whether the old values are used.

    Returns:
        The old values, raw bits, shape (n,); zeros where they are not wanted.
    """
    view = elements.view(kind)
    if not wants_old and name in UFUNCS:
        UFUNCS[name].at(view, index, operands[0])
        return np.zeros(index.shape, elements.dtype)
    order = np.argsort(index, kind="stable")
    ordered = index[order]
    first = np.ones(index.shape, np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    starts = np.flatnonzero(first)
    sizes = np.diff(np.append(starts, index.size))
    old = np.zeros(index.shape, view.dtype)
    if name in UFUNCS and starts.size < sizes.max(initial=0):
        _groups(view, ordered, starts, sizes, order, UFUNCS[name], operands[0], old)
    else:
        _rounds(view, ordered, starts, sizes, order, _combine(name), operands, old)
    return old.view(elements.dtype)


def _combine(name: str) -> Combine:
    if name in UFUNCS:
        function = UFUNCS[name]
        return lambda old, b, _c: function(old, b)
    return OTHERS[name]


def _groups(  # noqa: PLR0913, PLR0917  # the sorted order is four arrays
    view: Array,
    ordered: Array,
    starts: Array,
    sizes: Array,
    order: Array,
    function: np.ufunc,
    operand: Array,
    old: Array,
) -> None:
    """Go through the elements one by one, each with all its threads at once."""
    for start, size in zip(starts.tolist(), sizes.tolist(), strict=True):
        threads = order[start : start + size]
        place = ordered[start]
        values = np.empty(size + 1, view.dtype)
        values[0] = view[place]
        values[1:] = operand[threads]
        values = function.accumulate(values)
        old[threads] = values[:-1]
        view[place] = values[-1]


def _rounds(  # noqa: PLR0913, PLR0917  # the sorted order is four arrays
    view: Array,
    ordered: Array,
    starts: Array,
    sizes: Array,
    order: Array,
    combine: Combine,
    operands: tuple[Array, Array],
    old: Array,
) -> None:
    """Go through the threads of all elements in rounds: every element's first one, then every second one."""
    number = 0
    while starts.size:
        threads, places = order[starts + number], ordered[starts]
        before = view[places]
        old[threads] = before
        view[places] = combine(before, operands[0][threads], operands[1][threads])
        number += 1
        more = sizes > number
        starts, sizes = starts[more], sizes[more]

"""Judges long results, given as runs of equal blocks of 4,096 values (``assay.chain`` describes them).

Facts::

    {count, left_out, blocks [{times, count, sha256}]}

The input of a measurement repeats the chain's fresh values, so what must come out repeats too: one whole
block and one shorter last one are computed anew here, whatever the number of values.
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.judge.reading import number, objects, text
from assay.judge.values import values_digest, words
from assay.model import Facts
from assay.plan.values import Stage

LENGTH = 4096
"""Values of a block; a chain has as many fresh ones."""


def computed(stages: Sequence[Stage], values: Sequence[int]) -> tuple[int, ...]:
    """Return the exact integers after all stages, one after the other, for input ``values`` of shape (n,)."""
    found = tuple(values)
    for stage in stages:
        found = tuple(stage.expect.at(x, i) for i, x in enumerate(found))
    return found


def wrong_blocks(result: Facts, right: Sequence[int], count: int) -> str:
    """Return what is wrong with a result, ``""`` where every value is right.

    Args:
        result: the facts.
        right: the values of a whole block, or of all ``count`` values where they are fewer.
        count: how many values there must be.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    if number(result, "count") != count:
        return f"{number(result, 'count')} values instead of {count}"
    if number(result, "left_out") != 0:
        return "values that differ from block to block"
    expected = _runs(right, count)
    found = [
        (number(run, "times"), number(run, "count"), text(run, "sha256")) for run in objects(result, "blocks")
    ]
    for at, (got, wanted) in enumerate(zip(found, expected, strict=False)):
        if got != wanted:
            return f"run {at} is {got[0]} blocks of {got[1]} values with SHA-256 {got[2]}, not {wanted}"
    return "" if len(found) == len(expected) else f"{len(found)} runs of blocks instead of {len(expected)}"


def _runs(right: Sequence[int], count: int) -> list[tuple[int, int, str]]:
    """Return the runs of blocks that ``count`` right values have."""
    whole, rest = divmod(count, LENGTH)
    runs = []
    if whole:
        runs.append((whole, LENGTH, values_digest(words(right[:LENGTH]))))
    if rest:
        runs.append((1, rest, values_digest(words(right[:rest]))))
    return runs

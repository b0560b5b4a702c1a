"""Describes long results so that a reader can compute them anew without computing every value.

Values are cut into blocks of ``LENGTH``; blocks that follow one another with the same bytes are given once,
with how often.  An input that repeats every ``LENGTH`` values then gives one digest and a shorter last block.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from . import words

if TYPE_CHECKING:
    from .words import Array

LENGTH = 4096
"""Values of a block: as many as a chain's fresh input has."""

MOST = 64
"""Runs of equal blocks that are listed; more mean that something is wrong, and the rest is counted."""


def describe(array: Array) -> dict[str, object]:
    """Return count and runs of blocks: ``{times, sha256, count}`` of their big-endian words."""
    runs: list[tuple[bytes, int, int]] = []
    left_out = 0
    before = b""
    for start in range(0, array.size, LENGTH):
        piece = array[start : start + LENGTH]
        data = piece.tobytes()
        if runs and not left_out and data == before:
            digest, times, count = runs[-1]
            runs[-1] = (digest, times + 1, count)
        elif len(runs) < MOST:
            runs.append((hashlib.sha256(words.to_bytes(piece)).digest(), 1, piece.size))
        else:
            left_out += 1
        before = data
    listed = [{"count": count, "sha256": digest.hex(), "times": times} for digest, times, count in runs]
    return {"blocks": listed, "count": array.size, "left_out": left_out}

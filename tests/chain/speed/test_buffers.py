"""Pieces of a buffer: they cover it once, in order, and begin where copies are aligned."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from assay.chain.speed.buffers import pieces


@given(st.integers(1, 2**30), st.integers(1, 64))
def test_pieces_cover_all_values_once_and_begin_aligned(count: int, most: int) -> None:
    parts = pieces(count, most)
    assert parts[0].start == 0
    assert parts[-1].stop == count
    assert all(before.stop == after.start for before, after in itertools.pairwise(parts))
    assert all(part.start % 1024 == 0 and part.stop > part.start for part in parts)
    assert len(parts) <= most

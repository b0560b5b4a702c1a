"""Atomic operations of many threads, against the same ones one after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rehearsal.simt.atomics import OTHERS, UFUNCS, apply

WORD = st.integers(0, 2**32 - 1)


def sequential(name: str, old: int, b: int, c: int) -> int:
    """Return the new value of one operation on uint32 (PTX ISA 9.0, section 9.7.13.5 "atom")."""
    return {
        "add": (old + b) % 2**32,
        "and": old & b,
        "or": old | b,
        "xor": old ^ b,
        "min": min(old, b),
        "max": max(old, b),
        "exch": b,
        "cas": c if old == b else old,
        "inc": 0 if old >= b else old + 1,
        "dec": b if old == 0 or old > b else old - 1,
    }[name]


@pytest.mark.gate
@pytest.mark.parametrize("name", [*UFUNCS, *OTHERS])
@given(
    held=st.lists(WORD, min_size=3, max_size=3),
    work=st.lists(st.tuples(st.integers(0, 2), WORD | st.integers(0, 3), WORD), min_size=1, max_size=40),
    wants_old=st.booleans(),
)
def test_the_order_is_that_of_the_threads(
    name: str, held: list[int], work: list[tuple[int, int, int]], *, wants_old: bool
) -> None:
    elements = np.array(held, np.uint32)
    index, first, second = (np.array(column) for column in zip(*work, strict=True))
    operands = (first.astype(np.uint32), second.astype(np.uint32))
    old = apply(elements, index, name, np.dtype(np.uint32), operands, wants_old=wants_old)
    expected_old = []
    for place, b, c in work:
        expected_old.append(held[place])
        held[place] = sequential(name, held[place], b, c)
    assert elements.tolist() == held
    if wants_old or name in OTHERS:
        assert old.tolist() == expected_old


@pytest.mark.gate
def test_floats_are_added_in_order() -> None:
    elements = np.array([1e8], np.float32).view(np.uint32)
    values = np.array([3.0, -1e8, 3.0], np.float32)
    old = apply(
        elements, np.zeros(3, np.int64), "add", np.dtype(np.float32), (values, values), wants_old=True
    )
    assert old.view(np.float32).tolist() == [1e8, 1e8, 0.0]
    assert elements.view(np.float32).tolist() == [3.0]

"""Long results described: against a naive reference, and as the judge reads them."""

from __future__ import annotations

import hashlib
import itertools
import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.chain.blocks import LENGTH, MOST, describe
from assay.judge import blocks as judging


def naive(values: list[int]) -> dict[str, object]:
    """Describe bits by cutting a list and grouping equal neighbours."""
    pieces = [tuple(values[at : at + LENGTH]) for at in range(0, len(values), LENGTH)]
    runs = [(piece, len(list(same))) for piece, same in itertools.groupby(pieces)]
    listed = [
        {
            "count": len(piece),
            "sha256": hashlib.sha256(b"".join(struct.pack(">I", bits) for bits in piece)).hexdigest(),
            "times": times,
        }
        for piece, times in runs[:MOST]
    ]
    return {"blocks": listed, "count": len(values), "left_out": sum(times for _, times in runs[MOST:])}


def array(bits: list[int]) -> np.typing.NDArray[np.float32]:
    """Return bits as float32."""
    return np.array(bits, dtype=np.uint32).view(np.float32)


@settings(max_examples=60, deadline=None)
@given(
    kinds=st.lists(st.sampled_from([0, 1, 0x80000000, 0x7FC00001]), max_size=8),
    rest=st.integers(0, LENGTH - 1),
)
def test_it_is_what_a_naive_description_is(kinds: list[int], rest: int) -> None:
    bits = [kind for kind in kinds for _ in range(LENGTH)] + [1] * rest
    assert describe(array(bits)) == naive(bits)


@pytest.mark.parametrize("more", [-1, 0, 1, 5])
def test_what_differs_everywhere_is_counted_and_not_listed(more: int) -> None:
    bits = list(range((MOST + more) * LENGTH))
    described = describe(array(bits))
    assert described == naive(bits)
    assert described["left_out"] == max(more, 0)


def test_equal_bits_count_and_not_equal_values() -> None:
    zeros, negative = [0] * LENGTH, [0x80000000] * LENGTH
    blocks = describe(array(zeros + negative))["blocks"]
    assert isinstance(blocks, list)
    assert len(blocks) == 2


@pytest.mark.parametrize("count", [1, 3, 37, 4095, 4096, 4097, 3 * 4096 + 1])
def test_the_judge_takes_what_the_child_describes(count: int) -> None:
    values = [index % LENGTH for index in range(count)]
    described = describe(np.array(values, dtype=np.float32))
    assert LENGTH == judging.LENGTH
    assert judging.wrong_blocks(described, values[:LENGTH], count) == ""  # type: ignore[arg-type]  # the child's own JSON
    if count > 1:
        values[-1] += 1
        described = describe(np.array(values, dtype=np.float32))
        assert judging.wrong_blocks(described, list(range(LENGTH)), count)  # type: ignore[arg-type]  # as above

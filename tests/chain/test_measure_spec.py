"""Requests of ``measure`` are read whole or refused with the dotted path of what is wrong."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.chain.failures import RequestError
from assay.chain.measure_spec import MOST_VALUES, parse_measure
from assay.plan.measures import MOST_SIZE, MOST_TURNS
from tests.chain.support import Document, chain
from tests.chain.test_spec import changed, encoded, places

REQUEST: Document = {
    "adapter": {"backend": "Vulkan", "software": [], "vendor": 0x10DE},
    "architecture": "sm_75",
    "chain": chain("pipeline"),
    "nvcc": "nvcc",
    "ordinal": 0,
    "schema": "assay/chain-measure/1",
    "sharing": {"each": 4, "entry": "main", "kernel": "double-again", "spirv": "03022307"},
    "throughput": {"sizes": [1, 3, 37], "turns": 3},
}
PLACES = list(places(REQUEST))
OTHERS: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


def test_a_request_arrives_typed() -> None:
    read = parse_measure(encoded(REQUEST))
    assert read.sharing is not None
    assert read.throughput is not None
    assert (read.sharing.spirv, read.sharing.each) == (b"\x03\x02\x23\x07", 4)
    assert (read.throughput.sizes, read.throughput.turns) == ((1, 3, 37), 3)
    assert read.stage("add-one").runtime == "wgpu"


def test_every_planned_size_and_turn_is_one_that_a_request_takes() -> None:
    planned = changed(REQUEST, ("throughput",), {"sizes": [MOST_SIZE], "turns": MOST_TURNS})
    read = parse_measure(encoded(planned))
    assert MOST_VALUES == MOST_SIZE
    assert read.throughput is not None
    assert read.throughput.sizes == (MOST_SIZE,)


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("schema",), "assay/chain-run/1", "schema"),
        (("surprise",), 1, "surprise"),
        (("ordinal",), -1, "ordinal"),
        (("adapter",), None, "adapter"),
        (("sharing", "kernel"), "absent", "chain.stages"),
        (("sharing", "kernel"), "add-one", "sharing.kernel"),
        (("sharing", "kernel"), "double", "sharing.kernel"),
        (("sharing", "spirv"), "030223", "sharing.spirv"),
        (("sharing", "spirv"), "0302230g", "sharing.spirv"),
        (("sharing", "spirv"), "", "sharing.spirv"),
        (("sharing", "each"), 0, "sharing.each"),
        (("sharing", "each"), True, "sharing.each"),
        (("sharing", "entry"), "a b", "sharing.entry"),
        (("sharing", "more"), 1, "sharing.more"),
        (("throughput", "sizes"), [], "throughput.sizes"),
        (("throughput", "sizes", 1), 0, "throughput.sizes.1"),
        (("throughput", "sizes", 1), True, "throughput.sizes.1"),
        (("throughput", "sizes", 1), 2**30 + 1, "throughput.sizes.1"),
        (("throughput", "turns"), 0, "throughput.turns"),
        (("throughput", "turns"), 1001, "throughput.turns"),
        (("throughput", "more"), 1, "throughput.more"),
        (("chain", "stages", 0, "runtime"), "nvrtc", "chain.stages"),
        (("chain", "stages", 1, "name"), "double", "chain.stages"),
        (("chain", "fresh"), [], "chain.fresh"),
    ],
)
def test_what_is_wrong_is_named(path: tuple[str | int, ...], value: object, named: str) -> None:
    with pytest.raises(RequestError) as caught:
        parse_measure(encoded(changed(REQUEST, path, value)))
    assert caught.value.path == named


def test_a_request_of_nothing_is_refused() -> None:
    nothing = changed(changed(REQUEST, ("sharing",), None), ("throughput",), None)
    with pytest.raises(RequestError, match="nothing is shared"):
        parse_measure(encoded(nothing))


@pytest.mark.parametrize("path", PLACES, ids=lambda path: ".".join(map(str, path)))
def test_a_missing_key_is_named(path: tuple[str | int, ...]) -> None:
    gone = changed(REQUEST, path, ...)
    if isinstance(path[-1], int):
        return  # an element of a list, whose rest is judged as it is
    if path[-1] == "each" and path[0] == "chain":
        parse_measure(encoded(gone))
        return
    with pytest.raises(RequestError) as caught:
        parse_measure(encoded(gone))
    assert caught.value.path == ".".join(map(str, path))


@given(st.sampled_from(PLACES), OTHERS)
def test_any_value_in_any_place_is_read_or_refused(path: tuple[str | int, ...], value: object) -> None:
    request = changed(REQUEST, path, value)
    try:
        read = parse_measure(encoded(request))
    except RequestError as error:
        told = str(error)
    else:
        told = read.chain.name
    assert told


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(RequestError):
        parse_measure(data)

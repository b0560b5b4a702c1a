"""Requests are read whole or refused with the dotted path of what is wrong."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.chain.failures import RequestError
from assay.chain.spec import parse_compile, parse_run
from tests.chain.support import CHAINS, Document, chain, compile_request, compiled_chain, run_request

OTHERS: tuple[object, ...] = (
    None,
    True,
    -1,
    2**40,
    "",
    "../x",
    "a b",
    "\u00e4",
    [],
    {},
    [None],
    {"x": 1},
    "0000000g",
    "pycuda2",
)


def encoded(request: object) -> bytes:
    return json.dumps(request).encode()


def places(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every value inside a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (*path, key)
        yield from places(inner, (*path, key))


def changed(document: Document, path: tuple[str | int, ...], value: object) -> Document:
    """Return a document with one value replaced, or removed where ``value`` is ``...``."""
    copied: Document = copy.deepcopy(document)
    inner: Document = copied
    for key in path[:-1]:
        inner = inner[key]  # type: ignore[index]  # a list's index, too
    if value is ...:
        del inner[path[-1]]  # type: ignore[arg-type]  # as above
    else:
        inner[path[-1]] = value  # type: ignore[index]  # as above
    return copied


RUN = run_request([chain(name) for name in CHAINS])
COMPILE = compile_request([compiled_chain(name) for name in CHAINS], "nvcc", ("sm_75", "sm_90"))
RUN_PLACES = [path for path in places(RUN) if len(path) < 5 or path[-1] in {0, 1}]


def test_a_request_is_read_as_it_is_written() -> None:
    request = parse_run(encoded(RUN))
    assert request.architecture == "sm_75"
    assert request.adapter is not None
    assert (request.adapter.backend, request.adapter.vendor) == ("Vulkan", 0x10DE)
    assert [one.name for one in request.chains] == list(CHAINS)
    assert request.runtimes == ("pycuda", "wgpu", "nvrtc")
    assert request.chains[1].runtimes == ("wgpu", "nvrtc")
    assert request.chains[0].values("canonical")[36] == "42100000"  # 36 = 1.125 * 2**5, IEEE 754
    assert request.chains[0].stages[1].text.startswith("// made[i] = given[i] + 1")


def test_a_request_to_compile_has_no_values() -> None:
    request = parse_compile(encoded(COMPILE))
    assert request.architectures == ("sm_75", "sm_90")
    assert request.chains[0].canonical == ()
    with pytest.raises(RequestError, match=r"chains\.0\.canonical"):
        parse_compile(encoded(compile_request([chain("pipeline")], "nvcc")))


@given(st.sampled_from(RUN_PLACES), st.sampled_from([..., *OTHERS]))
def test_any_other_value_is_read_or_refused_in_words(path: tuple[str | int, ...], value: object) -> None:
    try:
        request = parse_run(encoded(changed(RUN, path, value)))
    except RequestError:
        return  # refused, which is as good
    else:
        assert request.chains


@pytest.mark.parametrize("path", [path for path in RUN_PLACES if isinstance(path[-1], str)])
def test_no_key_may_be_missing(path: tuple[str | int, ...]) -> None:
    with pytest.raises(RequestError) as caught:
        parse_run(encoded(changed(RUN, path, ...)))
    assert caught.value.path == ".".join(str(part) for part in path)


@pytest.mark.parametrize(
    ("path", "where"),
    [
        (("extra",), "extra"),
        (("adapter", "extra"), "adapter.extra"),
        (("chains", 0, "extra"), "chains.0.extra"),
        (("chains", 0, "stages", 0, "extra"), "chains.0.stages.0.extra"),
    ],
)
def test_no_key_may_be_unknown(path: tuple[str | int, ...], where: str) -> None:
    with pytest.raises(RequestError, match="not a known key") as caught:
        parse_run(encoded(changed(RUN, path, 1)))
    assert caught.value.path == where


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("schema",), "assay/chain-run/2"),
        (("architecture",), "compute_75"),
        (("ordinal",), True),
        (("ordinal",), 256),
        (("adapter", "backend"), "Dx12"),
        (("adapter", "vendor"), 2**32),
        (("chains",), []),
        (("chains", 0, "name"), "Pipeline"),
        (("chains", 1, "name"), "pipeline"),
        (("chains", 0, "canonical"), []),
        (("chains", 0, "canonical", 0), "4210000"),
        (("chains", 0, "canonical", 0), "4210000G"),
        (("chains", 0, "canonical", 0), 36),
        (("chains", 0, "stages", 0, "runtime"), "cuda"),
        (("chains", 0, "stages", 0, "source"), "../double.cu"),
        (("chains", 0, "stages", 0, "entry"), "twice()"),
        (("chains", 0, "stages", 0, "text"), ""),
        (("chains", 0, "stages", 0, "text"), "// \u00e4"),
        (("chains", 0, "stages", 0, "input"), "previous"),
        (("chains", 0, "stages", 1, "name"), "double"),
    ],
)
def test_what_does_not_fit_is_refused(path: tuple[str | int, ...], value: object) -> None:
    with pytest.raises(RequestError):
        parse_run(encoded(changed(RUN, path, value)))


def test_an_adapter_must_be_named_where_a_stage_uses_wgpu() -> None:
    with pytest.raises(RequestError, match="uses wgpu"):
        parse_run(encoded(changed(RUN, ("adapter",), None)))
    assert parse_run(encoded(run_request([chain("cuda-only")], adapter=None))).adapter is None


@pytest.mark.parametrize("architectures", [[], ["sm_75", "sm_75"], ["sm_x"], ["sm_90a"], "sm_75"])
def test_architectures_are_real_and_each_once(architectures: object) -> None:
    with pytest.raises(RequestError, match="architectures"):
        parse_compile(encoded({**COMPILE, "architectures": architectures}))

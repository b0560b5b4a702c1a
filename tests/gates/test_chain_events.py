"""Events become facts; what breaks the protocol's order or types is refused."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.gates.chain_events import Collector, OrderError
from assay.judge.reading import MalformedFacts, objects, text

HELLO: dict[str, Any] = {"environment": ["PATH"], "event": "hello", "pid": 7, "version": "3.12.1"}
IMAGE = {"kind": "ptx", "name": "c.s.sm_75.ptx", "sha256": "ab" * 32, "size": 9}
RESULT: dict[str, Any] = {
    "chain": "c",
    "count": 1,
    "entry": "twice",
    "event": "result",
    "image": IMAGE,
    "input": "canonical",
    "runtime": "pycuda",
    "sha256": "cd" * 32,
    "stage": "s",
    "transfers": [{"bytes": 4, "direction": "host-to-device", "runtime": "pycuda"}],
    "values": ["3f800000"],
}


def collected(*events: dict[str, Any]) -> Collector:
    """Return a collector that took the events, numbered."""
    collector = Collector("sm_75")
    for number, event in enumerate(events):
        collector.take({"seq": number, **event})
    return collector


def test_a_whole_run_becomes_facts() -> None:
    wgsl = {**IMAGE, "kind": "wgsl"}
    facts = collected(
        HELLO,
        {"event": "opening", "runtime": "wgpu"},
        {"event": "opened", "facts": {"adapter": {"device": "x"}}, "runtime": "wgpu"},
        {"device": {"uuid": "GPU-1"}, "event": "device", "when": "before"},
        {"event": "compiling", "chain": "c", "stage": "s"},
        {"chain": "c", "compiler": "nvcc 13.0", "event": "compiled", "image": IMAGE, "stage": "s"},
        {"event": "running", "chain": "c", "stage": "s", "input": "canonical"},
        RESULT,
        {**RESULT, "image": wgsl, "input": "fresh", "values": None},
        {"chain": "c", "event": "chain", "missing": [], "state": "complete"},
        {"device": {"uuid": "GPU-1"}, "event": "device", "when": "after"},
        {"event": "holding", "modules": [{"file": "/x.py", "name": "x"}]},
        {"event": "closed", "runtime": "wgpu"},
        {"errors": 0, "event": "end"},
    ).facts()
    assert facts["adapter"] == {"device": "x"}
    assert facts["devices"] == {"after": {"uuid": "GPU-1"}, "before": {"uuid": "GPU-1"}}
    assert facts["child"] == {
        "closed": ["wgpu"],
        "errors": [],
        "events": 14,
        "hello": {
            **dict.fromkeys(("base_prefix", "executable", "flags", "implementation", "path", "prefix")),
            **dict.fromkeys(("pycache_prefix", "schema")),
            "environment": ["PATH"],
            "version": "3.12.1",
        },
        "opened": ["wgpu"],
        "pid": 7,
        "runtimes": {"wgpu": {"adapter": {"device": "x"}}},
    }
    (chain,) = objects(facts, "chains")
    assert chain == {
        "missing": [],
        "name": "c",
        "stages": [
            {
                "canonical": ["3f800000"],
                "compiler": "nvcc 13.0",
                "entry": "twice",
                "fresh": {"count": 1, "sha256": "cd" * 32},
                "loaded": [
                    {"arch": "sm_75", "kind": "ptx", "sha256": "ab" * 32, "size": 9},
                    {"arch": "", "kind": "wgsl", "sha256": "ab" * 32, "size": 9},
                ],
                "name": "s",
                "runs": [
                    {"block": None, "duration_ns": None, "grid": None, "input": "canonical"},
                    {"block": None, "duration_ns": None, "grid": None, "input": "fresh"},
                ],
                "runtime": "pycuda",
                "transfers": [
                    {"bytes": 4, "direction": "host-to-device", "input": "canonical", "runtime": "pycuda"},
                    {"bytes": 4, "direction": "host-to-device", "input": "fresh", "runtime": "pycuda"},
                ],
            }
        ],
        "state": "complete",
    }


def test_a_doubled_result_stands_twice() -> None:
    facts = collected(HELLO, RESULT, RESULT).facts()
    (chain,) = objects(facts, "chains")
    assert [text(stage, "name") for stage in objects(chain, "stages")] == ["s", "s"]


def test_a_doubled_chain_stands_twice() -> None:
    chain = {"chain": "c", "event": "chain", "missing": [], "state": "complete"}
    facts = collected(HELLO, RESULT, chain, chain).facts()
    assert [text(each, "name") for each in objects(facts, "chains")] == ["c", "c"]


def test_an_error_is_kept_without_its_traceback() -> None:
    collector = collected(
        HELLO, {"event": "error", "kind": "failed", "step": "open", "traceback": "at line 1"}
    )
    assert collector.tracebacks == ["at line 1"]
    assert "at line 1" not in str(collector.facts())


@pytest.mark.parametrize(
    "events",
    [
        [{"event": "opening", "runtime": "x"}],
        [{"event": "error", "step": "open"}],
        [HELLO, HELLO],
        [HELLO, {"event": "closed", "runtime": "x"}, {"event": "opening", "runtime": "x"}],
        [HELLO, {"event": "holding"}, {"event": "holding"}],
        [HELLO, {"event": "holding"}, {"event": "error", "step": "run"}],
        [HELLO, {"event": "end"}, {"event": "closed", "runtime": "x"}],
        [HELLO, {"event": "device", "when": "after"}, {"event": "device", "when": "before"}],
        [HELLO, {"event": "what"}],
        [HELLO, {"event": "error", "step": "what"}],
        [HELLO, {"event": "opening", "runtime": "x", "seq": 7}],
        [{**HELLO, "seq": 1}],
        [{**HELLO, "seq": None}],
    ],
)
def test_what_breaks_the_order_is_refused(events: list[dict[str, Any]]) -> None:
    with pytest.raises(OrderError):
        collected(*events)


@pytest.mark.parametrize(
    "event",
    [
        {"event": 3},
        {"event": "opened", "facts": [], "runtime": "x"},
        {"event": "opened", "facts": {}, "runtime": 3},
        {**RESULT, "input": "other"},
        {**RESULT, "values": ["x", 3]},
        {**RESULT, "values": "3f800000"},
        {**RESULT, "image": "x"},
        {**RESULT, "transfers": [3]},
        {**RESULT, "count": True},
        {"event": "holding", "modules": [3]},
    ],
)
def test_what_has_another_type_is_refused(event: dict[str, Any]) -> None:
    with pytest.raises(MalformedFacts):
        collected(HELLO, event)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["opening", "opened", "device", "compiled", "result", "chain", "holding", "closed", "error", "end"]
)
FIELDS = st.sampled_from(
    [*RESULT, "when", "device", "facts", "modules", "step", "traceback", "state", "missing"]
)


@given(st.lists(st.tuples(NAMES, st.dictionaries(FIELDS, JSON, max_size=6)), max_size=6))
def test_any_events_are_taken_or_refused_and_facts_always_come(
    events: list[tuple[str, dict[str, Any]]],
) -> None:
    collector = Collector("sm_75")
    collector.take({**HELLO, "seq": 0})
    for number, (name, fields) in enumerate(events, 1):
        try:
            collector.take({**RESULT, **fields, "event": name, "seq": number})
        except (OrderError, MalformedFacts):
            break
    facts = collector.facts()
    assert set(facts) == {"adapter", "chains", "child", "devices"}

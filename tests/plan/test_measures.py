"""What a plan wants measured: read whole, written as it is read, and refused where it cannot be."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PlanError
from assay.plan import parse_plan, plan_json
from assay.plan.measures import (
    FLOORS,
    MOST_SIZE,
    MOST_SIZES,
    MOST_TURNS,
    parse_shared_buffers,
    parse_throughput,
    shared_buffers_json,
    throughput_json,
)
from assay.plan.reading import Table
from assay.plan.values import SharedBuffers, Throughput
from tests.judge.measurefacts import measuring_plan
from tests.plan.support import SHA, changed

NAMES = st.from_regex(r"[a-z][a-z0-9-]{0,63}", fullmatch=True)
SHARED = st.fixed_dictionaries(
    {
        "chain": NAMES,
        "shader": NAMES,
        "kernel": NAMES,
        "source": st.just("add_one.comp"),
        "sha256": st.from_regex(r"[0-9a-f]{64}", fullmatch=True),
        "entry": st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,62}", fullmatch=True),
        "each": st.integers(1, 8),
    }
)
SIZES = st.lists(st.integers(1, MOST_SIZE), min_size=1, max_size=MOST_SIZES, unique=True)
BOUNDS = st.dictionaries(st.sampled_from(FLOORS), st.integers(1, 10**6))
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def shared(below: object) -> SharedBuffers | None:
    """Read one table."""
    return parse_shared_buffers(Table({"shared-buffers": below}, "t"))


def speed(below: object) -> Throughput | None:
    """Read one table."""
    return parse_throughput(Table({"throughput": below}, "t"))


@given(SHARED)
def test_what_is_shared_survives_json(table: dict[str, Any]) -> None:
    read = shared(table)
    assert read is not None
    assert json.loads(json.dumps(shared_buffers_json(read))) == table


@given(NAMES, SIZES, BOUNDS, st.integers(3, MOST_TURNS), st.data())
def test_what_is_measured_survives_json(
    chain: str, sizes: list[int], floors: dict[str, int], turns: int, data: st.DataObject
) -> None:
    table = {
        "chain": chain,
        "floor-size": data.draw(st.sampled_from(sizes)),
        "floors": floors,
        "sizes": sizes,
        "turns": turns,
    }
    read = speed(table)
    assert read is not None
    assert json.loads(json.dumps(throughput_json(read))) == table


def test_defaults_are_nine_turns_without_bounds_over_the_last_size() -> None:
    assert speed({"chain": "pipeline", "sizes": [1, 37]}) == Throughput("pipeline", (1, 37), 9, 37, ())
    assert parse_shared_buffers(Table({}, "t")) is None
    assert parse_throughput(Table({}, "t")) is None


@given(st.sampled_from(["chain", "sizes", "turns", "floor-size", "floors", "more"]), JSON)
def test_any_value_is_read_or_refused_by_its_path(key: str, value: object) -> None:
    table = {"chain": "pipeline", "sizes": [1, 37], key: value}
    try:
        read = speed(table)
    except PlanError as error:
        told = error.observed
    else:
        told = "" if read is None else read.chain
    assert told


@given(st.sampled_from(["chain", "shader", "kernel", "source", "sha256", "entry", "each", "more"]), JSON)
def test_any_value_of_the_shared_buffer_is_read_or_refused(key: str, value: object) -> None:
    table = {**measuring_plan()["shared-buffers"], key: value}
    try:
        read = shared(table)
    except PlanError as error:
        told = error.observed
    else:
        told = "" if read is None else read.chain
    assert told


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        ("throughput.sizes", [], "throughput.sizes"),
        ("throughput.sizes", [1, 1], "throughput.sizes"),
        ("throughput.sizes", [0, 10000], "throughput.sizes.0"),
        ("throughput.sizes", [True, 10000], "throughput.sizes.0"),
        ("throughput.sizes", [MOST_SIZE + 1], "throughput.sizes.0"),
        ("throughput.sizes", list(range(1, MOST_SIZES + 2)), "throughput.sizes"),
        ("throughput.floor-size", 38, "throughput.floor-size"),
        ("throughput.turns", 2, "throughput.turns"),
        ("throughput.turns", MOST_TURNS + 1, "throughput.turns"),
        ("throughput.floors.unknown", 1, "throughput.floors.unknown"),
        ("throughput.floors.chain-of-script", 0, "throughput.floors.chain-of-script"),
        ("throughput.more", 1, "throughput.more"),
        ("throughput.chain", "absent", "throughput.chain"),
        ("throughput", ..., "throughput"),
        ("shared-buffers", ..., "shared-buffers"),
        ("shared-buffers.chain", "absent", "shared-buffers.chain"),
        ("shared-buffers.shader", "double", "shared-buffers.shader"),
        ("shared-buffers.shader", "absent", "shared-buffers.shader"),
        ("shared-buffers.kernel", "double", "shared-buffers.kernel"),
        ("shared-buffers.kernel", "add-one", "shared-buffers.kernel"),
        ("shared-buffers.source", "../add_one.comp", "shared-buffers.source"),
        ("shared-buffers.sha256", SHA.upper(), "shared-buffers.sha256"),
        ("shared-buffers.entry", "a b", "shared-buffers.entry"),
        ("shared-buffers.each", 0, "shared-buffers.each"),
        ("shared-buffers.more", 1, "shared-buffers.more"),
        ("kernels.pipeline.stage.0.runtime", "nvrtc", "throughput.chain"),
        ("kernels.pipeline.stage.1.expect", "x+i", "throughput.chain"),
        ("kernels.pipeline.stage.2.input", "values", "throughput.chain"),
    ],
)
def test_what_cannot_be_measured_is_refused(path: str, value: object, named: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(changed(path, value, measuring_plan()))
    assert caught.value.path == f"tool.assay.{named}"


def test_the_plan_s_form_has_the_tables_only_where_they_are() -> None:
    plan = plan_json(parse_plan(measuring_plan()))
    assert {"shared-buffers", "throughput"} <= set(plan)
    assert plan_json(parse_plan(json.loads(json.dumps(plan)))) == plan
    without = measuring_plan()
    without["gates"] = [gate for gate in without["gates"] if gate not in {"shared-buffers", "throughput"}]
    del without["shared-buffers"], without["throughput"]
    assert not {"shared-buffers", "throughput"} & set(plan_json(parse_plan(without)))

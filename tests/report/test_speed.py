"""Measured speed on the page: bounds, plots and tables; what is missing or malformed is left out or said."""

from __future__ import annotations

import copy
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.plan.values import Throughput
from assay.report.page import render
from assay.report.plot import HEIGHT, WIDTH, log_plot
from assay.report.speed import speed_of
from assay.report.subject import Subject
from assay.report.view import Page
from tests.evidence.test_speeds import COLD, FACTS
from tests.report.markup import told

MEMORY = {"device": 4 << 20, "host_peak": 8 << 20}
KEYS = sorted(FACTS["measured"][0])
PART = {"name": "import wgpu", "begin": 100, "end": 1100}


def facts(**change: object) -> dict[str, Any]:
    """Return facts of two sizes."""
    first = {**copy.deepcopy(FACTS["measured"][0]), **change}
    for part in ("chain", "script", "shared"):
        if isinstance(first[part], dict):
            first[part]["memory"] = MEMORY
    if isinstance(first["chain"], dict):
        first["chain"]["hops"] = [{"pycuda": 2000, "wgpu": 4000, "nvrtc": 1000}]
    second = {**copy.deepcopy(first), "size": 1}
    return {"measured": [second, first], "cold": {"turns": [{**turn, "parts": [PART]} for turn in COLD]}}


def subject(seen: object) -> Subject:
    """Return a subject of which only this gate is looked at."""
    floors = (("chain-of-script", 900), ("cold-of-script", 250))
    speed = Throughput(chain="pipeline", sizes=(1, 1024), turns=3, floor_size=1024, floors=floors)
    document = SimpleNamespace(plan=SimpleNamespace(throughput=speed))
    return cast("Subject", SimpleNamespace(run=SimpleNamespace(document=document), facts=lambda _gate: seen))


def test_bounds_stand_beside_what_was_reached() -> None:
    view = speed_of(subject(facts()))
    assert view is not None
    assert view.bounds.rows == (("chain-of-script", "1000 %", "900 %"), ("cold-of-script", "200 %", "250 %"))
    assert view.memory.rows[0] == ("1", "chain", "4.0 MiB", "8.0 MiB")
    assert ("chain", "first exact result, median", "500 ns") in view.cold.rows
    assert [(bar.name, bar.width) for bar in view.hops[0].bars] == [
        ("PyCUDA hop", 500),
        ("wgpu hop", 1000),
        ("NVRTC hop", 250),
    ]


def test_the_page_draws_what_its_tables_list(pages: dict[str, Page]) -> None:
    view = speed_of(subject(facts()))
    page = render(replace(pages["qualified"], speed=view))
    assert told(page, "#speed h2") == ["Speed and memory"]
    assert told(page, "#speed .legend li")[:3] == [
        "chain through host memory",
        "documentation-style script",
        "shared buffer",
    ]
    assert told(page, "nav a[href='#speed']") == ["Speed"]
    assert told(render(pages["qualified"]), "nav a[href='#speed']") == []


@pytest.mark.parametrize("seen", [{}, {"measured": []}, {"measured": "x"}, {"measured": [1]}], ids=repr)
def test_without_measurements_there_is_no_section(seen: object) -> None:
    assert speed_of(subject(seen)) is None


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-5, 2**70) | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner),
        max_leaves=8,
    ),
    st.sampled_from(KEYS),
)
def test_facts_of_any_form_are_shown_as_far_as_they_can_be_read(value: object, key: str) -> None:
    seen = facts()
    seen["measured"][1][key] = value
    speed_of(subject(seen))


@given(
    st.lists(st.tuples(st.floats(1e-9, 1e12), st.floats(1e-9, 1e12)), min_size=1, max_size=20),
    st.lists(st.tuples(st.floats(-5, 5), st.floats(-5, 5)), max_size=5),
)
def test_every_point_lies_in_the_drawing(
    points: list[tuple[float, float]], other: list[tuple[float, float]]
) -> None:
    plot = log_plot("x", {"one": points, "two": other}, {1.0: "1"}, "s")
    assert plot is not None
    for line in plot.lines:
        assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in line.points)
    assert [tick.at for tick in plot.up] == sorted((tick.at for tick in plot.up), reverse=True)
    assert (plot.up[0].at, plot.up[-1].at) == (HEIGHT, 0)


def test_a_decade_is_as_high_as_another() -> None:
    plot = log_plot("x", {"one": [(1, 1), (10, 10), (100, 100)]}, {}, "s")
    assert plot is not None
    assert plot.lines[0].points == ((0, HEIGHT), (WIDTH // 2, HEIGHT // 2), (WIDTH, 0))

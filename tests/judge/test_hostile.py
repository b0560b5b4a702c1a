"""Facts may be a stranger's: whatever stands in them, a judge answers with findings and never raises."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.judge.case import Case
from assay.judge.rules import judge_gate
from assay.judge.table import GATES
from assay.model import Finding, Json, Outcome, outcome_of
from tests.gates.configured import run_gates, setup_of
from tests.machines.described import GATES as CONFIGURED
from tests.machines.described import build

ROWS = {row.name: row for row in GATES if row.name in CONFIGURED}
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=8)
    | st.sampled_from(["9" * 5000, "13.0", "file"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@cache
def healthy() -> tuple[Case, dict[str, Any]]:
    """Return a case and the facts that the gates recorded on a healthy machine."""
    with TemporaryDirectory() as folder:
        described = build("healthy", "ubuntu", Path(folder) / "machine")
        seen = run_gates(described, Path(folder))
        case = setup_of(described, Path(folder)).case({})
    return case, json.loads(json.dumps(dict(seen.facts)))


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401  # JSON of any form
    """Return the way to every value inside a JSON value."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [way, *(each for key, part in inner for each in places(part, (*way, key)))]


def replaced(value: Any, way: tuple[Any, ...], new: Any) -> Any:  # noqa: ANN401  # as above
    """Return a copy with the value at a way replaced; ``...`` removes it."""
    if not way:
        return new
    changed = copy.deepcopy(value)
    target = changed
    for key in way[:-1]:
        target = target[key]
    if new is ...:
        del target[way[-1]]
    else:
        target[way[-1]] = new
    return changed


def judged(name: str, facts: Json) -> tuple[Finding, ...]:
    """Return a gate's findings over facts, with its claim made where it passes."""
    case, _ = healthy()
    assert isinstance(facts, dict)
    found = judge_gate(case, ROWS[name], ROWS[name].rules, facts)
    if outcome_of(found) is Outcome.PASSED:
        assert ROWS[name].claim(case, facts)
    return found


@pytest.mark.gate
@pytest.mark.parametrize("name", CONFIGURED)
def test_what_was_recorded_on_a_healthy_machine_passes(name: str) -> None:
    assert judged(name, healthy()[1][name]) == ()


@pytest.mark.gate
@pytest.mark.parametrize("name", CONFIGURED)
def test_no_facts_at_all_never_pass(name: str) -> None:
    assert outcome_of(judged(name, {})) is not Outcome.PASSED
    assert outcome_of(judged(name, {"explicit": True, "file": {"state": "file"}})) is not Outcome.PASSED


@pytest.mark.parametrize("name", CONFIGURED)
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_any_value_in_any_place_gives_findings_and_no_exception(name: str, data: st.DataObject) -> None:
    facts = healthy()[1][name]
    way = data.draw(st.sampled_from([each for each in places(facts) if each]))
    new = data.draw(st.just(...) | VALUES)
    for finding in judged(name, replaced(facts, way, new)):
        assert finding.observed
        assert finding.remedy


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("environment", ("selected", "BUN_PYTHON_EXECUTABLE")),
        ("environment", ("interpreter", "version")),
        ("environment", ("distributions",)),
        ("environment", ("variables", "CUDA_PATH")),
        ("environment", ("libpython", "symbols")),
        ("toolkit", ("parts", "nvrtc")),
        ("toolkit", ("loaded",)),
        ("toolkit", ("compiler",)),
        ("toolkit", ("version",)),
        ("toolkit", ("path_nvcc",)),
        ("provider", ("libraries",)),
        ("provider", ("symbols",)),
        ("provider", ("sha256",)),
        ("provider", ("interface",)),
        ("provider", ("file", "binary")),
    ],
)
def test_facts_without_what_the_gate_must_have_seen_do_not_pass(name: str, way: tuple[str, ...]) -> None:
    assert outcome_of(judged(name, replaced(healthy()[1][name], way, ...))) is not Outcome.PASSED


def test_another_digest_than_the_hashed_one_is_not_taken_for_it() -> None:
    facts = replaced(healthy()[1]["provider"], ("sha256",), "cd" * 32)
    assert [each.id for each in judged("provider", facts)] == ["FACTS-MALFORMED"]

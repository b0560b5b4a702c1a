"""The table of variables: what DESIGN's table says, and what the selection knows."""

from __future__ import annotations

import pytest

from assay import selection
from assay.judge import variables
from assay.plan import Plan, parse_plan
from tests.plan.support import changed


def plan_of(*gates: str) -> Plan:
    return parse_plan({**changed("gates", [*gates, "lint"]), "deadlines": {}, "claim": []})


def test_the_judge_and_the_selection_speak_of_the_same_variables() -> None:
    assert tuple(each.name for each in variables.VARIABLES) == selection.VARIABLES


@pytest.mark.gate
def test_a_gate_needs_what_the_table_says() -> None:
    needed = {each.name for each in variables.needed(plan_of("toolkit"))}
    assert needed == {"CUDA_PATH", "PATH"}
    assert {each.name for each in variables.needed(plan_of("provider"))} == {"BUV_RUNTIME_LIB"}
    hosted = {each.name for each in variables.needed(plan_of("hosted"))}
    assert hosted == {"BUN_EXECUTABLE", "BUN_PYTHON_LIBPYTHON", "BUN_PYTHON_HOST_LIBRARY"}
    assert not variables.needed(plan_of("environment"))


def test_the_gates_that_need_a_variable_are_named_in_the_plans_order() -> None:
    toolkit = next(each for each in variables.VARIABLES if each.name == "CUDA_PATH")
    assert variables.needers(toolkit, plan_of("chain", "toolkit", "environment")) == ("chain", "toolkit")


def test_environment_examines_what_no_planned_gate_of_its_own_does() -> None:
    provider = next(each for each in variables.VARIABLES if each.name == "BUV_RUNTIME_LIB")
    assert variables.examined_here(provider, plan_of("chain", "environment"))
    assert not variables.examined_here(provider, plan_of("chain", "provider"))

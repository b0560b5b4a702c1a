"""The table of observers: one for each gate, each of which is there."""

from __future__ import annotations

import inspect
from importlib import import_module

import pytest

from assay.gates.table import OBSERVE, observers
from assay.judge.table import GATES
from assay.plan import parse_plan
from tests.plan.support import plan_table


def test_every_gate_has_an_observer_and_no_other_has() -> None:
    assert set(OBSERVE) == {row.name for row in GATES}


@pytest.mark.parametrize("gate", OBSERVE)
def test_what_is_imported_late_is_there(gate: str) -> None:
    named = inspect.getclosurevars(OBSERVE[gate]).nonlocals
    assert callable(getattr(import_module(f"assay.gates.{named['module']}"), named["name"]))


def test_a_command_of_the_plan_has_one_too() -> None:
    plan = parse_plan(plan_table())
    assert set(observers(plan, ("lint", "toolkit"))) == {"lint", "toolkit"}
    assert observers(plan, ("toolkit",))["toolkit"] is OBSERVE["toolkit"]

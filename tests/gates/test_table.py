"""The table of observers: one for each gate, each of which is there."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path

import pytest

from assay.engine.context import GateContext
from assay.gatelog import GateLog
from assay.gates.driver_linux import observe_linux
from assay.gates.driver_signs import bare_facts
from assay.gates.table import OBSERVE, observers
from assay.judge.table import GATES
from assay.plan import parse_plan
from tests.gates.configured import setup_of
from tests.machines.described import build
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


def test_a_machine_without_any_sign_of_a_gpu_is_told_of_as_the_whole_observer_would(tmp_path: Path) -> None:
    described = build("healthy", "bare", tmp_path / "machine")
    setup = setup_of(described, tmp_path)
    log = GateLog(tmp_path / "log", setup.redactor)
    try:
        whole = observe_linux(GateContext(setup, {}, tmp_path, log, 60))
    finally:
        log.discard()
    told = bare_facts(described.machine)
    assert told.keys() == whole.keys()
    assert {name for name in told if told[name] != whole[name]} <= {"libraries"}  # none was looked for

"""Names of people and hosts are recorded only where the plan discloses them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import MappingProxyType, SimpleNamespace

import pytest

from assay.gates.disclosed import disclosed
from assay.machine import Machine
from assay.model import Facts
from assay.plan import parse_plan
from tests.plan.support import plan_table

PLAN = parse_plan(plan_table())


def seen(folder: Path, *disclose: str, **environ: str) -> Facts:
    machine = Machine(folder, MappingProxyType(environ))
    plan = dataclasses.replace(PLAN, disclose=disclose)
    return disclosed(SimpleNamespace(machine=machine, plan=plan))


@pytest.fixture
def computer(tmp_path: Path) -> Path:
    (tmp_path / "proc/sys/kernel").mkdir(parents=True)
    (tmp_path / "proc/sys/kernel/hostname").write_text("build-7\n")
    return tmp_path


def test_without_leave_nothing_is_said(computer: Path) -> None:
    assert seen(computer, USER="ada", HOSTNAME="other") == {}
    assert seen(computer, "gpu-serial", USER="ada") == {}


def test_what_the_plan_discloses_is_recorded(computer: Path) -> None:
    found = seen(computer, "host-name", "user-name", LOGNAME="ada")
    assert found == {"host-name": "build-7", "user-name": "ada"}


def test_a_machine_that_does_not_tell_gives_an_empty_name(tmp_path: Path) -> None:
    assert seen(tmp_path, "host-name", "user-name") == {"host-name": "", "user-name": ""}

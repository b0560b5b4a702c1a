"""``diagnose``: every gate that needs no running GPU, side by side, over this machine or a described one.

Nothing is written but a folder of its own among the system's temporary ones, which is removed at the end.
Facts are rooted, redacted and settled as in a run before they are judged.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from assay.engine.context import GateContext
from assay.engine.observing import broke, observed
from assay.engine.roots import named_roots
from assay.engine.schedule import Actions, run_graph
from assay.engine.setup import FactsBoard, Setup
from assay.errors import UsageError
from assay.files import private_folder
from assay.gates.table import observers
from assay.judge.catalogue import CATALOGUE
from assay.judge.causes import Cause, by_cause
from assay.judge.row import Diagnoses, GateRow
from assay.judge.rules import DEADLINE, judge_gate
from assay.judge.table import GATES, needed
from assay.machine import Machine
from assay.machine.environ import read_environment
from assay.model import Facts, Finding, Outcome, outcome_of
from assay.plan.bare import bare_plan
from assay.plan.find import find_plan
from assay.plan.values import Plan
from assay.redaction import Redactor, make_redactor
from assay.selection import Selection, resolve_selection

if TYPE_CHECKING:
    import datetime as dt

ENVIRONMENT_FILE = "env.json"
ROOT = "root"

_LOG = 1 << 16
"""Bytes of a broken gate's log that are shown, its last ones."""


@dataclass(frozen=True)
class Wanted:
    """What the user wants to have diagnosed.

    Attributes:
        project: the folder whose plan and embedded selection count, where it has them.
        selection: a selection file, or None.
        root: a root folder, or a described machine's (``assay.machine.stated``); None is this machine.
        env_file: an environment that takes the place of the machine's own, or None.
    """

    project: Path
    selection: Path | None = None
    root: Path | None = None
    env_file: Path | None = None


@dataclass(frozen=True)
class Looked:
    """What one gate came to: its facts as judged, what was found, and the log's end where it broke."""

    row: GateRow
    outcome: Outcome
    facts: Facts
    findings: tuple[Finding, ...]
    log: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """What is wrong with a machine.

    Attributes:
        setup: what the gates shared.
        planned: whether a project's plan was there to hold the machine against.
        looked: every gate, in the table's order.
        left_out: gates that only a plan's pins can judge, where there is none.
        causes: what was found, ordered by cause.
    """

    setup: Setup
    planned: bool
    looked: tuple[Looked, ...]
    left_out: tuple[str, ...]
    causes: tuple[Cause, ...]


def diagnose(wanted: Wanted, rows: tuple[GateRow, ...] = GATES) -> Diagnosis:
    """Look at a machine with every gate that diagnoses and return what is wrong, ordered by cause.

    Raises:
        UsageError: the root or the environment cannot be read.
        PlanError: the project has a plan, and it is wrong.
        SelectionError: the selection file cannot be read.
    """
    machine = described_machine(wanted)
    plan = find_plan(wanted.project.resolve())
    able = [row for row in rows if row.diagnoses is not Diagnoses.NO]
    chosen = tuple(row for row in able if plan is not None or row.diagnoses is Diagnoses.ANYWHERE)
    with private_folder("assay-") as scratch:
        setup = _setup(wanted, machine, _with_gates(plan, chosen), scratch, chosen)
        looked = _look_all(setup, chosen)
    left_out = tuple(row.name for row in able if row not in chosen)
    return Diagnosis(setup, plan is not None, looked, left_out, _causes(looked))


def described_machine(wanted: Wanted) -> Machine:
    """Return the machine to look at.

    Raises:
        UsageError: the root is no folder, or what describes the machine cannot be read.
    """
    env = read_environment(wanted.env_file) if wanted.env_file is not None else None
    machine = Machine.real() if wanted.root is None else _at(wanted.root, env)
    return machine if env is None else replace(machine, env=env)


def _at(root: Path, env: Mapping[str, str] | None) -> Machine:
    """Return the machine below a folder: a bare root, or one with ``root`` and ``env.json`` in it."""
    if not root.is_dir():
        raise UsageError(f"--root {root} is no folder", "a machine's root folder", "name an existing folder")
    top = root.resolve()
    if (top / ROOT).is_dir() and (top / ENVIRONMENT_FILE).is_file():
        return Machine.fake(top)
    return Machine(top, env or {})


def _with_gates(plan: Plan | None, rows: tuple[GateRow, ...]) -> Plan:
    """Return the plan with these gates among its own; one without pins where there is none."""
    names = tuple(row.name for row in rows)
    if plan is None:
        return bare_plan(names)
    return replace(plan, gates=(*plan.gates, *(name for name in names if name not in plan.gates)))


def _setup(wanted: Wanted, machine: Machine, plan: Plan, scratch: Path, rows: tuple[GateRow, ...]) -> Setup:
    """Return what the gates share."""
    project = wanted.project.resolve()
    embedding = (
        project if machine.is_real else None
    )  # an embedded selection is of the computer that it lies on
    selection = resolve_selection(machine.env, embedding, wanted.selection, machine.platform)
    return Setup(
        machine=machine,
        selection=selection,
        plan=plan,
        plan_digest="",
        platform=machine.platform,
        project=project,
        folder=scratch,
        nonce=os.urandom(16).hex(),
        challenge="",
        artifact=None,
        redactor=_redactor(machine, selection, project, plan),
        observe=observers(plan, tuple(row.name for row in rows)),
        monotonic_ns=time.monotonic_ns,
        now=_now,
    )


def _now() -> dt.datetime:
    """Return the time of day, which a diagnosis does not tell: it is asked for by runs."""
    import datetime as dt  # noqa: PLC0415  # nobody waits for what is not asked for

    return dt.datetime.now(dt.UTC)


def _redactor(machine: Machine, selection: Selection, project: Path, plan: Plan) -> Redactor:
    """Return what roots and redacts."""
    return make_redactor(machine.env, named_roots(machine, selection, project), plan.allow_environment)


def _look_all(setup: Setup, rows: tuple[GateRow, ...]) -> tuple[Looked, ...]:
    """Run every gate, side by side; one whose thread does not come back is named, and left behind."""
    board = FactsBoard()
    abandoned: list[str] = []

    def abandon(row: GateRow) -> Looked:
        abandoned.append(row.name)
        seconds = setup.deadline_s(row)
        return _judged(
            setup, row, {}, broke(DEADLINE, f"{row.name} did not end within {seconds} s", "an end")
        )

    actions = Actions(
        run=lambda row: look(setup, board, row),
        skip=lambda row, outcome: Looked(row, outcome, {}, ()),
        abandon=abandon,
        record=lambda row, looked: board.post(row.name, looked.facts),
        clock=time.monotonic,
    )
    deadlines = {row.name: float(setup.deadline_s(row)) for row in rows}
    try:
        results = run_graph(rows, setup.plan, setup.platform, deadlines, actions)
    except BaseException:
        _end_children()
        raise
    if abandoned:
        _end_children()
    return tuple(results[row.name] for row in rows)


def _end_children() -> None:
    """End what gates have started."""
    from assay.process.children import end_children  # noqa: PLC0415  # a diagnosis that goes well needs none

    end_children()


class _Log:
    """Keeps the end of what a gate says, in memory alone."""

    def __init__(self) -> None:
        """Start empty."""
        self.kept = bytearray()

    def write(self, data: bytes) -> None:
        """Append, and forget the beginning where it grows too long."""
        self.kept += data[-_LOG:]
        del self.kept[:-_LOG]


def look(setup: Setup, board: FactsBoard, row: GateRow) -> Looked:
    """Look at the machine with one gate; whatever goes wrong is a finding."""
    visible = needed(setup.plan, row.name)
    earlier = {name: facts for name, facts in board.all().items() if name in visible}
    scratch = setup.folder / row.name
    scratch.mkdir()
    log = _Log()
    context = GateContext(setup, earlier, scratch, log, setup.deadline_s(row), claims=False)
    try:
        facts, _ = observed(setup, row, context)
    finally:
        context.settle()
    said = setup.redactor.data(bytes(log.kept))[0].decode("utf-8", "replace")
    return _judged(setup, row, earlier, facts, said)


def _judged(setup: Setup, row: GateRow, earlier: Mapping[str, Facts], facts: Facts, log: str = "") -> Looked:
    """Return what a gate found in its facts."""
    findings = judge_gate(replace(setup.case(earlier), diagnosis=True), row, row.rules, facts)
    outcome = outcome_of(findings)
    return Looked(row, outcome, facts, findings, log if outcome is Outcome.ERROR else "")


def _causes(looked: tuple[Looked, ...]) -> tuple[Cause, ...]:
    """Return what was found by all gates, ordered by cause."""
    outcomes = {each.row.name: each.outcome for each in looked}
    blocked = {
        each.row.name: tuple(need for need in each.row.needs if outcomes.get(need) not in _PASSING)
        for each in looked
        if each.outcome is Outcome.BLOCKED
    }
    explains = {entry.id: entry.explains for entry in CATALOGUE.values()}
    return by_cause({each.row.name: each.findings for each in looked}, explains, blocked)


_PASSING = frozenset({Outcome.PASSED, Outcome.NOT_APPLICABLE})

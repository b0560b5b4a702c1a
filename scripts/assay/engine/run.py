"""A run from its plan to its results: the graph over the run folder."""

from __future__ import annotations

import datetime as dt
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.engine.console import Say, Watcher, gate_lines, selection_lines
from assay.engine.gaterun import not_run, run_gate
from assay.engine.observing import broke
from assay.engine.prepare import Prepared
from assay.engine.schedule import Actions, run_graph
from assay.engine.setup import Done, FactsBoard, Setup
from assay.evidence.runfolder import RunFolder, Start, create_run
from assay.evidence.times import write_time
from assay.gates.table import observers
from assay.judge.row import GateRow
from assay.judge.rules import DEADLINE
from assay.model import Facts, Outcome
from assay.process.children import end_children

NONCE_BYTES = 16


@dataclass(frozen=True)
class Ran:
    """A finished graph: where it is and what each gate came to."""

    folder: RunFolder
    results: Mapping[str, Done]


def run_plan(prepared: Prepared, rows: tuple[GateRow, ...], receipts: Path, say: Say) -> Ran:
    """Make the run folder, run the gates, and journal each as it ends.

    Raises:
        StorageError: the run folder cannot be written; what was journalled stays.
        KeyboardInterrupt: the user ended it; it says what is kept, and where.
    """
    for line in selection_lines(prepared.selection):
        say(line)
    now = dt.datetime.now(dt.UTC)
    nonce = secrets.token_hex(NONCE_BYTES)
    start = Start(write_time(now), nonce, prepared.request.challenge, prepared.platform, prepared.plan)
    folder = create_run(receipts, start)
    say(f"run: {folder.path}")
    setup = _setup(prepared, folder.path, nonce, rows)
    try:
        results = _run_rows(setup, rows, folder, say)
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"what was journalled is kept: assay bundle {folder.path}") from None
    return Ran(folder, results)


def _setup(prepared: Prepared, folder: Path, nonce: str, rows: tuple[GateRow, ...]) -> Setup:
    """Return what the gates share."""
    return Setup(
        machine=prepared.machine,
        selection=prepared.selection,
        plan=prepared.plan,
        plan_digest=prepared.plan_digest,
        platform=prepared.platform,
        project=prepared.request.project.resolve(),
        folder=folder,
        nonce=nonce,
        challenge=prepared.request.challenge,
        artifact=prepared.request.artifact,
        redactor=prepared.redactor,
        observe=observers(prepared.plan, tuple(row.name for row in rows)),
        monotonic_ns=time.monotonic_ns,
        now=lambda: dt.datetime.now(dt.UTC),
        rehearsal=prepared.rehearsal,
    )


def _run_rows(setup: Setup, rows: tuple[GateRow, ...], folder: RunFolder, say: Say) -> Mapping[str, Done]:
    """Run the graph; each result is journalled, then posted for later gates, then shown."""
    board = FactsBoard()
    watcher = say if isinstance(say, Watcher) else None

    def run(row: GateRow) -> Done:
        if watcher is not None:
            watcher.begun(row.name)
        return run_gate(setup, board, row)

    def record(row: GateRow, done: Done) -> None:
        folder.record(done.receipt, lists=done.spilled)
        board.post(row.name, done.facts)
        if watcher is not None:
            watcher.ended(row.name)
        for line in gate_lines(row, done.receipt):
            say(line)

    actions = Actions(
        run=run,
        skip=lambda row, outcome: not_run(setup, row, outcome, {}),
        abandon=lambda row: not_run(setup, row, Outcome.ERROR, _overdue(setup, row)),
        record=record,
        clock=time.monotonic,
    )
    deadlines = {row.name: float(setup.deadline_s(row)) for row in rows}
    try:
        return run_graph(rows, setup.plan, setup.platform, deadlines, actions)
    except BaseException:
        end_children()  # interrupted, or the disk is full: what still runs would outlive the run
        raise
    finally:
        folder.close()


def _overdue(setup: Setup, row: GateRow) -> Facts:
    """Return the facts of a gate whose thread did not come back."""
    return broke(DEADLINE, f"{row.name} did not end within {setup.deadline_s(row)} s", "an end in time")

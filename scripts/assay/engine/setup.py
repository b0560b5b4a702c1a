"""What every gate of one run shares."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from assay.gates.context import Context
from assay.judge.case import Case
from assay.judge.row import GateRow
from assay.machine import Machine
from assay.model import Facts, Outcome, Platform, Receipt
from assay.plan import Plan
from assay.redaction import Redactor
from assay.selection import Selection

if TYPE_CHECKING:  # a diagnosis is over before these would be imported
    import datetime as dt

    from assay.gates.rehearsal import Rehearsal

Observe = Callable[[Context], Facts]


@dataclass(frozen=True)
class Setup:
    """The fixed surroundings of a run.

    Attributes:
        machine: the machine, read-only.
        selection: what is under qualification.
        plan: the frozen plan.
        plan_digest: SHA-256 (hex) of the canonical plan.
        platform: the platform of the run.
        project: the project's folder.
        folder: the run folder.
        nonce: the run's nonce (hex).
        challenge: the auditor's value (hex) or ``""``.
        artifact: the wheel that is taken as it is, or None.
        redactor: roots and redacts.
        observe: what each gate observes with, by name.
        monotonic_ns: a monotonic clock in nanoseconds.
        now: wall clock, UTC.
        rehearsal: what takes a GPU's place, None outside a rehearsal.
    """

    machine: Machine
    selection: Selection
    plan: Plan
    plan_digest: str
    platform: Platform
    project: Path
    folder: Path
    nonce: str
    challenge: str
    artifact: Path | None
    redactor: Redactor
    observe: Mapping[str, Observe]
    monotonic_ns: Callable[[], int]
    now: Callable[[], dt.datetime]
    rehearsal: Rehearsal | None = None

    def case(self, facts: Mapping[str, Facts]) -> Case:
        """Return what a judge knows, given the facts of earlier gates."""
        return Case(self.plan, self.plan_digest, self.platform, self.nonce, self.challenge, facts)

    def deadline_s(self, row: GateRow) -> int:
        """Return the seconds a gate may take: the plan's, or the table's."""
        return self.plan.deadlines.get(row.name, row.deadline_s)


@dataclass(frozen=True)
class Done:
    """What one gate came to: its receipt, its facts as judged, and those lists that are artifacts."""

    receipt: Receipt
    facts: Facts
    spilled: Mapping[str, bytes]

    @property
    def outcome(self) -> Outcome:
        """Return the receipt's outcome."""
        return self.receipt.outcome


class FactsBoard:
    """The facts of ended gates, for those that start later; the only state that gates share."""

    def __init__(self) -> None:
        """Start empty."""
        self._facts: dict[str, Facts] = {}
        self._lock = threading.Lock()

    def post(self, gate: str, facts: Facts) -> None:
        """Add a gate's facts."""
        with self._lock:
            self._facts[gate] = facts

    def all(self) -> Mapping[str, Facts]:
        """Return what is there now."""
        with self._lock:
            return dict(self._facts)

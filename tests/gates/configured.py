"""Runs the gates over the selection on a described machine, rooted and redacted as in a run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from assay.engine.context import GateContext
from assay.engine.roots import named_roots
from assay.engine.setup import Setup
from assay.gatelog import GateLog
from assay.gates.table import OBSERVE
from assay.judge.rules import judge_gate
from assay.judge.table import GATES
from assay.model import Facts, Finding, Outcome, Severity, outcome_of
from assay.redaction import make_redactor
from tests.machines.described import Described


@dataclass
class Seen:
    """What the gates saw and found, by gate."""

    facts: dict[str, Facts] = field(default_factory=dict)
    findings: dict[str, tuple[Finding, ...]] = field(default_factory=dict)
    claims: dict[str, str] = field(default_factory=dict)

    def ids(self, gate: str) -> list[str]:
        """Return the ids of a gate's findings other than warnings, sorted."""
        return sorted(each.id for each in self.findings[gate] if each.severity is not Severity.WARNING)

    def warnings(self) -> list[str]:
        """Return the ids of all warnings, sorted."""
        every = [each for found in self.findings.values() for each in found]
        return sorted(each.id for each in every if each.severity is Severity.WARNING)

    def named(self, finding_id: str) -> list[Finding]:
        """Return the findings of an id."""
        return [each for found in self.findings.values() for each in found if each.id == finding_id]


def setup_of(described: Described, folder: Path) -> Setup:
    """Return the surroundings of a run on a described machine, its run folder made below ``folder``."""
    for name in ("run", "project"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    machine, selection, project = described.machine, described.selection, folder / "project"
    return Setup(
        machine=machine,
        selection=selection,
        plan=described.plan,
        plan_digest="0" * 64,
        platform=machine.platform,
        project=project,
        folder=folder / "run",
        nonce="ab" * 16,
        challenge="",
        artifact=None,
        redactor=make_redactor(machine.env, named_roots(machine, selection, project)),
        observe=MappingProxyType({}),
        monotonic_ns=lambda: 0,
        now=lambda: dt.datetime(2026, 11, 30, tzinfo=dt.UTC),
    )


def run_gates(described: Described, folder: Path) -> Seen:
    """Observe and judge each of the machine's gates in turn, whatever the one before found.

    A gate that does not apply to the machine's platform finds nothing.
    """
    setup, seen = setup_of(described, folder), Seen()
    for row in GATES:
        if row.name not in described.gates:
            continue
        if setup.platform not in row.platforms:
            seen.findings[row.name] = ()
            continue
        scratch = folder / f"scratch-{row.name}"
        scratch.mkdir()
        log = GateLog(setup.folder / f"{row.name}.log", setup.redactor)
        try:
            context = GateContext(setup, dict(seen.facts), scratch, log, 60)
            facts, _ = setup.redactor.json(OBSERVE[row.name](context))
        finally:
            log.discard()
        assert isinstance(facts, Mapping)
        case = setup.case(seen.facts)
        seen.facts[row.name] = facts
        seen.findings[row.name] = judge_gate(case, row, row.rules, facts)
        if outcome_of(seen.findings[row.name]) is Outcome.PASSED:
            seen.claims[row.name] = row.claim(case, facts)
    return seen

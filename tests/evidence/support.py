"""A small world for evidence: six gates whose facts say what they found, and runs made of them.

The judges here turn facts into findings one to one, so that a test decides an outcome by its facts; which
rules real gates have is tested with those gates.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import pytest

from assay.evidence import judging, runfolder, steps, toolchain
from assay.evidence import verify as verifying
from assay.evidence.facts import spill
from assay.evidence.names import artifact_name, log_name
from assay.evidence.receipt import bounded_findings
from assay.evidence.runfolder import RunFolder, Start, create_run
from assay.judge import reading, table
from assay.judge.case import Case
from assay.judge.row import GateRow, Judge
from assay.judge.rules import judge_gate, standing
from assay.model import (
    Artifact,
    Command,
    Facts,
    Finding,
    Json,
    LogInfo,
    Outcome,
    Platform,
    Receipt,
    Severity,
    Tier,
    outcome_of,
)
from assay.plan import Plan, parse_plan
from assay.zipped import zip_bytes
from tests.plan.support import plan_table

STARTED = "2026-11-30T12:00:00Z"
NONCE = "0123456789abcdef0123456789abcdef"
RUN = "20261130T120000Z-01234567"
TOOLCHAIN = zip_bytes([("__main__.py", b"pass\n")])
GATES = ("environment", "toolkit", "provider", "build", "chain", "lint")
NEEDS: Mapping[str, tuple[str, ...]] = {
    "environment": (),
    "toolkit": ("environment",),
    "provider": ("environment",),
    "build": ("toolkit",),
    "chain": ("build", "provider"),
    "lint": (),
}


def found(
    entry: str = "CHAIN-WRONG", severity: Severity = Severity.FAILURE, observed: str = "it is wrong"
) -> dict[str, Json]:
    """Return a finding as facts hold it for the judges of this world."""
    return {"id": entry, "observed": observed, "severity": severity.value}


def _judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return the findings that the facts say."""
    return tuple(
        Finding(
            reading.text(each, "id"),
            Severity(reading.text(each, "severity")),
            reading.text(each, "observed"),
            "all well",
            f"look at the plan of {case.plan.project}",
            ("facts.findings",),
        )
        for each in reading.objects(facts, "findings")
    )


def _stricter(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what the first rules find, and that old facts fail."""
    old = Finding("GATE-OLD", Severity.FAILURE, "it is old", "new", "renew it")
    return (*_judge(case, facts), *((old,) if reading.flag(facts, "old") else ()))


def rows(judges: Mapping[int, Judge] = MappingProxyType({1: _judge})) -> tuple[GateRow, ...]:
    """Return the gates of this world."""
    return tuple(
        GateRow(name, f"gate {name}", judges, NEEDS[name], lambda _case, _facts, name=name: f"{name} holds")  # type: ignore[misc]  # a default keeps the loop's name
        for name in GATES
    )


TWO_RULES: Mapping[int, Judge] = MappingProxyType({1: _judge, 2: _stricter})


def tier_of(_case: Case, facts: Facts) -> Tier | None:
    """Return the tier that the chain's facts say."""
    tier = reading.text(facts, "tier")
    return Tier(tier) if tier in set(Tier) else None


def enter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put this world's gates, tier and toolchain in the place of the real ones."""
    monkeypatch.setattr(table, "GATES", rows())
    monkeypatch.setattr(judging, "derive_tier", tier_of)
    monkeypatch.setattr(runfolder, "toolchain_bytes", lambda: TOOLCHAIN)
    own = hashlib.sha256(TOOLCHAIN).hexdigest()
    for module in (toolchain, steps, verifying):
        monkeypatch.setattr(
            module,
            "toolchain_answer",
            lambda sha256: "equal to the reader's own" if sha256 == own else "unknown to the reader",
        )


def plan(**changes: Json) -> Plan:
    """Return a plan of this world, with some keys changed."""
    return parse_plan({**plan_table(), **changes})


@dataclass(frozen=True)
class Gate:
    """What one gate of a run leaves."""

    facts: Facts
    log: bytes | None = b"it ran\n"
    commands: Sequence[Command] = (Command(("true",), 0),)
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    rules: int = 1


PASSING: Mapping[str, Gate] = MappingProxyType(
    {
        "environment": Gate({"python": "3.11"}),
        "toolkit": Gate({"cuda": "13.0"}),
        "provider": Gate({"sha256": "ab" * 32}, log=None, commands=()),
        "build": Gate({"wheel": "made"}, artifacts={"thing.whl": b"wheel bytes"}),
        "chain": Gate({"tier": "physical"}, commands=(Command(("chain",), 0), Command(("probe",), -9))),
        "lint": Gate({"clean": True}),
    }
)


def start_run(
    receipts: Path, *, of: Plan | None = None, challenge: str = "", started: str = STARTED
) -> RunFolder:
    """Start a run."""
    return create_run(receipts, Start(started, NONCE, challenge, Platform.LINUX, of or plan()))


def leave(
    run: RunFolder, name: str, gate: Gate, outcomes: dict[str, Outcome], earlier: dict[str, Facts]
) -> Receipt:
    """Write what a gate leaves before it is journalled, and return its receipt, judged as the engine does."""
    row = table.row(run.document.plan, name)
    stands = standing(row, run.document.plan, run.document.platform, outcomes)
    if stands is not None:
        gate = Gate({}, log=None, commands=(), rules=gate.rules)
    visible = {
        other: facts for other, facts in earlier.items() if other in table.needed(run.document.plan, name)
    }
    case = Case(run.document.plan, run.document.plan_digest, run.document.platform, NONCE, "", visible)
    findings = judge_gate(case, row, gate.rules, gate.facts) if stands is None else ()
    outcomes[name] = outcome_of(findings) if stands is None else stands
    earlier[name] = gate.facts
    artifacts = []
    for real, content in gate.artifacts.items():
        sha256 = hashlib.sha256(content).hexdigest()
        (run.path / artifact_name(sha256)).write_bytes(content)
        artifacts.append(Artifact(real, sha256, len(content)))
    log = None
    if gate.log is not None:
        (run.path / log_name(name)).write_bytes(gate.log)
        log = LogInfo(len(gate.log), hashlib.sha256(gate.log).hexdigest())
    short, lists = spill(gate.facts)
    artifacts += [Artifact("facts-list.json", sha256, len(data)) for sha256, data in lists.items()]
    kept, omitted = bounded_findings(findings)
    receipt = Receipt(
        gate=name,
        outcome=outcomes[name],
        rules=gate.rules,
        started=STARTED,
        duration_ns=1,
        deadline_ns=600 * 10**9,
        commands=tuple(gate.commands),
        facts=short,
        findings=kept,
        findings_omitted=omitted,
        artifacts=tuple(artifacts),
        log=log,
    )
    run.record(receipt, lists=lists)
    return receipt


def make_run(  # noqa: PLR0913  # a run has so many parts that a test may change
    receipts: Path,
    *,
    of: Plan | None = None,
    gates: Sequence[str] | None = None,
    changed: Mapping[str, Gate] = MappingProxyType({}),
    challenge: str = "",
    started: str = STARTED,
) -> Path:
    """Return the folder of a run of the given gates (all of the plan), passing or as ``changed`` says."""
    run = start_run(receipts, of=of, challenge=challenge, started=started)
    outcomes: dict[str, Outcome] = {}
    earlier: dict[str, Facts] = {}
    for name in run.document.plan.gates if gates is None else gates:
        leave(run, name, changed.get(name, PASSING[name]), outcomes, earlier)
    run.close()
    return run.path

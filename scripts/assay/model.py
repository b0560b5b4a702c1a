"""The words of the system as immutable values: outcomes, findings, tiers, verdicts, receipts."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NoReturn, TypeAlias

Json: TypeAlias = "bool | int | str | Sequence[Json] | Mapping[str, Json] | None"
Facts: TypeAlias = "Mapping[str, Json]"


class Outcome(enum.StrEnum):
    """How one gate ended."""

    PASSED = "passed"
    FAILED = "failed"
    BLOCKED = "blocked"
    UNAVAILABLE = "unavailable"
    ERROR = "error"
    NOT_APPLICABLE = "not-applicable"

    def __bool__(self) -> NoReturn:
        """Refuse truth: an outcome that is merely "not failed" must never pass by accident."""
        msg = f"an outcome has no truth value; compare it with Outcome.{self.name}"
        raise TypeError(msg)


class Severity(enum.StrEnum):
    """How much a finding weighs, worst first."""

    FAILURE = "failure"
    ERROR = "error"
    UNAVAILABLE = "unavailable"
    WARNING = "warning"


class Tier(enum.StrEnum):
    """What kind of machine was seen; derived from facts, never from a flag."""

    PHYSICAL = "physical"
    WSL = "wsl"
    REHEARSAL = "rehearsal"


class Verdict(enum.StrEnum):
    """What a whole run comes to."""

    QUALIFIED = "qualified"
    REJECTED = "rejected"
    UNDECIDED = "undecided"
    REHEARSED = "rehearsed"

    def __bool__(self) -> NoReturn:
        """Refuse truth, as outcomes do."""
        msg = f"a verdict has no truth value; compare it with Verdict.{self.name}"
        raise TypeError(msg)


class Platform(enum.StrEnum):
    """The platforms a plan speaks about."""

    LINUX = "linux"
    WSL = "wsl"
    WINDOWS = "windows"
    MACOS = "macos"


@dataclass(frozen=True)
class Finding:
    """One thing that a gate found.

    Attributes:
        id: stable id of the catalogue, such as ``TOOLKIT-SHADOWED``.
        severity: how much it weighs.
        observed: what was seen.
        expected: what should have been seen.
        remedy: what to do.
        where: where each fact was found (rooted paths, fact paths).
    """

    id: str
    severity: Severity
    observed: str
    expected: str
    remedy: str
    where: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return the receipt's form."""
        return {
            "expected": self.expected,
            "id": self.id,
            "observed": self.observed,
            "remedy": self.remedy,
            "severity": self.severity.value,
            "where": list(self.where),
        }


_WORST_FIRST = (
    (Severity.FAILURE, Outcome.FAILED),
    (Severity.ERROR, Outcome.ERROR),
    (Severity.UNAVAILABLE, Outcome.UNAVAILABLE),
)


def outcome_of(findings: Sequence[Finding]) -> Outcome:
    """Return a gate's outcome: its worst finding; warnings pass."""
    severities = {finding.severity for finding in findings}
    for severity, outcome in _WORST_FIRST:
        if severity in severities:
            return outcome
    return Outcome.PASSED


@dataclass(frozen=True)
class Command:
    """One command that a gate ran: rooted, redacted argv and its exit (negative: a signal)."""

    argv: tuple[str, ...]
    exit: int | str

    def to_json(self) -> dict[str, Json]:
        """Return the receipt's form; ``exit`` is an integer or ``"timeout"``."""
        return {"argv": list(self.argv), "exit": self.exit}


@dataclass(frozen=True)
class Artifact:
    """A file kept under ``artifacts/<sha256>``; ``name`` is its real name, ``size`` in bytes."""

    name: str
    sha256: str
    size: int

    def to_json(self) -> dict[str, Json]:
        """Return the receipt's form."""
        return {"name": self.name, "sha256": self.sha256, "size": self.size}


@dataclass(frozen=True)
class LogInfo:
    """A log after redaction: ``size`` and ``sha256`` of the whole, ``kept`` = (head, tail) bytes or None."""

    size: int
    sha256: str
    kept: tuple[int, int] | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the receipt's form."""
        return {"kept": list(self.kept) if self.kept else None, "sha256": self.sha256, "size": self.size}


@dataclass(frozen=True)
class Receipt:
    """What one gate saw.  Times are RFC 3339 UTC, durations integer nanoseconds."""

    gate: str
    outcome: Outcome
    rules: int
    started: str
    duration_ns: int
    deadline_ns: int
    commands: tuple[Command, ...] = ()
    facts: Facts = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    findings_omitted: int = 0
    artifacts: tuple[Artifact, ...] = ()
    log: LogInfo | None = None
    redaction_rules: int = 1
    redaction_count: int = 0

    def to_json(self) -> dict[str, Json]:
        """Return the document ``assay/receipt/1`` of FORMATS (receipt)."""
        return {
            "schema": "assay/receipt/1",
            "artifacts": [artifact.to_json() for artifact in self.artifacts],
            "commands": [command.to_json() for command in self.commands],
            "deadline_ns": self.deadline_ns,
            "duration_ns": self.duration_ns,
            "facts": self.facts,
            "findings": [finding.to_json() for finding in self.findings],
            "findings_omitted": self.findings_omitted,
            "gate": self.gate,
            "log": self.log.to_json() if self.log else None,
            "outcome": self.outcome.value,
            "redaction": {"count": self.redaction_count, "rules": self.redaction_rules},
            "rules": self.rules,
            "started": self.started,
        }

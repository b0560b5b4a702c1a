"""The gates: when each ran and how it ended, what it found, what it ran and what it left."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import datetime

from assay.evidence.comparing import RAN
from assay.evidence.judging import Judged
from assay.evidence.times import read_time
from assay.judge.catalogue import CATALOGUE
from assay.judge.table import row
from assay.model import Finding, Outcome, Receipt, Severity
from assay.report.logs import log_of
from assay.report.pieces import seen_pieces
from assay.report.selection import bounded
from assay.report.subject import Subject
from assay.report.text import count_text, duration_text, size_text
from assay.report.view import Bar, Findings, Found, GateView, Timeline, Tone

AXIS = 1000
"""Parts that the time axis is divided into."""

MOST_FINDINGS = 100
"""Findings that a page lists of one gate; the rest are counted."""

_TONES = {
    Outcome.PASSED: Tone.NEUTRAL,
    Outcome.FAILED: Tone.BAD,
    Outcome.ERROR: Tone.OPEN,
    Outcome.BLOCKED: Tone.OPEN,
    Outcome.UNAVAILABLE: Tone.OPEN,
    Outcome.NOT_APPLICABLE: Tone.NEUTRAL,
}

_SEVERITIES = {
    Severity.FAILURE: Tone.BAD,
    Severity.ERROR: Tone.OPEN,
    Severity.UNAVAILABLE: Tone.OPEN,
    Severity.WARNING: Tone.NEUTRAL,
}

_COMMANDS = ("command", "exit")
_ARTIFACTS = ("artifact", "size", "SHA-256")


def timeline_of(subject: Subject) -> Timeline:
    """Return the gates on one time axis as they started, then those that did not run or never ended.

    Receipts have their start in whole seconds, so a bar lies up to a second too early.
    """
    start = read_time(subject.verification.started)
    spans = {each.receipt.gate: _span(start, each) for each in subject.gates}
    length = max([end for _, end in spans.values()], default=0) or 1
    ordered = sorted(subject.gates, key=lambda each: (each.outcome not in RAN, spans[each.receipt.gate]))
    bars = [_bar(subject, each, spans[each.receipt.gate], length) for each in ordered]
    return Timeline(duration_text(length), (*bars, *_unfinished(subject)))


def _span(start: datetime, judged: Judged) -> tuple[int, int]:
    """Return when a gate started and ended, in nanoseconds since the run's start, never before it."""
    begin = max(0, int((read_time(judged.receipt.started) - start).total_seconds()) * 10**9)
    return begin, begin + judged.receipt.duration_ns


def _bar(subject: Subject, judged: Judged, span: tuple[int, int], length: int) -> Bar:
    """Return one gate on the axis."""
    receipt, ran = judged.receipt, judged.outcome in RAN
    begin, end = span
    left, right = AXIS * begin // length, AXIS * end // length
    return Bar(
        gate=receipt.gate,
        title=seen_pieces(row(subject.run.document.plan, receipt.gate).title),
        outcome=judged.outcome.value,
        tone=_TONES[judged.outcome],
        start=f"after {begin // 10**9} s" if ran else "",
        duration=duration_text(receipt.duration_ns) if ran else "",
        offset=min(left, AXIS - 1),
        width=max(1, right - left) if ran else 0,
        findings=len(judged.findings),
    )


def _unfinished(subject: Subject) -> Iterator[Bar]:
    """Yield the planned gates that never ended."""
    for name in subject.verification.unfinished:
        title = seen_pieces(row(subject.run.document.plan, name).title)
        yield Bar(name, title, "never ended", Tone.OPEN, "", "", 0, 0, 0)


def findings_of(subject: Subject) -> tuple[Findings, ...]:
    """Return the findings by gate, those of the worst outcomes first; gates without any are left out."""
    worst = {outcome: number for number, outcome in enumerate(Outcome)}
    found = sorted(
        (each for each in subject.gates if each.findings),
        key=lambda each: (each.outcome is Outcome.PASSED, worst[each.outcome]),
    )
    return tuple(
        Findings(
            each.receipt.gate,
            tuple(map(_found, each.findings[:MOST_FINDINGS])),
            max(0, len(each.findings) - MOST_FINDINGS),
        )
        for each in found
    )


def _found(finding: Finding) -> Found:
    """Return one finding, with what this copy's catalogue says of its kind."""
    entry = CATALOGUE.get(finding.id)
    return Found(
        id=finding.id,
        severity=finding.severity.value,
        tone=_SEVERITIES[finding.severity],
        title=entry.title if entry else "",
        observed=finding.observed,
        expected=finding.expected,
        remedy=finding.remedy,
        where=finding.where,
        reference=entry.reference if entry else "",
    )


def gates_of(subject: Subject) -> tuple[GateView, ...]:
    """Return what each gate that ran left behind, in the order in which they ended."""
    return tuple(_gate(subject, each) for each in subject.gates if each.outcome in RAN)


def _gate(subject: Subject, judged: Judged) -> GateView:
    """Return what one gate ran and left."""
    receipt = judged.receipt
    commands = ((shlex.join(each.argv), str(each.exit)) for each in receipt.commands)
    artifacts = ((each.name, size_text(each.size), each.sha256) for each in receipt.artifacts)
    return GateView(
        name=receipt.gate,
        outcome=judged.outcome.value,
        tone=_TONES[judged.outcome],
        summary=_summary(receipt),
        commands=bounded("Commands", _COMMANDS, commands, code=frozenset({0})),
        artifacts=bounded("Artifacts", _ARTIFACTS, artifacts, code=frozenset({2})),
        log=log_of(subject.run.container, subject.verification.bundle, receipt),
    )


def _summary(receipt: Receipt) -> str:
    """Count what a gate left."""
    parts = (
        count_text(len(receipt.commands), "command") if receipt.commands else "",
        count_text(len(receipt.artifacts), "artifact") if receipt.artifacts else "",
        f"{size_text(receipt.log.size)} of log" if receipt.log else "",
    )
    return ", ".join(part for part in parts if part)

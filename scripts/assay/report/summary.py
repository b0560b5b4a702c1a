"""A verified run in Markdown, short: what a step of a workflow says of itself.

Everything that came from a machine is escaped, so that it is read and never formatted, linked or run.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from assay.evidence.plain import plain
from assay.evidence.steps import Run
from assay.evidence.verification import Verification
from assay.model import Verdict
from assay.report.subject import Subject, subject_of
from assay.report.text import duration_text

MOST = 20
"""Findings that are told of one gate; the rest are counted."""

_LONGEST = 300
_SPECIAL = re.compile(r"([\\\\`*_{}\[\]()#+\-.!|~:@$^=/])")
"""What may mean something in GitHub's Markdown: of these each is written behind a backslash (GFM, section
2.4, "Backslash escapes": any ASCII punctuation)."""

_MARKS = {Verdict.QUALIFIED: "✅", Verdict.REJECTED: "❌", Verdict.UNDECIDED: "❔", Verdict.REHEARSED: "🧪"}


def summary(verification: Verification, run: Run) -> bytes:
    """Return a verified run in Markdown."""
    return ("\n".join(_lines(subject_of(verification, run))) + "\n").encode()


def escaped(hostile: str) -> str:
    """Return a string of a bundle for Markdown: one line, of bounded length, all of it text."""
    shown = plain(hostile)
    cut = shown if len(shown) <= _LONGEST else f"{shown[:_LONGEST]}…"
    return html.escape(_SPECIAL.sub(r"\\\1", cut), quote=False)


def _lines(subject: Subject) -> Iterator[str]:
    """Yield the lines."""
    verified = subject.verification
    tier = verified.tier.value if verified.tier else "none seen"
    yield f"## {_MARKS[verified.verdict]} {verified.verdict.value} (tier: {tier})"
    yield ""
    yield f"{escaped(subject.run.document.plan.project)}, run {escaped(verified.run)}, {verified.platform}"
    yield ""
    yield "| gate | outcome | time |"
    yield "| --- | --- | --- |"
    for each in subject.gates:
        yield f"| {each.receipt.gate} | {each.outcome.value} | {duration_text(each.receipt.duration_ns)} |"
    yield from (f"| {gate} | unfinished | |" for gate in verified.unfinished)
    yield ""
    yield from _findings(subject)
    yield from (f"- established: {escaped(claim.text)}" for claim in verified.claims.established)
    yield from (f"- not established: {escaped(text)}" for _, text in verified.claims.open)
    yield ""
    yield f"bundle digest `{verified.bundle_digest}`"


def _findings(subject: Subject) -> Iterator[str]:
    """Yield the findings of each gate."""
    for each in subject.gates:
        for finding in each.findings[:MOST]:
            remedy = f" Remedy: {escaped(finding.remedy)}" if finding.remedy else ""
            said = f"{escaped(finding.id)} ({finding.severity.value}): {escaped(finding.observed)}."
            yield f"- **{each.receipt.gate}** {said}{remedy}"
        rest = len(each.findings) - len(each.findings[:MOST]) + each.receipt.findings_omitted
        if rest:
            yield f"- **{each.receipt.gate}** and {rest} more"
    yield ""

"""What a bundle says, as plain text for a terminal: only what was verified, hostile strings made harmless."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from assay.evidence.asking import Wanted
from assay.evidence.judging import CHAIN, Judged
from assay.evidence.plain import plain
from assay.evidence.steps import Run
from assay.evidence.verification import Asked, Signer, Verification
from assay.evidence.verify import verifying
from assay.judge.reading import MalformedFacts, items, objects, text
from assay.judge.values import floats
from assay.model import Finding, Json

_VALUES = 3
"""Values that are shown from the beginning and from the end of a result."""


def show_bundle(
    path: Path, now: datetime | None = None, *, subject: bool = False
) -> tuple[tuple[str, ...], Verification]:
    """Return the lines that show a bundle, and its verification.

    Args:
        path: the bundle.
        now: the reader's time; the clock's where it is not given.
        subject: whether to compute the subject digest, which unpacks archives in memory.

    Raises:
        StorageError: it cannot be read.
    """
    with verifying(path, Wanted(now or datetime.now(UTC)), subject=subject, judged=True) as (
        verification,
        run,
    ):
        lines = [*verification_lines(verification)]
        if run is not None:
            lines += ["", "gates:", *_gates(run), *_values(run)]
        return tuple(lines), verification


def verification_lines(verification: Verification) -> Iterator[str]:
    """Yield what a verification came to, the most important first."""
    tier = verification.tier.value if verification.tier else "none seen"
    if verification.intact:
        yield f"verdict: {verification.verdict.value} (tier: {tier})"
    yield f"integrity: {verification.integrity.value}"
    yield from problem_lines(verification)
    yield f"anchor: {_anchor(verification)}"
    yield f"signer: {verification.signer.value}: {plain(verification.signer_detail)}"
    yield f"policy: {_asked(verification.policy)}"
    yield f"freshness: {_asked(verification.freshness)}"
    yield f"standing: {plain(verification.standing)}"
    yield from (f"  {plain(note)}" for note in verification.standing_notes)
    yield from (f"{name}: {plain(value)}" for name, value in _particulars(verification) if value)
    yield from _claims(verification)


def step_lines(verification: Verification) -> Iterator[str]:
    """Yield the proof, a line a step."""
    for step in verification.steps:
        detail = f" ({plain(step.detail)})" if step.detail else ""
        yield f"{step.number:2}. {step.answer.value:9} {step.title}{detail}"


def problem_lines(verification: Verification) -> Iterator[str]:
    """Yield what is wrong."""
    for problem in verification.problems:
        where = ": ".join(part for part in (problem.member, problem.field) if part)
        yield f"  {plain(where)}: {plain(problem.observed)}" if where else f"  {plain(problem.observed)}"
        if problem.expected:
            yield f"    expected: {plain(problem.expected)}"
    if verification.problems_omitted:
        yield f"  and {verification.problems_omitted} more problems"


def _anchor(verification: Verification) -> str:
    """Say what ties this bundle to something that its sender does not control."""
    if verification.signer is Signer.VALID:
        return "your key vouches for this bundle"
    if verification.anchored:
        return "the bundle digest is the one you expect"
    return "none: anybody can make a consistent bundle; compare its digest with one told another way"


def _asked(asked: Asked) -> str:
    """Return an answer with its reasons."""
    reasons = f": {'; '.join(map(plain, asked.reasons))}" if asked.reasons else ""
    return f"{asked.answer.value}{reasons}"


def _particulars(verification: Verification) -> tuple[tuple[str, str], ...]:
    """Return what identifies a bundle."""
    return (
        ("run", verification.run),
        ("started", verification.started),
        ("platform", verification.platform),
        ("written by", verification.tool),
        ("toolchain", verification.toolchain),
        ("plan digest", verification.plan_digest),
        ("subject digest", verification.subject_digest),
        ("bundle digest", verification.bundle_digest),
        ("unfinished gates", ", ".join(verification.unfinished)),
    )


def _claims(verification: Verification) -> Iterator[str]:
    """Yield what the run establishes, and what it does not."""
    if not verification.intact:
        return
    for claim in verification.claims.established:
        yield f"  established: {plain(claim.text)} [{', '.join(claim.gates)}]"
    for _, text_ in verification.claims.open:
        yield f"  not established: {plain(text_)}"


def _gates(run: Run) -> Iterator[str]:
    """Yield each gate with what was found, in the words of this copy's catalogue."""
    for judged in run.gates():
        seconds = judged.receipt.duration_ns / 10**9
        yield f"  {judged.receipt.gate:16} {judged.outcome.value:14} {seconds:9.3f} s"
        yield from _findings(judged)


def _findings(judged: Judged) -> Iterator[str]:
    """Yield a gate's findings."""
    for finding in judged.findings:
        yield f"    {finding.id} ({finding.severity.value}): {plain(finding.observed)}"
        yield from (f"      {name}: {plain(value)}" for name, value in _advice(finding) if value)


def _advice(finding: Finding) -> tuple[tuple[str, str], ...]:
    """Return what should have been, what to do, and where it was found."""
    return (
        ("expected", finding.expected),
        ("remedy", finding.remedy),
        ("where", ", ".join(finding.where)),
    )


def _values(run: Run) -> Iterator[str]:
    """Yield the canonical values of each stage, the first and the last of them."""
    if CHAIN not in run.records.gates:
        return
    try:
        for chain in objects(run.records.receipt(CHAIN).facts, "chains"):
            for stage in objects(chain, "stages"):
                yield f"  {plain(text(chain, 'name'))}/{plain(text(stage, 'name'))}: {_some(stage)}"
    except (MalformedFacts, ValueError):
        yield "  the chain's values cannot be read"


def _some(stage: Json) -> str:
    """Return the beginning and the end of a stage's canonical values."""
    try:
        given = [str(word) for word in items(stage, "canonical")]
    except MalformedFacts:
        return "values given by their digest"
    shown = given if len(given) <= 2 * _VALUES else [*given[:_VALUES], *given[-_VALUES:]]
    numbers = [f"{value:g}" for value in floats(shown)]
    if len(shown) < len(given):
        numbers.insert(_VALUES, "…")
    return f"{', '.join(numbers)} ({len(given)} values)"

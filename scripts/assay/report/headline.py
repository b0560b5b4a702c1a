"""The verdict with tier and scope in one sentence, and why it is no better."""

from __future__ import annotations

from collections.abc import Iterator

from assay.evidence.comparing import RAN
from assay.evidence.standing import State
from assay.evidence.verification import Answer, Verification
from assay.model import Outcome, Tier, Verdict
from assay.report.machine import device_text
from assay.report.subject import Subject
from assay.report.text import count_text, joined, shortened, text_at
from assay.report.view import Headline, Tone

TONES = {
    Verdict.QUALIFIED: Tone.GOOD,
    Verdict.REJECTED: Tone.BAD,
    Verdict.UNDECIDED: Tone.OPEN,
    Verdict.REHEARSED: Tone.PRACTICE,
}

_WHY = (
    (Outcome.FAILED, "failed"),
    (Outcome.ERROR, "broke"),
    (Outcome.UNAVAILABLE, "found that the machine lacks what it needs"),
    (Outcome.BLOCKED, "could not run: a gate before it did not pass"),
)
"""What keeps a run from being qualified, the worst first (DESIGN, law 1)."""


_STANDS = (State.CURRENT.value, State.UNKNOWN.value)


def headline_of(subject: Subject) -> Headline:
    """Return the verdict, its sentence and the reasons.

    Only a qualified run that is also what the reader wants looks good.
    """
    verified = subject.verification
    unmet = tuple(_unmet(verified))
    tone = TONES[verified.verdict]
    return Headline(
        word=verified.verdict.value.capitalize(),
        tone=Tone.OPEN if tone is Tone.GOOD and unmet else tone,
        sentence=_sentence(subject),
        reasons=(*unmet, *_why(subject)),
        rehearsal=Tier.REHEARSAL in {verified.tier, subject.run.document.plan.tier},
    )


def _sentence(subject: Subject) -> str:
    """Return verdict, tier and scope."""
    verified = subject.verification
    tier = f"at tier {verified.tier.value}" if verified.tier else "with no tier seen"
    version = shortened(text_at(subject.facts("build"), "wheel.version"))
    what = f"{subject.run.document.plan.project} {version}".strip()
    return f"{verified.verdict.value.capitalize()} {tier}: {what} {_scope(subject)}."


def _scope(subject: Subject) -> str:
    """Say what was run, where, and what follows from it."""
    verdict, where = subject.verification.verdict, device_text(subject)
    ran = [each.outcome for each in subject.gates if each.outcome in RAN]
    passed = sum(outcome is Outcome.PASSED for outcome in ran)
    of = f"of {count_text(len(subject.run.document.plan.gates), 'planned gate')}"
    if verdict is Verdict.QUALIFIED:
        return f"passed {passed} {of}, every one that applies, {where}"
    if verdict is Verdict.REHEARSED:
        return f"passed {passed} {of} on a CPU in a GPU's place, which qualifies nothing"
    if verdict is Verdict.REJECTED:
        failed = sum(outcome is Outcome.FAILED for outcome in ran)
        return f"failed {failed} {of} {where}; nothing is established"
    return f"passed {passed} {of} {where}, which is no pass; nothing is established"


def _why(subject: Subject) -> Iterator[str]:
    """Yield why the verdict is not better."""
    verified = subject.verification
    if verified.verdict in {Verdict.QUALIFIED, Verdict.REHEARSED}:
        return
    for outcome, words in _WHY:
        gates = tuple(gate for gate, found in verified.outcomes.items() if found is outcome)
        if gates:
            yield f"{_gates(gates)} {words}."
    if verified.unfinished:
        yield f"{_gates(verified.unfinished)} never ended."
    planned = subject.run.document.plan.tier_on(subject.run.document.platform)
    if verified.tier is not planned:
        seen = f"Tier {verified.tier.value} was seen" if verified.tier else "No tier was seen"
        yield f"{seen}; the plan wants tier {planned.value}."


def _gates(names: tuple[str, ...]) -> str:
    """Return gates in words."""
    return f"{'Gate' if len(names) == 1 else 'Gates'} {joined(names)}"


def _unmet(verified: Verification) -> Iterator[str]:
    """Yield what the reader wanted and did not get, and that the bundle does not stand any more."""
    for name, asked in (("policy", verified.policy), ("freshness", verified.freshness)):
        if asked.answer is Answer.FAILED:
            yield f"Not what the reader wants ({name}): {'; '.join(asked.reasons)}."
    if not verified.standing.startswith(_STANDS):
        yield f"An archive says that it is {verified.standing}."

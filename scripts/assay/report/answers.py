"""Who rendered the page, and what ``verify`` answers, each question apart, with the steps of its proof."""

from __future__ import annotations

from collections.abc import Mapping

from assay import __version__
from assay.evidence.standing import State
from assay.evidence.toolchain import own_digest
from assay.evidence.verification import Answer, Asked, Signer, Step, Verification
from assay.report.pieces import seen_pieces
from assay.report.view import Answer as Shown
from assay.report.view import Origin, Tone

_TONES = {Answer.PASSED: Tone.GOOD, Answer.FAILED: Tone.BAD, Answer.NOT_ASKED: Tone.NEUTRAL}

_SIGNERS = {Signer.VALID: Tone.GOOD, Signer.INVALID: Tone.BAD}

_STANDINGS: Mapping[str, Tone] = {
    State.CURRENT: Tone.GOOD,
    State.SUPERSEDED: Tone.OPEN,
    State.REVOKED: Tone.BAD,
    State.UNKNOWN: Tone.NEUTRAL,
}

SENDERS = (
    "This page was made where the bundle was made, and whoever sends a bundle can send any page with it. "
    "Render the bundle with your own copy of assay before you rely on this."
)
READERS = "Made from the bundle by a copy of assay that the reader chose; nothing in it was believed or run."


def origin_of(verified: Verification, *, readers: bool) -> Origin:
    """Return who rendered the page, with which copy, and what that copy verified.

    Args:
        verified: what verifying the bundle came to.
        readers: whether the reader renders it; else its sender does.

    Raises:
        StorageError: this copy's own files cannot be read.
    """
    anchor = _anchor(verified)
    return Origin(
        readers=readers,
        heading="The reader's own rendering" if readers else "The sender's rendering",
        copy=seen_pieces(f"assay {__version__}, SHA-256 of its files {own_digest()}"),
        verified=f"{verified.bundle}: {_steps(verified.steps)}",
        anchor=f"{anchor.state}: {anchor.detail}",
        advice=READERS if readers else SENDERS,
    )


def _steps(steps: tuple[Step, ...]) -> str:
    """Return how many steps of the proof gave which answer."""
    counts = {answer: sum(step.answer is answer for step in steps) for answer in Answer}
    given = [f"{count} {answer.value}" for answer, count in counts.items() if count]
    return f"{len(steps)} steps, {', '.join(given)}"


def answers_of(verified: Verification) -> tuple[Shown, ...]:
    """Return the separate answers of a verification."""
    return (
        Shown("Integrity", verified.integrity.value, _INTACT, Tone.GOOD),
        _anchor(verified),
        Shown(
            "Signer",
            verified.signer.value,
            verified.signer_detail,
            _SIGNERS.get(verified.signer, Tone.NEUTRAL),
        ),
        _asked("Policy", verified.policy, "the plan's own; judged by today's rules too"),
        _asked("Freshness", verified.freshness, "no age and no challenge was asked for"),
        _standing(verified),
    )


_INTACT = "every byte is what was written, and every outcome follows from the recorded facts"


def _anchor(verified: Verification) -> Shown:
    """Say what ties the bundle to something that its sender does not control."""
    if verified.signer is Signer.VALID:
        return Shown("Anchor", "anchored", "the reader's key vouches for this bundle", Tone.GOOD)
    if verified.anchored:
        detail = "its digest is the one that the reader was told another way"
        return Shown("Anchor", "anchored", detail, Tone.GOOD)
    detail = "anybody can make a consistent bundle: compare its digest with one that was told another way"
    return Shown("Anchor", "not anchored", detail, Tone.OPEN)


def _asked(name: str, asked: Asked, otherwise: str) -> Shown:
    """Return an answer with its reasons."""
    return Shown(name, asked.answer.value, "; ".join(asked.reasons) or otherwise, _TONES[asked.answer])


def _standing(verified: Verification) -> Shown:
    """Return what an archive says of the bundle, and on whose word."""
    state, _, rest = verified.standing.partition(" ")
    state = state.rstrip(":")
    detail = "; ".join((rest, *verified.standing_notes))
    return Shown("Standing", state, detail, _STANDINGS.get(state, Tone.OPEN))


def proof_of(verified: Verification) -> tuple[Shown, ...]:
    """Return the steps of the proof."""
    return tuple(
        Shown(step.title, step.answer.value, step.detail, _TONES[step.answer]) for step in verified.steps
    )

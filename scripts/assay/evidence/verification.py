"""What verifying a bundle came to: separate answers, the steps of the proof, problems, and the exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from assay.judge.claims import Claims
from assay.model import Json, Outcome, Tier, Verdict

UNANCHORED = "unanchored"
REHEARSED = "rehearsed"
ACCEPTABLE = (UNANCHORED, REHEARSED)
"""What ``--accept`` may name."""

NO_CLAIMS = Claims((), ())


class Integrity(StrEnum):
    """Whether the bundle is what was written and follows from its own facts."""

    INTACT = "intact"
    BROKEN = "broken"
    NEWER = "unknown: update assay"


class Answer(StrEnum):
    """The answer to what a reader may ask beyond integrity."""

    PASSED = "passed"
    FAILED = "failed"
    NOT_ASKED = "not asked"


class Signer(StrEnum):
    """Whether somebody vouches for the bundle; only ``VALID`` anchors it."""

    UNSIGNED = "unsigned"
    UNCHECKED = "not checked"
    VALID = "valid"
    INVALID = "invalid"
    NEWER = "unknown: update assay"


STANDING_UNKNOWN = "unknown: no archive given"


@dataclass(frozen=True)
class Problem:
    """Something that is not as it should be, with the member and the dotted field path where it stands."""

    member: str
    field: str
    observed: str
    expected: str

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {
            "expected": self.expected,
            "field": self.field,
            "member": self.member,
            "observed": self.observed,
        }


@dataclass(frozen=True)
class Step:
    """One step of the proof.

    Attributes:
        number: its place, from 1.
        title: what it shows.
        answer: passed or failed; not asked where the proof did not get so far.
        detail: what was looked at.
    """

    number: int
    title: str
    answer: Answer
    detail: str

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {
            "answer": self.answer.value,
            "detail": self.detail,
            "number": self.number,
            "title": self.title,
        }


@dataclass(frozen=True)
class Asked:
    """The answer to one question, with the reasons where it is no."""

    answer: Answer
    reasons: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {"answer": self.answer.value, "reasons": list(self.reasons)}


@dataclass(frozen=True)
class Verification:
    """What verifying a bundle came to.

    Where the bundle is not intact nothing that it says is passed on: the verdict is undecided, without tier
    and claims.

    Attributes:
        bundle: the file's name.
        bundle_digest: SHA-256 (hex) of ``manifest.json``, ``""`` where that could not be read.
        run: the run's name.
        started: when the run started, RFC 3339 UTC.
        platform: where it was made.
        plan_digest: SHA-256 (hex) of the canonical plan.
        subject_digest: of what was qualified and what came out (hex), ``""`` where it was not asked for.
        integrity: whether the bundle is what was written and follows from its facts.
        anchored: whether the digest was told another way or the reader's key vouches, so that nobody else can
            have made another bundle.
        signer: whether the reader's key vouches for it.
        signer_key: the id of that key, ``""`` where none was given.
        signer_detail: what its attestations came to, in words.
        policy: whether it is what the reader wants, by today's rules.
        freshness: whether it is new enough, and of the reader's challenge.
        standing: what an archive says of it; whether that is refused is a matter of policy.
        standing_notes: on whose word, and what is unclear about it.
        verdict: what the run comes to, as judged here.
        tier: the tier that its facts show.
        outcomes: outcome by gate, as judged here.
        unfinished: planned gates that never ended.
        claims: what the run establishes, and what stays open.
        toolchain: which toolchain the bundle holds.
        tool: who wrote the bundle, with the version.
        accepted: what the reader accepts, of ``ACCEPTABLE``.
        steps: the proof.
        problems: what is wrong, the first hundred.
        problems_omitted: how many more there were.
    """

    bundle: str
    bundle_digest: str
    integrity: Integrity
    anchored: bool
    policy: Asked
    freshness: Asked
    steps: tuple[Step, ...]
    run: str = ""
    started: str = ""
    platform: str = ""
    plan_digest: str = ""
    subject_digest: str = ""
    signer: Signer = Signer.UNCHECKED
    signer_key: str = ""
    signer_detail: str = ""
    standing: str = STANDING_UNKNOWN
    standing_notes: tuple[str, ...] = ()
    verdict: Verdict = Verdict.UNDECIDED
    tier: Tier | None = None
    outcomes: Mapping[str, Outcome] = field(default_factory=dict)
    unfinished: tuple[str, ...] = ()
    claims: Claims = NO_CLAIMS
    toolchain: str = ""
    tool: str = ""
    accepted: frozenset[str] = frozenset()
    problems: tuple[Problem, ...] = ()
    problems_omitted: int = 0

    @property
    def intact(self) -> bool:
        """Return whether the bundle is what was written and follows from its own facts."""
        return self.integrity is Integrity.INTACT

    @property
    def exit_code(self) -> int:
        """Return the exit code of ``assay verify`` (DESIGN, "Exit codes").

        0 only for an intact, anchored, qualified bundle that meets policy and freshness.  Attestations that
        the reader's key did not sign, or that are about something else, are as broken as a bundle.
        """
        if self.integrity is Integrity.BROKEN or self.signer is Signer.INVALID:
            return 4
        if self.verdict is Verdict.REJECTED:
            return 1
        wanted = {Verdict.QUALIFIED} | ({Verdict.REHEARSED} if REHEARSED in self.accepted else set())
        fits = Answer.FAILED not in {self.policy.answer, self.freshness.answer}
        anchored = self.anchored or UNANCHORED in self.accepted
        return 0 if self.intact and self.verdict in wanted and fits and anchored else 3

    def to_json(self) -> dict[str, Json]:
        """Return the document ``assay/verdict/1``."""
        return {
            "schema": "assay/verdict/1",
            "accepted": sorted(self.accepted),
            "anchored": self.anchored,
            "bundle": self.bundle,
            "bundle_digest": self.bundle_digest,
            "claims": claims_json(self.claims),
            "exit_code": self.exit_code,
            "freshness": self.freshness.to_json(),
            "integrity": self.integrity.value,
            "outcomes": {gate: outcome.value for gate, outcome in self.outcomes.items()},
            "plan_digest": self.plan_digest,
            "platform": self.platform,
            "policy": self.policy.to_json(),
            "problems": [problem.to_json() for problem in self.problems],
            "problems_omitted": self.problems_omitted,
            "run": self.run,
            "signer": self.signer.value,
            "signer_detail": self.signer_detail,
            "signer_key": self.signer_key,
            "standing": "; ".join((self.standing, *self.standing_notes)),
            "started": self.started,
            "subject_digest": self.subject_digest,
            "steps": [step.to_json() for step in self.steps],
            "tier": self.tier.value if self.tier else None,
            "tool": self.tool,
            "toolchain": self.toolchain,
            "unfinished": list(self.unfinished),
            "verdict": self.verdict.value,
        }


def claims_json(claims: Claims) -> dict[str, Json]:
    """Return the claims' JSON form."""
    return {
        "established": [
            {"gates": list(claim.gates), "id": claim.id, "text": claim.text} for claim in claims.established
        ],
        "open": [{"id": claim, "text": text} for claim, text in claims.open],
    }

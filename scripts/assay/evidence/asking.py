"""What a reader may want beyond integrity: a tier, a plan, today's rules, an age, a challenge."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from assay import canonical
from assay.errors import UsageError
from assay.evidence.documents import PlanDocument
from assay.evidence.judging import Conclusion
from assay.evidence.names import CHALLENGE, SHA256
from assay.evidence.times import read_time
from assay.evidence.verification import ACCEPTABLE, Answer, Asked
from assay.model import Json, Tier
from assay.plan import Plan, plan_json

if TYPE_CHECKING:
    from assay.evidence.keys import PublicKey

AHEAD = timedelta(minutes=5)
"""How far two honest clocks may lie apart."""

_SHOWN_DIFFERENCES = 5


@dataclass(frozen=True)
class Wanted:
    """What the reader wants.

    Attributes:
        now: the reader's time.
        expect_digest: the bundle digest that the reader was told another way (hex), or None.
        accept: what is accepted besides an anchored, qualified bundle, of ``ACCEPTABLE``.
        tier: the only tier that is accepted, or None.
        plan: the plan that the reader expects, or None.
        not_older_than: how old the run may be, or None.
        challenge: the value that the run had to mix in (hex), or None.
        key: whose signature the reader trusts, or None.
        attestations: where the attestations lie, or None for beside the bundle.
        claims: ids of the claims that the reader relies on.
        archive: the folder of the archive that says whether the bundle still stands, or None.
        trust: further keys whose word counts for that.
    """

    now: datetime
    expect_digest: str | None = None
    accept: Collection[str] = ()
    tier: Tier | None = None
    plan: Plan | None = None
    not_older_than: timedelta | None = None
    challenge: str | None = None
    key: PublicKey | None = None
    attestations: Path | None = None
    claims: Collection[str] = ()
    archive: Path | None = None
    trust: tuple[PublicKey, ...] = ()

    @property
    def keys(self) -> tuple[PublicKey, ...]:
        """Return whose word counts for whether the bundle still stands."""
        return self.trust if self.key is None else (self.key, *self.trust)

    def check(self) -> None:
        """Check what a user may have mistyped.

        Raises:
            UsageError: an option has a value that it cannot have.
        """
        if self.expect_digest is not None and not SHA256.fullmatch(self.expect_digest):
            raise UsageError(
                f"the digest is {self.expect_digest!r}", "64 hex digits in lower case", "copy it again"
            )
        if unknown := set(self.accept) - set(ACCEPTABLE):
            raise UsageError(f"{min(unknown)!r} cannot be accepted", f"one of {', '.join(ACCEPTABLE)}", "")
        if self.challenge is not None and not (self.challenge and CHALLENGE.fullmatch(self.challenge)):
            raise UsageError(f"the challenge is {self.challenge!r}", "1 to 128 hex digits in lower case", "")
        if self.not_older_than is not None and self.not_older_than < timedelta(0):
            raise UsageError(f"the age is {self.not_older_than.days} days", "0 days or more", "")
        if self.attestations is not None and self.key is None:
            raise UsageError(
                "--attestations was given without --key", "a key to check them with", "add --key FILE"
            )
        if self.trust and self.archive is None:
            raise UsageError(
                "--trust was given without --archive", "an archive that holds statements", "add --archive DIR"
            )


def policy(wanted: Wanted, document: PlanDocument, by_rules: Conclusion, by_newest: Conclusion) -> Asked:
    """Answer whether a bundle is what the reader wants.

    Args:
        wanted: what the reader wants.
        document: the bundle's plan.
        by_rules: the run judged by the rules of its receipts.
        by_newest: the run judged by today's rules.
    """
    reasons = []
    if by_newest.verdict is not by_rules.verdict:
        reasons.append(f"by today's rules the run is {by_newest.verdict.value}")
    if wanted.tier is not None and by_rules.tier is not wanted.tier:
        seen = by_rules.tier.value if by_rules.tier else "none"
        reasons.append(f"the tier is {seen}, not {wanted.tier.value}")
    established = {claim.id for claim in by_rules.claims.established}
    reasons += [f"the run does not establish {claim}" for claim in wanted.claims if claim not in established]
    if wanted.plan is not None:
        reasons += _other_plan(document.plan, wanted.plan)
    return Asked(Answer.FAILED if reasons else Answer.PASSED, tuple(reasons))


def fresh(wanted: Wanted, document: PlanDocument) -> Asked:
    """Answer whether a run is new enough and mixed in the reader's challenge."""
    if wanted.not_older_than is None and wanted.challenge is None:
        return Asked(Answer.NOT_ASKED)
    reasons = tuple(_stale(wanted, document))
    return Asked(Answer.FAILED if reasons else Answer.PASSED, reasons)


def _stale(wanted: Wanted, document: PlanDocument) -> Iterator[str]:
    """Yield why a run is not fresh."""
    if wanted.challenge is not None and document.challenge != wanted.challenge:
        yield f"the run's challenge is {document.challenge or 'none'}, not {wanted.challenge}"
    age = wanted.now - read_time(document.started)
    if age < -AHEAD:
        yield f"the run says that it started at {document.started}, which is still to come"
    if wanted.not_older_than is not None and age > wanted.not_older_than:
        yield f"the run started at {document.started}, {age.days} days ago"


def _other_plan(found: Plan, wanted: Plan) -> list[str]:
    """Return where two plans differ, the first few places; keys that one leaves out have their defaults."""
    differences = list(_differences(_settled(found), _settled(wanted), ""))
    more = len(differences) - _SHOWN_DIFFERENCES
    shown = [f"the plan differs at {path}" for path in differences[:_SHOWN_DIFFERENCES]]
    return shown + ([f"and at {more} more places"] if more > 0 else [])


def _settled(plan: Plan) -> Json:
    """Return a plan's JSON, lists for tuples."""
    return canonical.parse(canonical.dumps(plan_json(plan)))


def _differences(left: Json, right: Json, path: str) -> Iterator[str]:
    """Yield the dotted paths at which two JSON values differ."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in sorted({*left, *right}):
            yield from _differences(left.get(key), right.get(key), f"{path}.{key}" if path else key)
    elif isinstance(left, list) and isinstance(right, list) and len(left) == len(right):
        for number, (one, other) in enumerate(zip(left, right, strict=True)):
            yield from _differences(one, other, f"{path}.{number}")
    elif left != right or type(left) is not type(right):
        yield path

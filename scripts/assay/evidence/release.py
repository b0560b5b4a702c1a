"""A release: one qualified run for each member that the plan requires, of one plan, revision and wheel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from assay.evidence.asking import Wanted
from assay.evidence.keys import PublicKey
from assay.evidence.steps import Run
from assay.evidence.verification import Integrity, Signer, Verification
from assay.evidence.verify import verifying
from assay.judge.build import BUILT
from assay.judge.reading import MalformedFacts, text
from assay.model import Json, Verdict
from assay.plan.values import Member

BUILD = "build"


@dataclass(frozen=True)
class Candidate:
    """One bundle of the set: its verification, and what its plan and its gate ``build`` say.

    Attributes:
        verified: its verification.
        project: whose release it is; this and all below are empty where the bundle is not intact.
        required: what its plan says that a release must have.
        revision: the commit that its tree was at.
        wheel: name and SHA-256 (hex) of its wheel.
        origin: whether the wheel was built in this run or given to it.
    """

    verified: Verification
    project: str = ""
    required: tuple[Member, ...] = ()
    revision: str = ""
    wheel: tuple[str, str] = ("", "")
    origin: str = ""

    @property
    def place(self) -> str:
        """Return where it ran and of which tier it is, as a plan writes it."""
        return f"{self.verified.platform}/{self.verified.tier.value if self.verified.tier else 'none'}"


@dataclass(frozen=True)
class Release:
    """A set of bundles as one release; ``faults`` says why it is none."""

    candidates: tuple[Candidate, ...]
    faults: tuple[str, ...]

    @property
    def exit_code(self) -> int:
        """Return the exit code: 0 complete, 1 a member is rejected, 4 one is invalid, 3 anything else."""
        found = [each.verified for each in self.candidates]
        if any(each.integrity is Integrity.BROKEN or each.signer is Signer.INVALID for each in found):
            return 4
        if any(each.verdict is Verdict.REJECTED for each in found):
            return 1
        return 3 if self.faults else 0

    def claims(self) -> Mapping[str, Mapping[str, bool]]:
        """Return of every claim by place whether it is established there; open ones included."""
        ids: dict[str, None] = {}
        for each in self.candidates:
            ids |= dict.fromkeys(claim.id for claim in each.verified.claims.established)
        for each in self.candidates:
            ids |= dict.fromkeys(claim for claim, _ in each.verified.claims.open)
        held = {each.place: {c.id for c in each.verified.claims.established} for each in self.candidates}
        return {claim: {place: claim in found for place, found in held.items()} for claim in ids}

    def to_json(self) -> dict[str, Json]:
        """Return the document ``assay/release-check/1``."""
        return {
            "schema": "assay/release-check/1",
            "claims": {claim: dict(places) for claim, places in self.claims().items()},
            "exit_code": self.exit_code,
            "faults": list(self.faults),
            "members": [each.verified.to_json() for each in self.candidates],
            "released": self.exit_code == 0,
        }


def check_release(bundles: Sequence[Path], key: PublicKey | None, now: datetime | None = None) -> Release:
    """Verify bundles and check that they are a release.

    Args:
        bundles: the members.
        key: who must have signed each; None where nobody needs to.
        now: the reader's time; the clock's where it is not given.

    Raises:
        StorageError: a bundle cannot be read.
    """
    wanted = Wanted(now or datetime.now(UTC), key=key)
    candidates = tuple(_candidate(bundle, wanted) for bundle in bundles)
    return Release(candidates, tuple(_faults(candidates, signed=key is not None)))


def _candidate(bundle: Path, wanted: Wanted) -> Candidate:
    """Return one bundle, verified."""
    with verifying(bundle, wanted, subject=True) as (verified, run):
        return Candidate(verified) if run is None else _read(verified, run)


def _read(verified: Verification, run: Run) -> Candidate:
    """Return what an intact bundle says of itself."""
    plan = run.document.plan
    facts = run.records.receipt(BUILD).facts if BUILD in run.records.gates else {}
    try:
        wheel = (text(facts, "wheel.name"), text(facts, "wheel.sha256"))
        revision, origin = text(facts, "revision"), text(facts, "origin")
    except MalformedFacts:
        return Candidate(verified, plan.project, plan.release)
    return Candidate(verified, plan.project, plan.release, revision, wheel, origin)


def _faults(candidates: tuple[Candidate, ...], *, signed: bool) -> Iterator[str]:
    """Yield why bundles are no release."""
    for each in candidates:
        yield from _own_faults(each, signed=signed)
    intact = [each for each in candidates if each.verified.intact]
    if not intact:
        return
    yield from _places(intact)
    yield from _same("plan", {each.verified.plan_digest for each in intact})
    yield from _same("revision", {each.revision for each in intact})
    yield from _same("wheel", {each.wheel[1] for each in intact})
    if all(each.origin != BUILT for each in intact):
        yield "no member built the wheel: nothing ties it to its revision"


def _own_faults(each: Candidate, *, signed: bool) -> Iterator[str]:
    """Yield why one bundle cannot be a member."""
    verified = each.verified
    if not verified.intact:
        problem = next(iter(verified.problems), None)
        where = f": {problem.member}: {problem.observed}" if problem else ""
        yield f"{verified.bundle} is {verified.integrity.value}{where}"
    elif verified.verdict is not Verdict.QUALIFIED:
        yield f"{verified.bundle} ({each.place}) is {verified.verdict.value}"
    if verified.intact and signed and verified.signer is not Signer.VALID:
        yield f"{verified.bundle} is not signed by the key: {verified.signer_detail}"


def _places(intact: list[Candidate]) -> Iterator[str]:
    """Yield members that are missing, doubled, or that the plan does not ask for."""
    required = dict.fromkeys(str(member) for each in intact for member in each.required)
    places = [each.place for each in intact]
    if not required:
        yield "the plan names no release: set [tool.assay.release] require"
    yield from (f"no member for {place}" for place in required if place not in places)
    yield from (f"{places.count(place)} members for {place}" for place in required if places.count(place) > 1)
    yield from (
        f"{place} is not a part of the release" for place in dict.fromkeys(places) if place not in required
    )


def _same(what: str, found: set[str]) -> Iterator[str]:
    """Yield that members differ in what must be the same, or that it is not recorded."""
    if len(found) > 1:
        yield f"the members have {len(found)} {what}s: {', '.join(sorted(each or 'none' for each in found))}"
    elif found == {""}:
        yield f"no member records its {what}"

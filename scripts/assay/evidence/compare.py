"""Compares two verified bundles for an auditor: claims first, then the bar, then what changed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from assay.evidence.asking import Wanted
from assay.evidence.bar import moves
from assay.evidence.changes import Change, Kind, fact_changes
from assay.evidence.claimed import NO_CLAIMS, ClaimChanges, compare_claims
from assay.evidence.kept import artifact_changes
from assay.evidence.moves import Move
from assay.evidence.speeds import has_speeds, speed_changes
from assay.evidence.steps import Run
from assay.evidence.timings import Timing, spread_of, timings
from assay.evidence.verification import Integrity, Verification
from assay.evidence.verify import verifying
from assay.model import Json


@dataclass(frozen=True)
class Comparison:
    """What comparing two bundles came to; without anything but the verifications where one is not intact.

    Attributes:
        old: the earlier bundle, verified.
        new: the later bundle, verified.
        claims: every claim that either establishes, compared by what it says.
        bar: how the plan's demands moved.
        changes: what changed, by section, in the order in which it is read.
        timings: how long things took.
    """

    old: Verification
    new: Verification
    claims: ClaimChanges = NO_CLAIMS
    bar: tuple[Move, ...] = ()
    changes: Mapping[str, tuple[Change, ...]] = field(default_factory=dict)
    timings: tuple[Timing, ...] = ()

    @property
    def intact(self) -> bool:
        """Return whether both bundles are."""
        return self.old.intact and self.new.intact

    @property
    def same_subject(self) -> bool:
        """Return whether both qualified the same thing with the same results."""
        return self.intact and self.old.subject_digest == self.new.subject_digest

    @property
    def exit_code(self) -> int:
        """Return the exit code: 0 same subject, 1 different, 4 if either is invalid, 3 if one is too new."""
        if Integrity.BROKEN in {self.old.integrity, self.new.integrity}:
            return 4
        if not self.intact:
            return 3
        return 0 if self.same_subject else 1

    def to_json(self) -> dict[str, Json]:
        """Return the document ``assay/comparison/1``."""
        spread = spread_of(self.timings)
        return {
            "schema": "assay/comparison/1",
            "bar": [move.to_json() for move in self.bar],
            "changes": {name: [each.to_json() for each in found] for name, found in self.changes.items()},
            "claims": self.claims.to_json(),
            "exit_code": self.exit_code,
            "new": self.new.to_json(),
            "old": self.old.to_json(),
            "same_subject": self.same_subject,
            "timings": {
                "each": [timing.to_json() for timing in self.timings],
                "percent": list(spread) if spread else None,
            },
        }


def compare_bundles(old: Path, new: Path, now: datetime | None = None) -> Comparison:
    """Verify two bundles and compare them.

    Args:
        old: the earlier bundle.
        new: the later bundle.
        now: the reader's time; the clock's where it is not given.

    Raises:
        StorageError: one cannot be read.
    """
    wanted = Wanted(now or datetime.now(UTC))
    with contextlib.ExitStack() as stack:
        one, old_run = stack.enter_context(verifying(old, wanted, subject=True))
        other, new_run = stack.enter_context(verifying(new, wanted, subject=True))
        if old_run is None or new_run is None:
            return Comparison(one, other)
        return Comparison(
            old=one,
            new=other,
            claims=compare_claims(one.claims.established, other.claims.established),
            bar=_bar(old_run, new_run),
            changes=_changes(one, old_run, other, new_run),
            timings=timings(old_run, new_run),
        )


def _bar(old: Run, new: Run) -> tuple[Move, ...]:
    """Return how the plan's demands moved, those on platforms that neither run was on behind the others."""
    seen = frozenset({old.document.platform, new.document.platform})
    return moves(old.document.plan, new.document.plan, seen)


def _changes(one: Verification, old: Run, other: Verification, new: Run) -> dict[str, tuple[Change, ...]]:
    """Return what changed, in the order in which it is read."""
    facts = fact_changes(old, new)
    found = {
        "artifacts": artifact_changes(old, new),
        "selection": facts.pop("selection"),
        "machine": facts.pop("machine"),
        "toolchain": list(_toolchain(one, old, other, new)),
        "environment": facts.pop("environment"),
        "outcomes": list(_outcomes(one, other)),
        **facts,
    }
    if has_speeds(old) or has_speeds(new):
        found["speed"] = list(speed_changes(old, new))
    return {name: tuple(each) for name, each in found.items()}


def _toolchain(one: Verification, old: Run, other: Verification, new: Run) -> Iterator[Change]:
    """Yield in what the two runs were made and judged otherwise."""
    pairs = [
        ("tool", one.tool, other.tool),
        ("toolchain", old.document.toolchain_sha256, new.document.toolchain_sha256),
        ("platform", one.platform, other.platform),
    ]
    for gate in sorted({*old.records.gates} & {*new.records.gates}):
        rules = [str(run.records.receipt(gate).rules) for run in (old, new)]
        pairs.append((f"rules of {gate}", rules[0], rules[1]))
    yield from (Change(path, Kind.CHANGED, before, after) for path, before, after in pairs if before != after)


def _outcome(run: Verification, gate: str) -> str:
    """Return how a gate ended, in a word; one that a plan does not have is none that did not end."""
    outcome = run.outcomes.get(gate)
    if outcome is not None:
        return outcome.value
    return "did not end" if gate in run.unfinished else "not planned"


def _outcomes(one: Verification, other: Verification) -> Iterator[Change]:
    """Yield the gates that ended otherwise, and verdict and tier where they differ."""
    for gate in sorted({*one.outcomes, *one.unfinished, *other.outcomes, *other.unfinished}):
        words = [_outcome(each, gate) for each in (one, other)]
        if words[0] != words[1]:
            yield Change(gate, Kind.CHANGED, words[0], words[1])
    tiers = [each.tier.value if each.tier else "none seen" for each in (one, other)]
    if tiers[0] != tiers[1]:
        yield Change("tier", Kind.CHANGED, tiers[0], tiers[1])
    if one.verdict is not other.verdict:
        yield Change("verdict", Kind.CHANGED, one.verdict.value, other.verdict.value)

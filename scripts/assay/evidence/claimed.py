"""What two runs claim, compared by what the sentences say: a claim in other words is another claim."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from assay.judge.claims import Established
from assay.model import Json

Pair = tuple[Established, Established]
"""One claim in the old and in the new run."""


@dataclass(frozen=True)
class ClaimChanges:
    """Every claim that either run establishes, in one place each.

    Attributes:
        gained: those of the new run that the old one does not make.
        lost: those of the old run that the new one does not make.
        changed: those of one id that rest on other gates, or say something else: of another artifact, driver
            or version, or less.  Which of the two is stronger no program can say, so both are shown.
        kept: those that say the same in the same words, of the same gates.
    """

    gained: tuple[Established, ...] = ()
    lost: tuple[Established, ...] = ()
    changed: tuple[Pair, ...] = ()
    kept: tuple[Established, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {
            "changed": [{"new": claim_json(new), "old": claim_json(old)} for old, new in self.changed],
            "gained": [claim_json(claim) for claim in self.gained],
            "kept": [claim_json(claim) for claim in self.kept],
            "lost": [claim_json(claim) for claim in self.lost],
        }


NO_CLAIMS = ClaimChanges()
"""Neither run establishes anything."""


def compare_claims(old: Iterable[Established], new: Iterable[Established]) -> ClaimChanges:
    """Return how the established claims of two runs compare.

    Args:
        old: the claims of the earlier run, in their order.
        new: the claims of the later run, in their order.
    """
    before, after = tuple(old), tuple(new)
    kept, others = _split(after, before)
    _, gone = _split(before, after)
    waiting: dict[str, list[Established]] = {}
    for claim in gone:
        waiting.setdefault(claim.id, []).append(claim)
    gained: list[Established] = []
    changed: list[Pair] = []
    for claim in others:
        if alike := waiting.get(claim.id):
            same = next((each for each in alike if each.gates == claim.gates), alike[0])
            alike.remove(same)
            changed.append((same, claim))
        else:
            gained.append(claim)
    lost = tuple(claim for alike in waiting.values() for claim in alike)
    return ClaimChanges(tuple(gained), lost, tuple(changed), kept)


def claim_json(claim: Established) -> Json:
    """Return a claim's JSON form."""
    return {"gates": list(claim.gates), "id": claim.id, "text": claim.text}


def _said(claim: Established) -> tuple[str, tuple[str, ...]]:
    """Return what a claim says, and on which gates it rests; its id is only what the plan calls it."""
    return claim.text, claim.gates


def _split(
    claims: tuple[Established, ...], others: tuple[Established, ...]
) -> tuple[tuple[Established, ...], tuple[Established, ...]]:
    """Return those claims that say what others say, each as often as they do, and the rest."""
    left = Counter(map(_said, others))
    same: list[Established] = []
    rest: list[Established] = []
    for claim in claims:
        left[_said(claim)] -= 1
        (same if left[_said(claim)] >= 0 else rest).append(claim)
    return tuple(same), tuple(rest)

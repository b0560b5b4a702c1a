"""One row of the gate table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from assay.judge.case import Case
from assay.model import Facts, Finding, Platform, Tier

Judge = Callable[[Case, Facts], tuple[Finding, ...]]
ClaimText = Callable[[Case, Facts], str]

EVERY_PLATFORM = frozenset(Platform)
EVERY_TIER = frozenset(Tier)


class Exclusive(StrEnum):
    """What a gate must have for itself while it runs."""

    NONE = "none"
    GPU = "gpu"
    MACHINE = "machine"


class Diagnoses(StrEnum):
    """Whether a machine can be diagnosed by a gate, which then needs no running GPU."""

    NO = "no"
    PLANNED = "planned"
    """Only against the pins of a plan."""
    ANYWHERE = "anywhere"


@dataclass(frozen=True)
class GateRow:
    """What is known of a gate without running it.

    Attributes:
        name: the gate's name, also its nox session.
        title: one line of purpose.
        judges: every version of its rules ever released, by number.
        needs: gates that must have passed before, where they are planned.
        claim: the sentence that it establishes when it passes.
        platforms: where it applies.
        tiers: plan tiers at which it applies.
        exclusive: what it must have for itself.
        deadline_s: seconds until it is ended, where the plan says nothing.
        diagnoses: whether ``assay diagnose`` runs it.
    """

    name: str
    title: str
    judges: Mapping[int, Judge]
    needs: tuple[str, ...]
    claim: ClaimText
    platforms: frozenset[Platform] = EVERY_PLATFORM
    tiers: frozenset[Tier] = EVERY_TIER
    exclusive: Exclusive = Exclusive.NONE
    deadline_s: int = 600
    diagnoses: Diagnoses = Diagnoses.NO

    @property
    def rules(self) -> int:
        """Return the newest rules."""
        return max(self.judges)

"""The verdict: the first line of law 1 that fits."""

from __future__ import annotations

from collections.abc import Mapping

from assay.model import Outcome, Platform, Tier, Verdict
from assay.plan.values import Plan

_UNDECIDING = frozenset({Outcome.ERROR, Outcome.BLOCKED, Outcome.UNAVAILABLE})


def decide(plan: Plan, platform: Platform, outcomes: Mapping[str, Outcome], tier: Tier | None) -> Verdict:
    """Return the verdict of a run.

    Args:
        plan: the frozen plan; a planned gate without an outcome is unfinished.
        platform: where the run was made.
        outcomes: outcome by gate.
        tier: the tier derived from the chain's facts, None where nothing was seen.
    """
    seen = frozenset(outcomes.values())
    if Outcome.FAILED in seen:
        return Verdict.REJECTED
    if seen & _UNDECIDING or set(outcomes) != set(plan.gates):
        return Verdict.UNDECIDED
    if outcomes.get("chain") is not Outcome.PASSED or tier is None or tier is not plan.tier_on(platform):
        return Verdict.UNDECIDED
    if tier is Tier.REHEARSAL:
        return Verdict.REHEARSED
    return Verdict.QUALIFIED

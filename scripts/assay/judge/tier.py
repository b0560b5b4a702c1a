"""Derives the tier of a run from what was loaded and seen, never from a flag (laws 2 and 3).

Each tier has its marks.  A tier is derived only where *all* its marks are there; a run that has the marks of
none, or of two, has no tier and stays undecided.  The marks come from sources that do not know of each
other (the CUDA driver in the child, NVML in another process, files of the kernel, the child's open device
nodes and mapped files as its parent saw them), so that no single edited fact makes one tier of another.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.images import ran_stages
from assay.judge.marks import MARKS, WINDOWS_MARKS
from assay.judge.reading import MalformedFacts
from assay.model import Facts, Finding, Platform, Tier

_CUDA_RUNTIMES = frozenset({"pycuda", "nvrtc"})


def derive_tier(case: Case, facts: Facts) -> Tier | None:
    """Return the tier that the chain's facts show, None where they show none or contradict one another.

    Args:
        case: the plan and the run.
        facts: facts of gate ``chain``, rooted and redacted; malformed ones show nothing.
    """
    try:
        if not cuda_ran(case, facts):
            return None
        shown = [tier for tier in Tier if not gaps(tier, case, facts)]
    except MalformedFacts:
        return None
    return shown[0] if len(shown) == 1 else None


def judge_tier(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where the chain ran but the plan's tier was not shown, naming what lacks.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    if not cuda_ran(case, facts):
        return
    planned = case.plan.tier_on(case.platform)
    tier, lacking = derive_tier(case, facts), gaps(planned, case, facts)
    why = "; ".join(lacking)
    if tier is None:
        observed = why or "the marks of more than one tier"
        yield finding("CHAIN-TIER-UNSHOWN", observed, expected=f"every mark of tier {planned.value}")
    elif tier is not planned:
        observed = f"tier {tier.value}: {why}"
        yield finding("CHAIN-TIER-OTHER", observed, expected=f"tier {planned.value}")


def cuda_ran(case: Case, facts: Facts) -> bool:
    """Say whether a CUDA stage of a planned chain gave values.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    return any(stage.runtime in _CUDA_RUNTIMES for _, stage, _ in ran_stages(case, facts))


def gaps(tier: Tier, case: Case, facts: Facts) -> tuple[str, ...]:
    """Return which marks of a tier are missing or contradicted.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    marks = WINDOWS_MARKS if tier is Tier.PHYSICAL and case.platform is Platform.WINDOWS else MARKS[tier]
    return tuple(gap for mark in marks for gap in mark(case, facts))

"""Judging one gate of a run: may it run, what did it find, how did it end."""

from __future__ import annotations

from collections.abc import Mapping

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import MalformedFacts, text
from assay.judge.row import GateRow
from assay.model import Facts, Finding, Outcome, Platform
from assay.plan.values import Plan

BROKE = "broke"
"""Fact of a gate that ended with an error instead of its own facts: ``{"kind", "observed", "expected"}``."""

DEADLINE = "deadline"


def standing(row: GateRow, plan: Plan, platform: Platform, outcomes: Mapping[str, Outcome]) -> Outcome | None:
    """Return ``not-applicable`` or ``blocked`` where that is the outcome, None where the gate runs.

    ``not-applicable`` follows from the plan alone; a needed gate that is not planned does not block.
    """
    if platform not in row.platforms or plan.tier_on(platform) not in row.tiers:
        return Outcome.NOT_APPLICABLE
    for need in row.needs:
        if need in plan.gates and outcomes.get(need) not in {Outcome.PASSED, Outcome.NOT_APPLICABLE}:
            return Outcome.BLOCKED
    return None


def judge_gate(case: Case, row: GateRow, rules: int, facts: Facts) -> tuple[Finding, ...]:
    """Return the findings of one gate by its rules of version ``rules``.

    Raises:
        KeyError: no such version of the rules was ever released.
    """
    judge = row.judges[rules]
    try:
        if facts.get(BROKE) is not None:
            return (_broke(facts),)
        return judge(case, facts)
    except MalformedFacts as malformed:
        return (
            finding("FACTS-MALFORMED", str(malformed), expected=malformed.expected, where=(malformed.path,)),
        )


def _broke(facts: Facts) -> Finding:
    """Return the finding of a gate that broke or outlived its deadline."""
    kind = "GATE-DEADLINE" if text(facts, f"{BROKE}.kind") == DEADLINE else "GATE-BROKE"
    observed = text(facts, f"{BROKE}.observed")
    return finding(kind, observed, expected=text(facts, f"{BROKE}.expected"), where=(BROKE,))

"""Which sentences a run establishes; every other claim of the plan is *not established*.

Nothing is established by a run that is not ``qualified`` or ``rehearsed``: a sentence of an undecided or
rejected run would be read without its verdict.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from assay.judge.case import Case
from assay.judge.table import rows
from assay.model import Facts, Outcome, Verdict
from assay.plan.values import Claim

_GRANTING = frozenset({Verdict.QUALIFIED, Verdict.REHEARSED})


@dataclass(frozen=True)
class Established:
    """A claim with the gates that establish it."""

    id: str
    text: str
    gates: tuple[str, ...]


@dataclass(frozen=True)
class Claims:
    """What a run establishes, and what stays open."""

    established: tuple[Established, ...]
    open: tuple[tuple[str, str], ...]


def claims_of(
    case: Case, outcomes: Mapping[str, Outcome], facts: Mapping[str, Facts], verdict: Verdict
) -> Claims:
    """Return the claims of a run.

    Args:
        case: the plan and the run.
        outcomes: outcome by gate, as judged by the reader.
        facts: facts by gate.
        verdict: the run's verdict.
    """
    grants = verdict in _GRANTING
    passed = frozenset(name for name, outcome in outcomes.items() if outcome is Outcome.PASSED)
    own = tuple(
        Established(row.name, row.claim(case, facts.get(row.name, {})), (row.name,))
        for row in rows(case.plan)
        if grants and row.name in passed
    )
    planned = tuple(
        Established(claim.id, claim.text, claim.gates)
        for claim in case.plan.claims
        if grants and claim.gates and passed.issuperset(claim.gates) and _is_shown(case, claim)
    )
    held = {claim.id for claim in planned}
    rest = tuple((claim.id, claim.text) for claim in case.plan.claims if claim.id not in held)
    return Claims(own + planned, rest)


def _is_shown(case: Case, claim: Claim) -> bool:
    """Say whether the claim's gates show it on the run's platform."""
    return not claim.platforms or case.platform in claim.platforms

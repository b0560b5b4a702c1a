"""Judging a recorded run anew: what each gate's facts come to, the tier, the verdict and the claims.

Both who writes a bundle and who verifies one call this; nothing that a receipt says of its own outcome is
read here.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from assay.errors import AssayError, BundleError, NewerSchemaError, PlanError
from assay.evidence.documents import PlanDocument
from assay.evidence.names import PLAN, receipt_name
from assay.evidence.records import Records
from assay.judge.case import Case
from assay.judge.claims import Claims, claims_of
from assay.judge.row import GateRow
from assay.judge.rules import judge_gate, standing
from assay.judge.table import needed, row, rows
from assay.judge.tier import derive_tier
from assay.judge.verdict import decide
from assay.model import Finding, Outcome, Receipt, Tier, Verdict, outcome_of

CHAIN = "chain"
"""The gate whose facts show the tier."""


@dataclass(frozen=True)
class Judged:
    """One gate: its receipt, and what its facts come to."""

    receipt: Receipt
    outcome: Outcome
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Conclusion:
    """What a whole run comes to; ``tier`` is None where no machine was seen that has one."""

    tier: Tier | None
    verdict: Verdict
    claims: Claims


def check_gates(document: PlanDocument) -> None:
    """Check that this copy knows every gate of the plan.

    Raises:
        BundleError: it does not know one.
    """
    try:
        rows(document.plan)
    except PlanError as error:
        raise BundleError(error.observed, error.expected, "", member=PLAN, field="plan.gates") from error


def judge_gates(document: PlanDocument, records: Records, *, newest: bool) -> Iterator[Judged]:
    """Yield every gate of the journal, judged, in the order in which they ended.

    Args:
        document: the run's plan.
        records: its receipts.
        newest: judge by the newest rules, not by those that the receipt names.

    Raises:
        NewerSchemaError: a receipt names newer rules than this copy has.
        BundleError: a receipt is broken, or its facts cannot be judged at all.
    """
    outcomes: dict[str, Outcome] = {}
    base = _case(document)
    for gate in records.gates:
        receipt = records.receipt(gate)
        case = dataclasses.replace(base, facts=records.facts(needed(document.plan, gate)))
        outcome, findings = _judge(case, receipt, outcomes, newest=newest)
        outcomes[gate] = outcome
        yield Judged(receipt, outcome, findings)


def conclude(document: PlanDocument, records: Records, outcomes: Mapping[str, Outcome]) -> Conclusion:
    """Return tier, verdict and claims of a run.

    Args:
        document: the run's plan.
        records: its receipts.
        outcomes: outcome by gate, as judged.

    Raises:
        BundleError: the facts cannot be judged at all.
    """
    facts = records.facts(frozenset(outcomes))
    case = dataclasses.replace(_case(document), facts=facts)
    with _judging(receipt_name(CHAIN)):
        tier = derive_tier(case, facts.get(CHAIN, {}))
        verdict = decide(document.plan, document.platform, outcomes, tier)
        return Conclusion(tier, verdict, claims_of(case, outcomes, facts, verdict))


def _case(document: PlanDocument) -> Case:
    """Return what a judge knows of the run, without facts."""
    return Case(
        plan=document.plan,
        plan_digest=document.plan_digest,
        platform=document.platform,
        nonce=document.nonce,
        challenge=document.challenge,
        facts={},
    )


def _judge(
    case: Case, receipt: Receipt, outcomes: Mapping[str, Outcome], *, newest: bool
) -> tuple[Outcome, tuple[Finding, ...]]:
    """Return what one gate comes to."""
    gate = row(case.plan, receipt.gate)
    stands = standing(gate, case.plan, case.platform, outcomes)
    if stands is not None:
        return stands, ()
    rules = gate.rules if newest else _known_rules(gate, receipt)
    with _judging(receipt_name(receipt.gate)):
        findings = judge_gate(case, gate, rules, receipt.facts)
        return outcome_of(findings), findings


def _known_rules(gate: GateRow, receipt: Receipt) -> int:
    """Return the receipt's rules if this copy has them."""
    if receipt.rules in gate.judges:
        return receipt.rules
    name, expected = receipt_name(gate.name), f"at most {gate.rules}"
    if receipt.rules > gate.rules:
        raise NewerSchemaError(
            f"was judged by rules {receipt.rules}", expected, "update assay", member=name, field="rules"
        )
    raise BundleError(
        f"is {receipt.rules}", expected, "ask for an unaltered copy", member=name, field="rules"
    )


@contextlib.contextmanager
def _judging(member: str) -> Iterator[None]:
    """Turn what a judge raises on facts that no gate writes into a ``BundleError``, never a traceback."""
    try:
        yield
    except AssayError:
        raise
    except Exception as error:
        kind = type(error).__name__
        raise BundleError(
            f"cannot be judged ({kind}: {error})", "facts that a gate writes", "", member=member
        ) from error

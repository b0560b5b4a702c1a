"""Law 1, line by line: the first that fits."""

from __future__ import annotations

import itertools

import pytest

from assay.judge.verdict import decide
from assay.model import Outcome, Tier, Verdict
from assay.plan import Plan, parse_plan
from tests.plan.support import changed, plan_table

pytestmark = pytest.mark.gate

PLAN = parse_plan(plan_table())
ALL_PASSED = dict.fromkeys(PLAN.gates, Outcome.PASSED)
UNDECIDING = (Outcome.ERROR, Outcome.BLOCKED, Outcome.UNAVAILABLE)


def plan_for(tier: Tier) -> Plan:
    table = changed("tier", tier.value)
    table["chains"]["wsl"] = ["pipeline"]
    return parse_plan(table)


def test_every_gate_passed_on_the_planned_tier_is_qualified() -> None:
    assert decide(PLAN, ALL_PASSED, Tier.PHYSICAL) is Verdict.QUALIFIED


@pytest.mark.parametrize("gate", PLAN.gates)
def test_one_failed_gate_rejects_whatever_the_others_did(gate: str) -> None:
    for other, tier in itertools.product(UNDECIDING, [None, *Tier]):
        outcomes = {**dict.fromkeys(PLAN.gates, other), gate: Outcome.FAILED}
        assert decide(PLAN, outcomes, tier) is Verdict.REJECTED


@pytest.mark.parametrize("outcome", UNDECIDING)
@pytest.mark.parametrize("gate", PLAN.gates)
def test_one_undecided_gate_undecides(gate: str, outcome: Outcome) -> None:
    assert decide(PLAN, {**ALL_PASSED, gate: outcome}, Tier.PHYSICAL) is Verdict.UNDECIDED


@pytest.mark.parametrize("gate", PLAN.gates)
def test_a_missing_gate_undecides(gate: str) -> None:
    outcomes = {name: outcome for name, outcome in ALL_PASSED.items() if name != gate}
    assert decide(PLAN, outcomes, Tier.PHYSICAL) is Verdict.UNDECIDED


def test_no_gate_at_all_undecides() -> None:
    assert decide(PLAN, {}, None) is Verdict.UNDECIDED


def test_a_chain_that_is_not_applicable_undecides() -> None:
    outcomes = {**ALL_PASSED, "chain": Outcome.NOT_APPLICABLE}
    assert decide(PLAN, outcomes, Tier.PHYSICAL) is Verdict.UNDECIDED


def test_a_gate_that_is_not_applicable_by_plan_does_not_stand_in_the_way() -> None:
    outcomes = {**ALL_PASSED, "lint": Outcome.NOT_APPLICABLE}
    assert decide(PLAN, outcomes, Tier.PHYSICAL) is Verdict.QUALIFIED


def test_another_tier_than_the_planned_one_undecides() -> None:
    for planned, seen in itertools.product(Tier, [None, *Tier]):
        verdict = decide(plan_for(planned), ALL_PASSED, seen)
        if planned is not seen:
            assert verdict is Verdict.UNDECIDED
        else:
            assert verdict is (Verdict.REHEARSED if seen is Tier.REHEARSAL else Verdict.QUALIFIED)


def test_outcomes_and_verdicts_have_no_truth() -> None:
    for value in (*Outcome, *Verdict):
        with pytest.raises(TypeError):
            bool(value)

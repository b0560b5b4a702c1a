"""Law 1, line by line: the first that fits."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from assay.judge.verdict import decide
from assay.model import Outcome, Platform, Tier, Verdict
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
    assert decide(PLAN, Platform.LINUX, ALL_PASSED, Tier.PHYSICAL) is Verdict.QUALIFIED


@pytest.mark.parametrize("gate", PLAN.gates)
def test_one_failed_gate_rejects_whatever_the_others_did(gate: str) -> None:
    for other, tier in itertools.product(UNDECIDING, [None, *Tier]):
        outcomes = {**dict.fromkeys(PLAN.gates, other), gate: Outcome.FAILED}
        assert decide(PLAN, Platform.LINUX, outcomes, tier) is Verdict.REJECTED


@pytest.mark.parametrize("outcome", UNDECIDING)
@pytest.mark.parametrize("gate", PLAN.gates)
def test_one_undecided_gate_undecides(gate: str, outcome: Outcome) -> None:
    assert decide(PLAN, Platform.LINUX, {**ALL_PASSED, gate: outcome}, Tier.PHYSICAL) is Verdict.UNDECIDED


@pytest.mark.parametrize("gate", PLAN.gates)
def test_a_missing_gate_undecides(gate: str) -> None:
    outcomes = {name: outcome for name, outcome in ALL_PASSED.items() if name != gate}
    assert decide(PLAN, Platform.LINUX, outcomes, Tier.PHYSICAL) is Verdict.UNDECIDED


def test_no_gate_at_all_undecides() -> None:
    assert decide(PLAN, Platform.LINUX, {}, None) is Verdict.UNDECIDED


def test_a_chain_that_is_not_applicable_undecides() -> None:
    outcomes = {**ALL_PASSED, "chain": Outcome.NOT_APPLICABLE}
    assert decide(PLAN, Platform.LINUX, outcomes, Tier.PHYSICAL) is Verdict.UNDECIDED


def test_a_gate_that_is_not_applicable_by_plan_does_not_stand_in_the_way() -> None:
    outcomes = {**ALL_PASSED, "lint": Outcome.NOT_APPLICABLE}
    assert decide(PLAN, Platform.LINUX, outcomes, Tier.PHYSICAL) is Verdict.QUALIFIED


def test_another_tier_than_the_planned_one_undecides() -> None:
    for planned, seen in itertools.product(Tier, [None, *Tier]):
        verdict = decide(plan_for(planned), Platform.LINUX, ALL_PASSED, seen)
        if planned is not seen:
            assert verdict is Verdict.UNDECIDED
        else:
            assert verdict is (Verdict.REHEARSED if seen is Tier.REHEARSAL else Verdict.QUALIFIED)


def test_outcomes_and_verdicts_have_no_truth() -> None:
    for value in (*Outcome, *Verdict):
        with pytest.raises(TypeError):
            bool(value)


def test_a_platform_may_have_a_tier_of_its_own() -> None:
    table = changed("tiers", {"wsl": "wsl"})
    table["chains"]["wsl"] = ["pipeline"]
    plan = parse_plan(table)
    for platform, tier in itertools.product((Platform.LINUX, Platform.WSL), Tier):
        right = tier is (Tier.WSL if platform is Platform.WSL else Tier.PHYSICAL)
        verdict = decide(plan, platform, ALL_PASSED, tier)
        assert (verdict is Verdict.QUALIFIED) is right, (platform, tier)
        assert right or verdict is Verdict.UNDECIDED


def test_a_plan_of_a_rehearsal_is_one_on_every_platform() -> None:
    plan = dataclasses.replace(PLAN, tier=Tier.REHEARSAL, tiers={Platform.WSL: Tier.WSL})
    for platform in Platform:
        assert decide(plan, platform, ALL_PASSED, Tier.REHEARSAL) is Verdict.REHEARSED
        assert decide(plan, platform, ALL_PASSED, Tier.WSL) is Verdict.UNDECIDED

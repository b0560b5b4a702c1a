"""Which of the plan's sentences a run establishes: gates, verdict and platform decide."""

from __future__ import annotations

import pytest

from assay.judge.claims import claims_of
from assay.model import Outcome, Platform, Verdict
from tests.judge.cases import make_case
from tests.plan.support import changed

CLAIM = {"id": "native", "text": "the native driver is one", "gates": ["lint"]}


@pytest.mark.parametrize(
    ("platforms", "platform", "held"),
    [
        ([], Platform.LINUX, True),
        ([], Platform.WSL, True),
        (["linux"], Platform.LINUX, True),
        (["linux"], Platform.WSL, False),
        (["linux", "wsl"], Platform.WSL, True),
    ],
)
def test_a_claim_of_a_platform_is_established_there_alone(
    platforms: list[str], platform: Platform, *, held: bool
) -> None:
    plan = changed("claim", [{**CLAIM, "platforms": platforms}])
    found = claims_of(make_case(plan, platform=platform), {"lint": Outcome.PASSED}, {}, Verdict.QUALIFIED)
    assert ("native" in [each.id for each in found.established]) is held
    assert found.open == (() if held else (("native", "the native driver is one"),))


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Outcome.FAILED, Verdict.QUALIFIED),
        (Outcome.PASSED, Verdict.UNDECIDED),
        (Outcome.PASSED, Verdict.REJECTED),
    ],
)
def test_nothing_is_established_by_a_gate_that_failed_or_a_run_that_is_no_pass(
    outcome: Outcome, verdict: Verdict
) -> None:
    found = claims_of(make_case(changed("claim", [CLAIM])), {"lint": outcome}, {}, verdict)
    assert found.established == ()
    assert [claim for claim, _ in found.open] == ["native"]

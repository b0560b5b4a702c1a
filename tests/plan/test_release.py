"""What a release must have is a part of the plan; a plan that says nothing of it keeps its digest."""

from __future__ import annotations

import pytest

from assay.errors import PlanError
from assay.model import Platform, Tier
from assay.plan import parse_plan, plan_json
from assay.plan.values import Member
from tests.plan.support import plan_table

pytestmark = pytest.mark.gate

WSL = {"chains": {"linux": ["pipeline"], "wsl": ["pipeline"]}, "tiers": {"wsl": "wsl"}}


def table(**more: object) -> dict[str, object]:
    return {**plan_table(), **more}


def test_a_plan_that_says_nothing_of_it_keeps_its_digest() -> None:
    """The digest is of these keys, as before releases were a part of plans."""
    document = plan_json(parse_plan(plan_table()))
    assert set(document) == {
        *("allow-environment", "allow-unclean-tree", "architectures", "backend", "built-by", "chains"),
        *("cites", "claim", "command", "deadlines", "disclose", "gates", "kernels", "modules"),
        *("msvc-toolset", "project", "provider", "reference", "smoke", "software-adapters", "tier"),
        "versions",
    }


def test_members_are_read_and_written() -> None:
    release = {"require": ["linux/physical", "windows/physical", "wsl/wsl"]}
    plan = parse_plan(table(**WSL, release=release))
    assert plan.release == (
        Member(Platform.LINUX, Tier.PHYSICAL),
        Member(Platform.WINDOWS, Tier.PHYSICAL),
        Member(Platform.WSL, Tier.WSL),
    )
    document = plan_json(plan)
    assert (document["release"], document["tiers"]) == (release, {"wsl": "wsl"})
    assert plan_json(parse_plan(document)) == document


def test_each_platform_has_its_tier() -> None:
    plan = parse_plan(table(**WSL))
    assert [plan.tier_on(each) for each in Platform] == [
        Tier.WSL if each is Platform.WSL else Tier.PHYSICAL for each in Platform
    ]
    rehearsed = parse_plan(table(**WSL, tier="rehearsal", release={"require": ["wsl/wsl"]}))
    assert {rehearsed.tier_on(each) for each in Platform} == {Tier.REHEARSAL}


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"release": {}}, "tool.assay.release.require"),
        ({"release": {"require": []}}, "tool.assay.release.require"),
        ({"release": {"require": ["linux"]}}, "tool.assay.release.require.0"),
        ({"release": {"require": ["beos/physical"]}}, "tool.assay.release.require.0"),
        ({"release": {"require": ["linux/physical"] * 2}}, "tool.assay.release.require"),
        ({"release": {"require": ["linux/physical"], "more": 1}}, "tool.assay.release.more"),
        ({"release": {"require": ["linux/rehearsal"]}}, "tool.assay.release.require.0"),
        ({"release": {"require": ["wsl/wsl"]}}, "tool.assay.release.require.0"),
        ({"release": {"require": ["linux/wsl"]}}, "tool.assay.release.require.0"),
        ({"release": 1}, "tool.assay.release"),
        ({"tiers": {"linux": "rehearsal"}}, "tool.assay.tiers.linux"),
        ({"tiers": {"linux": "wsl"}}, "tool.assay.tiers.linux"),
        ({"tiers": {"wsl": "physical"}}, "tool.assay.tiers.wsl"),
        ({"tiers": {"beos": "wsl"}}, "tool.assay.tiers.beos"),
        ({"tiers": {"wsl": 1}}, "tool.assay.tiers.wsl"),
    ],
)
def test_what_no_set_of_runs_can_be_is_refused(more: dict[str, object], path: str) -> None:
    with pytest.raises(PlanError) as caught:
        parse_plan(table(**more))
    assert caught.value.path == path

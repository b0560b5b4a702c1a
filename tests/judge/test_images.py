"""What a stage loads is what ``build`` made and the plan froze."""

from __future__ import annotations

import pytest

from assay.judge.images import compiled_at_run_time
from assay.judge.reading import objects
from tests.judge.chainfacts import CASE, digest_of, earlier_facts, facts_with, findings, ids, make_case

pytestmark = pytest.mark.gate


def test_another_ptx_than_builds_is_named_with_both_digests() -> None:
    other = digest_of("another ptx")
    (found,) = findings(facts_with(chains__0__stages__2__loaded__0__sha256=other))
    assert found.id == "CHAIN-IMAGE-DIFFERS"
    assert other in found.observed
    assert digest_of("ptx of double-again") in found.expected


def test_wgsl_is_the_source_that_the_plan_froze() -> None:
    assert ids(facts_with(chains__0__stages__1__loaded__0__sha256=digest_of("x"))) == ["CHAIN-IMAGE-DIFFERS"]


def test_every_image_that_a_stage_loaded_counts() -> None:
    loaded = [
        *facts_with()["chains"][0]["stages"][0]["loaded"],
        {"kind": "ptx", "sha256": digest_of("second")},
    ]
    assert ids(facts_with(chains__0__stages__0__loaded=loaded)) == ["CHAIN-IMAGE-DIFFERS"]


def test_a_stage_without_an_image_is_missed() -> None:
    assert ids(facts_with(chains__0__stages__0__loaded=[])) == ["CHAIN-RESULT-MISSING"]


def test_a_source_that_was_not_recorded_is_not_the_plans() -> None:
    assert ids(facts_with(sources=[])) == ["CHAIN-SOURCE-CHANGED"] * 3


@pytest.mark.parametrize(
    "change", [{"arch": "sm_90"}, {"kind": "cubin"}, {"chain": "other"}, {"stage": "other"}]
)
def test_only_ptx_of_the_lowest_architecture_is_the_stages(change: dict[str, str]) -> None:
    kernels = [{**each, **change} for each in objects(earlier_facts()["build"], "kernels")]
    case = make_case(facts={**earlier_facts(), "build": {"kernels": kernels}})
    assert ids(facts_with(), case) == []
    assert [name for name, _ in compiled_at_run_time(case, facts_with())] == [
        "pipeline/double",
        "pipeline/double-again",
    ]


def test_nothing_was_compiled_at_run_time_alone_where_build_recorded_it() -> None:
    assert compiled_at_run_time(CASE, facts_with()) == ()

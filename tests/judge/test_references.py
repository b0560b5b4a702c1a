"""Gate ``references`` judged: each cited document was there, or it is said why that is not known."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.case import Case
from assay.judge.catalogue import CATALOGUE
from assay.judge.catalogue.references import ENTRIES
from assay.judge.table import row
from assay.model import Outcome, outcome_of
from tests.judge.cases import JSON, ids, judged, make_case, paths_of, with_fact
from tests.plan.support import changed, plan_table

CITED = [
    {"title": "A guide", "url": "https://example.org/guide"},
    {"title": "A style", "url": "https://example.org/s"},
]
DIGEST = "a1" * 32


def document(url: str) -> dict[str, Any]:
    told = {"checked": "2026-11-30T19:00:00Z", "problem": "", "title": "A guide"}
    return {**told, "url": url, "status": 200, "sha256": DIGEST, "size": 12}


HEALTHY: dict[str, Any] = {"documents": [document(each["url"]) for each in CITED]}

FAULTS: list[tuple[str, object, list[str], Outcome]] = [
    ("documents.1.problem", "gave no answer", ["REFERENCES-OFFLINE"], Outcome.UNAVAILABLE),
    ("documents.1.status", 503, ["REFERENCES-BUSY"], Outcome.UNAVAILABLE),
    ("documents.1.status", 429, ["REFERENCES-BUSY"], Outcome.UNAVAILABLE),
    ("documents.1.status", 403, ["REFERENCES-BUSY"], Outcome.UNAVAILABLE),
    ("documents.1.status", 404, ["REFERENCES-GONE"], Outcome.FAILED),
    ("documents.1.status", 410, ["REFERENCES-GONE"], Outcome.FAILED),
    ("documents.1.status", ..., ["REFERENCES-UNCHECKED"], Outcome.ERROR),
    ("documents.1.sha256", "", ["REFERENCES-UNCHECKED"], Outcome.ERROR),
    ("documents.1.checked", "yesterday", ["REFERENCES-UNCHECKED"], Outcome.ERROR),
    ("documents.1.url", "https://example.org/other", ["REFERENCES-UNCHECKED"], Outcome.ERROR),
    ("documents", [], ["REFERENCES-UNCHECKED"] * 2, Outcome.ERROR),
]


def case() -> Case:
    return make_case(changed("reference", CITED))


@pytest.mark.gate
def test_nothing_is_found_where_every_document_was_there() -> None:
    assert judged(case(), "references", HEALTHY) == ()


@pytest.mark.gate
@pytest.mark.parametrize(("path", "value", "found", "outcome"), FAULTS)
def test_one_document_is_enough(path: str, value: object, found: list[str], outcome: Outcome) -> None:
    findings = judged(case(), "references", with_fact(HEALTHY, path, value))
    assert (ids(findings), outcome_of(findings)) == (found, outcome)


def test_a_plan_without_references_never_passes() -> None:
    assert ids(judged(make_case(plan_table()), "references", HEALTHY)) == ["REFERENCES-NONE"]


@given(st.sampled_from(paths_of(HEALTHY)), JSON)
def test_a_strangers_facts_give_findings_and_never_an_exception(path: str, value: object) -> None:
    findings = judged(case(), "references", with_fact(HEALTHY, path, value))
    assert all(finding.id in CATALOGUE for finding in findings)


def test_the_claim_names_each_document_with_its_date_and_digest() -> None:
    claim = row(case().plan, "references").claim(case(), HEALTHY)
    assert claim.startswith("the 2 cited documents were there: ")
    assert f"https://example.org/guide on 2026-11-30 (SHA-256 {DIGEST})" in claim


def test_every_finding_of_the_gate_is_raised_here() -> None:
    raised = {name for _, _, found, _ in FAULTS for name in found} | {"REFERENCES-NONE"}
    assert raised == {entry.id for entry in ENTRIES}

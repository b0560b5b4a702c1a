"""Command gates judged: exit code, findings of the command's own, and pytest's counts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.case import Case
from assay.judge.catalogue import CATALOGUE
from assay.judge.catalogue.command import ENTRIES
from assay.judge.table import row
from assay.model import Outcome, Severity, outcome_of
from tests.judge.cases import JSON, ids, judged, make_case, paths_of, with_fact
from tests.plan.support import changed

COMMANDS = [
    {"name": "lint", "argv": ["python", "-m", "ruff", "check"], "deadline": 60},
    {
        "name": "tests",
        "argv": ["python", "-m", "pytest", "-m", "gate"],
        "deadline": 90,
        "report": "pytest",
        "allowed-skips": ["tests/test_gpu.py::test_named"],
    },
]

NOTHING: dict[str, Any] = {"document": None, "problem": ""}
LINT: dict[str, Any] = {
    "program": "/bin/python",
    "exit": 0,
    "last_words": "",
    "findings": NOTHING,
    "tests": None,
}

COUNTS = {"passed": 5, "failed": 0, "errors": 0, "skipped": 1, "xfailed": 0, "xpassed": 0, "deselected": 40}
REPORT: dict[str, Any] = {
    "schema": "assay/pytest-report/1",
    "counts": COUNTS,
    "failed": [],
    "errors": [],
    "skipped": [{"id": "tests/test_gpu.py::test_named", "reason": "no GPU"}],
    "xfailed": [],
}
TESTS: dict[str, Any] = {**LINT, "tests": {"document": REPORT, "problem": ""}}


def own(severity: str = "failure", **changes: object) -> dict[str, Any]:
    """Return what a command may write to ASSAY_FINDINGS."""
    one = {"id": "LINT-LINE", "severity": severity, "observed": "a line is long", **changes}
    return {"document": {"schema": "assay/findings/1", "findings": [one]}, "problem": ""}


def counts(**changes: int) -> dict[str, int]:
    return {**COUNTS, **changes}


LINT_FAULTS: list[tuple[str, object, list[str]]] = [
    ("left", ["python -m server"], ["COMMAND-LEFT"]),
    ("held", True, ["COMMAND-UNENDED"]),
    ("abandoned", True, ["COMMAND-UNENDED"]),
    ("program", None, ["COMMAND-MISSING"]),
    ("program", ..., ["COMMAND-MISSING"]),
    ("exit", 1, ["COMMAND-FAILED"]),
    ("exit", -9, ["COMMAND-FAILED"]),
    ("exit", None, ["COMMAND-FAILED"]),
    ("exit", "timeout", ["GATE-DEADLINE"]),
    ("findings", own("failure"), ["COMMAND-REPORTED-FAILURE"]),
    ("findings", own("error"), ["COMMAND-REPORTED-ERROR"]),
    ("findings", own("unavailable"), ["COMMAND-REPORTED-UNAVAILABLE"]),
    ("findings", own("warning"), ["COMMAND-REPORTED-WARNING"]),
    ("findings.problem", "findings.json is not JSON", ["COMMAND-FINDINGS-INVALID"]),
]

INVALID: list[Any] = [
    [],
    "text",
    {"schema": "assay/findings/2", "findings": []},
    {"schema": "assay/findings/1", "findings": ["text"]},
    {"schema": "assay/findings/1", "findings": [{}] * 1001},
    own(id="lower-case")["document"],
    own(id="A" * 65)["document"],
    own(id="")["document"],
    own(severity="terrible")["document"],
    own(observed="")["document"],
    own(observed="x" * 4001)["document"],
    own(where=["x"] * 21)["document"],
    own(where="x")["document"],
    own(more="x")["document"],
    own(remedy=7)["document"],
]

TESTS_FAULTS: list[tuple[str, object, list[str]]] = [
    ("exit", 1, ["COMMAND-FAILED"]),
    ("tests", None, ["COMMAND-REPORT-MISSING"]),
    ("tests.document", None, ["COMMAND-REPORT-MISSING"]),
    ("tests.document.schema", "assay/pytest-report/2", ["COMMAND-REPORT-MISSING"]),
    ("tests.document.counts", ..., ["COMMAND-REPORT-MISSING"]),
    ("tests.document.counts.passed", -1, ["COMMAND-REPORT-MISSING"]),
    ("tests.problem", "pytest-report.json is too large", ["COMMAND-REPORT-MISSING"]),
    ("tests.document.counts.passed", 0, ["COMMAND-NOTHING-PASSED"]),
    ("tests.document.counts.failed", 1, ["COMMAND-TESTS-FAILED"]),
    ("tests.document.counts.errors", 2, ["COMMAND-TESTS-FAILED"]),
    ("tests.document.failed", ["tests/a.py::b"], ["COMMAND-TESTS-FAILED"]),
    ("tests.document.skipped.0.id", "tests/test_gpu.py::test_other", ["COMMAND-SKIPPED"]),
    ("tests.document.skipped.0.id", "tests/test_gpu.py::test_named[1]", ["COMMAND-SKIPPED"]),
    ("tests.document.counts.skipped", 2, ["COMMAND-SKIPPED"]),
    ("tests.document.xfailed", [{"id": "tests/a.py::b", "reason": "known"}], ["COMMAND-SKIPPED"]),
]


def case() -> Case:
    plan = changed("gates", ["environment", "toolkit", "provider", "build", "chain", "lint", "tests"])
    return make_case({**plan, "command": COMMANDS})


@pytest.mark.gate
@pytest.mark.parametrize(("gate", "facts"), [("lint", LINT), ("tests", TESTS)])
def test_nothing_is_found_where_all_is_well(gate: str, facts: dict[str, Any]) -> None:
    assert judged(case(), gate, facts) == ()


@pytest.mark.gate
@pytest.mark.parametrize(("path", "value", "found"), LINT_FAULTS)
def test_a_command_that_does_not_end_well_is_found(path: str, value: object, found: list[str]) -> None:
    assert ids(judged(case(), "lint", with_fact(LINT, path, value))) == found


@pytest.mark.gate
@pytest.mark.parametrize(("path", "value", "found"), TESTS_FAULTS)
def test_a_run_of_tests_that_shows_too_little_is_found(path: str, value: object, found: list[str]) -> None:
    findings = judged(case(), "tests", with_fact(TESTS, path, value))
    assert ids(findings) == found
    assert outcome_of(findings) is not Outcome.PASSED


@pytest.mark.gate
def test_a_run_in_which_everything_was_skipped_never_passes() -> None:
    report = with_fact(REPORT, "counts", counts(passed=0))
    findings = judged(case(), "tests", {**TESTS, "tests": {"document": report, "problem": ""}})
    assert ids(findings) == ["COMMAND-NOTHING-PASSED"]
    assert findings[0].observed == "0 passed, 1 skipped, 0 xfailed, 40 deselected"


def test_a_missing_report_matters_only_where_the_plan_asks_for_one() -> None:
    assert judged(case(), "lint", {**LINT, "tests": None}) == ()


@pytest.mark.parametrize("document", INVALID)
def test_findings_that_are_not_of_their_form_are_an_error(document: object) -> None:
    facts = {**LINT, "findings": {"document": document, "problem": ""}}
    findings = judged(case(), "lint", facts)
    assert (ids(findings), outcome_of(findings)) == (["COMMAND-FINDINGS-INVALID"], Outcome.ERROR)


def test_a_commands_own_finding_keeps_its_words() -> None:
    told = own(expected="80 columns", remedy="break it", where=["a.py:3"])
    (finding,) = judged(case(), "lint", {**LINT, "findings": told})
    assert (finding.id, finding.severity) == ("COMMAND-REPORTED-FAILURE", Severity.FAILURE)
    assert finding.observed == "LINT-LINE: a line is long"
    assert (finding.expected, finding.remedy, finding.where) == ("80 columns", "break it", ("a.py:3",))


def test_a_commands_own_finding_borrows_expectation_and_remedy() -> None:
    (finding,) = judged(case(), "lint", {**LINT, "findings": own()})
    entry = CATALOGUE["COMMAND-REPORTED-FAILURE"]
    assert (finding.expected, finding.remedy) == (entry.expected, entry.remedy)


def test_a_failing_command_still_has_its_findings_told() -> None:
    assert ids(judged(case(), "lint", {**LINT, "exit": 1, "findings": own()})) == [
        "COMMAND-FAILED",
        "COMMAND-REPORTED-FAILURE",
    ]


def test_the_last_words_of_a_failing_command_are_told() -> None:
    (finding,) = judged(case(), "lint", {**LINT, "exit": 1, "last_words": "a.py:3: E501"})
    assert finding.observed == "exit code 1; its last words:\na.py:3: E501"


@given(st.sampled_from(paths_of(TESTS)), JSON)
def test_a_strangers_facts_give_findings_and_never_an_exception(path: str, value: object) -> None:
    findings = judged(case(), "tests", with_fact(TESTS, path, value))
    assert all(finding.id in CATALOGUE for finding in findings)


@given(JSON)
def test_noise_as_findings_is_invalid_or_nothing(document: object) -> None:
    facts = {**LINT, "findings": {"document": document, "problem": ""}}
    assert ids(judged(case(), "lint", facts)) == ([] if document is None else ["COMMAND-FINDINGS-INVALID"])


@given(st.dictionaries(st.sampled_from(sorted(TESTS)), JSON))
def test_facts_that_are_noise_never_pass(facts: dict[str, Any]) -> None:
    assert judged(case(), "tests", facts) != ()


def test_the_row_of_a_command_comes_from_the_plan() -> None:
    found = row(case().plan, "tests")
    assert (found.name, found.title, found.needs, found.deadline_s) == (
        "tests",
        "run `python -m pytest -m gate`",
        (),
        90,
    )


def test_the_claims_are_what_was_seen() -> None:
    assert row(case().plan, "lint").claim(case(), LINT) == "`python -m ruff check` ended with 0"
    told = row(case().plan, "tests").claim(case(), TESTS)
    assert told == "`python -m pytest -m gate` ended with 0: 5 passed, 1 skipped, 40 deselected"


def test_every_finding_of_the_gate_is_raised_here() -> None:
    raised = {name for _, _, found in (*LINT_FAULTS, *TESTS_FAULTS) for name in found}
    assert raised - {"GATE-DEADLINE"} == {entry.id for entry in ENTRIES}

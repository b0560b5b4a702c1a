"""Gate ``installed`` judged: every project module came from the wheel that ``build`` recorded."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.case import Case
from assay.judge.catalogue import CATALOGUE
from assay.judge.catalogue.installed import ENTRIES
from assay.judge.table import row
from assay.model import Outcome, outcome_of
from tests.judge.cases import JSON, ids, judged, make_case, paths_of, with_fact
from tests.plan.support import plan_table

WHEEL = "a1" * 32
ONE, TWO = "b2" * 32, "c3" * 32


def module(name: str, path: str, sha256: str) -> dict[str, Any]:
    return {"name": name, "path": path, "inside": True, "sha256": sha256, "recorded": sha256}


HEALTHY: dict[str, Any] = {
    "wheel": {"name": "gpu_thing-1.0-py3-none-any.whl", "sha256": WHEEL},
    "selected": True,
    "absent": [],
    "overlay": {"version": "3.11.7", "problem": ""},
    "installer": {"how": "toolchain", "version": "pip 26.3", "problem": ""},
    "smoke": {"program": "python", "exit": 0, "last_words": "1.0"},
    "reports": 1,
    "modules": [module("thing", "thing/__init__.py", ONE), module("thing.a", "thing/a.py", TWO)],
}

FAULTS: list[tuple[str, object, list[str]]] = [
    ("wheel", None, ["INSTALLED-NO-WHEEL"]),
    ("wheel.sha256", TWO, ["INSTALLED-OTHER-WHEEL"]),
    ("selected", False, ["INSTALLED-NO-INTERPRETER"]),
    ("selected", ..., ["INSTALLED-NO-INTERPRETER"]),
    ("overlay.problem", "python3 ended with 1: No module named venv", ["INSTALLED-NO-OVERLAY"]),
    ("overlay", ..., ["INSTALLED-NO-OVERLAY"]),
    ("installer", None, ["INSTALLED-NO-INSTALLER"]),
    ("installer.problem", "pip ended with 1", ["INSTALLED-REFUSED"]),
    ("absent", ["extra"], ["INSTALLED-MODULE-ABSENT"]),
    ("smoke.program", None, ["INSTALLED-NO-COMMAND"]),
    ("smoke", ..., ["INSTALLED-NO-COMMAND"]),
    ("smoke.exit", 1, ["INSTALLED-SMOKE-FAILED"]),
    ("smoke.exit", ..., ["INSTALLED-SMOKE-FAILED"]),
    ("smoke.exit", -11, ["INSTALLED-SMOKE-FAILED"]),
    ("reports", 0, ["INSTALLED-UNSEEN"]),
    ("modules", [], ["INSTALLED-NOTHING-IMPORTED"]),
    ("modules.1.inside", False, ["INSTALLED-FOREIGN-MODULE"]),
    ("modules.1.inside", ..., ["INSTALLED-FOREIGN-MODULE"]),
    ("modules.1.recorded", "", ["INSTALLED-FOREIGN-MODULE"]),
    ("modules.1.sha256", ONE, ["INSTALLED-ALTERED-MODULE"]),
    ("modules.1.sha256", ..., ["INSTALLED-ALTERED-MODULE"]),
]


def case() -> Case:
    return make_case(facts={"build": {"wheel": {"sha256": WHEEL}}})


@pytest.mark.gate
def test_nothing_is_found_where_every_module_is_the_wheels() -> None:
    assert judged(case(), "installed", HEALTHY) == ()


@pytest.mark.gate
@pytest.mark.parametrize(("path", "value", "found"), FAULTS)
def test_one_fact_is_enough(path: str, value: object, found: list[str]) -> None:
    findings = judged(case(), "installed", with_fact(HEALTHY, path, value))
    assert ids(findings) == found
    assert outcome_of(findings) is not Outcome.PASSED


def test_a_wheel_that_build_did_not_record_is_another_one() -> None:
    assert ids(judged(make_case(), "installed", HEALTHY)) == ["INSTALLED-OTHER-WHEEL"]


def test_foreign_modules_are_named_up_to_ten_and_counted() -> None:
    modules = [{**module(f"thing.m{n}", f"/src/m{n}.py", ONE), "inside": False} for n in range(13)]
    (finding,) = judged(case(), "installed", {**HEALTHY, "modules": modules})
    assert finding.observed.startswith("thing.m0 from /src/m0.py, ")
    assert finding.observed.endswith("and 3 more")


@given(st.sampled_from(paths_of(HEALTHY)), JSON)
def test_a_strangers_facts_give_findings_and_never_an_exception(path: str, value: object) -> None:
    findings = judged(case(), "installed", with_fact(HEALTHY, path, value))
    assert all(finding.id in CATALOGUE for finding in findings)


@given(st.dictionaries(st.sampled_from(sorted(HEALTHY)), JSON))
def test_facts_that_are_noise_never_pass(facts: dict[str, Any]) -> None:
    assert judged(case(), "installed", facts) != ()


def test_the_claim_names_wheel_command_and_modules() -> None:
    claim = row(make_case(plan_table()).plan, "installed").claim
    assert claim(case(), HEALTHY) == (
        f"wheel gpu_thing-1.0-py3-none-any.whl (SHA-256 {WHEEL}), installed over the selection and away from "
        "its sources, ran `python -m thing`; all 2 modules of the project that it imported are the wheel's"
    )


def test_every_finding_of_the_gate_is_raised_here() -> None:
    assert {name for _, _, found in FAULTS for name in found} == {entry.id for entry in ENTRIES}

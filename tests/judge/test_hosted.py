"""Gate ``hosted``: what shows the chain inside Bun, and everything that does not."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.judge.hosted import ABI_FUNCTIONS, check, claim, judge
from assay.judge.reading import MalformedFacts
from assay.model import Outcome, outcome_of
from tests.judge.cases import JSON, ids, judged, paths_of, with_fact
from tests.judge.chainfacts import (
    CHILD_PID,
    Document,
    digest_of,
    earlier_facts,
    facts_with,
    make_case,
    mapped,
    plan_document,
    words,
)

SITE = "$SELECTION/lib/python3.12/site-packages"
PYTHON = {"base_prefix": "/usr", "prefix": "$SELECTION", "version": "3.12.1"}
VARIABLES = {"BUN_EXECUTABLE": "hosted/bun", "BUN_PYTHON_HOST_LIBRARY": "hosted/libassay_host.so"}
BUN = {"revision": "ab" * 20, "version": "1.4.4"}
TOLD = {"message": "größer", "traceback": 'Traceback:\n  File "a.py", line 1\nE', "type": "ValueError"}


def hosted_plan(*, single: bool = False) -> Document:
    """Return the chain's plan with gate ``hosted``; ``single`` lets the last stage begin with the values."""
    plan = plan_document()
    plan["gates"] = [*plan["gates"], "hosted"]
    if single:
        plan["kernels"]["pipeline"]["stage"][2]["input"] = "values"
    return plan


def before() -> dict[str, Any]:
    """Return what the gates before it recorded."""
    facts: dict[str, Any] = earlier_facts()
    selected = {name: {"sha256": digest_of(file)} for name, file in VARIABLES.items()}
    environment = facts["environment"]
    facts["environment"] = {
        "interpreter": PYTHON,
        "selected": {**environment["selected"], **selected},
        "site_packages": [{"path": SITE}],
    }
    facts["build"] = {**facts["build"], "host": {"sha256": digest_of(VARIABLES["BUN_PYTHON_HOST_LIBRARY"])}}
    return facts


def hosted_facts() -> Document:
    """Return the facts of a run inside Bun in which everything is right."""
    facts = facts_with()
    own = [mapped(f"$SELECTION/{file}", digest_of(file)) for file in VARIABLES.values()]
    facts["mapped"] = [*(each for each in facts["mapped"] if "bin/python" not in each["path"]), *own]
    facts["child"]["pid"] = CHILD_PID
    numpy = {"file": f"{SITE}/numpy/__init__.py", "version": "2.4.6"}
    steps = {
        "bun": {
            "kind": "function",
            "pid": CHILD_PID,
            "revision": "ab" * 20,
            "same": True,
            "version": "1.4.4",
        },
        "opened": {"abi": 1},
        "python": {**PYTHON, "executable": "p", "numpy": numpy, "path": [SITE], "pid": CHILD_PID},
        "second": {"code": "already-open", "message": "a CPython runs"},
        "chain": {"exit": 0},
        "gpu": {"echoed": True, "results": []},
        "closed": {"received": 10, "sent": 20, "unraisable": []},
    }
    scripts = [{"name": "main.ts", "sha256": digest_of("main.ts"), "size": 1}]
    hosted = {"exports": list(ABI_FUNCTIONS), "problem": "", "scripts": scripts, "steps": steps}
    return {**facts, "hosted": hosted}


FACTS = hosted_facts()
CASE = make_case(plan=hosted_plan(), facts=before())

WRONG: dict[str, tuple[str, object, str]] = {
    "two constructors": ("hosted.steps.bun.same", False, "HOSTED-CONSTRUCTOR"),
    "no constructor": ("hosted.steps.bun.kind", "undefined", "HOSTED-CONSTRUCTOR"),
    "another process of Bun's": ("hosted.steps.bun.pid", 1, "HOSTED-PROCESS"),
    "another process of Python's": ("hosted.steps.python.pid", 1, "HOSTED-PROCESS"),
    "another process of the chain's": ("child.pid", 1, "HOSTED-PROCESS"),
    "another ABI": ("hosted.steps.opened.abi", 2, "HOSTED-LIBRARY-ABI"),
    "a function less": ("hosted.exports", list(ABI_FUNCTIONS[1:]), "HOSTED-LIBRARY-ABI"),
    "a second host": ("hosted.steps.second.code", "", "HOSTED-SECOND"),
    "another version": ("hosted.steps.python.version", "3.12.2", "HOSTED-PYTHON-OTHER"),
    "another prefix": ("hosted.steps.python.prefix", "/opt", "HOSTED-PYTHON-OTHER"),
    "another base": ("hosted.steps.python.base_prefix", "/opt", "HOSTED-PYTHON-OTHER"),
    "no site-packages": ("hosted.steps.python.path", [], "HOSTED-PYTHON-OTHER"),
    "another NumPy": ("hosted.steps.python.numpy.file", "/opt/numpy/__init__.py", "HOSTED-NUMPY"),
    "a way out": ("hosted.steps.python.numpy.file", f"{SITE}/../numpy.py", "HOSTED-NUMPY"),
    "changed text": ("hosted.steps.gpu.echoed", False, "HOSTED-JSON"),
    "no end": ("hosted.steps.closed", ..., "HOSTED-CLOSE"),
    "no word of the chain": ("hosted.steps.chain", ..., "HOSTED-REPORT"),
    "no report": ("hosted.problem", "it is too long", "HOSTED-REPORT"),
    "a destructor": ("hosted.steps.closed.unraisable", [TOLD], "HOSTED-UNRAISABLE"),
    "an exception": ("hosted.steps.exception", TOLD, "HOSTED-EXCEPTION"),
    "no start": ("hosted.steps.refused", {"code": "start", "message": "no"}, "HOSTED-START"),
    "a refusal unheard of": ("hosted.steps.refused", {"code": "x", "message": ""}, "HOSTED-START"),
    "another libpython": ("hosted.steps.refused", {"code": "libpython-version"}, "HOSTED-LIBPYTHON"),
    "no library": ("hosted.steps.refused", {"code": "host-load"}, "HOSTED-LIBRARY-LOAD"),
    "nothing mapped of Bun": ("mapped", FACTS["mapped"][:-2], "HOSTED-MAPPED"),
    "nothing mapped of the host": ("mapped", FACTS["mapped"][:-1], "HOSTED-MAPPED"),
    "a wrong value of the chain": ("chains.0.stages.0.canonical.3", "40000000", "CHAIN-VALUE-WRONG"),
    "not isolated": ("child.hello.flags.no_user_site", 0, "CHAIN-ISOLATION"),
    "a killed child": ("child.ended.reason", "exited", "CHAIN-CHILD-EXITED"),
}


@pytest.mark.gate
def test_the_chain_inside_bun_passes() -> None:
    assert judged(CASE, "hosted", FACTS) == ()


@pytest.mark.parametrize(("path", "value", "entry"), WRONG.values(), ids=WRONG)
def test_what_shows_less_is_a_finding(path: str, value: object, entry: str) -> None:
    found = judge(CASE, with_fact(FACTS, path, value))
    assert entry in ids(found)
    assert outcome_of(found) is not Outcome.PASSED


def test_the_host_library_is_the_one_that_build_recorded() -> None:
    facts = before()
    facts["build"]["host"]["sha256"] = digest_of("another")
    assert ids(judge(make_case(plan=hosted_plan(), facts=facts), FACTS)) == ["HOSTED-MAPPED"]


def test_single_kernels_give_what_their_stage_must() -> None:
    case = make_case(plan=hosted_plan(single=True), facts=before())
    right = {"chain": "pipeline", "stage": "double-again", "values": words(2 * x for x in range(37))}

    def found(*results: object) -> list[str]:
        told = ids(judge(case, with_fact(FACTS, "hosted.steps.gpu.results", list(results))))
        return [each for each in told if each.startswith("HOSTED-")]

    assert found(right) == []
    assert found() == ["HOSTED-GPU-VALUE"]
    assert found({**right, "stage": "add-one"}) == ["HOSTED-GPU-VALUE"]
    assert found({**right, "values": [*right["values"][:-1], "00000000"]}) == ["HOSTED-GPU-VALUE"]
    assert found({**right, "values": right["values"][:-1]}) == ["HOSTED-GPU-VALUE"]


def test_an_exception_names_its_place() -> None:
    (found,) = judge(CASE, with_fact(FACTS, "hosted.steps.closed.unraisable", [TOLD]))
    assert found.observed == 'ValueError: größer (File "a.py", line 1)'


def test_what_was_not_started_says_what_lacks() -> None:
    (found,) = judge(CASE, {"chains": [], "lacking": ["BUN_EXECUTABLE"], "not_run": "no-selection"})
    assert (found.id, outcome_of((found,))) == ("HOSTED-NOT-RUN", Outcome.UNAVAILABLE)
    assert "BUN_EXECUTABLE" in found.observed


def test_the_claim_names_bun_and_the_host_transfers() -> None:
    said = claim(CASE, FACTS)
    bun = digest_of(VARIABLES["BUN_EXECUTABLE"])
    assert f"the process of Bun 1.4.4 (revision {'ab' * 20}, SHA-256 {bun})" in said
    assert f"a host library of SHA-256 {digest_of(VARIABLES['BUN_PYTHON_HOST_LIBRARY'])}" in said
    assert said.endswith("every value is a host transfer as JSON (20 and 10 characters in this run)")


@pytest.mark.parametrize(
    "path",
    [
        *(
            "problem",
            "scripts",
            "steps.bun.pid",
            "steps.bun.revision",
            "steps.bun.version",
            "steps.second.code",
        ),
        *("steps.python.executable", "steps.python.numpy.version", "steps.opened.abi", "steps.closed.sent"),
        *("steps.closed.unraisable", "steps.gpu"),
    ],
)
def test_what_the_claim_rests_on_must_be_recorded(path: str) -> None:
    check(CASE, FACTS)
    with pytest.raises(MalformedFacts):
        check(CASE, with_fact(FACTS, f"hosted.{path}", ...))


@settings(max_examples=40)
@given(st.sampled_from(paths_of({"hosted": FACTS["hosted"]})), JSON)
def test_facts_of_any_form_are_judged(path: str, value: object) -> None:
    facts = with_fact(FACTS, path, value)
    judged(CASE, "hosted", facts)
    claim(CASE, facts)

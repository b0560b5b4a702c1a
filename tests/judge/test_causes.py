"""Causes: what follows from what, each finding once, the worst and the widest first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.judge.catalogue import CATALOGUE
from assay.judge.causes import Cause, by_cause
from assay.model import Finding, Severity

EXPLAINS = {"A": ("B",), "B": ("C",), "D": ("C", "E"), "X": ("Y",), "Y": ("X",)}


def found(name: str, said: str = "", severity: Severity = Severity.FAILURE) -> Finding:
    """Return a finding."""
    return Finding(name, severity, said, "e", "r", ())


def ids(causes: tuple[Cause, ...]) -> list[tuple[str, list[str]]]:
    """Return each root's id with those beneath it."""
    return [(cause.finding.id, [each.finding.id for each in cause.consequences]) for cause in causes]


def test_what_follows_lies_beneath_its_cause_whichever_gate_found_it() -> None:
    causes = by_cause({"one": [found("B")], "two": [found("A"), found("Z")]}, EXPLAINS)
    assert ids(causes) == [("A", ["B"]), ("Z", [])]
    assert causes[0].consequences[0].gates == ("one",)


def test_it_follows_through_what_was_not_found() -> None:
    assert ids(by_cause({"one": [found("A"), found("C")]}, EXPLAINS)) == [("A", ["C"])]


def test_without_its_cause_a_finding_stands_on_its_own() -> None:
    assert ids(by_cause({"one": [found("C"), found("E")]}, EXPLAINS)) == [("C", []), ("E", [])]


def test_what_has_two_causes_goes_under_the_first_in_order() -> None:
    causes = by_cause({"one": [found("A"), found("C"), found("D"), found("E")]}, EXPLAINS)
    assert ids(causes) == [("D", ["C", "E"]), ("A", [])]


def test_what_one_cause_explains_directly_is_not_anothers_through_a_third() -> None:
    explains = {"A": ("M",), "M": ("C",), "D": ("C",)}
    causes = by_cause({"one": [found("A"), found("B"), found("C"), found("D")]}, explains)
    assert ids(causes) == [("D", ["C"]), ("A", []), ("B", [])]


def test_failures_come_before_errors_before_what_is_missing_before_warnings() -> None:
    one = [found(severity.value, severity=severity) for severity in reversed(Severity)]
    assert [cause.severity for cause in by_cause({"one": one}, {})] == list(Severity)


def test_a_cause_weighs_as_much_as_the_worst_that_follows_from_it() -> None:
    one = [found("Z"), found("A", severity=Severity.WARNING), found("B")]
    causes = by_cause({"one": one}, EXPLAINS)
    assert ids(causes) == [("A", ["B"]), ("Z", [])]
    assert causes[0].severity is Severity.FAILURE


def test_the_same_of_several_things_is_one_cause() -> None:
    causes = by_cause({"one": [found("A", "first"), found("Z"), found("A", "second")]}, EXPLAINS)
    assert ids(causes) == [("A", []), ("Z", [])]
    assert [each.finding.observed for each in causes[0].again] == ["second"]


def test_what_two_gates_found_alike_is_named_with_both() -> None:
    causes = by_cause({"one": [found("A")], "two": [found("A")], "three": [found("A")]}, EXPLAINS)
    assert [(cause.gates, cause.again) for cause in causes] == [(("one", "two", "three"), ())]


def test_a_gate_that_could_not_run_goes_under_what_kept_it() -> None:
    causes = by_cause(
        {"one": [found("A")], "two": [found("Z")]}, EXPLAINS, {"late": ("two",), "later": ("late",)}
    )
    assert [(cause.finding.id, cause.blocked) for cause in causes] == [("A", ()), ("Z", ("late", "later"))]


NAMES = st.sampled_from(["A", "B", "C", "D", "E", "F", "G"])
GRAPHS = st.dictionaries(NAMES, st.lists(NAMES, max_size=3).map(tuple), max_size=7)
FOUND = st.dictionaries(
    st.sampled_from(["one", "two", "three"]),
    st.lists(
        st.tuples(NAMES, st.sampled_from("xy"), st.sampled_from(list(Severity))).map(lambda of: found(*of)),
        max_size=6,
    ),
)


@given(FOUND, GRAPHS.map(lambda graph: {a: tuple(b for b in to if b > a) for a, to in graph.items()}))
def test_every_finding_stands_exactly_once(
    findings: dict[str, list[Finding]], explains: dict[str, tuple[str, ...]]
) -> None:
    causes = by_cause(findings, explains)
    shown = [
        each
        for cause in causes
        for each in (cause.finding, *(other.finding for other in (*cause.again, *cause.consequences)))
    ]
    assert len(shown) == len(set(shown))
    assert set(shown) == {each for several in findings.values() for each in several}


def test_the_catalogue_explains_only_what_it_has_and_nothing_by_itself() -> None:
    for entry in CATALOGUE.values():
        assert {*entry.explains} <= set(CATALOGUE), entry.id
        assert entry.id not in _after(entry.id), entry.id


def _after(name: str) -> set[str]:
    """Return all that follows from a finding, itself where it comes round to it."""
    after, waiting = set[str](), [name]
    while waiting:
        fresh = set(CATALOGUE[waiting.pop()].explains) - after
        after |= fresh
        waiting += fresh
    return after

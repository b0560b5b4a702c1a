"""Long lists leave the receipt and come back; what is judged in the run is what every reader judges."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError, GateError, NewerSchemaError
from assay.evidence.facts import expand, settle, spill
from assay.evidence.names import MAX_LIST
from assay.model import Facts, Json

LONG: Json = [f"{n:08x}" for n in range(MAX_LIST + 1)]
LEAVES = st.none() | st.booleans() | st.integers(-9, 9) | st.text("abc", max_size=3)
LISTS = st.integers(MAX_LIST - 1, MAX_LIST + 2).map(lambda size: [*range(size)])
VALUES = st.recursive(
    LEAVES | LISTS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("abc", max_size=2), inner, max_size=3)
    ),
    max_leaves=6,
)


def refused(facts: Facts, artifacts: dict[str, bytes], problem: str) -> BundleError:
    with pytest.raises(BundleError) as caught:
        expand(facts, artifacts.__getitem__, member="chain.json")
    assert problem in caught.value.observed
    return caught.value


@pytest.mark.gate
@given(st.dictionaries(st.text("abc", max_size=3), VALUES, max_size=4))
def test_what_was_spilled_comes_back(facts: dict[str, Json]) -> None:
    short, artifacts = spill(facts)
    assert expand(short, artifacts.__getitem__) == settle(facts)
    assert all(hashlib.sha256(data).hexdigest() == name for name, data in artifacts.items())


@pytest.mark.gate
def test_only_a_list_over_the_bound_becomes_an_artifact() -> None:
    short, artifacts = spill({"stages": [{"fresh": LONG, "canonical": LONG[:-1]}]})  # type: ignore[index]  # it is a list
    (sha256,) = artifacts
    assert short == {"stages": [{"canonical": LONG[:-1], "fresh": {"entries": 1001, "list_sha256": sha256}}]}  # type: ignore[index]  # as above
    assert canonical.loads(artifacts[sha256]) == {"entries": LONG, "schema": "assay/list/1"}


def test_a_list_inside_a_long_list_stays_there() -> None:
    facts: Facts = {"outer": [LONG, *range(MAX_LIST)]}
    short, artifacts = spill(facts)
    assert len(artifacts) == 1
    assert expand(short, artifacts.__getitem__) == facts


def test_equal_lists_are_kept_once() -> None:
    assert len(spill({"a": LONG, "b": LONG})[1]) == 1


def test_settling_gives_what_a_reader_sees() -> None:
    assert settle({"b": (1, 2), "a": {"d": 1, "c": ()}}) == {"a": {"c": [], "d": 1}, "b": [1, 2]}
    assert list(settle({"b": 1, "a": 2})) == ["a", "b"]


UNSETTLED: dict[str, tuple[Facts, str]] = {
    "float": ({"a": [1.5]}, "facts: a.0: is of type float"),  # type: ignore[list-item]  # what a gate must not give
    "surrogate": ({"a": "\udc80"}, "facts: a: has a lone surrogate"),
    "reference": ({"a": [{"list_sha256": "x"}]}, "facts: a.0 has a key list_sha256"),
    "too much": ({"a": ["x" * (9 << 20)]}, "at most"),
    "too many": ({"a": [[0] * 999] * 300}, "values"),
}


@pytest.mark.parametrize(("facts", "problem"), UNSETTLED.values(), ids=UNSETTLED)
def test_facts_that_could_not_be_read_again_are_refused(facts: Facts, problem: str) -> None:
    for function in (settle, spill):
        with pytest.raises(GateError) as caught:
            function(facts)
        assert problem in str(caught.value)


def _reference(data: bytes, entries: Json = 1001) -> tuple[Facts, dict[str, bytes]]:
    sha256 = hashlib.sha256(data).hexdigest()
    return {"a": {"b": [{"entries": entries, "list_sha256": sha256}]}}, {sha256: data}


def _list(entries: Json, schema: str = "assay/list/1") -> bytes:
    return canonical.dumps({"entries": entries, "schema": schema})


@pytest.mark.parametrize("entries", [1000, 1002, "1001", None, True, -1])
def test_a_reference_with_another_count_is_refused(entries: Json) -> None:
    error = refused(*_reference(_list(LONG), entries), f"names {entries} entries of a list of 1001")
    assert (error.member, error.field) == ("chain.json", "facts.a.b.0")


BROKEN: dict[str, tuple[bytes, str]] = {
    "short list": (_list([1]), "entries of a list of 1"),
    "no list": (_list("x" * 1001), "is not a list"),
    "no object": (canonical.dumps(LONG), "is not an object"),
    "more fields": (canonical.dumps({"entries": LONG, "schema": "assay/list/1", "x": 1}), "is not a list"),
    "not canonical": (_list(LONG) + b"\n", "is not canonical"),
    "other schema": (_list(LONG, "assay/receipt/1"), "schema: is 'assay/receipt/1'"),
    "not JSON": (b"\xff", "is not UTF-8"),
}


@pytest.mark.gate
@pytest.mark.parametrize(("data", "problem"), BROKEN.values(), ids=BROKEN)
def test_broken_lists_are_refused(data: bytes, problem: str) -> None:
    refused(*_reference(data), problem)


def test_a_list_of_a_newer_schema_asks_for_an_update() -> None:
    facts, artifacts = _reference(_list(LONG, "assay/list/2"))
    assert isinstance(refused(facts, artifacts, "assay/list/2"), NewerSchemaError)


@pytest.mark.parametrize("sha256", ["", "A" * 64, "../x", 7, None, ["a"]])
def test_a_reference_to_no_digest_is_refused(sha256: Json) -> None:
    refused({"a": {"entries": 1001, "list_sha256": sha256}}, {}, "is no reference")


def test_a_reference_with_other_fields_is_refused() -> None:
    refused({"a": {"list_sha256": "a" * 64}}, {}, "is no reference")
    refused({"a": {"entries": 1001, "list_sha256": "a" * 64, "x": 1}}, {}, "is no reference")


def test_a_long_list_in_a_receipt_is_refused() -> None:
    error = refused({"a": [LONG]}, {}, "has 1001 entries")
    assert error.field == "facts.a.0"


def test_lists_together_are_bounded_whatever_names_them() -> None:
    artifacts: dict[str, bytes] = {}
    facts: dict[str, Json] = {}
    for number in range(10):
        data = _list([f"{number}-{n:060}" for n in range(10_000)])
        sha256 = hashlib.sha256(data).hexdigest()
        artifacts[sha256] = data
        facts[f"a{number}"] = {"entries": 10_000, "list_sha256": sha256}
    refused(facts, artifacts, "is one list too many")
    one = next(iter(facts.values()))
    many = expand({f"a{n}": one for n in range(5000)}, artifacts.__getitem__)
    assert len({id(entries) for entries in many.values()}) == 1

"""Canonical JSON: RFC 8785's own examples in the domain without floats, and a reader that trusts nothing."""

from __future__ import annotations

import json
import string
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.errors import BundleError, CanonicalError, NewerSchemaError
from assay.model import Json, Outcome

EDGE = 2**53 - 1

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-EDGE, EDGE)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), max_size=4)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)

# Inputs and outputs of RFC 8785, section 3.2.2 and 3.2.3, and of the test data that its appendix names; a
# number with a fraction is left out, and 56.0 is written as the integer that it is.
VECTORS = {
    "sorting (3.2.3)": (
        (
            r'{"\u20ac":"Euro Sign","\r":"Carriage Return","\ufb33":"Hebrew Letter Dalet","1":"One",'
            r'"\ud83d\ude00":"Emoji: Grinning Face","\u0080":"Control","\u00f6":"Latin Small Letter O"}'
        ),
        (
            '{"\\r":"Carriage Return","1":"One","\u0080":"Control","ö":"Latin Small Letter O",'
            '"€":"Euro Sign","😀":"Emoji: Grinning Face","\ufb33":"Hebrew Letter Dalet"}'
        ),
    ),
    "strings and literals (3.2.2)": (
        r'{"string": "\u20ac$\u000F\u000aA\u0027\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}',
        '{"literals":[null,true,false],"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    ),
    "structures": (
        '{"1":{"f":{"f":"hi","F":5},"\\n":56},"10":{},"":"empty","a":{},"111":[{"e":"yes","E":"no"}],"A":{}}',
        '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{"E":"no","e":"yes"}],"A":{},"a":{}}',
    ),
    "french": (
        (
            '{"peach":"This sorting order","péché":"is wrong according to French",'
            '"pêche":"but canonicalization MUST","sin":"ignore locale"}'
        ),
        (
            '{"peach":"This sorting order","péché":"is wrong according to French",'
            '"pêche":"but canonicalization MUST","sin":"ignore locale"}'
        ),
    ),
    "unicode is not normalized": (
        '{"Unnormalized Unicode":"A\\u030a"}',
        '{"Unnormalized Unicode":"A\u030a"}',
    ),
    "weird": (
        (
            r'{"\u20ac":"Euro Sign","\r":"Carriage Return","\u000a":"Newline","1":"One","\u0080":"Control",'
            r'"\ud83d\ude02":"Smiley","\u00f6":"Latin","\ufb33":"Hebrew","</script>":"Browser Challenge"}'
        ),
        (
            '{"\\n":"Newline","\\r":"Carriage Return","1":"One","</script>":"Browser Challenge",'
            '"\u0080":"Control","ö":"Latin","€":"Euro Sign","😂":"Smiley","\ufb33":"Hebrew"}'
        ),
    ),
}


@pytest.mark.gate
@pytest.mark.parametrize(("given_text", "right"), VECTORS.values(), ids=VECTORS)
def test_examples_of_rfc_8785(given_text: str, right: str) -> None:
    value = canonical.parse(given_text.encode())
    assert canonical.dumps(value) == right.encode()
    assert canonical.loads(right.encode()) == value


def test_control_characters_have_the_escapes_of_rfc_8785() -> None:
    short = {8: r"\b", 9: r"\t", 10: r"\n", 12: r"\f", 13: r"\r"}
    for code in range(0x20):
        right = short.get(code, f"\\u{code:04x}")
        assert canonical.dumps(chr(code)) == f'"{right}"'.encode()


@given(VALUES)
def test_what_is_written_is_read_again_and_any_json_reader_agrees(value: Json) -> None:
    data = canonical.dumps(value)
    assert canonical.loads(data) == value
    assert json.loads(data) == value


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.just(0), max_size=8))
def test_keys_stand_in_the_order_of_their_utf_16_code_units(value: dict[str, int]) -> None:
    keys = list(json.loads(canonical.dumps(value)))
    widths = [key.encode("utf-16-be") for key in keys]
    assert widths == sorted(widths)
    assert set(keys) == set(value)


@given(VALUES, st.data())
def test_any_other_spelling_is_refused(value: Json, data: st.DataObject) -> None:
    spelled = canonical.dumps(value)
    at = data.draw(st.integers(0, len(spelled) - 1))
    changed = (
        spelled[:at]
        + bytes([data.draw(st.integers(0, 255).filter(lambda b: b != spelled[at]))])
        + spelled[at + 1 :]
    )
    try:
        found = canonical.loads(changed)
    except BundleError:
        return
    assert canonical.dumps(found) == changed


REFUSED = {
    "empty": (b"", "not JSON"),
    "two values": (b"1 2", "not JSON"),
    "byte order mark": (b"\xef\xbb\xbf1", "not JSON"),
    "float": (b"1.5", "number 1.5"),
    "exponent": (b"1e3", "number 1e3"),
    "float with zero": (b"[1.0]", "number 1.0"),
    "NaN": (b"NaN", "NaN"),
    "infinity": (b"-Infinity", "-Infinity"),
    "2**53": (b"9007199254740992", "9007199254740992"),
    "-2**53": (b"-9007199254740992", "9007199254740992"),
    "a million digits": (b"9" * 1_000_000, "has the integer 999"),
    "leading zero": (b"01", "not JSON"),
    "minus zero": (b"-0", "not canonical"),
    "doubled key": (b'{"a":1,"a":1}', "the key 'a' twice"),
    "doubled key, spelled apart": (b'{"a":1,"\\u0061":2}', "the key 'a' twice"),
    "lone surrogate": (b'"\\ud800"', "lone surrogate"),
    "lone surrogate as key": (b'{"\\udfff":1}', "lone surrogate"),
    "surrogate in UTF-8": (b'"\xed\xa0\x80"', "not UTF-8"),
    "overlong UTF-8": (b'"\xc0\xaf"', "not UTF-8"),
    "UTF-16": ("{}".encode("utf-16"), "not UTF-8"),
    "space": (b"[1, 2]", "not canonical JSON from byte 3"),
    "trailing newline": (b"{}\n", "not canonical"),
    "unsorted": (b'{"b":1,"a":2}', "not canonical JSON from byte 2"),
    "long escape": (b'"\\u0041"', "not canonical"),
    "upper-case escape": (b'"\\u000F"', "not canonical"),
    "escaped slash": (b'"\\/"', "not canonical"),
    "raw control character": (b'"\x01"', "not JSON"),
    "33 levels": (b"[" * 33 + b"]" * 33, "nested too deeply"),
    "half a million levels": (b"[" * 100_000, "nested too deeply"),
    "open string": (b'"abc', "not JSON"),
    "comment": (b"{}//", "not JSON"),
}


@pytest.mark.gate
@pytest.mark.parametrize(("data", "problem"), REFUSED.values(), ids=REFUSED)
def test_hostile_documents_are_refused_with_their_member(data: bytes, problem: str) -> None:
    with pytest.raises(BundleError, match=r"^chain\.json: ") as caught:
        canonical.loads(data, member="chain.json")
    assert problem in caught.value.observed
    assert caught.value.member == "chain.json"


def test_bounds_hold_before_anything_is_parsed() -> None:
    assert canonical.loads(b"[" * 32 + b"]" * 32)
    with pytest.raises(BundleError, match="at most 10 bytes"):
        canonical.loads(b'"aaaaaaaaaaa"', limit=10)
    with pytest.raises(BundleError, match="has up to 5 values"):
        canonical.loads(b"[1,2,3,4,5]", nodes=4)


UNWRITABLE = {
    "float": ({"a": [0, {"b": 1.5}]}, "a.1.b: is of type float"),
    "bytes": ({"a": b""}, "a: is of type bytes"),
    "large": ([EDGE + 1], "0: is an integer of 2^53 or more"),
    "small": ([-EDGE - 1], "0: is an integer of 2^53 or more"),
    "surrogate": ({"a": "\ud800"}, "a: has a lone surrogate"),
    "surrogate key": ({"\udc00": 1}, "the value has a lone surrogate in a key"),
    "number as key": ({1: 2}, "the value has a key of type int"),
    "set": ({"a": {1}}, "a: is of type set"),
}


@pytest.mark.parametrize(("value", "problem"), UNWRITABLE.values(), ids=UNWRITABLE)
def test_what_has_no_canonical_form_is_named_by_its_path(value: Json, problem: str) -> None:
    with pytest.raises(CanonicalError) as caught:
        canonical.dumps(value)
    assert caught.value.observed.startswith(problem)


def test_a_loop_ends_as_too_deep() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(CanonicalError, match="nested too deeply"):
        canonical.dumps(loop)


def test_mappings_tuples_and_string_enums_are_written_as_what_they_are() -> None:
    value = MappingProxyType({"b": (1, 2), "a": Outcome.PASSED})
    assert canonical.dumps(value) == b'{"a":"passed","b":[1,2]}'


def test_digest_is_of_the_canonical_bytes() -> None:
    # printf '{"a":1}' | sha256sum
    assert canonical.digest({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"


def test_objects_are_read_with_their_schema() -> None:
    data = b'{"a":1,"schema":"assay/receipt/1"}'
    assert canonical.read_object(data, "receipt", member="m") == {"a": 1}
    with pytest.raises(BundleError, match="m: is not an object"):
        canonical.read_object(b"[]", "receipt", member="m")


@pytest.mark.parametrize(
    "schema", ["assay/plan/1", "assay/receipt/0", "assay/receipt/01", "x", "", "assay/receipt/", None, 1]
)
def test_another_schema_is_invalid(schema: str | int | None) -> None:
    with pytest.raises(BundleError, match=r"^m: schema: ") as caught:
        canonical.check_schema(schema, "receipt", member="m")
    assert not isinstance(caught.value, NewerSchemaError)


@pytest.mark.gate
@pytest.mark.parametrize("version", [2, 10, 999_999_999])
def test_a_newer_schema_asks_for_an_update(version: int) -> None:
    with pytest.raises(NewerSchemaError) as caught:
        canonical.check_schema(f"assay/receipt/{version}", "receipt", member="m")
    assert caught.value.remedy == "update assay"
    assert caught.value.exit_code == 3


@given(st.binary(max_size=40) | st.text(string.printable, max_size=40).map(str.encode))
def test_any_bytes_give_a_value_or_a_bundle_error(data: bytes) -> None:
    try:
        value = canonical.loads(data)
    except BundleError:
        return
    assert canonical.dumps(value) == data

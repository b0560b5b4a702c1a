"""JSON as the chain writes and reads it."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.chain import document
from assay.chain.failures import RequestError

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-document.GREATEST, document.GREATEST) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_what_is_written_is_read_back(value: object) -> None:
    assert document.loads(document.dumps(value)) == value


@given(VALUES)
def test_any_json_reader_reads_the_same(value: object) -> None:
    assert json.loads(document.dumps(value)) == value


@given(VALUES)
def test_a_document_is_one_line(value: object) -> None:
    assert b"\n" not in document.dumps(value)


def test_keys_are_sorted_and_tuples_are_lists() -> None:
    assert document.dumps({"b": (1, 2), "a": None}) == b'{"a":null,"b":[1,2]}'


@pytest.mark.parametrize(
    "value", [1.0, float("nan"), {"a": [0.5]}, b"bytes", {1, 2}, 2**53, -(2**53), object()]
)
def test_what_has_no_form_is_refused(value: object) -> None:
    with pytest.raises(TypeError):
        document.dumps(value)


def test_a_path_in_another_encoding_is_written_with_escapes() -> None:
    assert json.loads(document.dumps("/tmp/\udcff")) == "/tmp/\\udcff"  # noqa: S108  # a text, not a folder in use


def test_nesting_is_bounded() -> None:
    value: object = 0
    for _ in range(document.DEEPEST):
        value = [value]
    assert document.loads(document.dumps(value)) == value
    with pytest.raises(TypeError, match="nests deeper"):
        document.dumps([value])


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff", b'{"a":1.0}', b'{"a":NaN}', b'{"a":1e3}', b'{"a":1,"a":2}', b"[1] 2", b"9" * 5000],
)
def test_what_is_not_a_document_is_refused(data: bytes) -> None:
    with pytest.raises(RequestError):
        document.loads(data)


def test_nesting_past_the_interpreter_is_refused() -> None:
    with pytest.raises(RequestError):
        document.loads(b"[" * 100_000)


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with contextlib.suppress(RequestError):
        document.dumps(document.loads(data))


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    document.write(tmp_path / "result.json", {"a": 1})
    assert (tmp_path / "result.json").read_bytes() == b'{"a":1}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]


def test_a_write_that_fails_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "result.json"
    document.write(target, {"a": 1})
    with pytest.raises(TypeError):
        document.write(target, {"a": 0.5})
    assert target.read_bytes() == b'{"a":1}\n'
    assert [path.name for path in tmp_path.iterdir()] == ["result.json"]

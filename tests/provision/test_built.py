from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import StorageError
from assay.provision.built import Provenance, built_wheels, not_older, read_record, record, record_path
from assay.provision.interpreter import Interpreter

SDIST = "5" * 64
MADE = Provenance(SDIST, "cp312", "x86_64", "glibc 2.36", 13000, "g++ 99.88.77")
HERE = Interpreter(
    executable=sys.executable,
    version="3.12.3",
    abi="cp312",
    machine="x86_64",
    libc="glibc 2.39",
    base="/usr/bin/python3.12",
    include="/usr/include/python3.12",
    headers=True,
    libpython="",
    modules=("venv", "ensurepip"),
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
numbers = st.integers(0, 2**40)
provenances = st.builds(Provenance, texts, texts, texts, texts, numbers, texts, numbers)


@pytest.fixture
def wheel(tmp_path: Path) -> Path:
    path = tmp_path / "pycuda-1.0-cp312-cp312-linux_x86_64.whl"
    path.write_bytes(b"a wheel")
    return path


@given(provenances)
def test_a_record_is_read_back(tmp_path_factory: pytest.TempPathFactory, made: Provenance) -> None:
    path = tmp_path_factory.mktemp("wheels") / "pycuda-1.0-py3-none-any.whl"
    path.write_bytes(b"a wheel")
    written = record(path, made)
    assert read_record(path) == written
    assert list(built_wheels(path.parent, "pycuda")) == [written]


def test_a_wheel_without_a_record_is_not_a_built_one(wheel: Path) -> None:
    assert list(built_wheels(wheel.parent, "pycuda")) == []


def test_a_changed_wheel_is_refused(wheel: Path) -> None:
    record(wheel, MADE)
    wheel.write_bytes(b"a whee1")
    with pytest.raises(StorageError, match="does not describe") as caught:
        read_record(wheel)
    assert "remove the wheel" in caught.value.remedy


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema": "assay/other/1"}, "is not a record"),
        ({"abi": None}, "does not state"),
        ({"toolkit": "13000"}, "does not state"),
        ({"toolkit": True}, "does not state"),
        ({"extra": "x"}, "does not state"),
        ({"sha256": "0" * 64}, "does not describe"),
        ({"wheel": "other.whl"}, "does not describe"),
        ({"size": 1}, "does not describe"),
    ],
)
def test_a_record_of_another_form_is_refused(wheel: Path, change: dict[str, object], words: str) -> None:
    record(wheel, MADE)
    document = json.loads(record_path(wheel).read_bytes()) | change
    record_path(wheel).write_text(json.dumps(document, sort_keys=True, separators=(",", ":")))
    with pytest.raises(StorageError, match=words):
        read_record(wheel)


@given(st.binary(max_size=60))
def test_any_bytes_as_a_record_are_a_storage_error(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("wheels") / "pycuda-1.0-py3-none-any.whl"
    path.write_bytes(b"a wheel")
    record_path(path).write_bytes(data)
    with pytest.raises(StorageError, match="is not a record"):
        read_record(path)


def test_a_wheel_serves_its_interpreter_on_a_newer_c_library_with_any_compiler() -> None:
    assert MADE.serves(frozenset({SDIST}), HERE, 13000)
    assert replace(MADE, compiler="another").serves(frozenset({SDIST}), HERE, 13000)


@pytest.mark.parametrize(
    "made",
    [
        replace(MADE, sdist="6" * 64),
        replace(MADE, abi="cp311"),
        replace(MADE, machine="aarch64"),
        replace(MADE, libc="glibc 2.40"),
        replace(MADE, libc="musl 1.2"),
        replace(MADE, toolkit=13020),
        replace(MADE, recipe=0),
    ],
)
def test_a_wheel_of_anything_else_does_not_serve(made: Provenance) -> None:
    assert not made.serves(frozenset({SDIST}), HERE, 13000)


@pytest.mark.parametrize(
    ("libc", "than", "answer"),
    [
        ("glibc 2.36", "glibc 2.36", True),
        ("glibc 2.100", "glibc 2.36", True),
        ("glibc 2.9", "glibc 2.36", False),
        ("musl 2.40", "glibc 2.36", False),
    ],
)
def test_c_libraries_are_compared_by_number(libc: str, than: str, answer: bool) -> None:  # noqa: FBT001  # a table
    assert not_older(libc, than) is answer

"""What a fake machine states of itself, and what is said when its files are wrong."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import UsageError
from assay.machine.stated import Stated, read_object, read_stated, read_strings, stated_of


def test_everything_that_can_be_stated(tmp_path: Path) -> None:
    file = tmp_path / "machine.json"
    file.write_text('{"os": "windows", "arch": "x86_64", "cwd": "C:\\\\work", "denied": ["C:\\\\secret"]}')
    assert read_stated(file) == Stated("windows", "x86_64", "C:\\work", ("C:\\secret",))


def test_nothing_is_stated_without_a_file(tmp_path: Path) -> None:
    assert read_stated(tmp_path / "machine.json") == Stated()


def test_the_file_lies_inside_the_root_or_beside_a_folder_called_root(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "machine.json").write_text('{"arch": "beside"}')
    assert stated_of(root).arch == "beside"
    (root / "machine.json").write_text('{"arch": "inside"}')
    assert stated_of(root).arch == "inside"
    (tmp_path / "other").mkdir()
    assert stated_of(tmp_path / "other") == Stated()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[]", "not an object"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"os": "beos"}', "os is 'beos'"),
        ('{"os": 1}', "os is not a string"),
        ('{"colour": "red"}', "unknown key 'colour'"),
        ('{"denied": "/x"}', "denied is not a list"),
        ('{"denied": [1]}', "denied is not a string"),
    ],
)
def test_a_wrong_file_is_a_users_error_with_its_name(tmp_path: Path, text: str, says: str) -> None:
    file = tmp_path / "machine.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=says) as caught:
        read_stated(file)
    assert str(file) in caught.value.observed
    assert caught.value.expected
    assert caught.value.remedy


def test_objects_and_strings(tmp_path: Path) -> None:
    file = tmp_path / "env.json"
    file.write_text('{"PATH": "/bin", "EMPTY": ""}')
    assert read_object(file) == read_strings(file) == {"PATH": "/bin", "EMPTY": ""}
    file.write_text('{"PATH": ["/bin"]}')
    with pytest.raises(UsageError, match="PATH is not a string"):
        read_strings(file)


@given(st.binary(max_size=60))
def test_no_bytes_crash_the_reader(tmp_path_factory: pytest.TempPathFactory, data: bytes) -> None:
    file = tmp_path_factory.mktemp("stated") / "machine.json"
    file.write_bytes(data)
    with pytest.raises(UsageError):
        read_stated(file)

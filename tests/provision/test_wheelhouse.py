from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import StorageError, UsageError
from assay.provision.lockfile import PYCUDA, Requirement, locked, parse_lock
from assay.provision.wheelhouse import check_wheelhouse, files_of, find_sdist, has_sdist, normalised
from tests.provision.world import World, lock_line

A = "a" * 64


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("numpy", "numpy-1.0-cp312-cp312-manylinux_2_28_x86_64.whl"),
        ("typing-extensions", "typing_extensions-1.0-py3-none-any.whl"),
        ("typing-extensions", "Typing.Extensions-1.0-1-py3-none-any.whl"),
        ("pycuda", "pycuda-1.0.tar.gz"),
        ("two-words", "two-words-1.0.tar.gz"),
    ],
)
def test_files_are_recognised_by_name_and_version(tmp_path: Path, name: str, file: str) -> None:
    (tmp_path / file).write_bytes(b"")
    assert [path.name for path in files_of(tmp_path, Requirement(name, "1.0", "", frozenset({A})))] == [file]


@pytest.mark.parametrize(
    "file",
    ["numpy-1.0.1-py3-none-any.whl", "numpy_x-1.0-py3-none-any.whl", "numpy-1.0.zip", "numpy", "README"],
)
def test_other_files_are_left_alone(tmp_path: Path, file: str) -> None:
    (tmp_path / file).write_bytes(b"")
    assert list(files_of(tmp_path, Requirement("numpy", "1.0", "", frozenset({A})))) == []


def test_names_are_normalised_as_the_index_does() -> None:
    assert normalised("Typing__Ext.en-sions") == "typing-ext-en-sions"


def test_a_package_under_a_marker_may_be_absent(tmp_path: Path) -> None:
    check_wheelhouse(tmp_path, parse_lock("x", f"a==1 ; sys_platform == 'darwin' --hash=sha256:{A}\n"))
    with pytest.raises(StorageError, match="no file of a 1"):
        check_wheelhouse(tmp_path, parse_lock("x", f"a==1 --hash=sha256:{A}\n"))


def test_one_wrong_file_among_right_ones_is_an_error(tmp_path: Path) -> None:
    right, wrong = tmp_path / "a-1-cp311-cp311-x.whl", tmp_path / "a-1-cp312-cp312-x.whl"
    right.write_bytes(b"right")
    wrong.write_bytes(b"wrong")
    with pytest.raises(StorageError, match="cp312"):
        check_wheelhouse(tmp_path, parse_lock("x", lock_line("a", right, version="1")))
    check_wheelhouse(tmp_path, parse_lock("x", lock_line("a", right, wrong, version="1")))


def test_a_wheelhouse_that_is_a_file_is_a_usage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(UsageError, match="is not a folder"):
        check_wheelhouse(tmp_path / "file", ())


def test_the_source_distribution_is_found_by_its_digest(world: World) -> None:
    path, digest = find_sdist(world.wheelhouse)
    assert path.name == "pycuda-1.0.tar.gz"
    assert {digest} == locked(PYCUDA, "pycuda").hashes
    path.write_bytes(b"another")
    with pytest.raises(StorageError, match="has the SHA-256"):
        find_sdist(world.wheelhouse)
    path.unlink()
    assert not has_sdist(world.wheelhouse)

"""The chain child's zip: the chain package alone, the same bytes for the same files."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from assay.errors import GateError, StorageError
from assay.gates.childzip import PACKAGE, make_child_zip
from assay.zipped import zip_bytes

MAIN = 'import sys\n\nfrom .words import WORD\n\nif __name__ == "__main__":\n    print(WORD, *sys.argv[1:])\n'


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    """Return a small package in the chain's place."""
    folder = tmp_path / "chain"
    (folder / "deep").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "__main__.py").write_text(MAIN)
    (folder / "words.py").write_text('WORD = "ran"\n')
    (folder / "deep" / "__init__.py").write_text("")
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "words.cpython-311.pyc").write_bytes(b"stale")
    return folder


def test_the_same_sources_give_the_same_bytes_whatever_their_times_and_folder(
    sources: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.mkdir()
    second.mkdir()
    made = make_child_zip(first, sources)
    os.utime(sources / "words.py", (1, 1))
    (sources / "words.py").chmod(0o755)
    again = make_child_zip(second, sources)
    assert made.sha256 == again.sha256 == hashlib.sha256(made.path.read_bytes()).hexdigest()
    assert made.path.read_bytes() == again.path.read_bytes()
    assert made.size == made.path.stat().st_size


def test_another_byte_gives_another_digest(sources: Path, tmp_path: Path) -> None:
    made = make_child_zip(tmp_path, sources)
    (sources / "words.py").write_text('WORD = "run"\n')
    assert make_child_zip(tmp_path, sources).sha256 != made.sha256


def test_it_holds_the_package_alone_stored_and_sorted(sources: Path, tmp_path: Path) -> None:
    made = make_child_zip(tmp_path, sources)
    with zipfile.ZipFile(made.path) as archive:
        infos = archive.infolist()
    names = [info.filename for info in infos]
    expected = ["__main__.py"] + [
        f"{PACKAGE}/{name}" for name in ("__init__.py", "__main__.py", "deep/__init__.py", "words.py")
    ]
    assert names == expected
    assert made.members == tuple(expected)
    assert {(i.date_time, i.compress_type, i.create_system, i.external_attr >> 16) for i in infos} == {
        ((1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED, 3, 0o100644)
    }


def test_python_runs_it_with_the_entry_as_argument(sources: Path, tmp_path: Path) -> None:
    made = make_child_zip(tmp_path, sources)
    argv = [sys.executable, "-s", "-B", str(made.path), "run"]
    done = subprocess.run(argv, capture_output=True, check=True, text=True, cwd=tmp_path)  # noqa: S603  # argv is ours
    assert done.stdout == "ran run\n"


def test_a_package_without_a_main_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(GateError, match="has no __main__"):
        make_child_zip(tmp_path, tmp_path / "empty")


def test_a_missing_folder_leaves_nothing_behind(sources: Path, tmp_path: Path) -> None:
    with pytest.raises(StorageError):
        make_child_zip(tmp_path / "missing", sources)
    assert not list(tmp_path.glob("**/*.part"))


def test_names_are_sorted_whatever_order_they_come_in() -> None:
    assert zip_bytes([("b", b"2"), ("a", b"1")]) == zip_bytes([("a", b"1"), ("b", b"2")])

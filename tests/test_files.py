"""Only regular files are read, whatever stands in their place, and a copy is whole or not there."""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import StorageError
from assay.files import copy_atomic, private_folder, read_bounded, regular_file, sha256_file

pytestmark = pytest.mark.gate


def _read(path: Path, _folder: Path) -> object:
    return read_bounded(path, 100)


def _hash(path: Path, _folder: Path) -> object:
    return sha256_file(path)


def _copy(path: Path, folder: Path) -> object:
    return copy_atomic(path, folder / "copy")


READERS = {"read": _read, "hash": _hash, "copy": _copy}


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_a_fifo(path: Path) -> None:
    os.mkfifo(path.with_name("behind"))
    path.symlink_to("behind")


def device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(os.path.relpath(path))  # a socket's name is short (unix(7))


def descriptors() -> int:
    """Return how many descriptors this process has open, 0 where the system does not list them."""
    return len(list(Path("/proc/self/fd").iterdir())) if sys.platform == "linux" else 0


OTHERS = {"FIFO": fifo, "link to a FIFO": link_to_a_fifo, "device": device, "socket": unix_socket}


# Each of these would wait for ever for a writer, or read for ever: nothing here needs a clock to see it.
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has none of these among its files")
@pytest.mark.parametrize("make", OTHERS.values(), ids=OTHERS)
@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[Path], None],
    read: Callable[[Path, Path], object],
) -> None:
    monkeypatch.chdir(tmp_path)
    make(tmp_path / "given")
    before = descriptors()
    with pytest.raises(StorageError):
        read(tmp_path / "given", tmp_path)
    assert not (tmp_path / "copy").exists()
    assert descriptors() == before


@pytest.mark.parametrize("read", READERS.values(), ids=READERS)
def test_a_folder_and_a_missing_file_are_refused(
    tmp_path: Path, read: Callable[[Path, Path], object]
) -> None:
    for path in (tmp_path, tmp_path / "absent"):
        with pytest.raises(StorageError):
            read(path, tmp_path)


def test_a_regular_file_is_read_whole(tmp_path: Path) -> None:
    data = b"x" * 100
    (tmp_path / "given").write_bytes(data)
    digest = hashlib.sha256(data).hexdigest()
    assert read_bounded(tmp_path / "given", 100) == data
    assert (
        sha256_file(tmp_path / "given") == copy_atomic(tmp_path / "given", tmp_path / "copy") == (digest, 100)
    )
    assert (tmp_path / "copy").read_bytes() == data
    with regular_file(tmp_path / "given") as stream:
        assert (stream.seek(98), stream.read()) == (98, b"xx")
    with pytest.raises(StorageError, match="larger than 99 bytes"):
        read_bounded(tmp_path / "given", 99)


def test_a_private_folder_is_closed_to_others_and_gone_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    with private_folder("mine-") as folder:
        assert folder.parent == tmp_path
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        (folder / "inner" / "deep").mkdir(parents=True)
        (folder / "inner" / "file").write_text("x")
    assert list(tmp_path.iterdir()) == []
    with private_folder("mine-") as other:
        (other / "empty").mkdir()
        assert other != folder
    assert list(tmp_path.iterdir()) == []


def test_where_the_named_place_cannot_be_used_another_is_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path / "absent"))
    with private_folder("mine-") as folder:
        assert folder.is_dir()
    assert not folder.exists()

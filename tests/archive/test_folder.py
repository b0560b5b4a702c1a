"""An archive in a folder: written once, whole or not at all, whatever others and the disk do."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from assay.archive import folder
from assay.archive.deposit import deposit, items_of
from assay.archive.folder import INDEX, FolderStore
from assay.archive.store import Bytes, bytes_of
from assay.errors import DepositError, StorageError, UsageError
from assay.evidence.filed import MARK, Name
from tests.archive.shelves import NOW, contents, held, put, signed_bundle
from tests.project.files import PROJECT, environment_of_children


@pytest.mark.gate
def test_a_bundle_and_what_is_beside_it_lie_there_byte_for_byte_and_once(tmp_path: Path) -> None:
    bundle = signed_bundle(tmp_path / "run")
    store = FolderStore(tmp_path / "deep" / "archive")
    assert put(bundle, store) == [True, True, True]
    assert held(store) == contents(items_of(bundle.path, NOW))
    before = {path: path.stat().st_mtime_ns for path in store.folder.iterdir()}
    assert put(bundle, store) == [False, False, False]
    assert {path: path.stat().st_mtime_ns for path in store.folder.iterdir()} == before
    assert all(not path.stat().st_mode & 0o222 for path in before if path.name != MARK)


def test_what_lies_there_is_never_replaced(tmp_path: Path) -> None:
    bundle = signed_bundle(tmp_path / "run")
    store = FolderStore(tmp_path / "archive")
    put(bundle, store)
    path = store.folder / str(Name(bundle.digest))
    path.chmod(0o644)
    path.write_bytes(b"damaged")
    with pytest.raises(DepositError, match="holds something else"):
        put(bundle, store)
    assert path.read_bytes() == b"damaged"


def test_a_folder_of_other_things_is_no_place_and_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "archive").mkdir()
    (tmp_path / "archive" / "thesis.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"thesis\.txt"):
        put(signed_bundle(tmp_path / "run"), FolderStore(tmp_path / "archive"))
    assert [path.name for path in (tmp_path / "archive").iterdir()] == ["thesis.txt"]
    with pytest.raises(UsageError, match="is no archive"):
        FolderStore(tmp_path / "archive").listing()


def test_two_writers_at_once_leave_one_whole_archive(tmp_path: Path) -> None:
    bundles = [signed_bundle(tmp_path / f"run{day}", f"2026-12-0{day}T12:00:00Z") for day in (1, 2)]
    wanted = {**contents(items_of(bundles[0].path, NOW)), **contents(items_of(bundles[1].path, NOW))}
    code = (
        "import sys; from pathlib import Path; from assay.archive.folder import FolderStore\n"
        "from assay.evidence.filed import parse_name\n"
        "store = FolderStore(Path(sys.argv[1]))\n"
        "for file in sys.argv[2:]:\n"
        "    store.put(parse_name(Path(file).name), Path(file))\n"
    )
    files = tmp_path / "named"
    files.mkdir()
    for name, data in wanted.items():
        (files / name).write_bytes(data)
    argv = [sys.executable, "-c", code, str(tmp_path / "archive"), *map(str, sorted(files.iterdir()))]
    environment = {**environment_of_children(), "PYTHONPATH": str(PROJECT / "scripts")}
    writers = [subprocess.Popen(argv, env=environment) for _ in range(3)]  # noqa: S603  # argv is ours
    assert [writer.wait(60) for writer in writers] == [0, 0, 0]
    assert held(FolderStore(tmp_path / "archive")) == wanted
    assert not list((tmp_path / "archive").glob(".*"))


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EIO, errno.EROFS])
def test_a_disk_that_refuses_leaves_nothing_half_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    bundle = signed_bundle(tmp_path / "run")
    store = FolderStore(tmp_path / "archive")
    items = items_of(bundle.path, NOW)
    before = contents(items)

    def refuse(_handle: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", refuse)
    with pytest.raises(StorageError, match=os.strerror(code)):
        list(deposit(items, store))
    monkeypatch.undo()
    assert [path.name for path in store.folder.iterdir()] == []
    assert contents(items) == before


def test_a_full_disk_in_the_middle_of_a_file_leaves_only_whole_files(tmp_path: Path) -> None:
    bundle = signed_bundle(tmp_path / "run")
    items = items_of(bundle.path, NOW)
    sizes = [item.file.stat().st_size for item in items]
    store = FolderStore(tmp_path / "archive")
    kept = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (sizes[0] - 1, limits[1]))
        with pytest.raises(StorageError, match="File too large"):
            list(deposit(items, store))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, kept)
    assert sorted(path.name for path in store.folder.iterdir()) == [MARK]
    assert put(bundle, store) == [True, True, True]


def test_a_source_that_changes_while_it_is_read_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = signed_bundle(tmp_path / "run")
    (first, *_) = items_of(bundle.path, NOW)

    def look_and_change(path: Path) -> Bytes:
        found = bytes_of(path)
        if path == first.file:
            path.write_bytes(path.read_bytes() + b"more")
        return found

    monkeypatch.setattr(folder, "bytes_of", look_and_change)
    store = FolderStore(tmp_path / "archive")
    with pytest.raises(DepositError, match="stored"):
        store.put(first.name, first.file)
    assert sorted(path.name for path in store.folder.iterdir()) == [MARK]


def test_strangers_are_told_and_what_is_being_written_is_not(tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "archive")
    put(signed_bundle(tmp_path / "run"), store)
    for name in ("notes.txt", INDEX, ".half.123.part"):
        (store.folder / name).write_text("x")
    listing = store.listing()
    assert listing.strangers == ("notes.txt",)
    assert len(listing.names) == 3

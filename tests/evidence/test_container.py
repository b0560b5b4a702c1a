"""A container holds what its headers say; every peer reads it, and no hostile one is walked for long."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import shutil
import subprocess
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import BundleError, StorageError
from assay.evidence import container as containers
from assay.evidence.container import Member, open_container, write_container
from assay.evidence.names import MAX_MEMBERS
from assay.evidence.ustar import BLOCK, END, header, read_header
from assay.files import atomic_writer

CONTENTS = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=6).map(lambda name: f"artifacts/{name}"),
    st.binary(max_size=1200),
    max_size=5,
)


def member(name: str, data: bytes) -> Member:
    return Member(name, len(data), hashlib.sha256(data).hexdigest(), lambda: io.BytesIO(data))


def written(contents: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    members = [member("manifest.json", b"{}"), *(member(name, contents[name]) for name in sorted(contents))]
    write_container(stream, members)
    return stream.getvalue()


def read_all(path: Path) -> dict[str, bytes]:
    with open_container(path) as found:
        return {entry.name: found.read(entry.name, entry.size) for entry in found.entries}


def refused(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    with pytest.raises(BundleError) as caught, open_container(path):
        pass
    return caught.value.observed


@given(CONTENTS)
def test_what_is_written_is_read_and_tarfile_agrees(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes]
) -> None:
    path = tmp_path_factory.mktemp("tar") / "run.tar"
    path.write_bytes(written(contents))
    assert read_all(path) == {"manifest.json": b"{}", **contents}
    with tarfile.open(path) as peer:
        found = {info.name: peer.extractfile(info) for info in peer}
        assert {name: stream.read() for name, stream in found.items() if stream} == read_all(path)
    with open_container(path) as opened:
        digests = {name: hashlib.sha256(data).hexdigest() for name, data in read_all(path).items()}
        assert opened.digests() == digests


@pytest.mark.skipif(not shutil.which("tar"), reason="this system has no tar to agree with")
def test_tar_lists_it(tmp_path: Path) -> None:
    path = tmp_path / "run.tar"
    path.write_bytes(written({"plan.json": b"plan", "artifacts/0": b""}))
    done = subprocess.run(["tar", "tf", str(path)], capture_output=True, text=True, check=True)  # noqa: S603, S607  # the system's own, on our own file
    assert done.stdout.split() == ["manifest.json", "artifacts/0", "plan.json"]
    assert done.stderr == ""


@given(CONTENTS, st.data())
def test_every_truncation_and_every_appendix_is_refused(
    tmp_path_factory: pytest.TempPathFactory, contents: dict[str, bytes], data: st.DataObject
) -> None:
    whole = written(contents)
    path = tmp_path_factory.mktemp("tar") / "run.tar"
    assert refused(path, whole[: data.draw(st.integers(0, len(whole) - 1))])
    assert refused(path, whole + data.draw(st.binary(min_size=1, max_size=1100)))


def test_every_changed_byte_outside_the_members_bytes_is_refused(tmp_path: Path) -> None:
    whole = written({"plan.json": b"plan", "a.log": b"x" * 513})
    path = tmp_path / "run.tar"
    path.write_bytes(whole)
    with open_container(path) as found:
        inside = {at for entry in found.entries for at in range(entry.offset, entry.offset + entry.size)}
    for at in set(range(len(whole))) - inside:
        changed = bytearray(whole)
        changed[at] ^= 0x40
        assert refused(path, bytes(changed)), at


def test_two_zero_blocks_before_the_end_do_not_end_it(tmp_path: Path) -> None:
    data = header("manifest.json", 0) + END + header("a", 0) + END
    assert "zeros" in refused(tmp_path / "run.tar", data)


HOSTILE: dict[str, tuple[Callable[[], bytes], str]] = {
    "nothing": (lambda: b"", "has 0 bytes"),
    "only an end": (lambda: END, "manifest.json: is not the first"),
    "an end too long": (lambda: header("manifest.json", 0) + END + bytes(BLOCK), "zeros"),
    "a size past the end": (lambda: header("manifest.json", 1 << 30) + END, "goes past the end"),
    "the largest size": (lambda: header("manifest.json", 0o77777777777) + END, "goes past the end"),
    "bad padding": (lambda: header("manifest.json", 1) + b"x" + b"\1" * 511 + END, "padded"),
    "another first": (lambda: header("plan.json", 0) + END, "manifest.json: is not the first"),
    "random": (lambda: os.urandom(4096), "header at byte 0"),
    "a gzipped tar": (lambda: b"\x1f\x8b\x08" + bytes(3000), "header at byte 0"),
}


@pytest.mark.parametrize(("make", "problem"), HOSTILE.values(), ids=HOSTILE)
def test_hostile_archives_are_refused(tmp_path: Path, make: Callable[[], bytes], problem: str) -> None:
    assert problem in refused(tmp_path / "run.tar", make())


@pytest.mark.parametrize("fmt", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT])
def test_a_name_of_64_kilobytes_is_refused_in_any_dialect(tmp_path: Path, fmt: int) -> None:
    path = tmp_path / "run.tar"
    with tarfile.open(path, "w", format=fmt) as peer:
        peer.addfile(tarfile.TarInfo("a" * 65536))
    with pytest.raises(BundleError, match=r"PAX|GNU"), open_container(path):
        pass


def test_of_a_million_members_no_more_headers_are_read_than_there_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "run.tar"
    with path.open("wb") as stream:
        stream.write(header("manifest.json", 0))
        for _ in range(1000):
            stream.write(header("artifacts/0", 0) * 1000)
        stream.write(END)
    walked: list[int] = []

    def counted(block: bytes, at: int) -> tuple[str, int]:
        walked.append(at)
        return read_header(block, at)

    monkeypatch.setattr(containers, "read_header", counted)
    with pytest.raises(BundleError, match=f"more than {MAX_MEMBERS} members"), open_container(path):
        pass
    assert walked == [BLOCK * number for number in range(MAX_MEMBERS)]


def test_a_sparse_file_of_any_size_is_walked_at_once(tmp_path: Path) -> None:
    path = tmp_path / "run.tar"
    size = 5 << 30
    with path.open("wb") as stream:
        stream.write(header("manifest.json", 0) + header("artifacts/0", size))
        stream.seek(size, os.SEEK_CUR)
        stream.write(END)
    with open_container(path) as found:
        assert found.size("artifacts/0") == size
        with pytest.raises(BundleError, match="at most 10 bytes"):
            found.read("artifacts/0", 10)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no FIFO that open() could meet")
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", tmp_path, Path("/dev/zero")):
        with pytest.raises((BundleError, StorageError)), open_container(path):
            pass


def test_a_missing_member_is_named(tmp_path: Path) -> None:
    path = tmp_path / "run.tar"
    path.write_bytes(written({}))
    with open_container(path) as found, pytest.raises(BundleError, match=r"^plan\.json: is missing"):
        found.read("plan.json", 10)


@pytest.mark.parametrize("without_preadv", [False, True])
def test_large_members_are_hashed_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, without_preadv: bool
) -> None:
    if without_preadv:
        monkeypatch.delattr(os, "preadv")
    contents = {f"artifacts/{n}": bytes([n]) * (2_000_000 + n) for n in range(4)}
    path = tmp_path / "run.tar"
    path.write_bytes(written(contents))
    seen: set[str] = set()
    fill = containers.ReadAt.fill

    def noting(self: containers.ReadAt, buffer: memoryview, offset: int) -> None:
        seen.add(threading.current_thread().name)
        fill(self, buffer, offset)

    monkeypatch.setattr(containers.ReadAt, "fill", noting)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with open_container(path) as found:
        digests = found.digests()
    assert {name: digests[name] for name in contents} == {
        name: hashlib.sha256(data).hexdigest() for name, data in contents.items()
    }
    assert len(seen) == 3


def test_short_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    contents = {"artifacts/0": os.urandom(70_000)}
    path = tmp_path / "run.tar"
    path.write_bytes(written(contents))
    some = containers.ReadAt._some  # noqa: SLF001  # what the platform gives is what is cut

    def short(self: containers.ReadAt, buffer: memoryview, offset: int) -> int:
        return some(self, buffer[: 1 + len(buffer) // 3], offset)

    monkeypatch.setattr(containers.ReadAt, "_some", short)
    assert read_all(path) == {"manifest.json": b"{}", **contents}
    with open_container(path) as found:
        assert found.digests()["artifacts/0"] == hashlib.sha256(contents["artifacts/0"]).hexdigest()


@pytest.mark.parametrize("without_preadv", [False, True])
def test_a_file_that_shrinks_while_it_is_hashed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, without_preadv: bool
) -> None:
    if without_preadv:
        monkeypatch.delattr(os, "preadv")
    path = tmp_path / "run.tar"
    path.write_bytes(written({"artifacts/0": bytes(5_000_000)}))
    with open_container(path) as found:
        os.truncate(path, 10_000)
        with pytest.raises(BundleError, match="ends at byte"):
            found.digests()


@given(st.binary(max_size=3000), st.lists(st.tuples(st.integers(0, 3500), st.integers(0, 700)), max_size=6))
def test_a_member_is_a_seekable_stream(
    tmp_path_factory: pytest.TempPathFactory, data: bytes, moves: list[tuple[int, int]]
) -> None:
    path = tmp_path_factory.mktemp("tar") / "run.tar"
    path.write_bytes(written({"artifacts/0": data}))
    right = io.BytesIO(data)
    with open_container(path) as found, found.open("artifacts/0") as stream:
        for offset, size in moves:
            assert stream.seek(offset) == right.seek(offset)
            assert stream.read(size) == right.read(size)
        assert stream.seek(0, io.SEEK_END) == len(data)
        with pytest.raises((ValueError, OSError)):
            stream.seek(-1)


class _Lying(io.BytesIO):
    """A file that has other bytes when it is read than it had before."""


@pytest.mark.parametrize("really", [b"other", b"too long for it", b"shor", b""])
def test_a_file_that_changed_is_not_bundled(tmp_path: Path, really: bytes) -> None:
    said = b"these"
    lying = Member("plan.json", len(said), hashlib.sha256(said).hexdigest(), lambda: _Lying(really))
    path = tmp_path / "run.tar"
    with pytest.raises(StorageError, match=r"plan\.json is not the file"), atomic_writer(path) as stream:
        write_container(stream, [member("manifest.json", b"{}"), lying])
    assert list(tmp_path.iterdir()) == []


def test_the_writer_refuses_what_the_reader_would() -> None:
    manifest, many = member("manifest.json", b""), range(MAX_MEMBERS)
    huge = Member("big", 1 << 33, "", io.BytesIO)
    with pytest.raises(StorageError, match="8589934592 bytes"):
        write_container(io.BytesIO(), [manifest, huge])
    with pytest.raises(StorageError, match="16385 members"):
        write_container(io.BytesIO(), [manifest, *(member(f"{n:05}", b"") for n in many)])
    with pytest.raises(BundleError, match="b: follows c"):
        write_container(io.BytesIO(), [manifest, member("c", b""), member("b", b"")])
    with pytest.raises(BundleError, match=r"name: the member name '\.\./x'"):
        write_container(io.BytesIO(), [manifest, member("../x", b"")])


class _Full:
    """A file on a disk that is full after some bytes."""

    def __init__(self, stream: BinaryIO, room: int) -> None:
        self._stream = stream
        self._room = room

    def write(self, data: bytes) -> int:
        self._room -= len(data)
        if self._room < 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return self._stream.write(data)


def test_a_disk_that_is_full_at_any_byte_leaves_nothing(tmp_path: Path) -> None:
    members = [member("manifest.json", b"{}"), member("plan.json", b"plan")]
    size = len(written({"plan.json": b"plan"}))
    for room in range(0, size, 97):
        with (
            pytest.raises(StorageError, match="No space left"),
            atomic_writer(tmp_path / "run.tar") as stream,
        ):
            write_container(_Full(stream, room), members)  # type: ignore[arg-type]  # write is all that is called
        assert list(tmp_path.iterdir()) == []

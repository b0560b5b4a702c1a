"""What a live process holds, seen from outside; a file that was swapped under it is noticed."""

from __future__ import annotations

import dataclasses
import hashlib
import mmap
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import GateError
from assay.machine import live
from assay.machine.live import (
    MappedFile,
    OpenFile,
    hash_mapped,
    identity_when_mapped,
    mapped_files,
    open_files,
)
from assay.process import CONTROL, EVENTS, Child, Event

MAPS = """\
55d0c8a00000-55d0c8a02000 r--p 00000000 fe:00 1311                       /usr/bin/python3.11
55d0c8a02000-55d0c8a04000 r-xp 00002000 fe:00 1311                       /usr/bin/python3.11
55d0ca000000-55d0ca021000 rw-p 00000000 00:00 0                          [heap]
7f0000000000-7f0000001000 rw-s 00000000 00:05 77                         /dev/nvidiactl
7f0000002000-7f0000003000 r-xp 00000000 00:01 4096                       /memfd:code (deleted)
7f0000004000-7f0000005000 r--p 00000000 103:0a 99                        /opt/my lib\\012odd (deleted)
7f0000006000-7f0000007000 rw-p 00000000 00:00 0
7ffd00000000-7ffd00021000 rw-p 00000000 00:00 0                          [stack]
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
"""

HOLD = """
import ctypes, mmap, os, sys
with open(sys.argv[3], "rb") as stream:
    held = mmap.mmap(stream.fileno(), 0, prot=mmap.PROT_READ | mmap.PROT_EXEC)
null = open("/dev/null")
os.write(int(sys.argv[1]), b"{}\\n")
os.read(int(sys.argv[2]), 1)
"""


@pytest.fixture
def provider(tmp_path: Path) -> Path:
    path = tmp_path / "libprovider.so"
    path.write_bytes(b"provider" * 1000)
    return path


@pytest.fixture
def child(provider: Path) -> Iterator[Child]:
    """Yield a child that has the provider mapped and waits."""
    argv = [sys.executable, "-c", HOLD, EVENTS, CONTROL, str(provider)]
    with Child.start(argv, env=dict(os.environ), on_output=lambda _: None) as started:
        assert isinstance(started.next_event(30), Event)
        yield started


def mapped_provider(child: Child) -> MappedFile:
    (found,) = (file for file in mapped_files(child.pid) if file.path.endswith("libprovider.so"))
    return found


def close_the_kernels_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ``map_files`` answer as it does without the capability that it asks for."""
    plain = Path.stat

    def refuse(self: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if "map_files" in self.parts:
            raise PermissionError(1, "Operation not permitted")
        return plain(self, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", refuse)


def test_files_are_told_from_other_memory() -> None:
    assert live.parse_maps(MAPS) == (
        MappedFile(
            "/usr/bin/python3.11",
            (0xFE, 0),
            1311,
            deleted=False,
            executable=True,
            range="55d0c8a00000-55d0c8a02000",
        ),
        MappedFile(
            "/dev/nvidiactl", (0, 5), 77, deleted=False, executable=False, range="7f0000000000-7f0000001000"
        ),
        MappedFile(
            "/memfd:code", (0, 1), 4096, deleted=True, executable=True, range="7f0000002000-7f0000003000"
        ),
        MappedFile(
            "/opt/my lib\nodd",
            (0x103, 0x0A),
            99,
            deleted=True,
            executable=False,
            range="7f0000004000-7f0000005000",
        ),
    )


@given(st.text("0123456789abcdef-rwxps /:\n()", max_size=300))
def test_no_text_crashes_the_parser(text: str) -> None:
    assert all(file.path.startswith("/") for file in live.parse_maps(text))


def test_this_process_has_its_interpreter_mapped() -> None:
    found = {file.path: file for file in mapped_files(os.getpid())}
    own = found[os.path.realpath(sys.executable)]
    assert own.executable
    assert own.inode == Path(own.path).stat().st_ino


def test_a_mapped_file_has_the_digest_of_its_bytes(child: Child, provider: Path) -> None:
    found = hash_mapped(child.pid, mapped_provider(child))
    assert (found.sha256, found.size) == (hashlib.sha256(provider.read_bytes()).hexdigest(), 8000)
    assert found.method in {"mapping", "path"}
    assert found.problem == ""


def test_without_the_capability_the_path_is_hashed_if_it_is_the_same_file(
    child: Child, provider: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    close_the_kernels_way(monkeypatch)
    found = hash_mapped(child.pid, mapped_provider(child))
    assert (found.sha256, found.method) == (hashlib.sha256(b"provider" * 1000).hexdigest(), "path")
    assert found.size == provider.stat().st_size


def test_a_file_swapped_after_it_was_mapped_is_never_hashed_in_its_place(
    child: Child, provider: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = mapped_provider(child)
    (tmp_path / "other").write_bytes(b"another" * 1000)
    (tmp_path / "other").replace(provider)
    after = mapped_provider(child)
    assert (before.deleted, after.deleted) == (False, True)
    own_bytes = hashlib.sha256(b"provider" * 1000).hexdigest()
    assert hash_mapped(child.pid, after).sha256 in {own_bytes, ""}
    close_the_kernels_way(monkeypatch)
    assert "removed or replaced" in hash_mapped(child.pid, after).problem
    swapped_between = hash_mapped(child.pid, before)
    assert (swapped_between.sha256, "another file now" in swapped_between.problem) == ("", True)


@pytest.mark.parametrize("replacement", ["pipe", "folder", "empty", "gone", "unreadable"])
def test_whatever_takes_the_files_place_is_a_problem_and_no_hang(
    child: Child, provider: Path, replacement: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped = mapped_provider(child)
    provider.unlink()
    if replacement == "pipe":
        os.mkfifo(provider)
    elif replacement == "folder":
        provider.mkdir()
    elif replacement == "empty":
        provider.touch()
    close_the_kernels_way(monkeypatch)
    if replacement == "unreadable":
        monkeypatch.setattr(live, "_without_waiting", _refuse)
    found = hash_mapped(child.pid, mapped)
    assert found.sha256 == ""
    assert str(provider) in found.problem


def _refuse(path: str, _flags: int) -> int:
    """Open nothing."""
    raise PermissionError(13, "Permission denied", path)


def test_a_mapped_device_is_not_read(child: Child) -> None:
    zero = MappedFile("/dev/null", (0, 5), 4, deleted=False, executable=False, range="0-1")
    assert "not a regular file" in hash_mapped(child.pid, zero).problem


def test_the_identity_is_what_the_kernel_shows_for_the_mapping(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"x" * 5000)
    with path.open("rb") as stream:
        identity = identity_when_mapped(stream)
        with mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ):
            (own,) = (file for file in mapped_files(os.getpid()) if file.path == str(path))
    assert identity == (own.device, own.inode)
    (tmp_path / "empty").touch()
    with (tmp_path / "empty").open("rb") as stream:
        assert identity_when_mapped(stream) is None


def test_open_devices_are_told_with_their_numbers(child: Child) -> None:
    found = open_files(child.pid)
    assert (
        OpenFile(next(file.descriptor for file in found if file.path == "/dev/null"), "/dev/null", (1, 3))
        in found
    )
    assert live.gpu_nodes(child.pid) == ()


@pytest.mark.parametrize(
    ("path", "is_node"),
    [
        ("/dev/nvidia0", True),
        ("/dev/nvidia15", True),
        ("/dev/nvidiactl", True),
        ("/dev/nvidia-uvm", True),
        ("/dev/nvidia-caps/nvidia-cap1", True),
        ("/dev/dxg", True),
        ("/dev/null", False),
        ("/tmp/dev/nvidia0", False),  # noqa: S108  # a name, not a file that is made
        ("/dev/nvidia0 (deleted)", False),
    ],
)
def test_names_of_gpu_nodes(path: str, *, is_node: bool) -> None:
    node = OpenFile(3, path, (195, 0))
    assert node.is_gpu_node is is_node
    assert not dataclasses.replace(node, device=None).is_gpu_node


def test_gpu_nodes_come_from_the_descriptors(tmp_path: Path) -> None:
    folder = tmp_path / "7/fd"
    folder.mkdir(parents=True)
    (tmp_path / "plain").touch()
    for number, target in enumerate(("/dev/null", str(tmp_path / "plain"), "pipe:[5]", "/gone")):
        (folder / str(number)).symlink_to(target)
    assert open_files(7, proc=tmp_path) == (
        OpenFile(0, "/dev/null", (1, 3)),
        OpenFile(1, str(tmp_path / "plain")),
    )
    assert live.gpu_nodes(7, proc=tmp_path) == ()


def test_a_process_that_is_gone_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    for read in (mapped_files, open_files):
        with pytest.raises(GateError, match="process 7 cannot be looked into") as caught:
            read(7, proc=tmp_path)
        assert caught.value.remedy


def test_an_endless_list_of_mappings_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "7").mkdir()
    (tmp_path / "7/maps").write_text(MAPS)
    monkeypatch.setattr(live, "MAPS_LIMIT", 100)
    with pytest.raises(GateError, match="larger than 100 bytes"):
        mapped_files(7, proc=tmp_path)


def test_whether_this_system_shows_it() -> None:
    assert live.available() is sys.platform.startswith("linux")


def test_a_library_loaded_by_a_program_is_seen() -> None:
    code = (
        "import ctypes, os, sys; ctypes.CDLL('libz.so.1'); os.write(int(sys.argv[1]), b'{}\\n'); "
        "os.read(int(sys.argv[2]), 1)"
    )
    with Child.start(
        [sys.executable, "-c", code, EVENTS, CONTROL], env=dict(os.environ), on_output=lambda _: None
    ) as started:
        assert isinstance(started.next_event(30), Event)
        assert any("libz.so" in file.path and file.executable for file in mapped_files(started.pid))

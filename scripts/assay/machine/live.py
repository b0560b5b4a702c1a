"""What a live process holds, seen from outside: the files it has mapped and the device nodes it has open.

A library is hashed *as mapped*.  Where the kernel lets it (``/proc/<pid>/map_files``, which needs
CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN), the mapping itself is opened, which is the same file even after its
name was given to another.  Elsewhere the path is opened and mapped here for a moment: only if the kernel
shows the same device and inode for both mappings are they the same file.  ``stat`` would not do: on overlayfs
and btrfs it shows other numbers than ``/proc/<pid>/maps`` (proc(5), and the kernel's overlayfs notes on
"Non-standard behavior").

Only Linux shows this; elsewhere ``available()`` is False and the readers raise ``GateError``.
"""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from assay.errors import GateError, StorageError
from assay.files import CHUNK, storage_errors

PROC = Path("/proc")

MAPS_LIMIT = 64 << 20
"""Bytes of a ``maps`` file: a process with three GPU runtimes has some hundred kilobytes."""

MAX_DESCRIPTORS = 100_000

_DELETED = " (deleted)"
_LINE = re.compile(
    r"(?P<range>[0-9a-f]+-[0-9a-f]+) (?P<modes>[r-][w-][x-][ps]) [0-9a-f]+ "
    r"(?P<major>[0-9a-f]+):(?P<minor>[0-9a-f]+) (?P<inode>[0-9]+) +(?P<path>/.*)"
)
"""A line of ``/proc/<pid>/maps`` with a file (proc_pid_maps(5))."""

_GPU_NODE = re.compile(r"/dev/(?:nvidia(?:[0-9]+|ctl|-uvm|-uvm-tools|-modeset)|nvidia-caps/.+|dxg)")


@dataclass(frozen=True)
class MappedFile:
    """A file that a process has mapped.

    Attributes:
        path: its path as the kernel shows it, without the mark of a deleted file.
        device: major and minor number of its file system, as ``maps`` shows them.
        inode: its inode, as ``maps`` shows it.
        deleted: its name is gone, or names another file.
        executable: some of it is mapped for execution.
        range: the first of its address ranges, ``<start>-<end>`` in hex.
    """

    path: str
    device: tuple[int, int]
    inode: int
    deleted: bool
    executable: bool
    range: str


@dataclass(frozen=True)
class OpenFile:
    """A descriptor of a process: ``device`` is its major and minor number if it is a character device."""

    descriptor: int
    path: str
    device: tuple[int, int] | None = None

    @property
    def is_gpu_node(self) -> bool:
        """Tell whether it is a GPU's device node: a character device of such a name."""
        return self.device is not None and _GPU_NODE.fullmatch(self.path) is not None


@dataclass(frozen=True)
class MappedHash:
    """What a mapped file is.

    Attributes:
        sha256: its SHA-256 (hex), ``""`` where ``problem`` says why there is none.
        size: its size in bytes.
        method: ``mapping`` (opened through the kernel) or ``path`` (the path names the mapped file).
        problem: ``""``, or why the mapped file could not be hashed.
    """

    sha256: str = ""
    size: int = 0
    method: str = ""
    problem: str = ""


def available() -> bool:
    """Tell whether this system shows what a process has mapped."""
    return (PROC / "self" / "maps").exists()


def mapped_files(pid: int, *, proc: Path = PROC) -> tuple[MappedFile, ...]:
    """Return the files that a process has mapped, each once, in the order of their addresses.

    Memory without a file (heap, stack, anonymous) is left out; files in memory (``/memfd:…``) are not.

    Raises:
        GateError: the process is gone, or may not be looked into, or this is not Linux.
    """
    return parse_maps(_read_maps(pid, proc))


def _read_maps(pid: int | str, proc: Path) -> str:
    """Return the text of a ``maps`` file; bytes that are not UTF-8 are kept as surrogates."""
    try:
        with (proc / str(pid) / "maps").open("rb") as stream:
            data = stream.read(MAPS_LIMIT + 1)
    except OSError as error:
        raise _unseen(pid, error.strerror or str(error)) from error
    if len(data) > MAPS_LIMIT:
        raise _unseen(pid, f"its list of mappings is larger than {MAPS_LIMIT} bytes")
    return os.fsdecode(data)


def parse_maps(text: str) -> tuple[MappedFile, ...]:
    """Parse the text of ``/proc/<pid>/maps``; one value for each path, device and inode."""
    found: dict[tuple[str, str, str, str], MappedFile] = {}
    for line in text.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None or match["inode"] == "0":
            continue
        key = (match["path"], match["major"], match["minor"], match["inode"])
        before = found.get(key)
        executable = match["modes"][2] == "x" or (before is not None and before.executable)
        found[key] = _mapped(match, before.range if before else match["range"], executable=executable)
    return tuple(found.values())


def _mapped(match: re.Match[str], first: str, *, executable: bool) -> MappedFile:
    """Return the value of one file's mappings."""
    path = match["path"]
    deleted = path.endswith(_DELETED)
    return MappedFile(
        path=path.removesuffix(_DELETED).replace("\\012", "\n"),
        device=(int(match["major"], 16), int(match["minor"], 16)),
        inode=int(match["inode"]),
        deleted=deleted,
        executable=executable,
        range=first,
    )


def open_files(pid: int, *, proc: Path = PROC) -> tuple[OpenFile, ...]:
    """Return the descriptors of a process that are files with a path, in order.

    Raises:
        GateError: the process is gone, or may not be looked into, or this is not Linux.
    """
    folder = proc / str(pid) / "fd"
    try:
        names = sorted((int(entry.name) for entry in folder.iterdir()), reverse=False)[:MAX_DESCRIPTORS]
    except (OSError, ValueError) as error:
        raise _unseen(pid, str(error)) from error
    files = (_open_file(folder, number) for number in names)
    return tuple(file for file in files if file)


def _open_file(folder: Path, number: int) -> OpenFile | None:
    """Return one descriptor, None where it is closed meanwhile or has no path (pipes, sockets)."""
    try:
        path = os.readlink(folder / str(number))  # noqa: PTH115  # the kernel's text, not a path to normalise
        status = (folder / str(number)).stat()
    except OSError:
        return None
    if not path.startswith("/"):
        return None
    if not stat.S_ISCHR(status.st_mode):
        return OpenFile(number, path)
    return OpenFile(number, path, (os.major(status.st_rdev), os.minor(status.st_rdev)))


def gpu_nodes(pid: int, *, proc: Path = PROC) -> tuple[str, ...]:
    """Return the GPU device nodes that a process holds open, sorted, each once.

    Raises:
        GateError: as ``open_files``.
    """
    return tuple(sorted({file.path for file in open_files(pid, proc=proc) if file.is_gpu_node}))


def hash_mapped(pid: int, mapped: MappedFile, *, proc: Path = PROC) -> MappedHash:
    """Return the digest of the file that a process has mapped, whatever its path names by now.

    Args:
        pid: the process, alive and ours to look into.
        mapped: one of its ``mapped_files``.
        proc: where ``/proc`` is.
    """
    mapping = proc / str(pid) / "map_files" / mapped.range
    try:
        if not stat.S_ISREG(mapping.stat().st_mode):
            return MappedHash(problem=f"{mapped.path} is not a regular file")
        with mapping.open("rb") as stream:
            return _hashed(stream, "mapping")
    except OSError:
        return _hash_by_path(mapped)


def _hash_by_path(mapped: MappedFile) -> MappedHash:
    """Return the digest of what the path names, if that is the mapped file."""
    if mapped.deleted:
        return MappedHash(problem=f"{mapped.path} was removed or replaced after it was mapped")
    path = Path(mapped.path)
    try:
        with storage_errors("read", path), open(path, "rb", opener=_without_waiting) as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                return MappedHash(problem=f"{path} is not a regular file")
            if identity_when_mapped(stream) != (mapped.device, mapped.inode):
                return MappedHash(problem=f"{path} is another file now than the one that is mapped")
            return _hashed(stream, "path")
    except StorageError as error:
        return MappedHash(problem=error.observed)


def _without_waiting(path: str, flags: int) -> int:
    """Open a file; a pipe that has taken its place does not make it wait."""
    return os.open(path, flags | os.O_NONBLOCK)


def identity_when_mapped(stream: BinaryIO) -> tuple[tuple[int, int], int] | None:
    """Return device and inode that the kernel shows for a mapping of an open file, None where it has none.

    Raises:
        OSError: the file cannot be mapped.
    """
    if not os.fstat(stream.fileno()).st_size:
        return None
    with mmap.mmap(stream.fileno(), 1, access=mmap.ACCESS_COPY) as mapping:
        first_byte = ctypes.c_char.from_buffer(mapping)
        address = f"{ctypes.addressof(first_byte):x}"
        del first_byte
        lines = _read_maps("self", PROC).split("\n")
        matches = (_LINE.fullmatch(line) for line in lines if line.lstrip("0").startswith(f"{address}-"))
        return next(
            (((int(one["major"], 16), int(one["minor"], 16)), int(one["inode"])) for one in matches if one),
            None,
        )


def _hashed(stream: BinaryIO, method: str) -> MappedHash:
    """Return the digest of an open file."""
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(stream):
        digest.update(chunk)
        size += len(chunk)
    return MappedHash(digest.hexdigest(), size, method)


def _chunks(stream: BinaryIO) -> Iterator[bytes]:
    """Yield a file's bytes."""
    while chunk := stream.read(CHUNK):
        yield chunk


def _unseen(pid: int | str, why: str) -> GateError:
    """Return the error of a process that cannot be looked into."""
    return GateError(
        f"process {pid} cannot be looked into: {why}",
        "a live process of the same user, on Linux",
        "run where /proc shows the child process",
    )

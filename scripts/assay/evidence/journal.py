"""The journal: the run's linked list of receipts, one canonical line an entry, synced line by line.

``prev`` of each line is the SHA-256 of the line before it, so that no entry can be changed, dropped or put in
without changing all that follow (FORMATS, "Journal").  A run that is killed leaves at most one torn line, the
last: it has no newline.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from assay import canonical
from assay.errors import BundleError, StorageError
from assay.evidence.names import JOURNAL, JOURNAL_BYTES, MAX_GATES, SHA256, ZEROS
from assay.files import storage_errors, sync_folder
from assay.plan.parse import GATE_NAME

FIRST_GATE = "plan"
"""The gate of entry 0, whose receipt is ``plan.json``."""

_LINE_BYTES = 1024
_FIELDS = ("gate", "log_sha256", "prev", "receipt_sha256", "seq")


@dataclass(frozen=True)
class Entry:
    """One line.

    Attributes:
        seq: its number, from 0.
        prev: SHA-256 (hex) of the line before without its newline, 64 zeros for entry 0.
        gate: the gate that ended; ``plan`` for entry 0.
        receipt_sha256: of its receipt; of ``plan.json`` for entry 0.
        log_sha256: of its stored log, 64 zeros where there is none.
    """

    seq: int
    prev: str
    gate: str
    receipt_sha256: str
    log_sha256: str

    def line(self) -> bytes:
        """Return the line, without its newline."""
        return canonical.dumps({name: getattr(self, name) for name in _FIELDS})

    def digest(self) -> str:
        """Return the SHA-256 (hex) of the line, which the next entry names."""
        return hashlib.sha256(self.line()).hexdigest()


@dataclass(frozen=True)
class Journal:
    """A journal that was read: its entries in order, and how many bytes a torn last line has (0: none)."""

    entries: tuple[Entry, ...]
    torn: int

    def data(self) -> bytes:
        """Return the journal's bytes without a torn line."""
        return b"".join(entry.line() + b"\n" for entry in self.entries)


def parse_journal(data: bytes, *, member: str = JOURNAL) -> Journal:
    """Read a journal and check that its entries are linked.

    Raises:
        BundleError: it is too long, a line is not canonical, a number or link is wrong, or a gate stands
            twice.
    """
    if len(data) > JOURNAL_BYTES:
        raise BundleError(f"has {len(data)} bytes", f"at most {JOURNAL_BYTES} bytes", "", member=member)
    lines = data.split(b"\n")
    if len(lines) > MAX_GATES + 2:
        raise BundleError(f"has {len(lines) - 1} lines", f"at most {MAX_GATES + 1} lines", "", member=member)
    entries = tuple(_entry(line, f"{member} line {number + 1}") for number, line in enumerate(lines[:-1]))
    _check_links(entries, member)
    return Journal(entries, len(lines[-1]))


def _entry(line: bytes, where: str) -> Entry:
    """Read one line."""
    value = canonical.loads(line, member=where, limit=_LINE_BYTES)
    if not isinstance(value, Mapping) or tuple(value) != _FIELDS:
        _refuse(where, "", "has other fields", ", ".join(_FIELDS))
    seq, gate = value["seq"], value["gate"]
    if isinstance(seq, bool) or not isinstance(seq, int):
        _refuse(where, "seq", "is not an integer", "the number of the line, from 0")
    if not isinstance(gate, str) or not re.fullmatch(f"plan|{GATE_NAME}", gate):
        _refuse(where, "gate", "is not a gate's name", GATE_NAME)
    digests = {name: value[name] for name in ("prev", "receipt_sha256", "log_sha256")}
    for name, digest in digests.items():
        if not isinstance(digest, str) or not SHA256.fullmatch(digest):
            _refuse(where, name, "is not a SHA-256", "64 hex digits in lower case")
    return Entry(seq=seq, gate=gate, **{name: str(digest) for name, digest in digests.items()})


def _check_links(entries: tuple[Entry, ...], member: str) -> None:
    """Refuse a wrong number, a broken link, or a gate that stands twice."""
    prev = ZEROS
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        where = f"{member} line {number + 1}"
        if entry.seq != number:
            _refuse(where, "seq", f"is {entry.seq}", str(number))
        if entry.prev != prev:
            _refuse(where, "prev", f"is {entry.prev}", f"{prev}, the digest of the line before")
        if (entry.gate == FIRST_GATE) is not (number == 0):
            _refuse(where, "gate", f"is {entry.gate}", "plan for line 1, and for no other")
        if entry.gate in seen:
            _refuse(where, "gate", f"is {entry.gate} for the second time", "one entry a gate")
        seen.add(entry.gate)
        prev = entry.digest()


def _refuse(member: str, field: str, observed: str, expected: str) -> NoReturn:
    """Raise the error of a broken journal."""
    raise BundleError(observed, expected, "ask for an unaltered copy", member=member, field=field)


class JournalWriter:
    """Appends entries to a new journal; the one writer of a run.

    After an error nothing more is written: what is on disk is then not known, and an entry behind a torn
    one would break the list.
    """

    def __init__(self, path: Path) -> None:
        """Create the journal, exclusively.

        Raises:
            StorageError: it is there already, or cannot be written.
        """
        self._path = path
        self._next = Entry(0, ZEROS, FIRST_GATE, ZEROS, ZEROS)
        self._size = 0
        self._broken = False
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | getattr(os, "O_BINARY", 0)
        with storage_errors("create", path):
            self._handle = os.open(path, flags, 0o644)
            try:
                sync_folder(path.parent)
            except OSError:
                self.close()
                raise

    def append(self, gate: str, receipt_sha256: str, log_sha256: str = ZEROS) -> Entry:
        """Append one entry and return it once it is on disk.

        Raises:
            StorageError: the file system refused, now or before.
        """
        if self._broken:
            raise StorageError(
                f"{self._path} broke off before", "a journal without errors", "bundle what it holds"
            )
        entry = Entry(self._next.seq, self._next.prev, gate, receipt_sha256, log_sha256)
        line = entry.line() + b"\n"
        self._broken = True
        with storage_errors("write", self._path):
            self._write(line)
        self._broken = False
        self._size += len(line)
        self._next = Entry(entry.seq + 1, entry.digest(), "", ZEROS, ZEROS)
        return entry

    def close(self) -> None:
        """Close the file."""
        os.close(self._handle)

    def _write(self, line: bytes) -> None:
        """Write and sync a line, or take back what was written of it."""
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(self._handle, left) :]
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, self._size)
            raise

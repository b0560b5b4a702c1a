"""A gate's log: redacted as it comes, whole up to 4 MiB, otherwise its first and last MiB (FORMATS)."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path
from typing import BinaryIO

from assay.evidence.names import LOG_KEPT, LOG_WHOLE
from assay.files import storage_errors, sync_folder
from assay.model import LogInfo
from assay.redaction import RedactingStream, Redactor


class GateLog:
    """Writes ``<gate>.log`` beside its place; ``finish`` puts it there.

    Several threads may write (a child's two pipes do).
    """

    def __init__(self, path: Path, redactor: Redactor) -> None:
        """Open the log.

        Raises:
            StorageError: it cannot be written.
        """
        self._path = path
        self._part = path.with_name(f".{path.name}.part")
        self._stream = RedactingStream(redactor)
        self._digest = hashlib.sha256()
        self._size = 0
        self._tail = bytearray()
        self._lock = threading.Lock()
        self._closed = False
        with storage_errors("write", path):
            self._file: BinaryIO = self._part.open("xb")

    @property
    def redactions(self) -> int:
        """Return how many redactions were made so far."""
        return self._stream.count

    def write(self, data: bytes) -> None:
        """Append bytes; what comes after ``finish`` (from an abandoned child) is dropped.

        Raises:
            StorageError: the file system refused.
        """
        with self._lock:
            if not self._closed:
                self._store(self._stream.feed(data))

    def finish(self) -> LogInfo:
        """Sync the log into its place and say what it holds.

        Raises:
            StorageError: the file system refused; nothing is left behind.
        """
        with self._lock:
            self._store(self._stream.finish())
            self._closed = True
            kept = self._cut()
            with storage_errors("write", self._path):
                try:
                    self._file.flush()
                    os.fsync(self._file.fileno())
                    self._file.close()
                    self._part.replace(self._path)
                    sync_folder(self._path.parent)
                finally:
                    self._discard()
        return LogInfo(self._size, self._digest.hexdigest(), kept)

    def discard(self) -> None:
        """Close without keeping anything, after an error."""
        with self._lock:
            self._closed = True
            self._discard()

    def _discard(self) -> None:
        """Close the file and remove the part that did not take its place."""
        self._file.close()
        self._part.unlink(missing_ok=True)

    def _store(self, data: bytes) -> None:
        """Hash, write the head, keep the tail."""
        self._digest.update(data)
        with storage_errors("write", self._path):
            room = max(0, LOG_WHOLE - self._size)
            self._file.write(data[:room])
        self._size += len(data)
        self._tail += data[-LOG_KEPT:]
        del self._tail[:-LOG_KEPT]

    def _cut(self) -> tuple[int, int] | None:
        """Cut a log that is too long to its head and tail."""
        if self._size <= LOG_WHOLE:
            return None
        with storage_errors("write", self._path):
            self._file.seek(LOG_KEPT)
            self._file.truncate()
            self._file.write(self._tail)
        return LOG_KEPT, len(self._tail)

"""A log is whole or cut as the format says, and its digest is of everything that was written."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from assay.errors import StorageError
from assay.evidence.names import LOG_KEPT as KEPT
from assay.evidence.names import LOG_WHOLE as WHOLE
from assay.gatelog import GateLog
from assay.redaction import make_redactor

NOTHING = make_redactor({}, ())


def write(path: Path, data: bytes, step: int = 100_000) -> GateLog:
    log = GateLog(path, NOTHING)
    for start in range(0, len(data), step):
        log.write(data[start : start + step])
    return log


@pytest.mark.parametrize("size", [0, 1, WHOLE])
def test_up_to_four_mebibytes_everything_is_kept(tmp_path: Path, size: int) -> None:
    data = os.urandom(size)
    info = write(tmp_path / "g.log", data).finish()
    assert (tmp_path / "g.log").read_bytes() == data
    assert (info.size, info.sha256, info.kept) == (size, hashlib.sha256(data).hexdigest(), None)


def test_a_longer_log_keeps_its_first_and_last_mebibyte(tmp_path: Path) -> None:
    data = os.urandom(WHOLE + 1)
    info = write(tmp_path / "g.log", data).finish()
    assert (tmp_path / "g.log").read_bytes() == data[:KEPT] + data[-KEPT:]
    assert (info.size, info.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert info.kept == (1 << 20, 1 << 20)


def test_digest_is_of_the_redacted_bytes(tmp_path: Path) -> None:
    log = GateLog(tmp_path / "g.log", make_redactor({"A_TOKEN": "sesame"}, ()))
    log.write(b"open ses")
    log.write(b"ame now")
    info = log.finish()
    assert (tmp_path / "g.log").read_bytes() == b"open [redacted] now"
    assert info.sha256 == hashlib.sha256(b"open [redacted] now").hexdigest()
    assert log.redactions == 1


def test_what_comes_after_the_end_is_dropped(tmp_path: Path) -> None:
    log = write(tmp_path / "g.log", b"all")
    log.finish()
    log.write(b" and more")
    assert (tmp_path / "g.log").read_bytes() == b"all"


def test_a_full_disk_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = write(tmp_path / "g.log", b"all")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match="No space left"):
        log.finish()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="absent"):
        GateLog(tmp_path / "absent" / "g.log", NOTHING)

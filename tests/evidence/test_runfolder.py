"""Whatever the journal names is on disk before it is named, at whatever moment the run ends."""

from __future__ import annotations

import dataclasses
import errno
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.errors import GateError, PlanError, StorageError
from assay.evidence.journal import parse_journal
from assay.evidence.names import ZEROS
from assay.evidence.runfolder import RunFolder, prune_runs
from assay.evidence.toolchain import toolchain_bytes
from assay.model import Artifact, Command, LogInfo, Outcome, Receipt
from tests.evidence.support import NONCE, RUN, STARTED, TOOLCHAIN, Gate, leave, plan, start_run

RECEIPT = Receipt("lint", Outcome.PASSED, 1, STARTED, 1, 2)


def sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def gates(folder: Path) -> list[str]:
    return [entry.gate for entry in parse_journal((folder / "journal.jsonl").read_bytes()).entries]


@pytest.mark.gate
def test_a_run_starts_with_toolchain_plan_and_entry_0(tmp_path: Path) -> None:
    run = start_run(tmp_path / "receipts" / "deep", challenge="beef")
    assert run.path == tmp_path / "receipts" / "deep" / RUN
    assert sorted(path.name for path in run.path.iterdir()) == [
        "artifacts",
        "journal.jsonl",
        "plan.json",
        "toolchain.zip",
    ]
    document = json.loads((run.path / "plan.json").read_bytes())
    assert {key: document[key] for key in ("schema", "run", "nonce", "challenge", "started", "platform")} == {
        "schema": "assay/plan/1",
        "run": RUN,
        "nonce": NONCE,
        "challenge": "beef",
        "started": STARTED,
        "platform": "linux",
    }
    assert (
        document["toolchain_sha256"]
        == hashlib.sha256(TOOLCHAIN).hexdigest()
        == sha256(run.path / "toolchain.zip")
    )
    (entry,) = parse_journal((run.path / "journal.jsonl").read_bytes()).entries
    assert (entry.gate, entry.receipt_sha256, entry.log_sha256) == (
        "plan",
        sha256(run.path / "plan.json"),
        ZEROS,
    )


def test_two_runs_never_share_a_folder(tmp_path: Path) -> None:
    first = start_run(tmp_path)
    before = sorted(path.read_bytes() for path in first.path.iterdir() if path.is_file())
    with pytest.raises(StorageError, match="File exists"):
        start_run(tmp_path)
    assert sorted(path.read_bytes() for path in first.path.iterdir() if path.is_file()) == before


@pytest.mark.gate
def test_a_gate_leaves_receipt_log_exit_and_artifacts(tmp_path: Path) -> None:
    run = start_run(tmp_path)
    gate = Gate(
        {"long": list(range(1001))},
        log=b"said\n",
        commands=(Command(("a",), 0), Command(("b",), 7)),
        artifacts={"x.whl": b"bytes"},
    )
    receipt = leave(run, "lint", gate, {}, {})
    folder = run.path
    assert (folder / "lint.exit").read_bytes() == b"7\n"
    assert (folder / "lint.log").read_bytes() == b"said\n"
    assert {path.name for path in (folder / "artifacts").iterdir()} == {
        each.sha256 for each in receipt.artifacts
    }
    assert [each.name for each in receipt.artifacts] == ["x.whl", "facts-list.json"]
    entry = parse_journal((folder / "journal.jsonl").read_bytes()).entries[-1]
    assert (entry.receipt_sha256, entry.log_sha256) == (
        sha256(folder / "lint.json"),
        sha256(folder / "lint.log"),
    )


def test_a_gate_without_log_and_commands_leaves_its_receipt_alone(tmp_path: Path) -> None:
    run = start_run(tmp_path)
    entry = run.record(RECEIPT, lists={})
    assert entry.log_sha256 == ZEROS
    assert not (run.path / "lint.log").exists()
    assert not (run.path / "lint.exit").exists()


@pytest.mark.gate
def test_a_receipt_past_a_bound_leaves_nothing_and_the_gate_can_be_recorded_as_an_error(
    tmp_path: Path,
) -> None:
    run = start_run(tmp_path)
    before = sorted(run.path.iterdir())
    with pytest.raises(GateError):
        run.record(dataclasses.replace(RECEIPT, facts={"a": "x" * (1 << 20)}), lists={"a" * 64: b"list"})
    assert sorted(run.path.iterdir()) == before
    run.record(dataclasses.replace(RECEIPT, outcome=Outcome.ERROR), lists={})
    assert gates(run.path) == ["plan", "lint"]


UNKEPT: dict[str, Receipt] = {
    "no log": dataclasses.replace(RECEIPT, log=LogInfo(1, "a" * 64)),
    "no artifact": dataclasses.replace(RECEIPT, artifacts=(Artifact("x", "a" * 64, 1),)),
}


@pytest.mark.parametrize("receipt", UNKEPT.values(), ids=UNKEPT)
def test_what_a_receipt_names_and_is_not_there_is_not_journalled(tmp_path: Path, receipt: Receipt) -> None:
    run = start_run(tmp_path)
    with pytest.raises(StorageError):
        run.record(receipt, lists={})
    assert gates(run.path) == ["plan"]


def test_another_log_or_artifact_than_the_receipts_is_not_journalled(tmp_path: Path) -> None:
    run = start_run(tmp_path)
    (run.path / "lint.log").write_bytes(b"12345")
    for log in (LogInfo(5, "a" * 64), LogInfo(9 << 20, "a" * 64, (1 << 20, 1 << 20))):
        with pytest.raises(StorageError, match="is not the log"):
            run.record(dataclasses.replace(RECEIPT, log=log), lists={})
    (run.path / "artifacts" / ("a" * 64)).write_bytes(b"12345")
    with pytest.raises(StorageError, match="has 5 bytes"):
        run.record(UNKEPT["no artifact"], lists={})
    assert gates(run.path) == ["plan"]


def test_a_plan_that_is_too_large_is_refused_and_leaves_no_folder(tmp_path: Path) -> None:
    claims = [{"id": f"c{n}", "text": "x" * 1000, "gates": []} for n in range(1100)]
    with pytest.raises(PlanError, match="at most 1048576"):
        start_run(tmp_path, of=plan(claim=claims))
    assert list(tmp_path.iterdir()) == []


class _Disk:
    """Counts the calls that write, and fails the chosen one and all after it: a disk stays full."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> None:
        self.calls = 0
        self._fail_at = fail_at
        for name in ("fsync", "write", "mkdir"):
            monkeypatch.setattr(os, name, self._guard(getattr(os, name)))
        monkeypatch.setattr(Path, "open", self._guard(Path.open, lambda _path, mode="r": "x" in mode))

    def _guard(self, real: Callable[..., object], counts: Callable[..., bool] = lambda *_: True) -> object:
        def guarded(*arguments: object, **options: object) -> object:
            if counts(*arguments[:2]):
                self._count()
            return real(*arguments, **options)

        return guarded

    def _count(self) -> None:
        self.calls += 1
        if self.calls >= self._fail_at:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _run_until(receipts: Path, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> int:
    """Start a run and record two gates on a disk that is full from call ``fail_at`` on; return the calls."""
    with monkeypatch.context() as patched:
        disk = _Disk(patched, fail_at)
        run: RunFolder | None = None
        try:
            run = start_run(receipts)
            for gate in ("environment", "lint"):
                run.record(
                    dataclasses.replace(RECEIPT, gate=gate, commands=(Command(("x",), 0),)),
                    lists={hashlib.sha256(b"list").hexdigest(): b"list"},
                )
        except StorageError as error:
            assert "No space left" in str(error)  # noqa: PT017  # where it is raised depends on the call
        finally:
            if run is not None:
                run.close()
    return disk.calls


@pytest.mark.gate
def test_a_disk_that_is_full_at_any_write_leaves_what_was_journalled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = _run_until(tmp_path / "whole", monkeypatch, 10**9)
    assert gates(tmp_path / "whole" / RUN) == ["plan", "environment", "lint"]
    assert calls > 20
    for fail_at in range(1, calls + 1):
        receipts = tmp_path / f"full-{fail_at}"
        _run_until(receipts, monkeypatch, fail_at)
        folder = receipts / RUN
        if not folder.exists():
            continue
        journal = parse_journal((folder / "journal.jsonl").read_bytes())
        assert journal.torn == 0
        assert len(journal.entries) >= 1
        for entry in journal.entries[1:]:
            assert sha256(folder / f"{entry.gate}.json") == entry.receipt_sha256
            assert (folder / f"{entry.gate}.exit").read_bytes() == b"0\n"
        assert [path.name for path in folder.rglob("*.part")] == []


def test_a_file_in_the_place_of_the_folder_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "receipts").touch()
    with pytest.raises(StorageError, match="cannot create"):
        start_run(tmp_path / "receipts")


def test_only_the_newest_runs_of_a_gate_are_kept(tmp_path: Path) -> None:
    names = [f"20261130T1200{n:02}Z-0000000{n % 10}" for n in range(14)]
    for name in [*names, "notes", "20261130T120000Z-x"]:
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    (tmp_path / "20260101T000000Z-00000000.tar").touch()
    prune_runs(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*names[4:], "notes", "20261130T120000Z-x", "20260101T000000Z-00000000.tar"}
    prune_runs(tmp_path, keep=1)
    assert names[13] in {path.name for path in tmp_path.iterdir()}
    with pytest.raises(StorageError):
        prune_runs(tmp_path / "missing")


def test_the_package_that_runs_is_the_toolchain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    run = start_run(tmp_path)
    assert (run.path / "toolchain.zip").read_bytes() == toolchain_bytes()

"""The run folder: everything that a run leaves, written whole and in an order that survives a kill.

A receipt, its log and its artifacts are on disk before the journal names them; so whatever the journal names
is there, at whatever moment the run ends (FORMATS, "Run folder" and "Journal").
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.errors import BundleError, CanonicalError, PlanError, StorageError
from assay.evidence.documents import PlanDocument, parse_plan_document
from assay.evidence.journal import FIRST_GATE, Entry, JournalWriter
from assay.evidence.names import (
    ARTIFACTS,
    JOURNAL,
    PLAN,
    RUN_NAME,
    TOOLCHAIN,
    ZEROS,
    artifact_name,
    exit_name,
    log_name,
    receipt_name,
    run_name,
)
from assay.evidence.receipt import exit_text, receipt_bytes
from assay.evidence.toolchain import toolchain_bytes
from assay.files import sha256_file, storage_errors, write_atomic
from assay.model import Platform, Receipt
from assay.plan import Plan, plan_json

KEPT_RUNS = 10
"""Runs of a single gate that are kept (FORMATS, "Run folder")."""


@dataclass(frozen=True)
class Start:
    """What a run starts with.

    Attributes:
        started: RFC 3339 UTC.
        nonce: drawn for this run, 32 hex digits.
        challenge: an auditor's value (hex) or ``""``.
        platform: where the run is made.
        plan: the whole plan.
    """

    started: str
    nonce: str
    challenge: str
    platform: Platform
    plan: Plan


@dataclass(frozen=True)
class RunFolder:
    """A run folder that is being written; one thread at a time may record.

    Attributes:
        path: the folder.
        document: what ``plan.json`` says.
        journal: the journal's writer.
    """

    path: Path
    document: PlanDocument
    journal: JournalWriter

    def record(self, receipt: Receipt, *, lists: Mapping[str, bytes]) -> Entry:
        """Write what a gate left and journal it; return the entry once it is on disk.

        ``<gate>.log`` has its place already where the receipt has a log, and so has every artifact but the
        given lists.

        Args:
            receipt: what the gate saw, its long lists spilled.
            lists: those lists' artifacts by SHA-256 (hex).

        Raises:
            GateError: the receipt passes a bound; nothing was written.
            StorageError: the file system refused, or what the receipt names is not there; the gate is not
                in the journal.
        """
        data = receipt_bytes(receipt)
        for sha256, content in lists.items():
            self._keep(sha256, content)
        log_sha256 = self._check_log(receipt)
        self._check_artifacts(receipt)
        if (ended := exit_text(receipt.commands)) is not None:
            write_atomic(self.path / exit_name(receipt.gate), f"{ended}\n".encode())
        write_atomic(self.path / receipt_name(receipt.gate), data)
        return self.journal.append(receipt.gate, hashlib.sha256(data).hexdigest(), log_sha256)

    def close(self) -> None:
        """Close the journal."""
        self.journal.close()

    def _keep(self, sha256: str, content: bytes) -> None:
        """Write a list's artifact where it is not there yet."""
        target = self.path / artifact_name(sha256)
        if not target.exists():
            write_atomic(target, content)

    def _check_log(self, receipt: Receipt) -> str:
        """Return the stored log's digest, after checking that it is the log of the receipt."""
        if receipt.log is None:
            return ZEROS
        path = self.path / log_name(receipt.gate)
        sha256, size = sha256_file(path)
        whole = (receipt.log.sha256, receipt.log.size)
        if (sum(receipt.log.kept) != size) if receipt.log.kept else ((sha256, size) != whole):
            raise StorageError(
                f"{path} is not the log that was written", f"{receipt.log.size} bytes", "run again"
            )
        return sha256

    def _check_artifacts(self, receipt: Receipt) -> None:
        """Refuse a receipt whose artifacts are not kept."""
        for artifact in receipt.artifacts:
            path = self.path / artifact_name(artifact.sha256)
            with storage_errors("read", path):
                size = path.stat().st_size
            if size != artifact.size:
                raise StorageError(f"{path} has {size} bytes", f"{artifact.size} bytes", "run again")


def create_run(receipts: Path, start: Start) -> RunFolder:
    """Make a run folder with toolchain, plan and journal; entry 0 is the first act of a run.

    Args:
        receipts: the folder that run folders are made in; made where it is missing.
        start: what the run starts with.

    Raises:
        PlanError: the plan is too large to be evidence.
        StorageError: there is such a run already, or the file system refused; nothing is left behind.
    """
    path = receipts / run_name(start.started, start.nonce)
    with storage_errors("create", path):
        receipts.mkdir(parents=True, exist_ok=True)
        path.mkdir()
    try:
        return _filled(path, start)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise


def _filled(path: Path, start: Start) -> RunFolder:
    """Fill a new run folder up to entry 0."""
    with storage_errors("create", path):
        (path / ARTIFACTS).mkdir()
    toolchain = toolchain_bytes()
    write_atomic(path / TOOLCHAIN, toolchain)
    document = PlanDocument(
        run=path.name,
        nonce=start.nonce,
        challenge=start.challenge,
        started=start.started,
        platform=start.platform,
        toolchain_sha256=hashlib.sha256(toolchain).hexdigest(),
        plan=start.plan,
        given=plan_json(start.plan),
    )
    data = _checked(document)
    write_atomic(path / PLAN, data)
    journal = JournalWriter(path / JOURNAL)
    try:
        journal.append(FIRST_GATE, hashlib.sha256(data).hexdigest())
    except BaseException:
        journal.close()
        raise
    return RunFolder(path, document, journal)


def _checked(document: PlanDocument) -> bytes:
    """Return ``plan.json`` after reading it as a stranger would."""
    try:
        data = document.data()
        parse_plan_document(data)
    except (BundleError, CanonicalError) as error:
        raise PlanError("tool.assay", error.observed, error.expected, "plan less in one run") from error
    return data


def prune_runs(folder: Path, keep: int = KEPT_RUNS) -> None:
    """Remove all runs of a folder but the newest ``keep``; other things in it are left alone.

    Raises:
        StorageError: the folder cannot be read.
    """
    with storage_errors("read", folder):
        names = sorted(
            (path.name for path in folder.iterdir() if RUN_NAME.fullmatch(path.name)), reverse=True
        )
    for name in names[keep:]:
        shutil.rmtree(folder / name, ignore_errors=True)

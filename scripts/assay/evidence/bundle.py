"""Finishes a run folder into ``<run>.tar``, also one that was killed (FORMATS, "Journal" and "Container").

A bundle holds the plan, the journal, the toolchain and what the journal names; everything else in the folder
stays behind.  It is a pure function of those: bundling again gives the same bytes.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from assay import __version__
from assay.errors import BundleError
from assay.evidence.container import Member, write_container
from assay.evidence.documents import TOOL, Listed, Manifest, PlanDocument, parse_plan_document
from assay.evidence.journal import Entry, Journal, parse_journal
from assay.evidence.judging import check_gates, conclude, judge_gates
from assay.evidence.names import (
    JOURNAL,
    JOURNAL_BYTES,
    MANIFEST,
    PLAN,
    RECEIPT_BYTES,
    TOOLCHAIN,
    ZEROS,
    artifact_name,
    exit_name,
    log_name,
    receipt_name,
)
from assay.evidence.receipt import exit_text
from assay.evidence.records import FolderSource, Records
from assay.files import atomic_writer, read_bounded, storage_errors
from assay.model import Receipt, Tier, Verdict


@dataclass(frozen=True)
class Bundle:
    """A bundle that was written.

    Attributes:
        path: where.
        digest: its digest, the SHA-256 (hex) of ``manifest.json``.
        verdict: what the run comes to.
        tier: the tier that its facts show, None where they show none.
        gates: the gates that were journalled.
        torn: bytes of a torn last line of the journal, which was cut.
    """

    path: Path
    digest: str
    verdict: Verdict
    tier: Tier | None
    gates: tuple[str, ...]
    torn: int


def write_bundle(folder: Path) -> Bundle:
    """Bundle a run folder beside itself, whole or not at all.

    Raises:
        BundleError: the journal, or something that it names, is not what was written.
        NewerSchemaError: a newer assay made the run.
        StorageError: the file system refused, or something that the journal names is not there.
    """
    folder = folder.resolve()
    journal = parse_journal(read_bounded(folder / JOURNAL, JOURNAL_BYTES))
    document = _plan(folder, journal)
    records = Records(FolderSource(folder), journal.entries)
    members = [*_fixed(folder, journal, document), *_named(folder, journal.entries, records)]
    ordered = sorted(
        {member.name: member for member in members}.values(), key=lambda member: member.name.encode()
    )
    manifest = _manifest(document, records, ordered)
    path = folder.with_name(f"{folder.name}.tar")
    with atomic_writer(path) as stream:
        write_container(stream, [_bytes_member(MANIFEST, manifest.data()), *ordered])
    digest = hashlib.sha256(manifest.data()).hexdigest()
    return Bundle(path, digest, manifest.verdict, manifest.tier, records.gates, journal.torn)


def _plan(folder: Path, journal: Journal) -> PlanDocument:
    """Return the plan that entry 0 names."""
    if not journal.entries:
        raise BundleError("has no entry", "entry 0 at least", "start the run again", member=JOURNAL)
    data = read_bounded(folder / PLAN, RECEIPT_BYTES)
    if hashlib.sha256(data).hexdigest() != journal.entries[0].receipt_sha256:
        raise BundleError("is not the plan that the journal names", "an unaltered file", "", member=PLAN)
    document = parse_plan_document(data)
    if document.run != folder.name:
        raise BundleError(
            f"is {document.run}", folder.name, "give the folder its name", member=PLAN, field="run"
        )
    check_gates(document)
    return document


def _fixed(folder: Path, journal: Journal, document: PlanDocument) -> Iterator[Member]:
    """Yield what every bundle holds."""
    yield _bytes_member(JOURNAL, journal.data())
    yield _file_member(folder, PLAN, journal.entries[0].receipt_sha256)
    yield _file_member(folder, TOOLCHAIN, document.toolchain_sha256)


def _named(folder: Path, entries: tuple[Entry, ...], records: Records) -> Iterator[Member]:
    """Yield what the journal names."""
    for entry in entries[1:]:
        receipt = records.receipt(entry.gate)
        yield _file_member(folder, receipt_name(entry.gate), entry.receipt_sha256)
        if entry.log_sha256 != ZEROS:
            yield _file_member(folder, log_name(entry.gate), entry.log_sha256)
        if (data := exit_bytes(receipt)) is not None:
            yield _bytes_member(exit_name(entry.gate), data)
        for artifact in receipt.artifacts:
            yield _file_member(folder, artifact_name(artifact.sha256), artifact.sha256)


def exit_bytes(receipt: Receipt) -> bytes | None:
    """Return what ``<gate>.exit`` must hold, None where there must be none."""
    ended = exit_text(receipt.commands)
    return None if ended is None else f"{ended}\n".encode()


def _manifest(document: PlanDocument, records: Records, members: list[Member]) -> Manifest:
    """Return the manifest, with tier and verdict computed by judging."""
    outcomes = {each.receipt.gate: each.outcome for each in judge_gates(document, records, newest=False)}
    conclusion = conclude(document, records, outcomes)
    return Manifest(
        run=document.run,
        tool=TOOL,
        version=__version__,
        tier=conclusion.tier,
        verdict=conclusion.verdict,
        members=tuple(Listed(member.name, member.size, member.sha256) for member in members),
    )


def _file_member(folder: Path, name: str, sha256: str) -> Member:
    """Return a file as a member; whether it has that digest is seen while it is written."""
    path = folder / name
    with storage_errors("read", path):
        size = path.stat().st_size

    def read() -> BinaryIO:
        with storage_errors("read", path):
            return path.open("rb")

    return Member(name, size, sha256, read)


def _bytes_member(name: str, data: bytes) -> Member:
    """Return bytes as a member."""
    return Member(name, len(data), hashlib.sha256(data).hexdigest(), lambda: io.BytesIO(data))

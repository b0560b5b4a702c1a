"""What a bundle must hold, and nothing else: receipts, logs, exits and artifacts that the journal names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet

from assay.evidence.bundle import exit_bytes
from assay.evidence.container import Container
from assay.evidence.documents import Listed
from assay.evidence.journal import Entry
from assay.evidence.names import (
    JOURNAL,
    LOG_KEPT,
    LOG_WHOLE,
    PLAN,
    TOOLCHAIN,
    ZEROS,
    artifact_name,
    exit_name,
    log_name,
    receipt_name,
)
from assay.evidence.verification import Problem
from assay.model import LogInfo, Receipt

_EXIT_BYTES = 32


def check_gate(
    entry: Entry, receipt: Receipt, container: Container, listed: Mapping[str, Listed]
) -> Iterator[Problem]:
    """Yield where a gate's log and exit are not what journal and receipt say."""
    yield from _check_log(entry, receipt.log, listed)
    name, right = exit_name(entry.gate), exit_bytes(receipt)
    if right is None or name not in listed:
        return
    found = container.read(name, _EXIT_BYTES)
    if found != right:
        yield Problem(name, "", repr(found), f"{right!r}, of the receipt's commands")


def _check_log(entry: Entry, log: LogInfo | None, listed: Mapping[str, Listed]) -> Iterator[Problem]:
    """Yield where a stored log is not that of the receipt."""
    member = receipt_name(entry.gate)
    if (log is None) is not (entry.log_sha256 == ZEROS):
        yield Problem(member, "log", "a log" if log else "no log", f"{entry.log_sha256}, of the journal")
    stored = listed.get(log_name(entry.gate))
    if log is None or stored is None:
        return
    if stored.sha256 != entry.log_sha256:
        yield Problem(stored.name, "", f"SHA-256 {stored.sha256}", f"{entry.log_sha256}, of the journal")
    elif log.kept is None:
        if (log.sha256, log.size) != (stored.sha256, stored.size) or log.size > LOG_WHOLE:
            yield Problem(
                member, "log", f"{log.size} bytes with SHA-256 {log.sha256}", "those of the whole log"
            )
    elif log.kept != (LOG_KEPT, LOG_KEPT) or log.size <= LOG_WHOLE or stored.size != sum(log.kept):
        expected = f"the first and last {LOG_KEPT} bytes of a log of over {LOG_WHOLE}"
        yield Problem(member, "log.kept", f"{list(log.kept)} of {log.size}, {stored.size} stored", expected)


def check_artifacts(receipt: Receipt, listed: Mapping[str, Listed]) -> Iterator[Problem]:
    """Yield artifacts that are missing, or whose member has another digest or size than the receipt says."""
    for number, artifact in enumerate(receipt.artifacts):
        name, field = artifact_name(artifact.sha256), f"{receipt.gate}.artifacts.{number}"
        stored = listed.get(name)
        if stored is None:
            yield Problem(name, field, "is missing from the bundle", "what the journal names")
        elif (stored.sha256, stored.size) != (artifact.sha256, artifact.size):
            observed = f"{stored.size} bytes with SHA-256 {stored.sha256}"
            yield Problem(name, field, observed, f"{artifact.size} bytes with the digest of its name")


def named_by(entry: Entry, receipt: Receipt) -> set[str]:
    """Return the members that an entry and its receipt name."""
    names = {receipt_name(entry.gate)}
    names |= {log_name(entry.gate)} if entry.log_sha256 != ZEROS else set()
    names |= {exit_name(entry.gate)} if receipt.commands else set()
    return names | {artifact_name(artifact.sha256) for artifact in receipt.artifacts}


def check_members(listed: Mapping[str, Listed], named: AbstractSet[str]) -> Iterator[Problem]:
    """Yield what the journal names and is missing, and what nothing names.

    Args:
        listed: every member by name.
        named: what plan and journal name, artifacts only as far as they are there.
    """
    right = {PLAN, JOURNAL, TOOLCHAIN} | named
    for name in sorted(right - set(listed)):
        yield Problem(name, "", "is missing from the bundle", "what the journal names")
    for name in sorted(set(listed) - right):
        yield Problem(name, "", "is in the bundle", "only what the journal names")

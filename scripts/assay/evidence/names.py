"""The names of what a run folder and a bundle hold, and the bounds that writer and reader share."""

from __future__ import annotations

import re

PLAN = "plan.json"
JOURNAL = "journal.jsonl"
TOOLCHAIN = "toolchain.zip"
MANIFEST = "manifest.json"
VERDICT = "verdict.json"
ARTIFACTS = "artifacts"

RUN_NAME = re.compile(r"[0-9]{8}T[0-9]{6}Z-[0-9a-f]{8}")
"""``<YYYYMMDDTHHMMSSZ>-<8 hex of the nonce>`` (FORMATS, "Run folder")."""

SHA256 = re.compile(r"[0-9a-f]{64}")
NONCE = re.compile(r"[0-9a-f]{32}")
CHALLENGE = re.compile(r"[0-9a-f]{0,128}")
"""An auditor's value: up to 64 bytes in hex, ``""`` where there was none."""

ZEROS = "0" * 64
"""The digest of what is not there: before the first entry, and of no log (FORMATS, "Journal")."""

RECEIPT_BYTES = 1 << 20
"""FORMATS, "Receipt"; ``plan.json`` has the same bound."""

MAX_FINDINGS = 1000
"""Findings of one receipt; the rest are counted (FORMATS, "Receipt")."""

MAX_LIST = 1000
"""Entries of a list in facts; a longer one becomes an artifact (FORMATS, "Receipt")."""

LISTS_BYTES = 3 << 20
LISTS_NODES = 1 << 17
"""Bytes and values of all lists that one receipt's facts name, so that a reader holds them in 64 MiB."""

LOG_WHOLE = 4 << 20
LOG_KEPT = 1 << 20
"""A log over ``LOG_WHOLE`` bytes keeps its first and last ``LOG_KEPT`` (FORMATS, "Receipt")."""

MAX_MEMBERS = 1 << 14
"""Members of a bundle: a run has a few dozen; a manifest of so many still fits in memory many times."""

MANIFEST_BYTES = 4 << 20
JOURNAL_BYTES = 8 << 20
MAX_GATES = 64


def receipt_name(gate: str) -> str:
    """Return the name of a gate's receipt."""
    return f"{gate}.json"


def log_name(gate: str) -> str:
    """Return the name of a gate's log."""
    return f"{gate}.log"


def exit_name(gate: str) -> str:
    """Return the name of the file that holds the exit of a gate's commands."""
    return f"{gate}.exit"


def artifact_name(sha256: str) -> str:
    """Return the name of an artifact (its real name is in the receipt)."""
    return f"{ARTIFACTS}/{sha256}"


def run_name(started: str, nonce: str) -> str:
    """Return the name of a run's folder.

    Args:
        started: RFC 3339 UTC with ``Z``.
        nonce: the run's nonce (hex).
    """
    return f"{started[:19].replace('-', '').replace(':', '')}Z-{nonce[:8]}"

"""The hashes that a provisioned selection was locked to, as ``provision`` wrote them into the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from assay.canonical import parse
from assay.errors import BundleError, StorageError
from assay.judge.packages import normal
from assay.machine import Machine
from assay.model import Facts, Json

RECORD = "provision.json"
"""Lies at the root of a provisioned environment; its schema is ``assay/provision/1``."""

_LIMIT = 1 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Locks:
    """Version and lock digest by normalised name; empty for an environment that was not provisioned."""

    versions: Mapping[str, Json]
    digests: Mapping[str, Json]

    def of(self, distribution: Facts) -> str | None:
        """Return the lock digest of a distribution, None where another version than the locked is there."""
        name = normal(str(distribution.get("name", "")))
        digest = self.digests.get(name)
        same = self.versions.get(name) == distribution.get("version")
        return digest if same and isinstance(digest, str) and _SHA256.fullmatch(digest) else None


def locks_of(machine: Machine, prefix: str) -> Locks:
    """Return the locks of the environment at ``prefix``; a record that cannot be read locks nothing."""
    path = machine.paths.join(prefix, RECORD) if prefix else ""
    if not path or not machine.is_file(path):
        return Locks({}, {})
    try:
        record = parse(machine.read_bytes(path, _LIMIT), member=RECORD)
    except (BundleError, StorageError):
        return Locks({}, {})
    return Locks(_table(record, "packages"), _table(record, "locked"))


def _table(record: Json, key: str) -> Mapping[str, Json]:
    """Return a table of the record, empty where it is something else."""
    value = record.get(key) if isinstance(record, Mapping) else None
    return value if isinstance(value, Mapping) else {}

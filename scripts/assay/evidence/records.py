"""The receipts of a run, read one at a time from a run folder or a bundle: any run fits into memory."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from assay import canonical
from assay.errors import BundleError
from assay.evidence.facts import expand
from assay.evidence.journal import Entry
from assay.evidence.names import LISTS_BYTES, RECEIPT_BYTES, artifact_name, receipt_name
from assay.evidence.receipt import parse_receipt
from assay.files import read_bounded
from assay.model import Facts, Receipt

KEPT_WEIGHT = 8 << 20
"""Bytes of receipts that stay in memory for the gates that need them; others are read again."""

_NODE_WEIGHT = 100
_WIDEST = 4
"""Bytes that Python takes for a value besides its text, and for a character of the widest texts."""


class Source(Protocol):
    """Where members are read: a container, or a run folder."""

    def read(self, name: str, limit: int) -> bytes:
        """Return a member's bytes, at most ``limit`` of them."""


class FolderSource:
    """A run folder as a source."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, limit: int) -> bytes:
        """Return a file's bytes.

        Raises:
            StorageError: it cannot be read, or has more than ``limit`` bytes.
        """
        return read_bounded(self._folder / name, limit)


class Records:
    """The receipts that a journal names, their facts with every list in its place.

    What stays in memory is bounded; the rest is read and checked again whenever it is asked for.
    """

    def __init__(self, source: Source, entries: Sequence[Entry]) -> None:
        """Take the journal's entries behind the first, which names the plan."""
        self._source = source
        self._digests = {entry.gate: entry.receipt_sha256 for entry in entries[1:]}
        self._kept: dict[str, Receipt] = {}
        self._room = KEPT_WEIGHT

    @property
    def gates(self) -> tuple[str, ...]:
        """Return the gates in the order in which they ended."""
        return tuple(self._digests)

    def receipt(self, gate: str) -> Receipt:
        """Return a gate's receipt.

        Raises:
            BundleError: it is not the one that the journal names, or it or a list of its facts is broken.
            StorageError: it cannot be read.
        """
        if gate in self._kept:
            return self._kept[gate]
        receipt, cost = self._read(gate)
        if cost <= self._room:
            self._room -= cost
            self._kept[gate] = receipt
        return receipt

    def facts(self, gates: frozenset[str]) -> Mapping[str, Facts]:
        """Return the facts of those of ``gates`` that ended, read when they are looked at."""
        return _RecordedFacts(self, tuple(gate for gate in self._digests if gate in gates))

    def _read(self, gate: str) -> tuple[Receipt, int]:
        """Return a receipt and its weight."""
        name = receipt_name(gate)
        data = self._checked(name, self._digests[gate], RECEIPT_BYTES)
        receipt = parse_receipt(data, name)
        if receipt.gate != gate:
            raise BundleError(f"is {receipt.gate}", gate, "", member=name, field="gate")
        named = {artifact.sha256 for artifact in receipt.artifacts}
        costs = [_weight(data)]

        def read(sha256: str) -> bytes:
            if sha256 not in named:
                raise BundleError(
                    f"names the list {sha256}", "one of the receipt's artifacts", "", member=name
                )
            found = self._checked(artifact_name(sha256), sha256, LISTS_BYTES)
            costs.append(_weight(found))
            return found

        facts = expand(receipt.facts, read, member=name)
        return dataclasses.replace(receipt, facts=facts), sum(costs)

    def _checked(self, name: str, sha256: str, limit: int) -> bytes:
        """Return a member's bytes if they have the digest that names them."""
        data = self._source.read(name, limit)
        if (found := hashlib.sha256(data).hexdigest()) != sha256:
            raise BundleError(f"has SHA-256 {found}", sha256, "ask for an unaltered copy", member=name)
        return data


def _weight(data: bytes) -> int:
    """Return an estimate of the bytes that a document takes in memory once it is read."""
    return _NODE_WEIGHT * canonical.count_nodes(data) + len(data) * (1 if data.isascii() else _WIDEST)


class _RecordedFacts(Mapping[str, Facts]):
    """Facts by gate, read when they are looked at."""

    def __init__(self, records: Records, gates: tuple[str, ...]) -> None:
        self._records = records
        self._gates = gates

    def __getitem__(self, gate: str) -> Facts:
        if gate not in self._gates:
            raise KeyError(gate)
        return self._records.receipt(gate).facts

    def __iter__(self) -> Iterator[str]:
        return iter(self._gates)

    def __len__(self) -> int:
        return len(self._gates)

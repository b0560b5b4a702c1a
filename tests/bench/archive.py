"""A query of an archive of 2,000 bundles, from process start, with the index that an earlier one left."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime
from pathlib import Path

from assay.archive.folder import FolderStore
from assay.archive.holding import look
from assay.archive.index import entry_of, index_file, save
from assay.evidence.filed import MARK, Name, Part, mark
from tests.bench.measure import Line, alternate, bounded
from tests.bench.start import command, largest_released, running

TURNS = 15
BUNDLES = 2000
QUERY_S = 0.2


def archive_lines(project: Path, folder: Path) -> list[Line]:
    """Measure ``assay archive list`` over 2,000 bundles with an attestation each."""
    archive = _archive(project, folder / "archive")
    one = command("archive", "list", "--from", str(archive), "--run", "20261130T205642Z-1817c1ea")
    everything = command("archive", "list", "--from", str(archive))
    query, whole = alternate(TURNS, running(one), running(everything))
    return [
        bounded(f"assay archive list, one of {BUNDLES} bundles", query, QUERY_S),
        bounded(f"assay archive list, all {BUNDLES} bundles", whole, QUERY_S),
    ]


def _archive(project: Path, folder: Path) -> Path:
    """Return an archive whose index says of each file what a released bundle says.

    A query reads names, stamps and the index, and no bundle: so a file need not hold one.
    """
    folder.mkdir()
    (folder / MARK).write_bytes(mark())
    held = look(largest_released(project), datetime.now(UTC))
    for number in range(BUNDLES):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        (folder / str(Name(digest))).touch()
        (folder / str(Name(digest, Part.ATTESTATIONS, digest))).touch()
    store = FolderStore(folder)
    stamps = store.listing().stamps
    save(index_file(store), {digest: entry_of(held, stamp) for digest, stamp in stamps.items()})
    return folder

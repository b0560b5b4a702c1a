"""Checks everything that an archive holds, and makes its index anew."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from assay.archive.holding import check_about, check_bundle
from assay.archive.index import Entry, entry_of, index_file, save
from assay.archive.store import Store
from assay.errors import AssayError
from assay.evidence.filed import Name, Part


@dataclass(frozen=True)
class Audited:
    """What a file of an archive comes to: ``problem`` is None where it is what its name says."""

    name: str
    problem: AssayError | None = None

    @property
    def exit_code(self) -> int:
        """Return 0 where it is, 3 where it could not be read, 4 where it is something else."""
        return self.problem.exit_code if self.problem else 0


def audit(store: Store, now: datetime) -> Iterator[Audited]:
    """Yield what each file of an archive comes to, read to its last byte; keep an index of the good bundles.

    Raises:
        AssayError: the archive cannot be asked.
    """
    listing = store.listing()
    bundles = {name.bundle for name in listing.names if name.part is Part.BUNDLE}
    entries: dict[str, Entry] = {}
    for name in listing.names:
        try:
            with store.opened(name) as path:
                if name.part is Part.BUNDLE:
                    held = check_bundle(path, name.bundle, now)
                    entries[name.bundle] = entry_of(held, listing.stamps.get(name.bundle, ""))
                else:
                    check_about(path, name)
        except AssayError as error:
            yield Audited(str(name), error)
        else:
            yield Audited(str(name), _orphan(store, name) if name.bundle not in bundles else None)
    for stranger in listing.strangers:
        yield Audited(stranger, AssayError("is no file of an archive", "only such", "move it away"))
    save(index_file(store), entries)


def _orphan(store: Store, name: Name) -> AssayError:
    """Return the error of a file whose bundle is not there."""
    return AssayError(
        f"is about the bundle {name.bundle}, which {store.place} does not hold",
        "the bundle too",
        "archive it",
    )

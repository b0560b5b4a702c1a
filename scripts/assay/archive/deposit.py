"""Puts bundles and what lies beside them into an archive: all is looked at before anything is sent."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from assay.archive.holding import check_about, check_bundle
from assay.archive.store import Store, bytes_of
from assay.errors import StorageError
from assay.evidence.filed import Name, Part
from assay.files import storage_errors

_PARTS = tuple(sorted((part for part in Part if part is not Part.BUNDLE), key=lambda part: -len(part)))
"""What may lie beside a bundle, the longest ending first: some end as others do."""


@dataclass(frozen=True)
class Item:
    """A file that is to be put, and its name."""

    name: Name
    file: Path


@dataclass(frozen=True)
class Deposited:
    """A file that lies in an archive now, and whether it lay there before."""

    item: Item
    new: bool


def items_of(bundle: Path, now: datetime) -> tuple[Item, ...]:
    """Return a bundle and what lies beside it about it, all checked.

    Args:
        bundle: the bundle; what is about it begins with its name, without ``.tar``.
        now: the user's time.

    Raises:
        BundleError: the bundle is not intact, or what lies beside it is about another.
        StorageError: a file cannot be read.
    """
    digest = check_bundle(bundle, "", now).verified.bundle_digest
    items = [Item(Name(digest), bundle)]
    for file, part in _beside(bundle):
        item = Item(Name(digest, part, bytes_of(file).sha256), file)
        check_about(file, item.name)
        items.append(item)
    return tuple(items)


def deposit(items: Sequence[Item], store: Store) -> Iterator[Deposited]:
    """Put files into an archive, in order, and yield each as it lies there.

    Raises:
        AssayError: one was refused; those that were yielded are there, and nothing else is.
    """
    for item in items:
        yield Deposited(item, store.put(item.name, item.file))


def _beside(bundle: Path) -> Iterator[tuple[Path, Part]]:
    """Yield the files beside a bundle that are about it, and what they are."""
    stem = bundle.name.removesuffix(".tar") + "."
    if stem == bundle.name + ".":
        raise StorageError(f"{bundle} does not end with .tar", "a bundle's own name", "rename it")
    with storage_errors("read", bundle.parent):
        names = sorted(os.listdir(bundle.parent))  # noqa: PTH208  # names are all that is asked
    for name in names:
        part = next(
            (part for part in _PARTS if name.startswith(stem) and name.endswith(f".{part.value}")), None
        )
        if part is not None:
            yield bundle.parent / name, part

"""Where a selection is kept, and how a new one takes its place: whole or not at all, one at a time.

    .assay/provision.lock     held (not merely there) while one provisions
    .assay/provision.log      commands and output of the last time
    .assay/selection/         the environment; its provision.json is written last: the mark of a whole one
    .assay/selection/hosted/  Bun and the host library, made anew when what they are made of changes
    .assay/selection.toml     the selection file, whose text is in the mark too
    .assay/previous/          the environment before, set aside while the new one is made
    .assay/scratch/           removed at the end
    .assay/wheels/            built wheels with their records, .assay/stubs/ libcuda stubs: kept

An environment cannot be moved (its scripts hold its path), so a new one is made in place and the old one is
set aside.  When making fails the old one comes back; after a kill the next start brings it back.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, StorageError
from assay.files import read_bounded, storage_errors, write_atomic
from assay.model import Json

KIND = "provision"
"""Kind of the mark's schema."""

_TEXT = "selection_file"
_LIMIT = 1 << 20


@dataclass(frozen=True)
class Store:
    """The folder that selections are kept in; see the module's docstring."""

    root: Path

    @property
    def selection(self) -> Path:
        """Return the environment's folder."""
        return self.root / "selection"

    @property
    def mark(self) -> Path:
        """Return the mark of a whole selection."""
        return self.selection / "provision.json"

    @property
    def file(self) -> Path:
        """Return the selection file."""
        return self.root / "selection.toml"

    @property
    def previous(self) -> Path:
        """Return where the selection before is set aside."""
        return self.root / "previous"

    @property
    def scratch(self) -> Path:
        """Return the scratch folder."""
        return self.root / "scratch"

    @property
    def wheels(self) -> Path:
        """Return the cache of built wheels."""
        return self.root / "wheels"

    @property
    def stubs(self) -> Path:
        """Return the cache of libcuda stubs."""
        return self.root / "stubs"

    @property
    def log(self) -> Path:
        """Return the log."""
        return self.root / "provision.log"


@contextlib.contextmanager
def exclusive(store: Store) -> Iterator[int]:
    """Hold the store alone, and yield the descriptor that holds it.

    The system lets go of it when the process and every child that was given the descriptor have ended,
    however they end (flock(2): the lock belongs to the open file).

    Raises:
        StorageError: another process holds it, or the folder cannot be made.
    """
    path = store.root / "provision.lock"
    with storage_errors("make", store.root):
        store.root.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not _lock(handle):
            raise StorageError(
                f"another process is provisioning into {store.root}",
                "one at a time",
                "wait until it has ended (a killed one's children work on for a moment), then start again",
            )
        yield handle
    finally:
        os.close(handle)


def _lock(handle: int) -> bool:
    """Take an exclusive lock on an open file without waiting; closing the file lets go of it."""
    import fcntl  # noqa: PLC0415  # POSIX has it, and provisioning runs on Linux only; importing must work elsewhere

    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def recover(store: Store) -> None:
    """Tidy up after a process that was killed: bring back the selection before, remove what is not whole.

    Raises:
        StorageError: something cannot be moved or removed.
    """
    with storage_errors("tidy up", store.root):
        if not store.mark.is_file():
            _put_back(store)
        _remove(store.previous)
        _remove(store.scratch)
        for part in store.root.glob(".*.part"):
            part.unlink()
    _write_selection_file(store)


def finished(store: Store, key: str) -> bool:
    """Tell whether there is a whole selection of this key."""
    mark = read_mark(store)
    return mark is not None and mark.get("key") == key


def read_mark(store: Store) -> Mapping[str, Json] | None:
    """Return what is recorded of the selection that is there, or None when none is whole."""
    try:
        return canonical.read_object(read_bounded(store.mark, _LIMIT), KIND, member=store.mark.name)
    except (BundleError, StorageError):
        return None


@contextlib.contextmanager
def making(store: Store) -> Iterator[None]:
    """Set the present selection aside for the time in which the block makes a new one.

    When the block fails, what it made is removed and the selection before comes back.

    Raises:
        StorageError: something cannot be moved or removed.
    """
    with storage_errors("set aside", store.selection):
        store.file.unlink(missing_ok=True)
        if store.selection.exists():
            store.selection.rename(store.previous)
        store.scratch.mkdir()
    try:
        yield
    except BaseException:
        with storage_errors("restore", store.selection):
            _put_back(store)
        _write_selection_file(store)
        raise
    finally:
        shutil.rmtree(store.scratch, ignore_errors=True)
    with storage_errors("remove", store.previous):
        _remove(store.previous)


def finish(store: Store, mark: Mapping[str, Json], selection_file: str) -> None:
    """Declare the selection whole: the mark, then the selection file.

    Raises:
        StorageError: one cannot be written.
    """
    document = {"schema": f"assay/{KIND}/1", _TEXT: selection_file, **mark}
    write_atomic(store.mark, canonical.dumps(document))
    _write_selection_file(store)


def amend(store: Store, change: Callable[[str], str]) -> None:
    """Change the text of the selection file of the whole selection that is there, in its mark too.

    Raises:
        StorageError: one cannot be written.
    """
    mark = read_mark(store)
    text = mark.get(_TEXT) if mark else None
    if mark and isinstance(text, str) and change(text) != text:
        finish(store, {name: value for name, value in mark.items() if name != _TEXT}, change(text))


def _write_selection_file(store: Store) -> None:
    """Make the selection file say what the mark says; without a whole selection there is none."""
    mark = read_mark(store)
    text = mark.get(_TEXT) if mark else None
    if not isinstance(text, str):
        with storage_errors("remove", store.file):
            store.file.unlink(missing_ok=True)
    elif not store.file.is_file() or read_bounded(store.file, _LIMIT) != text.encode():
        write_atomic(store.file, text.encode())


def _put_back(store: Store) -> None:
    """Remove the environment that is not whole and move the one before, if there is one, to its place."""
    _remove(store.selection)
    if store.previous.exists():
        store.previous.rename(store.selection)


def _remove(folder: Path) -> None:
    """Remove a folder with all that is in it."""
    if folder.exists():
        shutil.rmtree(folder)

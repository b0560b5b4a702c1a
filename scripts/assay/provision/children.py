"""How provisioning runs its children: a clean environment, one log, a deadline each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from assay import process
from assay.errors import DeadlineError, StorageError
from assay.files import storage_errors
from assay.process import Finished
from assay.process.values import TIMEOUT

_DROPPED_PREFIXES = ("PYTHON", "LD_PRELOAD", "LD_AUDIT")
"""What would change how a Python or any program starts; nothing of it may reach a selection's making."""

_DROPPED = frozenset({"PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PIP_USER", "PIP_PYTHON", "VIRTUAL_ENV"})
"""Settings of pip that would put packages elsewhere; indexes, proxies and certificates stay the user's."""

_FIXED = {
    "LC_ALL": "C.UTF-8",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    "PIP_NO_INPUT": "1",
    "PYTHONNOUSERSITE": "1",
}

_FULL_DISK = b"No space left on device"
"""The C library's words for ENOSPC in the C locale, which children are given."""

_TAIL_LINES = 12
_TAIL_CHARACTERS = 2000
_CAPTURE = 4 << 20


def clean_environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment that children are given: the caller's without what would bend them."""
    kept = {
        name: value
        for name, value in environ.items()
        if name not in _DROPPED and not name.startswith(_DROPPED_PREFIXES)
    }
    return kept | _FIXED


@dataclass(frozen=True)
class Children:
    """How children are run.

    Attributes:
        environment: what each child is given.
        log: the file that each child's command and output is appended to.
        held: descriptors that each child holds too: the store's lock, so that it is held on when this process
            is killed and a child works on.
    """

    environment: Mapping[str, str]
    log: Path
    held: tuple[int, ...] = ()

    def run(
        self,
        what: str,
        argv: Sequence[str],
        *,
        deadline_s: float,
        cwd: Path | None = None,
        extra: Mapping[str, str] | None = None,
    ) -> Finished:
        """Run a command to its end, log it, and return how it ended.

        Args:
            what: what the command makes, for the log.
            argv: the command.
            deadline_s: seconds until it is killed.
            cwd: its working folder.
            extra: variables beside ``environment``.

        Raises:
            GateError: it cannot be started.
            StorageError: it ran out of disk space, or the log cannot be written.
            DeadlineError: it outlived its deadline.
        """
        with storage_errors("write", self.log), self.log.open("ab") as log:
            log.write(f"== {what}\n$ {' '.join(argv)}\n".encode(errors="backslashreplace"))
            ended = process.run(
                argv,
                env={**self.environment, **(extra or {})},
                cwd=cwd,
                deadline_s=deadline_s,
                on_output=lambda data: _write(log, data),
                capture_limit=_CAPTURE,
                inherited=self.held,
            )
            log.write(f"== {what}: exit {ended.exit}\n".encode())
        if ended.exit == TIMEOUT:
            raise _too_late(what, deadline_s, self.log)
        if ended.exit != 0 and _FULL_DISK in ended.stdout + ended.stderr:
            raise _disk_full(what)
        return ended

    def last_words(self, ended: Finished) -> str:
        """Return the end of what a child said, and where the whole is."""
        text = (ended.stdout + b"\n" + ended.stderr).decode(errors="replace")
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        tail = "\n".join(lines[-_TAIL_LINES:])[-_TAIL_CHARACTERS:]
        return f"exit {ended.exit}; it said:\n{tail}\n(the whole log: {self.log})"


def _too_late(what: str, deadline_s: float, log: Path) -> DeadlineError:
    """Return the error of a child that was ended."""
    return DeadlineError(
        f"{what} took longer than {deadline_s:.0f} s and was ended",
        f"an end within {deadline_s:.0f} s",
        f"see the log {log}; provision again on a machine that is less busy",
    )


def _disk_full(what: str) -> StorageError:
    """Return the error of a child that ran out of space."""
    return StorageError(
        f"the disk is full: {what} stopped with {_FULL_DISK.decode()!r}",
        "free space for the selection",
        "free space on that file system and provision again",
    )


def _write(log: BinaryIO, data: bytes) -> None:
    """Write ``data`` at once, so that the log of a long build can be followed."""
    log.write(data)
    log.flush()

"""The engine's ``Context``: what one gate observes with, recording commands and artifacts as it goes."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from assay import process
from assay.engine.setup import Setup
from assay.errors import AssayError, StorageError
from assay.files import copy_atomic, sha256_file
from assay.model import Artifact, Command, Facts

CAPTURE = 16 << 20
"""Bytes of a command's output that a gate can read back; the log holds what the log keeps."""

_INHERITED = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT", "TEMP", "TMP", "USERPROFILE", "COMSPEC", "PATHEXT")
"""What a plain command needs of the surroundings on POSIX and Windows; everything else stays outside."""


class Log(Protocol):
    """Where a gate's words and its commands' output go."""

    def write(self, data: bytes) -> None:
        """Append bytes."""


class GateContext:
    """One gate's view of the run; see ``assay.gates.context.Context``."""

    def __init__(  # noqa: PLR0913  # one for each thing that a gate is given
        self,
        setup: Setup,
        facts: Mapping[str, Facts],
        scratch: Path,
        log: Log,
        deadline_s: int,
        *,
        claims: bool = True,
    ) -> None:
        """Give a gate its surroundings."""
        self._setup = setup
        self._log = log
        self._until = setup.monotonic_ns() + deadline_s * 10**9
        self.machine = setup.machine
        self.selection = setup.selection
        self.plan = setup.plan
        self.platform = setup.platform
        self.project = setup.project
        self.scratch = scratch
        self.facts = facts
        self.roots: Mapping[str, str] = dict(reversed(setup.redactor.roots))
        self.nonce = setup.nonce
        self.challenge = setup.challenge
        self.plan_digest = setup.plan_digest
        self.artifact = setup.artifact
        self.deadline_s = deadline_s
        self.rehearsal = setup.rehearsal
        self.claims = claims
        self.commands: list[Command] = []
        self.artifacts: list[Artifact] = []
        self._begun: list[process.Pending[process.Finished]] = []

    def execute(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        deadline_s: float | None = None,
        stdin: bytes | None = None,
    ) -> process.Finished:
        """Run a command, log it with its output, and record it.

        Raises:
            GateError: there is no such program.
        """
        self.log(f"$ {' '.join(argv)}\n")
        finished = process.run(
            argv,
            env=self.plain_environment() if env is None else env,
            cwd=cwd or self.scratch,
            deadline_s=self._bounded(deadline_s),
            on_output=self._log.write,
            capture_limit=CAPTURE,
            input=stdin,
        )
        self.record(argv, finished.exit)
        return finished

    def begin(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        deadline_s: float | None = None,
    ) -> process.Pending[process.Finished]:
        """Begin a command; it is logged and recorded with its result, so in the order of asking."""
        begun = process.spawn(
            argv,
            env=self.plain_environment() if env is None else env,
            cwd=cwd or self.scratch,
            deadline_s=self._bounded(deadline_s),
            capture_limit=CAPTURE,
        )
        self._begun.append(begun)

        def ended() -> process.Finished:
            finished = begun.result()
            self.log(f"$ {' '.join(argv)}\n")
            self.log_bytes(finished.stdout + finished.stderr)
            self.record(argv, finished.exit)
            return finished

        return process.Pending(ended)

    def settle(self) -> None:
        """Wait for every command that was begun, so that none outlives the gate; their deadlines end them."""
        for begun in self._begun:
            with contextlib.suppress(AssayError):
                begun.result()

    def record(self, argv: Sequence[str], exit_code: int | str) -> None:
        """Record a command, rooted and redacted; the plan's own words stand in the plan as they are."""
        self.commands.append(Command(tuple(map(self._recorded, argv)), exit_code))

    def _recorded(self, word: str) -> str:
        """Return a word of a command as it is recorded."""
        own = {*self.plan.smoke, *(each for command in self.plan.commands for each in command.argv)}
        return word if word in own else self._setup.redactor.text(word)[0]

    def log(self, text: str) -> None:
        """Append text to the gate's log."""
        self._log.write(text.encode("utf-8", "replace"))

    def log_bytes(self, data: bytes) -> None:
        """Append a child's output to the gate's log."""
        self._log.write(data)

    def keep(self, path: Path, name: str) -> Artifact:
        """Copy a file among the run's artifacts.

        Raises:
            StorageError: it cannot be read or written, or changed meanwhile.
        """
        sha256, size = sha256_file(path)
        target = self.artifact_path(sha256)
        if not target.exists():
            target.parent.mkdir(exist_ok=True)
            copied, _ = copy_atomic(path, target)
            if copied != sha256:
                target.unlink()
                raise StorageError(f"{path} changed while it was copied", "a file at rest", "run again")
        return self._note(Artifact(name, sha256, size))

    def artifact_path(self, sha256: str) -> Path:
        """Return where an artifact of this run is kept."""
        return self._setup.folder / "artifacts" / sha256

    def _note(self, artifact: Artifact) -> Artifact:
        """Record an artifact once."""
        if artifact not in self.artifacts:
            self.artifacts.append(artifact)
        return artifact

    def _bounded(self, deadline_s: float | None) -> float:
        """Return a deadline in seconds that does not outlast the gate's own."""
        left = max(0.1, (self._until - self._setup.monotonic_ns()) / 10**9)
        return left if deadline_s is None else min(left, deadline_s)

    def plain_environment(self) -> Mapping[str, str]:
        """Return the environment of a plain command: a few inherited variables and a neutral locale."""
        outside = self._setup.machine.env
        kept = {name: outside[name] for name in _INHERITED if name in outside}
        return {**kept, "LANG": "C.UTF-8", "ASSAY_RUN": self._setup.nonce}


def spilled_artifact(data: bytes) -> Artifact:
    """Return the artifact of a list that is too long for a receipt."""
    return Artifact("facts-list.json", hashlib.sha256(data).hexdigest(), len(data))

"""What a gate is given to observe with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assay.model import Artifact, Facts, Platform

if TYPE_CHECKING:  # a gate imports what it uses: a diagnosis is over before all of these would be
    from assay.gates.rehearsal import Rehearsal
    from assay.machine import Machine
    from assay.plan import Plan
    from assay.process import Finished, Pending
    from assay.selection import Selection


class Context(Protocol):
    """One gate's view of the run; the engine makes it.

    Attributes:
        machine: the machine, read-only.
        selection: the artifact set under qualification.
        plan: the frozen plan.
        platform: the platform of this run.
        project: the project's folder.
        scratch: a private folder, removed when the gate ends.
        facts: facts of earlier gates, rooted and redacted, by gate.
        roots: rooted names such as ``$TOOLKIT`` to the absolute path they stand for.
        nonce: the run's nonce (hex).
        challenge: the auditor's value (hex) or ``""``.
        plan_digest: SHA-256 (hex) of the canonical plan.
        artifact: the wheel that is taken as it is, or None.
        deadline_s: seconds this gate may take.
        rehearsal: what takes a GPU's place, None outside a rehearsal.
        claims: whether anything may be claimed of what is seen.  A diagnosis claims nothing, so its children
            may use the bytecode that lies beside their sources.
    """

    machine: Machine
    selection: Selection
    plan: Plan
    platform: Platform
    project: Path
    scratch: Path
    facts: Mapping[str, Facts]
    nonce: str
    challenge: str
    plan_digest: str
    artifact: Path | None
    deadline_s: int
    rehearsal: Rehearsal | None
    claims: bool

    @property
    def roots(self) -> Mapping[str, str]:
        """Return the named roots; see the attributes."""

    def execute(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        deadline_s: float | None = None,
        stdin: bytes | None = None,
    ) -> Finished:
        """Run a command, log its output, and record it in the receipt.

        Without ``env`` the child gets the run's minimal environment (PATH, HOME, TMPDIR, LANG and what
        the platform needs), never the caller's own.
        """

    def begin(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        deadline_s: float | None = None,
    ) -> Pending[Finished]:
        """Begin a command as ``execute`` runs one; it runs on beside the gate until its result is asked for.

        It is logged and recorded with its result.  What keeps it from starting is raised there (GateError).
        """

    def plain_environment(self) -> Mapping[str, str]:
        """Return the run's minimal environment, which ``execute`` gives a child without ``env``."""

    def record(self, argv: Sequence[str], exit_code: int | str) -> None:
        """Record, rooted and redacted, a command that the gate started itself (the chain's child)."""

    def log_bytes(self, data: bytes) -> None:
        """Append a child's output to the gate's log, redacted before it is written."""

    def log(self, text: str) -> None:
        """Append text to the gate's log, redacted before it is written."""

    def keep(self, path: Path, name: str) -> Artifact:
        """Copy a file to ``artifacts/<sha256>`` and record it in the receipt under ``name``."""

    def artifact_path(self, sha256: str) -> Path:
        """Return where an earlier gate's artifact is kept, to be read only."""

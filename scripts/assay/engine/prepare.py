"""Everything that is decided before the first gate: plan, machine, selection, redaction."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.canonical import digest
from assay.engine.roots import named_roots
from assay.errors import UsageError
from assay.gates.rehearsal import Rehearsal
from assay.machine import Machine
from assay.model import Platform
from assay.plan import Plan, load_plan, plan_json
from assay.redaction import Redactor, make_redactor
from assay.selection import Selection, resolve_selection

NESTED = "ASSAY_RUN"
"""Set in the environment of every command of a run, so that runs do not nest."""


@dataclass(frozen=True)
class Request:
    """What the user asked for.

    Attributes:
        project: the project's folder.
        selection: a selection file, or None.
        artifact: a wheel that is taken as it is, or None.
        challenge: an auditor's value (hex), ``""`` where there is none.
    """

    project: Path
    selection: Path | None = None
    artifact: Path | None = None
    challenge: str = ""


@dataclass(frozen=True)
class Prepared:
    """What a run stands on."""

    request: Request
    plan: Plan
    plan_digest: str
    machine: Machine
    platform: Platform
    selection: Selection
    redactor: Redactor
    rehearsal: Rehearsal | None = None


def prepare(request: Request) -> Prepared:
    """Resolve everything, reading only.

    Raises:
        UsageError: inside another run, a bad challenge, an artifact that is no file.
        PlanError: the plan is wrong.
        SelectionError: the selection file cannot be read.
    """
    machine = Machine.real()
    _check(request, machine)
    project = request.project.resolve()
    plan = load_plan(project)
    selection = resolve_selection(machine.env, project, request.selection, machine.platform)
    roots = named_roots(machine, selection, project)
    redactor = make_redactor(machine.env, roots, plan.allow_environment)
    plan_digest = digest(plan_json(plan))
    return Prepared(request, plan, plan_digest, machine, machine.platform, selection, redactor)


def _check(request: Request, machine: Machine) -> None:
    """Refuse what can be refused before anything is read."""
    if machine.getenv(NESTED):
        raise UsageError(
            f"{NESTED} is set: a run is under way", "one run at a time", "do not start a run from a gate"
        )
    challenge = request.challenge
    if challenge and (len(challenge) > 128 or challenge.strip("0123456789abcdef")):  # noqa: PLR2004  # 64 bytes of hex
        raise UsageError(f"the challenge is {challenge[:140]!r}", "1 to 128 lower-case hex digits", "")
    if request.artifact is not None and not request.artifact.is_file():
        raise UsageError(
            f"{request.artifact} is not a file", "a wheel", "name the wheel that --artifact takes"
        )

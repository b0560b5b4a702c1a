"""A rehearsal of this project by the real engine, into a folder of the test's own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from assay.canonical import digest
from assay.engine.prepare import Prepared, Request
from assay.engine.rehearse import REHEARSAL_FOLDER, prepare_rehearsal
from assay.engine.run import Ran, run_plan
from assay.evidence.bundle import write_bundle
from assay.evidence.verification import Verification
from assay.evidence.verify import verify_bundle
from assay.judge.table import rows
from assay.machine import Machine
from assay.plan import plan_json
from assay.provision.software_adapter import system_adapter
from tests.conftest import PROJECT

GATES = ("environment", "toolkit", "provider", "build", "chain")


def require_adapter() -> None:
    """Fail where the software adapter is missing: no test fetches it, for tests use no network."""
    folder = PROJECT / REHEARSAL_FOLDER / "vulkan"
    if system_adapter(Machine.real()) is None and not list(folder.glob("*/adapter.json")):
        pytest.fail("this test needs the software adapter: run `nox -s rehearse` first", pytrace=False)


def prepared_rehearsal() -> Prepared:
    """Return what a rehearsal of this project stands on."""
    require_adapter()
    return prepare_rehearsal(
        Request(PROJECT, selection=PROJECT / ".assay" / "selection.toml"), lambda _: None
    )


def with_gates(prepared: Prepared, *gates: str) -> Prepared:
    """Return a plan of these gates alone."""
    deadlines = {name: value for name, value in prepared.plan.deadlines.items() if name in gates}
    claims = tuple(claim for claim in prepared.plan.claims if set(claim.gates) <= set(gates))
    plan = replace(prepared.plan, gates=gates, commands=(), deadlines=deadlines, claims=claims)
    return replace(prepared, plan=plan, plan_digest=digest(plan_json(plan)))


@dataclass(frozen=True)
class Rehearsed:
    """A run that ended: its results, its bundle, and what a stranger makes of it."""

    ran: Ran
    bundle: Path
    digest: str
    verified: Verification


def rehearse_into(folder: Path, change: Callable[[Prepared], Prepared] = lambda given: given) -> Rehearsed:
    """Run the essential gates, bundle and verify."""
    prepared = change(with_gates(prepared_rehearsal(), *GATES))
    ran = run_plan(prepared, rows(prepared.plan), folder, lambda _: None)
    made = write_bundle(ran.folder.path)
    return Rehearsed(ran, made.path, made.digest, verify_bundle(made.path, expect_digest=made.digest))

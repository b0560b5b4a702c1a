"""``qualify`` from the plan to the exit code: run, bundle, verify as a stranger would, say what came of it.

One gate alone takes the same way, without bundle and verdict.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from assay.canonical import digest, dumps
from assay.engine.console import Say
from assay.engine.prepare import Prepared, Request, prepare
from assay.engine.run import run_plan
from assay.errors import AssayError, PlanError
from assay.evidence.asking import Wanted
from assay.evidence.bundle import write_bundle
from assay.evidence.runfolder import prune_runs
from assay.evidence.verification import Verification
from assay.evidence.verify import verify_bundle, verifying
from assay.files import storage_errors, write_atomic
from assay.judge.row import GateRow
from assay.judge.table import row, rows
from assay.model import Json, Outcome, Tier, Verdict
from assay.plan import check_qualifies, plan_json
from assay.report.document import report_path, write_report
from assay.report.summary import summary

BUILD = "build"
RECEIPTS = "receipts"
STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
"""Names the file whose Markdown GitHub shows with a workflow's step."""

GATES = "gates"

EXIT_BY_VERDICT: Mapping[Verdict, int] = {
    Verdict.QUALIFIED: 0,
    Verdict.REHEARSED: 0,
    Verdict.REJECTED: 1,
    Verdict.UNDECIDED: 3,
}
EXIT_BY_OUTCOME: Mapping[Outcome, int] = {Outcome.PASSED: 0, Outcome.FAILED: 1}
"""DESIGN, "Exit codes": of one gate, everything else is 3."""

REHEARSE = "to try the same chain without a GPU: nox -s rehearse"


def qualify(request: Request, say: Say) -> tuple[int, Json]:
    """Run every planned gate and leave a verified bundle; return the exit code and ``verdict.json``.

    Raises:
        PlanError: the plan may not be run by ``qualify``.
        AssayError: the run folder or the bundle cannot be written.
    """
    prepared = prepare(request)
    check_qualifies(prepared.plan)
    return run_to_verdict(prepared, say)


def run_to_verdict(prepared: Prepared, say: Say) -> tuple[int, Json]:
    """Run every gate of a prepared plan, bundle, verify and say; return the exit code and ``verdict.json``.

    Raises:
        AssayError: the run folder or the bundle cannot be written.
    """
    ran = run_plan(prepared, rows(prepared.plan), _receipts(prepared.request), say)
    bundle = write_bundle(ran.folder.path)
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    document = verified.to_json()
    write_atomic(ran.folder.path / "verdict.json", dumps(document) + b"\n")
    for line in _verdict_lines(verified, bundle.path, prepared.plan.tier_on(prepared.platform)):
        say(line)
    say(_report_line(bundle.path))
    if (step := os.environ.get(STEP_SUMMARY, "")) and (line := _step_line(bundle.path, Path(step))):
        say(line)
    return EXIT_BY_VERDICT[verified.verdict] if verified.intact else 4, document


def _report_line(bundle: Path) -> str:
    """Write the sender's rendering beside a bundle and say where; that it cannot be changes no verdict."""
    target = report_path(bundle)
    try:
        _, written = write_report(bundle, Wanted(datetime.now(UTC)), target, readers=False)
    except AssayError as error:
        return f"report: not written: {error}"
    return f"report: {target}" if written else "report: none of a broken bundle"


def _step_line(bundle: Path, step: Path) -> str:
    """Append a short summary to a workflow's file; say where, or why not: that changes no verdict either."""
    try:
        with verifying(bundle, Wanted(datetime.now(UTC)), judged=True) as (verified, run):
            if run is None:
                return ""
            data = summary(verified, run)
        with storage_errors("write", step), step.open("ab") as stream:
            stream.write(data)
    except AssayError as error:
        return f"step summary: not written: {error}"
    return f"step summary: {step}"


def run_gate_alone(request: Request, name: str, say: Say) -> tuple[int, Json]:
    """Run one gate and those it needs; an outcome and no verdict.

    Raises:
        PlanError: there is no such gate.
        AssayError: the run folder cannot be written.
    """
    prepared = prepare(request)
    return run_one_gate(prepared if name == BUILD else _at_work(prepared), name, say)


def run_one_gate(prepared: Prepared, name: str, say: Say) -> tuple[int, Json]:
    """Run one gate of a prepared plan and those it needs; return the exit code and its receipt.

    Raises:
        PlanError: there is no such gate.
        AssayError: the run folder cannot be written.
    """
    wanted = row(prepared.plan, name)
    chosen = (*_needed_rows(prepared, wanted), wanted)
    folder = _receipts(prepared.request) / GATES / name
    ran = run_plan(prepared, chosen, folder, say)
    prune_runs(folder)
    receipt = ran.results[name].receipt
    say(f"{name}: {receipt.outcome.value}")
    return EXIT_BY_OUTCOME.get(receipt.outcome, 3), receipt.to_json()


def _at_work(prepared: Prepared) -> Prepared:
    """Allow an unclean tree: who tries one gate is changing something, and no verdict comes of it."""
    plan = replace(prepared.plan, allow_unclean_tree=True)
    return replace(prepared, plan=plan, plan_digest=digest(plan_json(plan)))


def _receipts(request: Request) -> Path:
    """Return the folder that run folders are made in."""
    return request.project.resolve() / RECEIPTS


def _needed_rows(prepared: Prepared, wanted: GateRow) -> tuple[GateRow, ...]:
    """Return the gates that one gate needs, and those that they need, each once, needs first."""
    found: dict[str, GateRow] = {}
    for need in wanted.needs:
        if need not in prepared.plan.gates:
            raise PlanError("tool.assay.gates", f"lacks {need!r}", f"the gates that {wanted.name} needs", "")
        needed = row(prepared.plan, need)
        found |= {each.name: each for each in (*_needed_rows(prepared, needed), needed)}
    return tuple(found.values())


def _verdict_lines(verified: Verification, bundle: Path, planned: Tier) -> Sequence[str]:
    """Return the end of a run: verdict with tier, claims, open claims, bundle and its digest."""
    seen = verified.tier.value if verified.tier is not None else "none seen"
    lines = ["", f"verdict: {verified.verdict.value} (tier: {seen}, planned: {planned.value})"]
    lines += [
        f"  established: {claim.text} [{', '.join(claim.gates)}]" for claim in verified.claims.established
    ]
    lines += [f"  not established: {text}" for _, text in verified.claims.open]
    if verified.verdict is Verdict.UNDECIDED and verified.tier is not planned:
        lines.append(f"  {REHEARSE}")
    return [*lines, f"bundle: {bundle}", f"bundle digest: {verified.bundle_digest}"]

"""Runs one gate: observe, root and redact, judge, and make its receipt.  Never raises."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path

from assay.engine.context import GateContext, spilled_artifact
from assay.engine.setup import Done, FactsBoard, Setup, rfc3339
from assay.errors import AssayError, DeadlineError, GateError
from assay.evidence.facts import settle, spill
from assay.evidence.receipt import bounded_findings, receipt_bytes
from assay.gatelog import GateLog
from assay.judge.row import GateRow
from assay.judge.rules import BROKE, DEADLINE, judge_gate
from assay.judge.table import needed
from assay.model import Facts, LogInfo, Outcome, Receipt, outcome_of
from assay.redaction import RULES


def run_gate(setup: Setup, board: FactsBoard, row: GateRow) -> Done:
    """Run a gate and return what it came to; whatever goes wrong is an ``error`` in its receipt."""
    started, began = rfc3339(setup.now()), setup.monotonic_ns()
    visible = needed(setup.plan, row.name)
    earlier = {name: facts for name, facts in board.all().items() if name in visible}
    log = GateLog(setup.folder / f"{row.name}.log", setup.redactor)
    scratch = Path(tempfile.mkdtemp(prefix="assay-"))
    context = GateContext(setup, earlier, scratch, log, setup.deadline_s(row))
    try:
        facts = _observe(setup, row, context)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return _finish(setup, row, context, log, facts, earlier, (started, began))


def _observe(setup: Setup, row: GateRow, context: GateContext) -> Facts:
    """Return a gate's facts, or the fact that it broke."""
    try:
        return setup.observe[row.name](context)
    except DeadlineError as error:
        return broke(DEADLINE, error.observed, error.expected)
    except AssayError as error:
        context.log(f"{error}\n")
        return broke("error", error.observed, error.expected)
    except Exception as error:  # noqa: BLE001  # a gate's defect must end as a receipt, not as a lost run
        context.log(traceback.format_exc())
        return broke("crash", f"{type(error).__name__}: {error}", "")


def broke(kind: str, observed: str, expected: str) -> Facts:
    """Return the facts of a gate that did not come to facts of its own."""
    return {BROKE: {"expected": expected, "kind": kind, "observed": observed}}


def _finish(
    setup: Setup,
    row: GateRow,
    context: GateContext,
    log: GateLog,
    facts: Facts,
    earlier: Mapping[str, Facts],
    start: tuple[str, int],
) -> Done:
    """Redact, judge and make the receipt."""
    rooted, redactions = setup.redactor.json(facts)
    if not isinstance(rooted, Mapping):
        rooted = broke("crash", "the gate returned no object", "an object of facts")
    settled, short, spilled = _put_down(rooted)
    findings = judge_gate(setup.case(earlier), row, row.rules, settled)
    kept, omitted = bounded_findings(findings)
    receipt = Receipt(
        gate=row.name,
        outcome=outcome_of(findings),
        rules=row.rules,
        started=start[0],
        duration_ns=setup.monotonic_ns() - start[1],
        deadline_ns=setup.deadline_s(row) * 10**9,
        commands=tuple(context.commands),
        facts=short,
        findings=kept,
        findings_omitted=omitted,
        artifacts=(*context.artifacts, *map(spilled_artifact, spilled.values())),
        log=log.finish(),
        redaction_rules=RULES,
        redaction_count=log.redactions + redactions,
    )
    return _within_bounds(setup, row, Done(receipt, settled, spilled))


def _put_down(rooted: Facts) -> tuple[Facts, Facts, Mapping[str, bytes]]:
    """Return the facts as every reader will judge them, as the receipt holds them, and their long lists."""
    try:
        short, spilled = spill(rooted)
        return settle(rooted), short, spilled
    except GateError as error:
        facts = broke("error", error.observed, error.expected)
        return facts, facts, {}


def _within_bounds(setup: Setup, row: GateRow, done: Done) -> Done:
    """Return a result whose receipt can be evidence; one that passes a bound becomes an ``error``."""
    try:
        receipt_bytes(done.receipt)
    except GateError as error:
        facts = broke("error", error.observed, error.expected)
        return not_run(setup, row, Outcome.ERROR, facts, done.receipt.log)
    return done


def not_run(
    setup: Setup, row: GateRow, outcome: Outcome, facts: Facts, log: LogInfo | None = None
) -> Done:
    """Return the receipt of a gate that did not run, or did not come back."""
    findings = judge_gate(setup.case({}), row, row.rules, facts) if BROKE in facts else ()
    receipt = Receipt(
        gate=row.name,
        outcome=outcome,
        rules=row.rules,
        started=rfc3339(setup.now()),
        duration_ns=0,
        deadline_ns=setup.deadline_s(row) * 10**9,
        facts=facts,
        findings=findings,
        log=log,
        redaction_rules=RULES,
    )
    return Done(receipt, facts, {})

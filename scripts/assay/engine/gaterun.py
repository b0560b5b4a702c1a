"""Runs one gate: observe, root and redact, judge, and make its receipt.  Never raises."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from assay.engine.context import GateContext, spilled_artifact
from assay.engine.observing import broke, observed
from assay.engine.setup import Done, FactsBoard, Setup
from assay.errors import GateError
from assay.evidence.facts import spill
from assay.evidence.names import log_name
from assay.evidence.receipt import bounded_findings, receipt_bytes
from assay.evidence.times import write_time
from assay.gatelog import GateLog
from assay.judge.row import GateRow
from assay.judge.rules import BROKE, judge_gate
from assay.judge.table import needed
from assay.model import Facts, LogInfo, Outcome, Receipt, outcome_of
from assay.redaction import RULES


def run_gate(setup: Setup, board: FactsBoard, row: GateRow) -> Done:
    """Run a gate and return what it came to; whatever goes wrong is an ``error`` in its receipt.

    Raises:
        StorageError: the log cannot be written: the run itself cannot go on.
    """
    start = Moment(write_time(setup.now()), setup.monotonic_ns())
    visible = needed(setup.plan, row.name)
    earlier = {name: facts for name, facts in board.all().items() if name in visible}
    log = GateLog(setup.folder / log_name(row.name), setup.redactor)
    try:
        scratch = Path(tempfile.mkdtemp(prefix="assay-"))
        context = GateContext(setup, earlier, scratch, log, setup.deadline_s(row))
        try:
            facts, redactions = observed(setup, row, context)
        finally:
            context.settle()
            shutil.rmtree(scratch, ignore_errors=True)
        return _finish(setup, row, _Seen(context, log, earlier, start), facts, redactions)
    except BaseException:
        log.discard()
        raise


@dataclass(frozen=True)
class Moment:
    """When something began: RFC 3339 UTC, and monotonic nanoseconds."""

    wall: str
    monotonic_ns: int


@dataclass(frozen=True)
class _Seen:
    """What a gate left besides its facts."""

    context: GateContext
    log: GateLog
    earlier: Mapping[str, Facts]
    start: Moment


def _finish(setup: Setup, row: GateRow, seen: _Seen, facts: Facts, redactions: int) -> Done:
    """Judge and make the receipt; what does not fit a receipt is an error."""
    written = seen.log.finish(), redactions
    try:
        done = _judged(setup, row, seen, facts, written)
        receipt_bytes(done.receipt)
    except GateError as error:
        # Facts are never cut: what does not fit is an error, and it says so without what did not fit.
        seen.context.commands.clear()
        seen.context.artifacts.clear()
        return _judged(setup, row, seen, broke("error", error.observed, error.expected), written)
    return done


def _judged(setup: Setup, row: GateRow, seen: _Seen, facts: Facts, written: tuple[LogInfo, int]) -> Done:
    """Return a gate's receipt with its findings and outcome."""
    findings = judge_gate(setup.case(seen.earlier), row, row.rules, facts)
    kept, omitted = bounded_findings(findings)
    short, lists = spill(facts)
    receipt = Receipt(
        gate=row.name,
        outcome=outcome_of(findings),
        rules=row.rules,
        started=seen.start.wall,
        duration_ns=setup.monotonic_ns() - seen.start.monotonic_ns,
        deadline_ns=setup.deadline_s(row) * 10**9,
        commands=tuple(seen.context.commands),
        facts=short,
        findings=kept,
        findings_omitted=omitted,
        artifacts=(*seen.context.artifacts, *map(spilled_artifact, lists.values())),
        log=written[0],
        redaction_rules=RULES,
        redaction_count=seen.log.redactions + written[1],
    )
    return Done(receipt, facts, lists)


def not_run(setup: Setup, row: GateRow, outcome: Outcome, facts: Facts) -> Done:
    """Return the receipt of a gate that did not run, or whose thread did not come back."""
    findings = judge_gate(setup.case({}), row, row.rules, facts) if BROKE in facts else ()
    receipt = Receipt(
        gate=row.name,
        outcome=outcome,
        rules=row.rules,
        started=write_time(setup.now()),
        duration_ns=0,
        deadline_ns=setup.deadline_s(row) * 10**9,
        facts=facts,
        findings=findings,
        redaction_rules=RULES,
    )
    return Done(receipt, facts, {})

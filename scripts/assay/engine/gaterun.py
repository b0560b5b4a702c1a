"""Runs one gate: observe, root and redact, judge, and make its receipt.  Never raises."""

from __future__ import annotations

import shutil
import tempfile
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from assay.engine.context import GateContext, spilled_artifact
from assay.engine.setup import Done, FactsBoard, Setup
from assay.errors import AssayError, DeadlineError, GateError
from assay.evidence.facts import settle, spill
from assay.evidence.names import log_name
from assay.evidence.receipt import bounded_findings, receipt_bytes
from assay.evidence.times import write_time
from assay.gatelog import GateLog
from assay.judge.row import GateRow
from assay.judge.rules import BROKE, DEADLINE, judge_gate
from assay.judge.table import needed
from assay.model import Facts, LogInfo, Outcome, Receipt, outcome_of
from assay.redaction import RULES

LONGEST = 2000
"""Characters of an error's message that a receipt holds; the log has all."""


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
            facts, redactions = _observe(setup, row, context)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        return _finish(setup, row, _Seen(context, log, earlier, start), facts, redactions)
    except BaseException:
        log.discard()
        raise


def _observe(setup: Setup, row: GateRow, context: GateContext) -> tuple[Facts, int]:
    """Return a gate's facts as a reader will see them and the redactions made, or the fact that it broke."""
    try:
        rooted, redactions = setup.redactor.json(setup.observe[row.name](context))
        return settle(cast("Facts", rooted)), redactions
    except DeadlineError as error:
        return broke(DEADLINE, error.observed, error.expected), 0
    except AssayError as error:
        context.log(f"{error}\n")
        return broke("error", error.observed, error.expected), 0
    except Exception as error:  # noqa: BLE001  # a gate's defect must end as a receipt, not as a lost run
        context.log(traceback.format_exc())
        return broke("crash", f"{type(error).__name__}: {error}", "a gate without defects"), 0


def broke(kind: str, observed: str, expected: str) -> Facts:
    """Return the facts of a gate that did not come to facts of its own."""
    return {BROKE: {"expected": expected, "kind": kind, "observed": _printable(observed[:LONGEST])}}


def _printable(text: str) -> str:
    """Return text without lone surrogates, which no receipt may hold."""
    return text.encode("utf-8", "replace").decode()


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

"""Findings of the gates that only run a command: lint, format, types, tests, and other projects' own."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_COMMANDS = "DESIGN: Gates that only run a command"
_REPORT = "assay.gates.pytest_report"
_LEFT = "assay.process: Nothing is left behind"
_FINDINGS = "assay.gates.command: ASSAY_FINDINGS"

ENTRIES = (
    Entry(
        "COMMAND-MISSING",
        "the command is not installed",
        Severity.UNAVAILABLE,
        "the program beside the interpreter that runs assay, or on PATH",
        "install the project's development tools where assay runs",
        _COMMANDS,
    ),
    Entry(
        "COMMAND-FAILED",
        "the command failed",
        Severity.FAILURE,
        "exit code 0",
        "correct what the command names; the gate's log has all of it",
        _COMMANDS,
    ),
    Entry(
        "COMMAND-LEFT",
        "the command left processes running",
        Severity.WARNING,
        "no process that outlives the command",
        "let the command end what it starts; what it left was ended",
        _LEFT,
    ),
    Entry(
        "COMMAND-UNENDED",
        "a process of the command may still run",
        Severity.ERROR,
        "no process that outlives the command",
        "end it, and let the command end what it starts: it may change what later gates see",
        _LEFT,
    ),
    Entry(
        "COMMAND-REPORTED-FAILURE",
        "the command reported a failure",
        Severity.FAILURE,
        "no such report",
        "see what the command observed",
        _FINDINGS,
    ),
    Entry(
        "COMMAND-REPORTED-ERROR",
        "the command reported an error",
        Severity.ERROR,
        "no such report",
        "see what the command observed",
        _FINDINGS,
    ),
    Entry(
        "COMMAND-REPORTED-UNAVAILABLE",
        "the command reported that the machine lacks something",
        Severity.UNAVAILABLE,
        "no such report",
        "see what the command observed",
        _FINDINGS,
    ),
    Entry(
        "COMMAND-REPORTED-WARNING",
        "the command reported a warning",
        Severity.WARNING,
        "no such report",
        "see what the command observed",
        _FINDINGS,
    ),
    Entry(
        "COMMAND-FINDINGS-INVALID",
        "the command wrote findings that cannot be read",
        Severity.ERROR,
        "a document assay/findings/1",
        "correct the command: id, severity and observed, within the bounds",
        _FINDINGS,
    ),
    Entry(
        "COMMAND-REPORT-MISSING",
        "pytest left no counts",
        Severity.ERROR,
        "a report of what passed, failed, was skipped and was deselected",
        "call pytest itself, without -p no:assay-counter and without isolating it from PYTHONPATH",
        _REPORT,
    ),
    Entry(
        "COMMAND-NOTHING-PASSED",
        "not one test passed",
        Severity.FAILURE,
        "at least one test that passes",
        "select tests that run here: a run in which nothing passed shows nothing",
        _REPORT,
    ),
    Entry(
        "COMMAND-TESTS-FAILED",
        "tests failed",
        Severity.FAILURE,
        "no test that fails or breaks",
        "correct the tests or what they test; the gate's log has each failure",
        _REPORT,
    ),
    Entry(
        "COMMAND-SKIPPED",
        "tests were skipped that the plan does not name",
        Severity.FAILURE,
        "a pass, or a name in the command's allowed-skips",
        "give the test what it lacks, or name it in allowed-skips if its absence is to be known",
        _REPORT,
    ),
)

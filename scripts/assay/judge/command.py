"""Judges the gates that only run a command of the plan.

Facts (``gates.command`` writes them)::

    program     the program that was run, null where there is none
    exit        its exit code, negative for a signal, or "timeout"
    last_words  the end of what it printed
    left [text]  processes that left the command's group and were ended after it, as they were called
    held, abandoned   a process still held its output; it could not be killed; both absent in older runs
    findings {problem, document}   what it wrote to ASSAY_FINDINGS; both null where it wrote nothing
    tests {problem, document}      pytest's counts, where the plan asks for them
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import MalformedFacts, flag, get, items, number, objects, text, texts
from assay.judge.row import EVERY_TIER, GateRow
from assay.model import Facts, Finding, Json, Severity, Tier
from assay.plan.values import CommandGate

RULES = 1

PYTEST = "pytest"
FINDINGS_SCHEMA = "assay/findings/1"
REPORT_SCHEMA = "assay/pytest-report/1"

MAX_FINDINGS = 1000
MAX_TEXT = 4000
MAX_WHERE = 20

_ID = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*")
_MAX_ID = 64
_NAMED = 10
_TEXTS = ("id", "severity", "observed", "expected", "remedy")
_KEYS = frozenset((*_TEXTS, "where"))


def command_row(command: CommandGate) -> GateRow:
    """Return the row of a command gate; it needs nothing and is judged by its own entry of the plan."""
    return GateRow(
        command.name,
        f"run `{' '.join(command.argv)}`",
        MappingProxyType({RULES: partial(judge, command)}),
        needs=(),
        claim=partial(claim, command),
        tiers=EVERY_TIER - {Tier.REHEARSAL},  # it says nothing of the chain, and costs the rehearsal's speed
        deadline_s=command.deadline_s,
    )


def judge(command: CommandGate, case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with a command's end, its own findings and its tests."""
    del case  # a command is judged by its entry of the plan alone
    if not text(facts, "program"):
        return (finding("COMMAND-MISSING", f"there is no program {command.argv[0]!r}", where=("program",)),)
    if get(facts, "exit") == "timeout":
        observed = f"`{' '.join(command.argv)}` did not end"
        late = finding("GATE-DEADLINE", observed, expected=f"{command.deadline_s} s", where=("exit",))
        return (late, *_left(facts))
    own = tuple(_reported(facts))
    counted = tuple(_tests(command, facts)) if command.report == PYTEST else ()
    return (*_exit(facts), *_left(facts), *own, *counted)


def claim(command: CommandGate, case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    del case  # the sentence is about this command alone
    ran = f"`{' '.join(command.argv)}` ended with 0"
    if command.report != PYTEST:
        return ran
    counts = {
        kind: number(facts, f"tests.document.counts.{kind}") or 0
        for kind in ("passed", "skipped", "deselected")
    }
    return f"{ran}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}"


def _exit(facts: Facts) -> Iterator[Finding]:
    """Find another exit code than 0."""
    code = number(facts, "exit")
    if code != 0:
        ending = f"it ended by signal {-code}" if code is not None and code < 0 else f"exit code {code}"
        words = text(facts, "last_words")
        yield finding(
            "COMMAND-FAILED", f"{ending}; its last words:\n{words}" if words else ending, where=("exit",)
        )


def _left(facts: Facts) -> Iterator[Finding]:
    """Find processes that outlived the command: named and ended, or only known to be there."""
    left = texts(facts, "left")
    if left:
        yield finding("COMMAND-LEFT", _names(left), where=("left",))
    if flag(facts, "abandoned"):
        yield finding("COMMAND-UNENDED", "the command could not be killed", where=("abandoned",))
    elif flag(facts, "held") and not left:
        yield finding("COMMAND-UNENDED", "a process that left its group holds its output", where=("held",))


def _reported(facts: Facts) -> Iterator[Finding]:
    """Find what the command itself found."""
    problem, document = text(facts, "findings.problem"), get(facts, "findings.document")
    if not problem and document is not None:
        try:
            yield from tuple(_read(document))
        except MalformedFacts as malformed:
            problem = str(malformed)
    if problem:
        yield finding("COMMAND-FINDINGS-INVALID", problem, where=("findings",))


def _read(document: Json) -> Iterator[Finding]:
    """Return a document's findings.

    Raises:
        MalformedFacts: it is not of its schema, or goes past a bound.
    """
    if text(document, "schema") != FINDINGS_SCHEMA:
        raise MalformedFacts("schema", FINDINGS_SCHEMA)
    if len(items(document, "findings")) > MAX_FINDINGS:
        raise MalformedFacts("findings", f"a list of at most {MAX_FINDINGS}")
    for index, each in enumerate(objects(document, "findings")):
        yield _one(each, f"findings.{index}")


def _one(each: Facts, path: str) -> Finding:
    """Return one reported finding: of the catalogue by its severity, in the command's own words."""
    told = {key: text(each, key) for key in _TEXTS}
    where = texts(each, "where")
    if not set(each) <= _KEYS:
        raise MalformedFacts(path, f"without other keys than {', '.join(sorted(_KEYS))}")
    if len(told["id"]) > _MAX_ID or not _ID.fullmatch(told["id"]):
        raise MalformedFacts(f"{path}.id", "an id in capitals, such as LINT-LINE")
    if told["severity"] not in set(Severity):
        raise MalformedFacts(f"{path}.severity", f"one of {', '.join(Severity)}")
    if (
        not told["observed"]
        or len(where) > MAX_WHERE
        or any(len(word) > MAX_TEXT for word in (*told.values(), *where))
    ):
        raise MalformedFacts(path, f"an observation, texts of at most {MAX_TEXT} and {MAX_WHERE} places")
    entry = f"COMMAND-REPORTED-{told['severity'].upper()}"
    found = finding(entry, f"{told['id']}: {told['observed']}", expected=told["expected"], where=where)
    return replace(found, remedy=told["remedy"]) if told["remedy"] else found


def _tests(command: CommandGate, facts: Facts) -> Iterator[Finding]:
    """Find missing counts, failures, skips that the plan does not name, and a run in which nothing passed."""
    problem, document = text(facts, "tests.problem"), get(facts, "tests.document")
    if not problem and document is None:
        problem = "there is no report"
    if not problem:
        try:
            yield from tuple(_counted(command, document))
        except MalformedFacts as malformed:
            problem = str(malformed)
    if problem:
        yield finding("COMMAND-REPORT-MISSING", problem, where=("tests",))


def _counted(command: CommandGate, document: Json) -> Iterator[Finding]:
    """Return what the counts show.

    Raises:
        MalformedFacts: they are not of their schema.
    """
    if text(document, "schema") != REPORT_SCHEMA:
        raise MalformedFacts("schema", REPORT_SCHEMA)
    broken = (*texts(document, "failed"), *texts(document, "errors"))
    if _count(document, "failed") + _count(document, "errors") or broken:
        yield finding(
            "COMMAND-TESTS-FAILED", _names(broken), where=("tests.document.failed", "tests.document.errors")
        )
    if _count(document, "passed") == 0:
        seen = {kind: _count(document, kind) for kind in ("skipped", "xfailed", "deselected")}
        observed = ", ".join(f"{count} {kind}" for kind, count in {"passed": 0, **seen}.items())
        yield finding("COMMAND-NOTHING-PASSED", observed, where=("tests.document.counts",))
    yield from _skips(command, document)


def _skips(command: CommandGate, document: Json) -> Iterator[Finding]:
    """Find skips, and failures that were expected, which the plan does not name."""
    for kind in ("skipped", "xfailed"):
        tests = {text(each, "id"): text(each, "reason") for each in objects(document, kind)}
        unnamed = [
            f"{name} ({reason})" for name, reason in tests.items() if name not in command.allowed_skips
        ]
        if unnamed or _count(document, kind) > len(tests):
            yield finding("COMMAND-SKIPPED", f"{kind}: {_names(unnamed)}", where=(f"tests.document.{kind}",))


def _count(document: Json, kind: str) -> int:
    """Return a count that must be there."""
    count = number(document, f"counts.{kind}")
    if count is None or count < 0:
        raise MalformedFacts(f"counts.{kind}", "a count")
    return count


def _names(names: tuple[str, ...] | list[str]) -> str:
    """Return the first names, and how many more there are."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (", ".join(names[:_NAMED]) or "more than the report names") + more

"""Judges what a selection names: every needed variable is set, and what it names is there and readable.

A record of a selected file or folder (``gates.files`` writes it)::

    given, path, absolute, real      as it was written, and where its links lead
    state                            file, folder, missing, unreadable, other
    problem                          why it could not be read
    sha256, size                     of a regular file
    executable                       whether it may be started
    binary {format, problem, arch, bits, kind, soname, needed[], interpreter, glibc_needed, version,
            build_type, build_id}    what the file says of itself, unread where ``state`` is not ``file``
    reported {version, revision, build_type}        what it says when asked
    built_by {text, verified}        who made it, as the plan declares
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import MalformedFacts, flag, get, mapping, number, objects, text
from assay.judge.variables import VARIABLES, Form, Variable, examined_here, needed, needers
from assay.model import Facts, Finding

EXECUTABLE = "BUN_PYTHON_EXECUTABLE"
LIBPYTHON = "BUN_PYTHON_LIBPYTHON"
HOST_LIBRARY = "BUN_PYTHON_HOST_LIBRARY"

FILE, FOLDER, MISSING, UNREADABLE, OTHER = "file", "folder", "missing", "unreadable", "other"

_STATES = {MISSING: "ENVIRONMENT-FILE-MISSING", UNREADABLE: "ENVIRONMENT-FILE-UNREADABLE"}
_WORDS = {FILE: "a file", FOLDER: "a folder", OTHER: "neither a regular file nor a folder"}


def judge_variables(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each variable that a planned gate needs and that is not set, and each that is written wrongly."""
    given = mapping(facts, "variables")
    for variable in needed(case.plan):
        if not text(given, f"{variable.name}.given"):
            yield _unset(case, facts, variable)
    for variable in VARIABLES:
        if get(given, variable.name) is not None:
            yield from _spelling(case, given, variable)


def _unset(case: Case, facts: Facts, variable: Variable) -> Finding:
    """Return the finding of a needed variable that is not set."""
    gates = ", ".join(needers(variable, case.plan))
    known = flag(facts, "explicit")
    return finding(
        "ENVIRONMENT-VARIABLE-MISSING" if known else "ENVIRONMENT-EMBEDDED-INCOMPLETE",
        f"{variable.name} is not set: it names {variable.title}, which {gates} cannot do without",
        expected=f"{variable.name} set",
        where=(f"variables.{variable.name}",),
        platform=case.platform,
    )


def _spelling(case: Case, given: Facts, variable: Variable) -> Iterator[Finding]:
    """Yield how a value is written wrongly: quoted, or with an empty entry in a list."""
    where = (f"variables.{variable.name}",)
    own = examined_here(variable, case.plan) or variable.form is Form.FOLDERS
    if flag(given, f"{variable.name}.quoted") and own:
        what = "an entry of " if variable.form is Form.FOLDERS else ""
        observed = f"{what}{variable.name} begins or ends with a quotation mark"
        yield finding("ENVIRONMENT-QUOTED", observed, where=where)
    empty = number(given, f"{variable.name}.empty") or 0
    if empty and variable.form is Form.FOLDERS:
        count = "an empty entry" if empty == 1 else f"{empty} empty entries"
        yield finding("ENVIRONMENT-EMPTY-ENTRY", f"{variable.name} has {count}", where=where)


def judge_files(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the files and folders that no gate of their own examines.

    Raises:
        MalformedFacts: a variable is set, and what it names was not recorded.
    """
    for variable in VARIABLES:
        if variable.form is Form.FOLDERS or not text(facts, f"variables.{variable.name}.given"):
            continue
        record = mapping(facts, f"selected.{variable.name}")
        if not text(record, "state"):
            raise MalformedFacts(f"selected.{variable.name}", "the record of a selected file or folder")
        if flag(record, "absolute") is False and not _quoted(facts, variable):
            yield _relative(variable.name, record)
        if examined_here(variable, case.plan) and not _quoted(facts, variable):
            yield from _at(variable.name, variable.form, record)
    for number_, record in enumerate(objects(facts, "site_packages")):
        name = f"{_SITE.name} entry {number_ + 1}"
        if not _quoted(facts, _SITE):
            yield from (_relative(name, each) for each in (record,) if flag(each, "absolute") is False)
            yield from _at(name, Form.FOLDER, record)


def _relative(name: str, record: Facts) -> Finding:
    """Return the finding of a path that is not absolute."""
    return finding(
        "ENVIRONMENT-RELATIVE", f"{name} is {text(record, 'given')}", where=(text(record, "path"),)
    )


_SITE = next(variable for variable in VARIABLES if variable.name == "PYTHONPATH")


def _quoted(facts: Facts, variable: Variable) -> bool:
    """Say whether a value's quotation marks already explain why nothing is there."""
    return bool(flag(facts, f"variables.{variable.name}.quoted"))


def _at(name: str, form: Form, record: Facts) -> Iterator[Finding]:
    """Yield what is wrong with one file or folder."""
    path, state = text(record, "path"), text(record, "state")
    wanted = FILE if form is Form.FILE else FOLDER
    if state in _STATES:
        yield finding(_STATES[state], f"{name}: {text(record, 'problem') or path}", where=(path,))
    elif state != wanted:
        observed = f"{name} names {_WORDS.get(state, state)}: {path}"
        yield finding("ENVIRONMENT-FILE-KIND", observed, expected=_WORDS[wanted], where=(path,))
    elif form is Form.FILE:
        yield from _binary(name, path, record)


def _binary(name: str, path: str, record: Facts) -> Iterator[Finding]:
    """Yield that a file is no program or library."""
    problem = text(record, "binary.problem")
    if problem and text(record, "binary.format") != "mach-o":
        yield finding("ENVIRONMENT-NOT-BINARY", f"{name} ({path}): {problem}", where=(path,))
    elif name == EXECUTABLE and text(record, "binary.format") == "script":
        started = text(record, "binary.interpreter")
        yield finding("ENVIRONMENT-INTERPRETER-SCRIPT", f"{path} is a script for {started}", where=(path,))


def readable(facts: Facts, variable: str) -> Facts | None:
    """Return the binary of a selected file that could be read as one, else None."""
    record = mapping(facts, f"selected.{variable}")
    if text(record, "state") != FILE or text(record, "binary.problem"):
        return None
    return mapping(record, "binary") or None

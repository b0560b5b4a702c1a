"""Observes a gate that only runs a command of the plan.

``python`` as first word is the interpreter that runs assay; other words are looked up beside it, then on
``PATH``; a word with a slash is relative to the project, where the command runs.

The command gets the run's minimal environment and

``ASSAY_RUN``
    the run's nonce: a command that would start a run of its own must not.
``ASSAY_FINDINGS``
    a file that it may write: ``{"schema": "assay/findings/1", "findings": [{"id": "LINT-LINE", "severity":
    "failure", "observed": "…", "expected": "…", "remedy": "…", "where": ["…"]}]}``; severities are those
    of ``assay.model``, ``expected``, ``remedy`` and ``where`` may be absent.  At most 256 KiB and 1,000
    findings.

A process that left the command's group is ended with it where it can be found (``process.strays``), and
named.

Where the plan says ``report = "pytest"``, ``gates.pytest_report`` is put where pytest finds it.
``judge.command`` has the form of the facts.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, StorageError
from assay.files import copy_atomic, read_bounded, storage_errors
from assay.gates.context import Context
from assay.gates.finished import last_words
from assay.judge.command import PYTEST
from assay.model import Facts, Json
from assay.plan.values import CommandGate
from assay.process import end_strays

PYTHON = "python"
"""First word of a command that runs in the interpreter that runs assay."""

FINDINGS = "ASSAY_FINDINGS"
"""Names a file of the gate alone, so that it also marks every process that the command started."""

_PLUGIN = Path(__file__).with_name("pytest_report.py")
_PLUGIN_NAME = "assay_pytest_report"
_FINDINGS_LIMIT = 256 << 10
_REPORT_LIMIT = 2 << 20


def observe(command: CommandGate, context: Context) -> Facts:
    """Run the command and return what ``judge.command`` reads.

    Raises:
        GateError: the program is there but cannot be started.
        StorageError: a file cannot be written.
    """
    env = _environment(context, counts=command.report == PYTEST)
    program = find_program(command.argv[0], context.project, env.get("PATH", ""))
    if program is None:
        return {"program": None}
    argv = (program, *command.argv[1:])
    finished = context.execute(argv, env=env, cwd=context.project, deadline_s=command.deadline_s)
    left = end_strays(FINDINGS, env[FINDINGS], finished.group)
    return {
        "abandoned": finished.abandoned,
        "exit": finished.exit,
        "findings": _document(_findings(context), _FINDINGS_LIMIT),
        "held": finished.held,
        "last_words": last_words(finished) if finished.exit != 0 else "",
        "left": [stray.name for stray in left],
        "program": program,
        "tests": _document(_report(context), _REPORT_LIMIT) if command.report == PYTEST else None,
    }


def find_program(word: str, project: Path, path: str) -> str | None:
    """Return the program that a command's first word names, None where there is none.

    Args:
        word: ``python``, a name, or a path relative to the project.
        project: the project's folder.
        path: where names are looked up.
    """
    if word == PYTHON:
        return sys.executable
    if "/" in word:
        return shutil.which(str(project / word), path="")
    return shutil.which(word, path=path)


def _environment(context: Context, *, counts: bool) -> Mapping[str, str]:
    """Return the command's environment; ``counts`` brings the pytest plugin in."""
    plain = context.plain_environment()
    # Not resolved: the programs of a virtual environment lie beside its link to Python.
    path = os.pathsep.join((str(Path(sys.executable).parent), plain.get("PATH", os.defpath)))
    env = {**plain, FINDINGS: str(_findings(context)), "ASSAY_RUN": context.nonce, "PATH": path}
    if not counts:
        return env
    folder = context.scratch / "plugin"
    with storage_errors("make", folder):
        folder.mkdir()
    copy_atomic(_PLUGIN, folder / f"{_PLUGIN_NAME}.py")
    report = str(_report(context))
    return {**env, "ASSAY_PYTEST_REPORT": report, "PYTEST_PLUGINS": _PLUGIN_NAME, "PYTHONPATH": str(folder)}


def _findings(context: Context) -> Path:
    """Return where the command may write findings."""
    return context.scratch / "findings.json"


def _report(context: Context) -> Path:
    """Return where the pytest plugin writes its report."""
    return context.scratch / "pytest-report.json"


def _document(path: Path, limit: int) -> dict[str, Json]:
    """Return the document that the command wrote, or what is wrong with it; both empty without a file."""
    if not path.is_symlink() and not path.exists():
        return {"document": None, "problem": ""}
    if path.is_symlink() or not path.is_file():
        return {"document": None, "problem": f"{path.name} is not a regular file"}
    try:
        return {"document": canonical.parse(read_bounded(path, limit), member=path.name), "problem": ""}
    except (BundleError, StorageError) as error:
        return {"document": None, "problem": error.observed}

"""Findings of gate ``installed``: the wheel, installed away from its sources, is what is imported."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_LAW = "DESIGN: law 4, the bytes that ship are the bytes that run"
_RECORD = "Python packaging specifications: Recording installed projects"

ENTRIES = (
    Entry(
        "INSTALLED-NO-WHEEL",
        "there is no wheel to install",
        Severity.UNAVAILABLE,
        "the wheel that gate build made or took",
        "run gate build first, or take a wheel with --artifact",
        _LAW,
    ),
    Entry(
        "INSTALLED-OTHER-WHEEL",
        "another wheel was installed than the one that build recorded",
        Severity.FAILURE,
        "the digest that gate build recorded",
        "leave the run's folder alone while it runs, and run again",
        _LAW,
    ),
    Entry(
        "INSTALLED-NO-INTERPRETER",
        "no interpreter is selected to install into",
        Severity.UNAVAILABLE,
        "the selected interpreter",
        "set BUN_PYTHON_EXECUTABLE, or make the embedded selection with `nox -s provision`",
        "DESIGN: Selection",
    ),
    Entry(
        "INSTALLED-NO-OVERLAY",
        "the selected interpreter makes no virtual environment",
        Severity.ERROR,
        "an interpreter whose venv module works",
        "complete the interpreter (on Debian: the package python3-venv), then run again",
        "Python library: venv",
    ),
    Entry(
        "INSTALLED-NO-INSTALLER",
        "there is no pip",
        Severity.UNAVAILABLE,
        "pip where assay runs, in the selection, or carried by the interpreter for ensurepip",
        "install pip where assay runs",
        "Python library: ensurepip",
    ),
    Entry(
        "INSTALLED-REFUSED",
        "the wheel cannot be installed",
        Severity.FAILURE,
        "a wheel that the selected interpreter accepts, without dependencies",
        "build the wheel for this interpreter: see Requires-Python and the wheel's tags",
        _LAW,
    ),
    Entry(
        "INSTALLED-MODULE-ABSENT",
        "the wheel does not bring a module that the plan names",
        Severity.FAILURE,
        "every module of the plan's modules",
        "package the module, or take it out of modules in the plan",
        "plan: modules",
    ),
    Entry(
        "INSTALLED-NO-COMMAND",
        "the smoke command's program does not exist",
        Severity.FAILURE,
        "python, a program that the wheel installs, or one of the selection",
        "correct smoke in the plan, or add the entry point to the project",
        "plan: smoke",
    ),
    Entry(
        "INSTALLED-SMOKE-FAILED",
        "the smoke command failed",
        Severity.FAILURE,
        "exit code 0, with the wheel and what the selection has",
        "correct what its last words name; a file that is missing from the wheel fails here first",
        "plan: smoke",
    ),
    Entry(
        "INSTALLED-UNSEEN",
        "no process of the smoke command told what it imported",
        Severity.ERROR,
        "a report by each process of the overlay that ends normally",
        "let the smoke command end normally, without python -S and without os._exit",
        "assay.gates.witness",
    ),
    Entry(
        "INSTALLED-NOTHING-IMPORTED",
        "the smoke command imported no module of the project",
        Severity.FAILURE,
        "at least one module of the plan's modules",
        "let the smoke command import the project: otherwise it shows nothing of the wheel",
        "plan: smoke",
    ),
    Entry(
        "INSTALLED-FOREIGN-MODULE",
        "a module of the project was imported from elsewhere than the wheel",
        Severity.FAILURE,
        "a file that the wheel's RECORD names",
        "take the folder out of the selection's module path: the source tree, or an earlier installation",
        _LAW,
    ),
    Entry(
        "INSTALLED-ALTERED-MODULE",
        "an imported module has other bytes than the wheel recorded",
        Severity.FAILURE,
        "the digest of the wheel's RECORD",
        "find what writes into the installation: a smoke command must not",
        _RECORD,
    ),
)

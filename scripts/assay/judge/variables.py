"""The variables of a selection: what each names, which gates need it, and which gate examines it.

Source: DESIGN, "Selection" (the table).  ``build`` and ``installed`` run the selected interpreter too, so
they need it and its packages as the chain does.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from assay.plan.values import Plan

ENVIRONMENT = "environment"


class Form(StrEnum):
    """What a variable's value has to name."""

    FILE = "file"
    FOLDER = "folder"
    FOLDERS = "folders"


@dataclass(frozen=True)
class Variable:
    """One row.

    Attributes:
        name: the variable.
        title: what it names, in words that a finding can use.
        form: a file, a folder or a list of folders.
        needed_by: the gates that cannot do without it.
        examined_by: the gate that judges what lies there; ``environment`` where that one is not planned.
    """

    name: str
    title: str
    form: Form
    needed_by: frozenset[str]
    examined_by: str = ENVIRONMENT


VARIABLES = (
    Variable(
        "BUN_PYTHON_EXECUTABLE",
        "the interpreter that runs the chain",
        Form.FILE,
        frozenset({"build", "installed", "chain"}),
    ),
    Variable("BUN_PYTHON_LIBPYTHON", "its CPython shared library", Form.FILE, frozenset({"hosted"})),
    Variable(
        "BUN_PYTHON_HOST_LIBRARY",
        "the shared library that hosts CPython inside Bun",
        Form.FILE,
        frozenset({"hosted"}),
    ),
    Variable("BUN_EXECUTABLE", "the Bun that CPython lives in", Form.FILE, frozenset({"hosted"})),
    Variable("PYTHONPATH", "its site-packages", Form.FOLDERS, frozenset({"build", "installed", "chain"})),
    Variable("BUV_RUNTIME_LIB", "the provider", Form.FILE, frozenset({"provider", "chain"}), "provider"),
    Variable("CUDA_PATH", "the toolkit", Form.FOLDER, frozenset({"toolkit", "build", "chain"}), "toolkit"),
    Variable(
        "PATH",
        "the toolkit's compiler and DLL folders",
        Form.FOLDERS,
        frozenset({"toolkit", "build", "chain"}),
        "toolkit",
    ),
)


def needed(plan: Plan) -> tuple[Variable, ...]:
    """Return the variables that the planned gates need."""
    return tuple(variable for variable in VARIABLES if variable.needed_by & set(plan.gates))


def needers(variable: Variable, plan: Plan) -> tuple[str, ...]:
    """Return the planned gates that need a variable, in the plan's order."""
    return tuple(gate for gate in plan.gates if gate in variable.needed_by)


def examined_here(variable: Variable, plan: Plan) -> bool:
    """Say whether ``environment`` judges what a variable names, as no planned gate of its own does."""
    return variable.examined_by == ENVIRONMENT or variable.examined_by not in plan.gates

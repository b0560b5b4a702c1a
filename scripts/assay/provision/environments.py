"""Virtual environments: the selection's own, and the one whose pip and setuptools make it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.interpreter import Interpreter

_DEADLINE_S = 300


@dataclass(frozen=True)
class Environment:
    """A virtual environment: its interpreter, and the folder of its packages."""

    python: Path
    site_packages: Path


def make_environment(children: Children, interpreter: Interpreter, folder: Path) -> Environment:
    """Make the selection's environment: no pip, and the interpreter a copy, so that it is hashed as it is.

    An interpreter that finds its shared library relative to itself cannot be copied; it is linked instead.

    Raises:
        ProvisionError: no environment can be made, or its interpreter does not start.
    """
    for how in ("--copies", "--symlinks"):
        made = _make(children, interpreter, folder, ["--clear", "--without-pip", how])
        if (
            children.run(
                "the copied interpreter", [str(made.python), "-I", "-c", ""], deadline_s=_DEADLINE_S
            ).exit
            == 0
        ):
            return made
    raise ProvisionError(
        f"the interpreter of a new environment in {folder} does not start",
        "an environment of the selected interpreter that runs",
        f"see the log {children.log}; name another interpreter with --python",
    )


def make_tools(children: Children, interpreter: Interpreter, folder: Path) -> Environment:
    """Make an environment with the pip that Python brings along (``ensurepip``), which needs no network.

    Raises:
        ProvisionError: no environment can be made.
    """
    return _make(children, interpreter, folder, [])


def _make(children: Children, interpreter: Interpreter, folder: Path, options: list[str]) -> Environment:
    """Run ``venv`` and return the environment."""
    argv = [interpreter.executable, "-I", "-m", "venv", *options, str(folder)]
    ended = children.run(f"the environment {folder.name}", argv, deadline_s=_DEADLINE_S)
    if ended.exit != 0:
        raise ProvisionError(
            f"{interpreter.executable} could not make an environment: {children.last_words(ended)}",
            "a Python with venv and ensurepip",
            f"install them (Debian and Ubuntu: python{interpreter.minor}-venv) or name another with --python",
        )
    name = f"python{interpreter.minor}"
    return Environment(folder / "bin" / name, folder / "lib" / name / "site-packages")

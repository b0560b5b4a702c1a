"""Makes a fresh overlay of the selection and puts one wheel into it, without dependencies or a network.

The overlay is a virtual environment of the selected interpreter that also sees what the selection has
(``gates.witness``).  The wheel is installed by pip: the toolchain's, the selection's, or the one that the
selected interpreter carries for ``ensurepip``, whichever is there first.  pip's configuration files are not
read, and an earlier release of the project in the selection does not count as installed.
"""

from __future__ import annotations

import importlib.metadata
import itertools
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, DeadlineError, GateError
from assay.files import copy_atomic, write_atomic
from assay.gates import witness
from assay.gates.context import Context
from assay.gates.finished import ended, last_words
from assay.judge.reading import text, texts
from assay.model import Json, Platform
from assay.process import Finished

_FLAGS = ("-s", "-B")
_ASK_SELECTION = "import json, site; print(json.dumps({'sites': site.getsitepackages()}))"
_ASK_OVERLAY = """
import json, platform, sysconfig
paths = {name: sysconfig.get_path(name) for name in ("platlib", "purelib", "scripts")}
print(json.dumps({**paths, "version": platform.python_version()}))
"""
_INSTALL = (
    *("install", "--isolated", "--no-input", "--no-deps", "--no-index", "--no-cache-dir", "--no-compile"),
    *("--ignore-installed", "--no-warn-script-location", "--disable-pip-version-check"),
)
_PIP_WITH_PYTHON = (22, 3)
"""First pip whose ``--python`` serves another interpreter (pip 22.3, changelog)."""

_MODULE = "assay_witness"
_SOURCE = Path(witness.__file__)


@dataclass(frozen=True)
class Overlay:
    """A virtual environment.

    Attributes:
        python: its interpreter.
        version: that interpreter's version.
        libraries: its folders of packages, resolved.
        scripts: its folder of programs.
        sites: the selected interpreter's own folders of packages.
    """

    python: Path
    version: str
    libraries: tuple[Path, ...]
    scripts: Path
    sites: tuple[str, ...]


@dataclass(frozen=True)
class Installer:
    """A pip: whose it is, its version, and the words that start it."""

    how: str
    version: str
    argv: tuple[str, ...]


class OverlayProblem(Exception):  # noqa: N818  # not an error of assay: the gate makes it a fact
    """The overlay could not be made; the text says why."""


def make_overlay(context: Context, executable: str, folder: Path) -> Overlay:
    """Make a virtual environment of the selected interpreter that sees what the selection has.

    Raises:
        OverlayProblem: the interpreter cannot make one.
        DeadlineError: it does not end.
        StorageError: a file cannot be written.
    """
    sites = texts(_ask(context, executable, _ASK_SELECTION), "sites")
    _run(context, (executable, *_FLAGS, "-m", "venv", "--without-pip", str(folder)))
    python = folder / ("Scripts/python.exe" if context.platform is Platform.WINDOWS else "bin/python")
    told = _ask(context, str(python), _ASK_OVERLAY)
    libraries = tuple(dict.fromkeys(Path(text(told, key)).resolve() for key in ("purelib", "platlib")))
    overlay = Overlay(python, text(told, "version"), libraries, Path(text(told, "scripts")), sites)
    copy_atomic(_SOURCE, libraries[0] / f"{_MODULE}.py")
    set_witness(context, overlay, None)
    write_atomic(libraries[0] / f"{_MODULE}.pth", f"import {_MODULE}; {_MODULE}.start()\n".encode())
    return overlay


def set_witness(context: Context, overlay: Overlay, reports: Path | None) -> None:
    """Let every process of the overlay that starts from now on report to a folder, or to none.

    Raises:
        StorageError: the configuration cannot be written.
    """
    configuration: Json = {
        "folders": list(context.selection.site_packages),
        "modules": list(context.plan.modules),
        "reports": str(reports or ""),
        "sites": list(overlay.sites),
    }
    write_atomic(overlay.libraries[0] / witness.CONFIGURATION, canonical.dumps(configuration))


def find_installer(context: Context, overlay: Overlay) -> Installer | None:
    """Return the first pip that is there, None where there is none.

    Raises:
        DeadlineError: a pip does not end.
    """
    python = str(overlay.python)
    own = _toolchain_pip()
    if own:
        return Installer("toolchain", own, (sys.executable, "-I", "-m", "pip", "--python", python))
    inside = (python, *_FLAGS, "-m", "pip")
    for how in ("selection", "ensurepip"):
        if how == "ensurepip" and _try(context, (python, *_FLAGS, "-m", "ensurepip")).exit != 0:
            return None
        answer = _try(context, (*inside, "--version"))
        if answer.exit == 0:
            return Installer(how, answer.stdout.decode("utf-8", "replace").split(" from ")[0].strip(), inside)
    return None


def install(context: Context, installer: Installer, wheel: Path) -> str:
    """Install a wheel; return why it could not be, ``""`` where it is.

    Raises:
        DeadlineError: pip does not end.
    """
    finished = _try(context, (*installer.argv, *_INSTALL, str(wheel)))
    return "" if finished.exit == 0 else f"pip ended with {finished.exit}:\n{last_words(finished)}"


def _toolchain_pip() -> str:
    """Return the version of the toolchain's pip, ``""`` where there is none that can serve another Python."""
    try:
        version = importlib.metadata.version("pip")
    except importlib.metadata.PackageNotFoundError:
        return ""
    return f"pip {version}" if _release(version) >= _PIP_WITH_PYTHON else ""


def _release(version: str) -> tuple[int, ...]:
    """Return the leading numbers of a version."""
    numbers = itertools.takewhile(str.isdigit, version.split("."))
    return tuple(int(number) for number in numbers)


def _ask(context: Context, python: str, code: str) -> Json:
    """Return what an interpreter prints as JSON.

    Raises:
        OverlayProblem: it does not answer.
    """
    finished = _run(context, (python, *_FLAGS, "-c", code))
    try:
        return canonical.parse(finished.stdout, member=python)
    except BundleError as error:
        raise OverlayProblem(error.observed) from error


def _run(context: Context, argv: Sequence[str]) -> Finished:
    """Run a command that must end with 0.

    Raises:
        OverlayProblem: it does not.
    """
    try:
        finished = _try(context, argv)
    except DeadlineError:
        raise
    except GateError as error:
        raise OverlayProblem(error.observed) from error
    if finished.exit != 0:
        raise OverlayProblem(f"{Path(argv[0]).name} ended with {finished.exit}: {last_words(finished)}")
    return finished


def _try(context: Context, argv: Sequence[str]) -> Finished:
    """Run a command away from the project, without bytecode and without pip's configuration files."""
    env = {**context.plain_environment(), "PIP_CONFIG_FILE": os.devnull, "PYTHONDONTWRITEBYTECODE": "1"}
    return ended(context.execute(argv, env=env, cwd=context.scratch), Path(argv[0]).name)

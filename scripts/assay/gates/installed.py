"""Observes gate ``installed``: the wheel of gate ``build`` in a fresh overlay, away from the source tree.

The plan's smoke command runs in an empty folder, in an environment that is built like the chain child's but
for the overlay's programs, which come first.  ``python`` as its first word is the overlay's interpreter.
Every Python process of the overlay that ends normally tells what it imported (``gates.witness``); the files
are hashed here.  ``judge.installed`` has the form of the facts.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, GateError
from assay.files import copy_atomic, read_bounded, sha256_file, storage_errors
from assay.gates.childenv import prepare_child
from assay.gates.command import PYTHON
from assay.gates.context import Context
from assay.gates.finished import ended, last_words
from assay.gates.overlay import Overlay, OverlayProblem, find_installer, install, make_overlay, set_witness
from assay.gates.wheelfile import Wheel, read_wheel
from assay.judge.reading import MalformedFacts, objects, text, texts
from assay.model import Facts, Json
from assay.selection import SITE_PACKAGES

_REPORT_LIMIT = 4 << 20
_REPORTS = 256
"""Processes whose reports are read; a smoke command that starts more has shown enough."""


def observe(context: Context) -> Facts:
    """Return what ``judge.installed`` reads.

    Raises:
        DeadlineError: a command does not end.
        GateError: the run's artifact is not what build recorded, or a report cannot be read.
        StorageError: a file cannot be read or written.
    """
    path = _wheel_of_build(context)
    if path is None:
        return {"wheel": None}
    wheel = read_wheel(path)
    facts: dict[str, Json] = {
        "absent": [name for name in context.plan.modules if not _brings(wheel, name)],
        "selected": context.selection.executable is not None,
        "wheel": {"name": wheel.name, "sha256": sha256_file(path)[0]},
    }
    if context.selection.executable is None:
        return facts
    try:
        overlay = make_overlay(context, context.selection.executable, context.scratch / "overlay")
    except OverlayProblem as problem:
        return {**facts, "overlay": {"problem": str(problem), "version": ""}}
    return {
        **facts,
        "overlay": {"problem": "", "version": overlay.version},
        **_installed(context, overlay, path, wheel),
    }


def _wheel_of_build(context: Context) -> Path | None:
    """Return a private copy of the wheel that build kept, under its name; None where it kept none."""
    build = context.facts.get("build", {})
    name, sha256 = text(build, "wheel.name"), text(build, "wheel.sha256")
    if not sha256:
        return None
    folder = context.scratch / "wheel"
    with storage_errors("make", folder):
        folder.mkdir()
    copied, _ = copy_atomic(context.artifact_path(sha256), folder / Path(name).name)
    if copied != sha256:
        raise GateError(
            f"the kept wheel has SHA-256 {copied}", sha256, "leave the run's folder alone; run again"
        )
    return folder / Path(name).name


def _brings(wheel: Wheel, module: str) -> bool:
    """Say whether a wheel installs a module of that name, as a folder or as a file."""
    return any(path.startswith((f"{module}/", f"{module}.")) for path in wheel.installed)


def _installed(context: Context, overlay: Overlay, path: Path, wheel: Wheel) -> dict[str, Json]:
    """Install the wheel and run the smoke command."""
    installer = find_installer(context, overlay)
    if installer is None:
        return {"installer": None}
    problem = install(context, installer, path)
    told: dict[str, Json] = {"how": installer.how, "problem": problem, "version": installer.version}
    return {"installer": told} if problem else {"installer": told, **_smoke(context, overlay, wheel)}


def _smoke(context: Context, overlay: Overlay, wheel: Wheel) -> dict[str, Json]:
    """Run the smoke command and return what it said and imported."""
    reports = context.scratch / "reports"
    with storage_errors("make", reports):
        reports.mkdir()
    set_witness(context, overlay, reports)
    child = prepare_child(context, name="smoke", interface="")
    env = _environment(context, overlay, child.env)
    word, *rest = context.plan.smoke
    program = str(overlay.python) if word == PYTHON else shutil.which(word, path=env["PATH"])
    if program is None:
        return {"smoke": {"program": None}}
    finished = ended(context.execute((program, *rest), env=env, cwd=child.cwd), "the smoke command")
    documents = [_report(path) for path in sorted(reports.glob("*.json"))[:_REPORTS]]
    return {
        "modules": list(_modules(overlay, wheel, documents)),
        "reports": len(documents),
        "smoke": {"exit": finished.exit, "last_words": last_words(finished), "program": word},
    }


def _environment(context: Context, overlay: Overlay, child: Mapping[str, str]) -> Mapping[str, str]:
    """Return the smoke command's environment: the selection's packages come after the wheel."""
    kept = {name: value for name, value in child.items() if name != SITE_PACKAGES}
    return {
        **kept,
        "ASSAY_RUN": context.nonce,
        "PATH": os.pathsep.join((str(overlay.scripts), kept["PATH"])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONNOUSERSITE": "1",
    }


def _report(path: Path) -> Json:
    """Return one process's report.

    Raises:
        GateError: it cannot be read as one.
    """
    try:
        return canonical.parse(read_bounded(path, _REPORT_LIMIT), member=path.name, limit=_REPORT_LIMIT)
    except BundleError as error:
        raise GateError(
            f"a report of the smoke command: {error.observed}", error.expected, "read the log"
        ) from error


def _modules(overlay: Overlay, wheel: Wheel, documents: Iterable[Json]) -> Iterator[dict[str, Json]]:
    """Yield each imported module of the project once for each file that it came from."""
    try:
        modules = [each for document in documents for each in objects(document, "modules")]
        places = {(text(each, "name"), place) for each in modules for place in _places(each)}
    except MalformedFacts as malformed:
        raise GateError(
            f"a report of the smoke command: {malformed}", malformed.expected, "read the log"
        ) from malformed
    for name, place in sorted(places):
        told = _place(overlay, wheel, place)
        if told is not None:
            yield {"name": name, **told}


def _places(module: Facts) -> tuple[str, ...]:
    """Return a module's file, or the folders of one that has no file; ``""`` where it has neither."""
    file = text(module, "file")
    return (file,) if file else texts(module, "folders") or ("",)


def _place(overlay: Overlay, wheel: Wheel, place: str) -> dict[str, Json] | None:
    """Return where a module came from, with the digest of its file and the recorded one.

    None for a folder that the wheel made: it has no bytes, and the modules in it stand for themselves.
    """
    path = Path(place).resolve()
    library = next((folder for folder in overlay.libraries if place and path.is_relative_to(folder)), None)
    if library is None:
        return {"inside": False, "path": place, "recorded": "", "sha256": ""}
    inside = path.relative_to(library).as_posix()
    if path.is_dir() and any(name.startswith(f"{inside}/") for name in wheel.installed):
        return None
    sha256 = sha256_file(path)[0] if path.is_file() else ""
    return {"inside": True, "path": inside, "recorded": wheel.installed.get(inside, ""), "sha256": sha256}

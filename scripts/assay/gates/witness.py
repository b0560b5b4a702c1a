"""Tells which of a project's modules a Python process imported, and from which files.

This one file is copied into the overlay of gate ``installed`` and started by a ``.pth`` line, so it runs in
every interpreter of the overlay, also those that the smoke command starts: it needs CPython 3.10 and the
standard library, and imports nothing of assay.  It also lets the overlay see what the selection has; that
comes after the overlay's own folder, so that nothing there can stand in for the wheel.

Beside it lies ``assay_witness.json``: ``{"folders": […], "sites": […], "modules": […], "reports": "…"}``.
``folders`` and ``sites`` are put on the module path (of ``sites`` the ``.pth`` files count, too); a process
that ends normally leaves a report in ``reports``, unless that is ``""``.
"""

from __future__ import annotations

import atexit
import json
import os
import site
import sys
import time
from pathlib import Path
from types import ModuleType

CONFIGURATION = "assay_witness.json"
SCHEMA = "assay/witness/1"


def start() -> None:
    """Extend the module path, and arrange for the report."""
    text = Path(__file__).with_name(CONFIGURATION).read_text(encoding="utf-8")
    configuration = json.loads(text)
    sys.path.extend(folder for folder in configuration["folders"] if folder not in sys.path)
    for folder in configuration["sites"]:
        site.addsitedir(folder)
    if configuration["reports"]:
        atexit.register(_report, frozenset(configuration["modules"]), Path(configuration["reports"]))


def _report(projects: frozenset[str], folder: Path) -> None:
    """Write the report, whole or not at all."""
    seen = [_seen(name, module) for name, module in list(sys.modules.items())]
    modules = [each for each in seen if str(each["name"]).partition(".")[0] in projects]
    path = folder / f"{os.getpid()}-{time.monotonic_ns()}"
    path.write_text(json.dumps({"modules": modules, "schema": SCHEMA}), encoding="utf-8")
    path.rename(path.with_suffix(".json"))


def _seen(name: str, module: ModuleType | None) -> dict[str, object]:
    """Return a module's real name (``__main__`` may be one of the project's) and where it came from."""
    # Not by getattr: a module may define __getattr__, and a lazy one would be loaded by it.
    values = object.__getattribute__(module, "__dict__") if isinstance(module, ModuleType) else {}
    spec = values.get("__spec__")
    file, folders = values.get("__file__"), values.get("__path__")
    return {
        "file": file if isinstance(file, str) else None,
        "folders": [str(folder) for folder in folders] if folders is not None and file is None else [],
        "name": str(getattr(spec, "name", name)),
    }

"""Runs TypeScript in the selected Bun with the selected CPython; what it prints last is JSON."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.gates.hosted import SOURCES
from assay.selection import BUN, EXECUTABLE, HOST_LIBRARY, LIBPYTHON, SITE_PACKAGES, Selection

DEADLINE_S = 60.0

HEAD = """
import { GpuRuntime } from "%(sources)s/gpu.ts";
import { HostError, Python, PythonError } from "buv:python";
import { Python as Other } from "pyjs:python";

function caught(action: () => unknown): unknown {
  try {
    return { value: action() ?? null };
  } catch (error) {
    if (error instanceof HostError) return { code: error.code, message: error.message };
    if (error instanceof PythonError)
      return { message: error.message, traceback: error.traceback, type: error.type };
    throw error;
  }
}
"""


def bun(
    selection: Selection, folder: Path, script: str, changed: Mapping[str, str] | None = None
) -> tuple[Any, subprocess.CompletedProcess[str]]:
    """Run a script and return its last line of output as JSON, and how it ended.

    Args:
        selection: whose Bun, host library and CPython.
        folder: a private folder.
        script: statements after ``HEAD``.
        changed: variables of the environment to exchange.
    """
    file = folder / "script.ts"
    file.write_text(HEAD % {"sources": SOURCES} + script, encoding="utf-8")
    named = (EXECUTABLE, LIBPYTHON, HOST_LIBRARY, SITE_PACKAGES)
    environment = {
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        "GPU": str(SOURCES / "gpu.ts"),
        "PLUGIN": str(SOURCES / "plugin.ts"),
        **{name: selection.values[name] for name in named},
        **(changed or {}),
    }
    argv = [selection.values[BUN], "--no-install", "--preload", str(SOURCES / "plugin.ts"), str(file)]
    ended = subprocess.run(  # noqa: S603  # the selected Bun on a script of the test's
        argv, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=DEADLINE_S
    )
    lines = ended.stdout.strip("\n").split("\n")
    return json.loads(lines[-1]) if lines[-1] else None, ended

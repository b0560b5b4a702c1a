"""Runs Python programs in the selected interpreter, with the CPU's driver where a GPU's would be."""

from __future__ import annotations

import json
import subprocess
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.provision.cpu_driver import CpuDriver
from assay.selection import Selection

REPORT = "ASSAY_REHEARSAL_REPORT"


@dataclass(frozen=True)
class Ran:
    """A program that ended: its exit, what it said, and what the driver told."""

    exit: int
    said: Any
    printed: str
    errors: str
    report: list[dict[str, Any]]

    def of(self, event: str) -> list[dict[str, Any]]:
        """Return the report's events of one name."""
        return [each for each in self.report if each["event"] == event]


@dataclass(frozen=True)
class Programs:
    """Where and with what programs run."""

    selection: Selection
    driver: CpuDriver
    folder: Path

    def environment(self, **more: str) -> dict[str, str]:
        """Return a program's whole environment."""
        toolkit = self.selection.toolkit or ""
        cache = self.folder / "pycuda"
        cache.mkdir(exist_ok=True)
        return {
            "CUDA_PATH": toolkit,
            "HOME": str(self.folder),
            "LD_LIBRARY_PATH": f"{self.driver.folder}:{toolkit}/lib",
            "PATH": f"{self.driver.nvcc.parent}:{toolkit}/bin:/usr/bin:/bin",
            "PYCUDA_CACHE_DIR": str(cache),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": ":".join(self.selection.site_packages),
            REPORT: str(self.folder / "report.jsonl"),
            **more,
        }

    def run(self, text: str, *, deadline_s: float = 120, **more: str) -> Ran:
        """Run a program to its end; what it gives to ``say`` comes back as a value."""
        said = self.folder / "said.json"
        head = f"import json\ndef say(value):\n    json.dump(value, open({str(said)!r}, 'w'))\n"
        argv = [str(self.selection.executable), "-c", head + textwrap.dedent(text)]
        done = subprocess.run(  # noqa: S603  # the selected interpreter
            argv,
            env=self.environment(**more),
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            timeout=deadline_s,
        )
        value = json.loads(said.read_text()) if said.exists() else None
        return Ran(done.returncode, value, done.stdout, done.stderr, self.report())

    def report(self) -> list[dict[str, Any]]:
        """Return what the driver told so far."""
        path = self.folder / "report.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []

"""What the driver tells: lines for a person on standard error, documents for a program in a file.

The file (named by ``ASSAY_REHEARSAL_REPORT``; none is written without it) holds JSON documents, one a line,
each with ``event``; integers and text only::

    {"event": "driver", "schema": "assay/rehearsal-report/1", "pid": 4711, "uuid": "GPU-…"}
    {"event": "module", "sha256": "…", "size": 1024, "target": "sm_75", "version": "9.0"}
    {"event": "launch", "kernel": "twice", "block": [256, 1, 1], "grid": [1, 1, 1], "instructions": 4096}
    {"event": "finding", "kind": "out-of-bounds", "kernel": "twice", "file": "/kernels/…", "line": 9,
     "ptx_line": 40, "block": [0, 0, 0], "thread": [37, 0, 0], "address": "0x1000000000094", "count": 1,
     "message": "…"}
    {"event": "refused", "call": "cuTexRefCreate", "code": 801, "message": "…"}
    {"event": "end", "launches": 12, "findings": 0}

Repeated launches past ``LISTED`` are counted, not listed; so are findings and refusals.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping

from ..findings import Finding

VARIABLE = "ASSAY_REHEARSAL_REPORT"
SCHEMA = "assay/rehearsal-report/1"

LISTED = 1000
"""Most events of one sort that are listed."""

MESSAGE = 1000
"""Characters of a message that are kept."""


class Report:
    """Tells what happens, at once: a process that is killed has told all until then."""

    def __init__(self, path: str | None) -> None:
        """Tell to the file at ``path``, or to standard error alone."""
        self._path = path
        self._counts: dict[str, int] = {}
        self._refused: set[str] = set()

    def begin(self, uuid: str) -> None:
        """Tell that the driver is there."""
        self._write({"event": "driver", "pid": os.getpid(), "schema": SCHEMA, "uuid": uuid})

    def module(self, sha256: str, size: int, version: str, target: str) -> None:
        """Tell that PTX was loaded."""
        self._listed(
            {"event": "module", "sha256": sha256, "size": size, "target": target, "version": version}
        )

    def launch(
        self, kernel: str, grid: tuple[int, int, int], block: tuple[int, int, int], instructions: int
    ) -> None:
        """Tell that a kernel ran."""
        self._listed(
            {
                "block": list(block),
                "event": "launch",
                "grid": list(grid),
                "instructions": instructions,
                "kernel": kernel,
            }
        )

    def finding(self, found: Finding) -> None:
        """Tell a mistake."""
        say(str(found) if found.kernel else f"{found.kind}: {found.message}")
        self._listed(
            {
                "address": None if found.address is None else f"{found.address:#x}",
                "block": list(found.block),
                "count": found.count,
                "event": "finding",
                "file": found.file,
                "kernel": found.kernel,
                "kind": found.kind,
                "line": found.line,
                "message": found.message[:MESSAGE],
                "ptx_line": found.ptx_line,
                "thread": list(found.thread),
            }
        )

    def refused(self, call: str, code: int, message: str) -> None:
        """Tell, once for each call and message, what the driver cannot do."""
        if f"{call}\0{message}" not in self._refused:
            self._refused.add(f"{call}\0{message}")
            say(f"{call} is refused: {message}")
            self._listed({"call": call, "code": code, "event": "refused", "message": message[:MESSAGE]})

    def end(self) -> None:
        """Tell that the interpreter ends."""
        self._write(
            {
                "event": "end",
                "findings": self._counts.get("finding", 0),
                "launches": self._counts.get("launch", 0),
            }
        )
        self._path = None

    def _listed(self, document: Mapping[str, object]) -> None:
        event = str(document["event"])
        self._counts[event] = self._counts.get(event, 0) + 1
        if self._counts[event] <= LISTED:
            self._write(document)

    def _write(self, document: Mapping[str, object]) -> None:
        if self._path is None:
            return
        line = json.dumps(document, sort_keys=True, separators=(",", ":")) + "\n"
        try:
            with open(self._path, "ab", buffering=0) as stream:  # noqa: PTH123  # unbuffered: one write a line
                stream.write(line.encode())
        except OSError as error:
            say(f"{self._path} cannot be written: {error}")
            self._path = None


def say(text: str) -> None:
    """Write a line on standard error, if there is one."""
    if sys.stderr is not None:
        sys.stderr.write(f"libcuda (CPU): {text}\n")
        sys.stderr.flush()

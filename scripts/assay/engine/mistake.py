"""Where a wrong value comes from: the lines of a kernel's source that write its result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.engine.prepare import Prepared
from assay.errors import StorageError
from assay.files import read_bounded
from assay.model import Finding
from assay.plan.values import Stage

WRONG = "CHAIN-VALUE-WRONG"

_STORE = re.compile(r"\w[\w.]*\s*\[[^\]=]*\]\s*[-+*/|&^]?=(?!=)")
"""An assignment to an element, in CUDA C++ as in WGSL: how a stage's kernel writes its output."""

_LIMIT = 1 << 20


def mistake_lines(prepared: Prepared, chain: str, finding: Finding) -> Iterator[str]:
    """Yield the source lines that wrote a wrong value; nothing for other findings.

    Args:
        prepared: what the run stands on.
        chain: the chain's name.
        finding: one of the chain's findings, whose place is ``<chain>/<stage>/<input>``.
    """
    if finding.id != WRONG or not finding.where:
        return
    name = finding.where[0].split("/")[1]
    for stage in prepared.plan.kernels[chain].stages:
        if stage.name == name:
            yield from _source_lines(prepared, chain, stage)


def _source_lines(prepared: Prepared, chain: str, stage: Stage) -> Iterator[str]:
    """Yield where a stage's kernel writes, as places that an editor understands."""
    place = f"kernels/{chain}/{stage.source}"
    try:
        text = read_bounded(prepared.request.project.resolve() / place, _LIMIT).decode("ascii", "replace")
    except StorageError:
        return
    lines = text.splitlines()
    for number in writing_lines(lines, stage.entry):
        yield f"      written:  {place}:{number}: {lines[number - 1].strip()}"


def writing_lines(lines: Sequence[str], entry: str) -> tuple[int, ...]:
    """Return the numbers (from 1) of the lines of a kernel that assign to an element.

    Without such a line it is the kernel's own, where that is found.
    """
    named = [
        number for number, line in enumerate(lines, start=1) if re.search(rf"\b{re.escape(entry)}\b", line)
    ]
    first = named[0] if named else 1
    stores = [number for number, line in enumerate(lines, start=1) if number >= first and _STORE.search(line)]
    return tuple(stores or named[:1])

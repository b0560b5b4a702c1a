"""Where a wrong value comes from: the lines of a kernel's source that write its result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from assay.engine.console import finding_lines, one_line
from assay.engine.prepare import Prepared
from assay.errors import StorageError
from assay.files import read_bounded
from assay.model import Finding
from assay.plan.values import Stage

WRONG = "CHAIN-VALUE-WRONG"
FAILED = "CHAIN-STAGE-FAILED"

_TRACEBACK = "Traceback (most recent call last):\n"
_CLASS = re.compile(r"\A[A-Za-z_][\w.]*(?:Error|Exception): ")
"""The class of an exception before its words."""

_COMPILED_AS = re.compile(r"(?<![\w./-])/kernels/")
"""The fixed folder that kernels are compiled under: in the project it is ``kernels/``."""

_STORE = re.compile(r"\w[\w.]*\s*\[[^\]=]*\]\s*[-+*/|&^]?=(?!=)")
"""An assignment to an element, in CUDA C++ as in WGSL: how a stage's kernel writes its output."""

_LIMIT = 1 << 20


def answer_lines(prepared: Prepared, chain: str, findings: Sequence[Finding], log: str) -> Iterator[str]:
    """Yield the inner loop's answer: the first wrong value with its source lines, and every other finding.

    A wrong value makes those of later stages wrong, and canonical and fresh values show the same mistake: the
    first says it all.

    Args:
        prepared: what the run stands on.
        chain: the chain's name.
        findings: what the judge found, in order.
        log: what the child printed.
    """
    wrong = [each for each in findings if each.id == WRONG]
    said = last_words(log)
    for each in findings:
        if each.id == WRONG:
            continue
        if each.id == FAILED and said:
            yield f"  {each.id}: {each.where[0] if each.where else chain}"
            yield from (f"    {one_line(line)}" for line in said)
        elif tells_all(each):
            yield f"  {each.id}: {each.observed}"
            yield f"    remedy: {each.remedy}"
        else:
            yield from finding_lines(each)
    if wrong:
        yield f"  {wrong[0].observed}; expected {wrong[0].expected}"
        yield from _mistake(prepared, chain, wrong[0])
    if len(wrong) > 1:
        yield f"  and {len(wrong) - 1} more wrong results of this input, or after it"
    if findings and not said and not any(tells_all(each) for each in findings):
        yield log


def tells_all(finding: Finding) -> bool:
    """Say whether a finding needs no log beside it: the child's output says no more."""
    return finding.id == WRONG or finding.id.startswith("REHEARSAL-")


def last_words(log: str) -> tuple[str, ...]:
    """Return what the last exception in a log says, line by line; empty where there is none.

    A kernel's mistake is told in the compiler's or the runtime's words; the frames that passed them on are
    those of this program.
    """
    _, found, rest = log.rpartition(_TRACEBACK)
    lines = rest.splitlines() if found else []
    while lines and lines[0].startswith(" "):
        del lines[0]
    text = _CLASS.sub("", "\n".join(lines)).strip()
    return tuple(line.rstrip() for line in _COMPILED_AS.sub("kernels/", text).splitlines() if line.strip())


def _mistake(prepared: Prepared, chain: str, finding: Finding) -> Iterator[str]:
    """Yield the source lines that wrote a wrong value, whose place is ``<chain>/<stage>/<input>``."""
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
        yield f"    {place}:{number}: {lines[number - 1].strip()}"


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

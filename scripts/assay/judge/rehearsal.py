"""Judges what took a GPU's place: only in a rehearsal, whole, and without a word against a kernel.

Facts::

    rehearsal                   null where nothing took a GPU's place
    rehearsal.driver            {folder, digest}: the CPU's driver, and what it is made of
    rehearsal.nvcc              {path, sha256}: makes PTX under the name of a CUBIN, first on the child's PATH
    rehearsal.adapter           null, or {origin, icd {path, sha256}, folders[], packages [{name, version}]}
    rehearsal.report            what the driver told: driver {pid, uuid}, modules[], launches[], findings[],
                                refused[], end {findings, launches}, problem
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.images import PTX, ran_stages
from assay.judge.reading import get, items, number, objects, text
from assay.model import Facts, Finding, Tier

_COMPILED_AS = re.compile(r"(?<![\w./-])/kernels/")
"""``/kernels/<chain>/<file>``: the same bytes in every folder (DESIGN: PTX)."""

IDS: Mapping[str, str] = MappingProxyType(
    {
        "assertion": "REHEARSAL-ASSERTION",
        "barrier": "REHEARSAL-BARRIER",
        "endless": "REHEARSAL-ENDLESS",
        "leak": "REHEARSAL-LEAK",
        "misaligned": "REHEARSAL-MISALIGNED",
        "out-of-bounds": "REHEARSAL-OUT-OF-BOUNDS",
        "race": "REHEARSAL-RACE",
        "uninitialised": "REHEARSAL-UNINITIALISED",
        "use-after-free": "REHEARSAL-USE-AFTER-FREE",
    }
)
"""By kind of the interpreter's findings."""


def judge_rehearsal(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with a rehearsal, and what its driver says against the kernels.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    if get(facts, "rehearsal") is None:
        return
    if case.plan.tier is not Tier.REHEARSAL:
        observed = f"the CPU's driver in {text(facts, 'rehearsal.driver.folder')}"
        yield finding("REHEARSAL-MISPLACED", observed, where=("rehearsal",))
        return
    for each in objects(facts, "rehearsal.report.findings"):
        yield _mistake(each)
    for each in objects(facts, "rehearsal.report.refused"):
        observed = f"{text(each, 'call')} ({number(each, 'code')}): {text(each, 'message')}"
        yield finding("REHEARSAL-REFUSED", observed, where=("rehearsal.report.refused",))
    yield from _whole(case, facts)


def _mistake(each: Facts) -> Finding:
    """Return the finding of a kernel's mistake."""
    kind, file, line = text(each, "kind"), text(each, "file"), number(each, "line")
    place = f"{file}:{line}" if file and line else f"PTX line {number(each, 'ptx_line')}"
    entry_id = IDS.get(kind, "REHEARSAL-OTHER")
    if not text(each, "kernel"):
        return finding(entry_id, text(each, "message"))
    thread = ", ".join(f"{name} {_index(each, name)}" for name in ("block", "thread"))
    address = text(each, "address") if each.get("address") is not None else ""
    at = f", address {address}" if address else ""
    times = number(each, "count") or 1
    more = f" ({times} times)" if times > 1 else ""
    observed = f"{text(each, 'kernel')} at {place}, {thread}{at}: {text(each, 'message')}{more}"
    return finding(entry_id, _as_in_the_project(observed), where=(_as_in_the_project(place),))


def _as_in_the_project(words: str) -> str:
    """Return words with the fixed names that kernels are compiled under as paths in the project."""
    return _COMPILED_AS.sub("kernels/", words)


def _index(each: Facts, name: str) -> str:
    """Return a block's or thread's index in words."""
    return f"({', '.join(map(str, items(each, name)))})"


def _whole(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where the driver's report is not whole, or is not of this child and of what it ran."""
    ran = [(chain, stage, seen) for chain, stage, seen in ran_stages(case, facts) if stage.runtime != "wgpu"]
    if problem := text(facts, "rehearsal.report.problem"):
        if ran or get(facts, "rehearsal.report.driver") is not None:
            yield finding("REHEARSAL-REPORT", problem, where=("rehearsal.report",))
        return
    told, child = number(facts, "rehearsal.report.driver.pid"), number(facts, "child.pid")
    if told != child:
        yield finding("REHEARSAL-REPORT", f"it is of process {told}, the child was {child}")
    listed = len(items(facts, "rehearsal.report.findings"))
    counted = number(facts, "rehearsal.report.end.findings")
    if counted is None or counted < listed:
        yield finding("REHEARSAL-REPORT", f"it ends with {counted} findings and lists {listed}")
    elif counted > listed:
        yield finding("REHEARSAL-OTHER", f"{counted - listed} more findings than are listed")
    known = {text(each, "sha256") for each in objects(facts, "rehearsal.report.modules")}
    for chain, stage, seen in ran:
        for image in objects(seen, "loaded"):
            if text(image, "kind") == PTX and text(image, "sha256") not in known:
                observed = f"{chain.name}/{stage.name}: PTX of SHA-256 {text(image, 'sha256')}"
                yield finding("REHEARSAL-IMAGE", observed, where=("rehearsal.report.modules",))

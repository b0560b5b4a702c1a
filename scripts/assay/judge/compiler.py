"""Judges the compilers of a toolkit: the nvcc that would be started, and the host compiler that it starts.

Facts::

    path_nvcc {path, kind, target, origin, profile}   the first nvcc on the children's PATH
    selected_nvcc {…the same}                         the first nvcc on the selection's own PATH
        ``kind`` is file, link or script; ``target`` what it starts; ``origin`` is ``""`` where a script does
        not say; ``profile`` whether nvcc.profile lies beside the name by which it is started
    nvcc {asked, problem, version, architectures[]}   what nvcc itself says
    compiler {family, version, path, name, problem, found[], cplusplus}   family gcc, clang or msvc;
        ``cplusplus`` is false where gcc has no C++ compiler, null where it was not asked
    range {gcc: {low, below}, clang: {…}, msvc: {…}}           what the toolkit's host_config.h accepts
    msvc {toolsets[], path}                           the toolsets that vswhere or the folders show
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import flag, get, mapping, number, text, texts
from assay.model import Facts, Finding, Platform
from assay.plan.versions import release

LINK, SCRIPT = "link", "script"
GCC, CLANG, MSVC = "gcc", "clang", "msvc"

_MSC_VER_BASE = 1900
"""_MSC_VER of toolset 14.N is 1900 + N (Microsoft: Predefined macros)."""


def judge_nvcc(facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the nvcc that a child would start."""
    if get(facts, "parts.nvcc") is None:
        return
    first = mapping(facts, "path_nvcc")
    path = text(first, "path")
    if not path:
        yield finding(
            "TOOLKIT-NVCC-NOT-ON-PATH", "no folder of PATH has nvcc", expected=text(facts, "parts.nvcc.path")
        )
    elif text(first, "kind") == LINK and flag(first, "profile") is False:
        observed = f"{path} is a link to {text(first, 'target')}, and has no nvcc.profile beside it"
        yield finding("TOOLKIT-NVCC-LINK", observed, where=(path,))
    elif flag(facts, "nvcc.asked") and text(facts, "nvcc.problem"):
        yield finding("TOOLKIT-NVCC-FAILED", f"{path}: {text(facts, 'nvcc.problem')}", where=(path,))
    yield from _other_nvcc(facts)


def _other_nvcc(facts: Facts) -> Iterator[Finding]:
    """Yield each nvcc of another toolkit that comes first, for the children or in the selection's PATH."""
    own, expected = text(facts, "origin"), text(facts, "parts.nvcc.path")
    found = [mapping(facts, name) for name in ("path_nvcc", "selected_nvcc")]
    others = {
        text(each, "path"): text(each, "origin") for each in found if text(each, "origin") not in {"", own}
    }
    for path, origin in others.items():
        observed = f"{path} starts the nvcc of {origin}, not of {own}"
        yield finding("TOOLKIT-NVCC-OTHER", observed, expected=expected, where=(path,))


def judge_host(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the host compiler: not there, out of range, or of another toolset."""
    family, version = text(facts, "compiler.family"), text(facts, "compiler.version")
    described = f"{text(facts, 'compiler.name') or family} {version} ({text(facts, 'compiler.path')})"
    if not family or (flag(facts, "compiler.asked") and text(facts, "compiler.problem")):
        yield _no_compiler(case, facts)
        return
    if flag(facts, "compiler.cplusplus") is False:
        yield _no_compiler(case, facts, f"{described} has no C++ compiler (cc1plus)")
    accepted = mapping(facts, f"range.{family}")
    if accepted and release(version) and not _accepted(family, version, accepted):
        yield finding(
            "TOOLKIT-COMPILER-RANGE",
            described,
            expected=f"{family} {_bounds(family, accepted)}",
            where=(text(facts, "compiler.path"),),
            platform=case.platform,
        )
    yield from _toolset(case, facts, family, version, described)


def _toolset(case: Case, facts: Facts, family: str, version: str, described: str) -> Iterator[Finding]:
    """Yield that the MSVC toolset is not the plan's."""
    wanted = case.plan.msvc_toolset
    if case.platform is not Platform.WINDOWS or wanted is None or family != MSVC:
        return
    if version and release(version)[:2] != release(wanted):
        others = texts(facts, "msvc.toolsets")
        has = f"; installed: {', '.join(others)}" if others else ""
        observed, expected = f"{described}{has}", f"MSVC toolset {wanted}"
        yield finding(
            "TOOLKIT-MSVC-TOOLSET",
            observed,
            expected=expected,
            where=("compiler", "msvc.toolsets"),
            platform=case.platform,
        )


def _no_compiler(case: Case, facts: Facts, why: str = "") -> Finding:
    """Return the finding of a host compiler that nvcc would not find, naming what is elsewhere."""
    name = "cl.exe" if case.platform is Platform.WINDOWS else "gcc"
    elsewhere = (*texts(facts, "compiler.found"), *texts(facts, "msvc.toolsets"))
    has = f"; installed elsewhere: {', '.join(elsewhere)}" if elsewhere else ""
    why = why or text(facts, "compiler.problem") or f"no folder of PATH has {name}"
    return finding("TOOLKIT-COMPILER-MISSING", f"{why}{has}", where=("compiler",), platform=case.platform)


def _accepted(family: str, version: str, accepted: Facts) -> bool:
    """Say whether a compiler's version lies in ``low`` <= version < ``below``."""
    found = _comparable(family, version)
    low, below = number(accepted, "low"), number(accepted, "below")
    return (low is None or found >= low) and (below is None or found < below)


def _comparable(family: str, version: str) -> int:
    """Return the number that host_config.h compares: the major version, or _MSC_VER."""
    numbers = release(version)
    return _MSC_VER_BASE + numbers[1] if family == MSVC and len(numbers) > 1 else numbers[0]


def _bounds(family: str, accepted: Facts) -> str:
    """Return a range in words."""
    unit = "_MSC_VER " if family == MSVC else ""
    low, below = number(accepted, "low"), number(accepted, "below")
    parts = [
        f"from {unit}{low}" if low is not None else "",
        f"before {unit}{below}" if below is not None else "",
    ]
    return " and ".join(part for part in parts if part)

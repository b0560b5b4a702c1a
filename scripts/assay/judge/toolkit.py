"""Judges gate ``toolkit``: one CUDA toolkit, and whether driver, device and host compiler fit it.

Facts (``gates.toolkit`` writes them)::

    folder record                    what CUDA_PATH names; ``quoted`` as in ``judge.selected``
    layout, origin                   how it is laid out; the folder that its parts have in common
    parts {nvcc, nvrtc, builtins, cuda_h, cudart, nvvm: {path, real, origin, version, found_via, arch}}
        a part that was found nowhere is null
    looked {part: [pattern]}         where a missing part was looked for
    version, version_full            of the toolkit, by its own parts
    path_nvcc, nvcc                  described in ``judge.compiler``
    loaded {nvrtc: {path, origin, found_via}}      what cuda.pathfinder would load
    builtins {wanted, beside[]}      the builtins that NVRTC names, and those that lie beside it
    compiler, range, msvc            described in ``judge.compiler``
    driver, devices[], libcuda       described in ``judge.toolkit_driver``
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge import compiler, toolkit_driver
from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import MalformedFacts, flag, get, mapping, text, texts
from assay.judge.selected import FOLDER
from assay.model import Facts, Finding
from assay.plan.versions import release, satisfies

RULES = 1

PARTS = ("nvcc", "nvrtc", "builtins", "cuda_h", "cudart", "nvvm")

TITLES = {
    "nvcc": "nvcc",
    "nvrtc": "NVRTC",
    "builtins": "NVRTC's builtins",
    "cuda_h": "cuda.h",
    "cudart": "cudart",
    "nvvm": "NVVM",
}

_COMPARED = 2
"""Numbers of a version that one toolkit's parts share: they are built separately below the minor version."""


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the toolkit; nothing where it is one, whole, and fits."""
    stopped = tuple(_folder(case, facts))
    if stopped:
        return stopped
    claim(case, facts)  # raises where a fact that the claim names is malformed
    return (
        *_missing(case, facts),
        *_mixed(facts),
        *_shadowed(facts),
        *_builtins(facts),
        *_planned_version(case, facts),
        *_processor(facts),
        *compiler.judge_nvcc(facts),
        *compiler.judge_host(case, facts),
        *toolkit_driver.judge_driver(case, facts),
        *toolkit_driver.judge_architectures(case, facts),
        *toolkit_driver.judge_libcuda(case, facts),
    )


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    del case  # the sentence is about this toolkit alone
    host = text(facts, "compiler.family")
    with_host = f", with {host} {text(facts, 'compiler.version')}" if host else ""
    return f"nvcc, NVRTC, headers and libraries are of one CUDA toolkit, {text(facts, 'version')}{with_host}"


def _folder(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield why there is no toolkit to look at."""
    path, state = text(facts, "folder.path"), text(facts, "folder.state")
    if not state:
        yield finding("TOOLKIT-NONE", "CUDA_PATH is not set", where=("CUDA_PATH",))
    elif flag(facts, "folder.quoted"):
        observed = "CUDA_PATH begins or ends with a quotation mark"
        yield finding("TOOLKIT-QUOTED", observed, where=("folder",), platform=case.platform)
    elif state != FOLDER:
        observed = f"CUDA_PATH: {text(facts, 'folder.problem') or f'{path} is a {state}'}"
        yield finding("TOOLKIT-FOLDER", observed, where=(path,), platform=case.platform)


def _part(facts: Facts, name: str) -> Facts | None:
    """Return a part, None where it was found nowhere."""
    return None if get(facts, f"parts.{name}") is None else mapping(facts, f"parts.{name}")


def _missing(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each part that was found nowhere; builtins without NVRTC are no finding of their own."""
    for name in PARTS:
        if _part(facts, name) is None and name != "builtins":
            looked = ", ".join(texts(facts, f"looked.{name}"))
            observed = f"{TITLES[name]} is not in {text(facts, 'origin')} (looked for {looked})"
            yield finding("TOOLKIT-PART-MISSING", observed, where=(f"parts.{name}",), platform=case.platform)


def _mixed(facts: Facts) -> Iterator[Finding]:
    """Yield that parts come from different toolkits, or are of different versions, naming each."""
    own, version = text(facts, "origin"), release(text(facts, "version"))[:_COMPARED]
    seen = {name: part for name in PARTS if (part := _part(facts, name)) is not None}
    foreign = [name for name, part in seen.items() if text(part, "origin") != own]
    other = [name for name, part in seen.items() if not _agree(release(text(part, "version")), version)]
    if foreign or other:
        described = "; ".join(_described(name, seen[name]) for name in seen)
        where = tuple(text(seen[name], "path") for name in dict.fromkeys((*foreign, *other)))
        expected = f"every part from {own}" + (f", {text(facts, 'version')}" if version else "")
        yield finding("TOOLKIT-MIXED", described, expected=expected, where=where)


def _agree(one: tuple[int, ...], other: tuple[int, ...]) -> bool:
    """Say whether two versions agree as far as both tell (``13`` with ``13.0``), to the minor version."""
    length = min(len(one), len(other), _COMPARED)
    return one[:length] == other[:length]


def _described(name: str, part: Facts) -> str:
    """Return a part with version and origin in words."""
    version = text(part, "version")
    return f"{TITLES[name]}{' ' if version else ''}{version} from {text(part, 'origin')}"


def _shadowed(facts: Facts) -> Iterator[Finding]:
    """Yield that another NVRTC than the toolkit's would be loaded, naming both.

    Raises:
        MalformedFacts: which one would be loaded was not recorded.
    """
    own, loaded = _part(facts, "nvrtc"), mapping(facts, "loaded.nvrtc")
    if own is None or text(own, "origin") != text(facts, "origin"):
        return
    if not text(loaded, "path"):
        raise MalformedFacts("loaded.nvrtc", "the NVRTC that would be loaded")
    if text(loaded, "origin") != text(facts, "origin"):
        observed = (
            f"{text(loaded, 'path')} would be loaded (found via {text(loaded, 'found_via')}), "
            f"not {text(own, 'path')}"
        )
        where = (text(loaded, "path"), text(own, "path"))
        yield finding("TOOLKIT-SHADOWED", observed, expected=text(own, "path"), where=where)


def _builtins(facts: Facts) -> Iterator[Finding]:
    """Yield that NVRTC's builtins are missing or of another version."""
    nvrtc, wanted, beside = (
        _part(facts, "nvrtc"),
        text(facts, "builtins.wanted"),
        texts(facts, "builtins.beside"),
    )
    if (
        nvrtc is None
        or (wanted and wanted in beside)
        or (not wanted and _part(facts, "builtins") is not None)
    ):
        return
    there = f"; beside it {'is' if len(beside) == 1 else 'are'} {', '.join(beside)}" if beside else ""
    name = wanted or "its builtins"
    yield finding(
        "TOOLKIT-BUILTINS",
        f"{text(nvrtc, 'path')} needs {name}, which {'is' if wanted else 'are'} not beside it{there}",
        expected=wanted,
        where=(text(nvrtc, "path"),),
    )


def _planned_version(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the toolkit is not of the plan's versions."""
    wanted, version = case.plan.versions.get(case.platform, {}).get("cuda"), text(facts, "version")
    if wanted and not satisfies(version, wanted):
        observed = f"CUDA {version or 'of an unknown version'} in {text(facts, 'origin')}"
        yield finding("TOOLKIT-VERSION", observed, expected=f"CUDA {wanted}", where=("version",))


def _processor(facts: Facts) -> Iterator[Finding]:
    """Yield the parts that are for another processor than the interpreter or machine."""
    arch = text(facts, "arch")
    for name in PARTS:
        part = _part(facts, name)
        if part is not None and arch and text(part, "arch") not in {"", arch}:
            observed = f"{TITLES[name]} is for {text(part, 'arch')}, the machine for {arch}"
            yield finding("TOOLKIT-ARCHITECTURE", observed, expected=arch, where=(text(part, "path"),))

"""Judges which drivers the Vulkan loader would take, and whether NVIDIA's has all that it loads.

Facts; ``child`` is the environment of the children, ``shell`` that of a program started by hand::

    child, shell {
        override      the variable that takes the place of every folder, or ""
        variables     those that choose drivers, by name
        manifests [{path, via, kind, library, real, api, ignored, manifest_problem, problem}]
            in the loader's order; ``kind`` is ``nvidia``, ``software`` or ``other``; ``ignored`` is the
            variable that leaves it out; ``problem`` is the manifest's, or that of its library
    }
    drivers [{manifest, library, path, real, problem, version, told_by, missing}]
        NVIDIA's driver by each manifest that the loader takes; ``path`` is null where its library is not
        found; ``missing`` is [{name, needed_by, problem}]
    elsewhere [path]    NVIDIA's manifests in usual places, where the loader takes none
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import mapping, objects, text, texts
from assay.judge.systempackages import with_package
from assay.model import Facts, Finding

NVIDIA, SOFTWARE, OTHER = "nvidia", "software", "other"

_OWN = ("libnvidia-", "libGLX_nvidia", "libEGL_nvidia", "libcuda")
"""Beginnings of the driver's own libraries (NVIDIA README, "Installed Components")."""


def judge_drivers(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield why NVIDIA's Vulkan driver would not be taken, or would not start."""
    if not taken(facts, "child"):
        yield _none(case, facts)
        return
    for driver in objects(facts, "drivers"):
        yield from _driver(case, facts, driver)


def taken(facts: Facts, whose: str) -> tuple[Facts, ...]:
    """Return NVIDIA's manifests that the loader takes in an environment."""
    return tuple(
        each
        for each in objects(facts, f"{whose}.manifests")
        if text(each, "kind") == NVIDIA and not text(each, "ignored") and not text(each, "manifest_problem")
    )


def _none(case: Case, facts: Facts) -> Finding:
    """Return why the loader takes none of NVIDIA's manifests."""
    hidden = hiding(facts, "child")
    if hidden:
        where = tuple(texts(facts, "elsewhere")) or ("child.variables",)
        return finding("VULKAN-OVERRIDE", hidden, where=where, platform=case.platform)
    broken = [each for each in objects(facts, "child.manifests") if text(each, "kind") == NVIDIA]
    if broken:
        observed = "; ".join(f"{text(each, 'path')}: {text(each, 'manifest_problem')}" for each in broken)
        where = tuple(text(each, "path") for each in broken)
        return finding("VULKAN-MANIFEST", observed, where=where, platform=case.platform)
    usable = [each for each in objects(facts, "child.manifests") if not text(each, "problem")]
    listed = ", ".join(text(each, "path") for each in objects(facts, "child.manifests"))
    observed = f"the loader finds {listed or 'no manifest at all'}"
    lying = ", ".join(texts(facts, "elsewhere"))
    observed += f"; NVIDIA's lies where it does not look: {lying}" if lying else ""
    only = bool(usable) and all(text(each, "kind") == SOFTWARE for each in usable)
    entry = "VULKAN-SOFTWARE-ONLY" if only else "VULKAN-ICD-MISSING"
    return finding(entry, observed, where=("child.manifests",), platform=case.platform)


def hiding(facts: Facts, whose: str) -> str:
    """Return how a variable hides NVIDIA's driver in an environment, ``""`` where none does."""
    manifests = objects(facts, f"{whose}.manifests")
    ignored = [each for each in manifests if text(each, "kind") == NVIDIA and text(each, "ignored")]
    if ignored:
        name = text(ignored[0], "ignored")
        value = text(facts, f"{whose}.variables.{name}")
        return f"{name}={value} leaves out {', '.join(text(each, 'path') for each in ignored)}"
    override = text(facts, f"{whose}.override")
    own = [each for each in manifests if text(each, "kind") == NVIDIA]
    if not override or not (own or texts(facts, "elsewhere") or taken(facts, "child")):
        return ""
    value = text(facts, f"{whose}.variables.{override}")
    gone = [f"{text(each, 'path')}: {text(each, 'manifest_problem')}" for each in own]
    names = f"names {'; '.join(gone)}" if gone else "names no driver of NVIDIA's"
    there = [*texts(facts, "elsewhere"), *(text(each, "path") for each in taken(facts, "child"))]
    beside = f"; not looked at: {', '.join(there)}" if there else ""
    return f"{override}={value or '(empty)'} {names}{beside}"


def _driver(case: Case, facts: Facts, driver: Facts) -> Iterator[Finding]:
    """Yield what keeps one driver from starting, the first reason that ends its load."""
    library, manifest = text(driver, "library"), text(driver, "manifest")
    if not text(driver, "path") or text(driver, "problem"):
        observed = f"{manifest} names {library}: {text(driver, 'problem') or 'it is not found'}"
        yield finding("VULKAN-LIBRARY-MISSING", observed, where=(manifest,), platform=case.platform)
        return
    module, version = text(facts, "module.version"), text(driver, "version")
    if module and version and version != module:
        observed = f"{text(driver, 'real')} is of {version}, the kernel module of {module}"
        where = (text(driver, "real"), manifest)
        yield finding("VULKAN-DRIVER-VERSION", observed, expected=module, where=where, platform=case.platform)
        return
    yield from _missing(case, facts, driver)


def _missing(case: Case, facts: Facts, driver: Facts) -> Iterator[Finding]:
    """Yield the driver's own libraries that it would not find, and those of the system."""
    lacking = {text(each, "name"): each for each in objects(driver, "missing")}
    own = [name for name in lacking if name.startswith(_OWN)]
    others = [name for name in lacking if name not in own]
    path = text(driver, "path")
    if own:
        capabilities = text(facts, "container.capabilities")
        given = f"; NVIDIA_DRIVER_CAPABILITIES={capabilities}" if capabilities else ""
        observed = f"{path} loads {_told(own, lacking)}{given}"
        yield finding("VULKAN-DRIVER-INCOMPLETE", observed, where=(path,), platform=case.platform)
    if others:
        observed = f"{path} loads {_told(others, lacking)}"
        system = text(facts, "machine.os.id")
        expected = ", ".join(with_package(name, system) for name in others)
        yield finding(
            "VULKAN-SYSTEM-LIBRARY", observed, expected=expected, where=(path,), platform=case.platform
        )


def _told(names: list[str], lacking: dict[str, Facts]) -> str:
    """Return the names of libraries with what keeps each from being loaded."""
    return ", ".join(f"{name} ({text(lacking[name], 'problem') or 'not found'})" for name in names)


def judge_doubled(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that several manifests name one library: the loader lists its GPUs as often."""
    by_file: dict[str, list[str]] = {}
    for driver in objects(facts, "drivers"):
        if text(driver, "real") and not text(driver, "problem"):
            by_file.setdefault(text(driver, "real"), []).append(text(driver, "manifest"))
    for real, manifests in by_file.items():
        if len(manifests) > 1:
            observed = f"{', '.join(manifests)} name {real}"
            yield finding("VULKAN-DOUBLED", observed, where=tuple(manifests), platform=case.platform)


def judge_shell(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a program started from this shell would not get the driver that the children get."""
    if taken(facts, "child") and not taken(facts, "shell") and mapping(facts, "shell"):
        hidden = hiding(facts, "shell") or "the loader finds none of NVIDIA's manifests"
        yield finding("VULKAN-SHELL-OTHER", hidden, where=("shell.variables",), platform=case.platform)

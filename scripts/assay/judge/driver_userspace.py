"""Judges the userspace of a native Linux driver: whole versions, held against the loaded kernel module's.

Facts::

    libraries {
        loaded {libcuda, egl, glx, nvml, ptx: {path, real, version, told_by, found_via}}
            what the children's loader takes for each name; null where it finds none
        shell {libcuda, nvml}        likewise, of a program that is started from this shell
        private {name: [version]} libraries that the others load by their whole version, beside them
        copies [{path, version}]  every libcuda and NVML in the usual folders
    }

The resource manager compares whole version strings: 570.124.06 and 570.124.04 do not go together
(``osapi.c``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import mapping, objects, text, texts
from assay.model import Facts, Finding, Platform

TITLES = {
    "libcuda": "libcuda",
    "egl": "EGL",
    "glx": "GLX",
    "nvml": "NVML",
    "ptx": "the PTX compiler",
}

NEEDED = {"libcuda": "libcuda.so.1", "nvml": "libnvidia-ml.so.1", "ptx": "libnvidia-ptxjitcompiler.so.1"}
"""What a driver that computes cannot do without; the parts for graphics are gate ``vulkan``'s matter."""

_COMPAT = re.compile(r"(?:^|/)compat(?:/|$)")
"""The folder of a toolkit's libraries for older drivers (CUDA Compatibility, "Forward Compatibility")."""


def versions_of(facts: Facts) -> dict[str, str]:
    """Return the version of each part that was found, by its title, the module's own where a copy has it."""
    module = text(facts, "module.version")
    found = {
        TITLES[part]: text(library, "version")
        for part, library in _loaded(facts).items()
        if text(library, "version")
    }
    for name, versions in mapping(facts, "libraries.private").items():
        there = texts({"versions": versions}, "versions")
        if there:
            found[name] = module if module in there else there[-1]
    return found


def _loaded(facts: Facts) -> dict[str, Facts]:
    """Return the libraries that are loaded, by part."""
    there = mapping(facts, "libraries.loaded")
    return {part: mapping(there, part) for part in TITLES if there.get(part) is not None}


def judge_userspace(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield which parts are missing, and how their versions differ from the module's."""
    yield from missing_parts(case, facts)
    module = text(facts, "module.version")
    found = versions_of(facts)
    other = {title: version for title, version in found.items() if version != module}
    if other:
        yield from _other(case, facts, found, other)
        return
    yield from _untold(case, facts)
    yield from _shell(case, facts)


def missing_parts(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the parts that no loader finds, in one finding."""
    loaded = _loaded(facts)
    names = [name for part, name in NEEDED.items() if part not in loaded]
    if names:
        lacking = _capabilities(facts)
        yield finding(
            "DRIVER-LIBRARY-MISSING",
            f"no loader finds {', '.join(names)}; "
            f"kernel module {text(facts, 'module.version') or 'nvidia'} is loaded",
            where=("libraries.loaded",),
            platform=case.platform,
        )
        if lacking:
            yield finding(
                "DRIVER-CONTAINER-CAPABILITIES",
                f"{text(facts, 'container.capabilities')} lacks {', '.join(lacking)}",
                where=("container.capabilities",),
                platform=case.platform,
            )


def _capabilities(facts: Facts) -> list[str]:
    """Return the capabilities that a container was not given, where it asked for some and not for all.

    Unset means compute and utility (NVIDIA Container Toolkit, "Driver Capabilities").
    """
    given = text(facts, "container.capabilities")
    names = {name.strip() for name in given.split(",")}
    if not given or "all" in names or not text(facts, "container.kind"):
        return []
    return [name for name in ("compute", "utility") if name not in names]


def _other(case: Case, facts: Facts, found: dict[str, str], other: dict[str, str]) -> Iterator[Finding]:
    """Yield how the userspace differs: as a whole, in parts, or because another copy comes first."""
    module, loaded = text(facts, "module.version"), _loaded(facts)
    cuda = loaded.get("libcuda", {})
    observed = f"kernel module {module} ({text(facts, 'module.flavour')}); {_listed(found)}"
    where = tuple(text(library, "real") or text(library, "path") for library in loaded.values())
    entry = "DRIVER-VERSION-MISMATCH"
    if "libcuda" in other and _COMPAT.search(text(cuda, "path")):
        entry = "DRIVER-COMPAT"
        observed = f"{text(cuda, 'path')} {other['libcuda']} would be loaded over kernel module {module}"
    elif copies := _copies_of(facts, module):
        entry = "DRIVER-LIBRARY-SHADOWED"
        observed += f"; the module's version lies in {', '.join(copies)} and comes later"
    elif len(other) < len(found):
        entry = "DRIVER-USERSPACE-MIXED"
    yield finding(entry, observed, expected=f"{module} everywhere", where=where, platform=case.platform)


def _listed(found: dict[str, str]) -> str:
    """Return parts with their versions, those of one version together."""
    by_version: dict[str, list[str]] = {}
    for title, version in found.items():
        by_version.setdefault(version, []).append(title)
    return "; ".join(f"{', '.join(titles)} {version}" for version, titles in by_version.items())


def _copies_of(facts: Facts, version: str) -> tuple[str, ...]:
    """Return the copies of a version that lie in usual folders and are not the loaded ones."""
    used = {text(library, "real") for library in _loaded(facts).values()}
    return tuple(
        text(copy, "path")
        for copy in objects(facts, "libraries.copies")
        if text(copy, "version") == version and text(copy, "path") not in used
    )


def _untold(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the needed parts whose version nothing tells."""
    module = text(facts, "module.version")
    for part, library in _loaded(facts).items():
        if part in NEEDED and not text(library, "version"):
            path = text(library, "path")
            copies = _copies_of(facts, module)
            entry = "DRIVER-LIBRARY-SHADOWED" if copies else "DRIVER-LIBRARY-UNTOLD"
            later = f"; the module's version lies in {', '.join(copies)} and comes later" if copies else ""
            yield finding(
                entry,
                f"{path} would be loaded; neither its name nor its contents tell version {module}{later}",
                expected=f"{NEEDED[part]} {module}",
                where=(path,),
                platform=case.platform,
            )


def _shell(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a program started from this shell would load another version than the children."""
    if case.platform is not Platform.LINUX:
        return
    module = text(facts, "module.version")
    shell = mapping(facts, "libraries.shell")
    for part in ("libcuda", "nvml"):
        library = mapping(shell, part)
        version = text(library, "version")
        if version and version != module:
            observed = f"{text(library, 'path')} {version}, found via {text(library, 'found_via')}"
            yield finding(
                "DRIVER-SHELL-OTHER",
                observed,
                expected=module,
                where=(text(library, "path"),),
                platform=case.platform,
            )

"""Judges the selection's packages: there, of the right versions, of this interpreter, and not shadowed.

Facts::

    distributions [{name, version, tags[], path, lock_sha256, …}]   what interpreter or folders show
    modules {name: {found, origin}}                    where the interpreter finds each module
    site_packages [{path, version, …}]                 ``version`` as in …/python3.12/site-packages
    local [{module, file, owned, rival, reaches}]      files named as a package that the chain imports
        ``owned``: its folder has the distribution that brings it; ``rival``: another folder has
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.interpreter import python_version
from assay.judge.reading import flag, mapping, objects, text, texts
from assay.model import Facts, Finding
from assay.plan.versions import release, satisfies

RESERVED = frozenset({"python", "cuda", "driver"})
"""Keys of ``versions`` that are no distributions: the interpreter, the toolkit and the driver."""

RUNTIMES: Mapping[str, tuple[str, str]] = {
    "pycuda": ("pycuda", "pycuda"),
    "wgpu": ("wgpu", "wgpu"),
    "nvrtc": ("cuda-bindings", "cuda.bindings"),
}
"""Distribution and module behind each runtime of a chain."""

_ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64", "win32": "x86", "i686": "x86"}
"""Processors as platform tags spell them, where that differs."""


def normal(name: str) -> str:
    """Return a distribution's normalised name (Python packaging specification, "Names and normalization")."""
    return re.sub(r"[-_.]+", "-", name).lower()


def wanted(case: Case) -> Mapping[str, str]:
    """Return the distributions that plan and chains need, with their specifiers (``""``: any version)."""
    runtimes = {stage.runtime for chain in case.plan.planned_chains(case.platform) for stage in chain.stages}
    needs = {RUNTIMES[name][0]: "" for name in RUNTIMES if name in runtimes}
    if needs:
        needs["numpy"] = ""
    planned = case.plan.versions.get(case.platform, {})
    return {**needs, **{normal(name): spec for name, spec in planned.items() if name not in RESERVED}}


def installed(facts: Facts) -> Mapping[str, str]:
    """Return version by normalised name; of a name that stands twice the first, as Python finds it first."""
    found: dict[str, str] = {}
    for each in objects(facts, "distributions"):
        found.setdefault(normal(text(each, "name")), text(each, "version"))
    return found


def locked(facts: Facts) -> Mapping[str, str]:
    """Return the lock digest by normalised name of what a provisioned environment has from its locks."""
    found: dict[str, str] = {}
    for each in objects(facts, "distributions"):
        found.setdefault(normal(text(each, "name")), text(each, "lock_sha256"))
    return {name: digest for name, digest in found.items() if digest}


def judge_packages(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each package that is missing, of another version, or not found by the interpreter."""
    found = installed(facts)
    for name, specifier in sorted(wanted(case).items()):
        expected = f"{name} {specifier}".rstrip()
        if name not in found:
            yield finding(
                "ENVIRONMENT-PACKAGE-MISSING",
                f"{name} is not installed",
                expected=expected,
                where=("packages",),
            )
        elif specifier and not satisfies(found[name], specifier):
            observed = f"{name} {found[name]}"
            yield finding(
                "ENVIRONMENT-PACKAGE-VERSION", observed, expected=expected, where=("distributions",)
            )
    yield from _modules(case, facts, found)


def _modules(case: Case, facts: Facts, found: Mapping[str, str]) -> Iterator[Finding]:
    """Yield each module of an installed package that the interpreter does not find."""
    modules = {module: name for name, module in RUNTIMES.values()} | {"numpy": "numpy"}
    for module, name in sorted(modules.items()):
        seen = mapping(facts, "modules").get(module)
        if name in wanted(case) and name in found and seen is not None and flag(seen, "found") is False:
            why = text(seen, "problem")
            observed = (
                f"{name} {found[name]} is installed, but {module} is not found{': ' if why else ''}{why}"
            )
            yield finding("ENVIRONMENT-PACKAGE-BROKEN", observed, where=("modules",))


def judge_site(facts: Facts) -> Iterator[Finding]:
    """Yield each selected folder, and each package in one, that belongs to another interpreter."""
    found = release(python_version(facts))[:2]
    if len(found) < len(("major", "minor")):
        return
    for record in objects(facts, "site_packages"):
        version = release(text(record, "version"))
        if version and version != found:
            observed = f"{text(record, 'path')} is for CPython {text(record, 'version')}"
            yield finding(
                "ENVIRONMENT-SITE-FOREIGN", observed, expected=_cpython(found), where=(text(record, "path"),)
            )
    threaded = "t" in text(facts, "interpreter.abiflags")
    arch = text(facts, "interpreter.arch") or text(facts, "machine.arch")
    selected = {text(record, "path").rstrip("/\\") for record in objects(facts, "site_packages")}
    for each in objects(facts, "distributions"):
        tags = texts(each, "tags") if text(each, "location").rstrip("/\\") in selected else ()
        if tags and not any(fits(tag, (found[0], found[1]), threaded=threaded, arch=arch) for tag in tags):
            observed = f"{text(each, 'name')} {text(each, 'version')} is built for {', '.join(tags[:3])}"
            yield finding(
                "ENVIRONMENT-SITE-FOREIGN", observed, expected=_cpython(found), where=(text(each, "path"),)
            )


def _cpython(version: tuple[int, ...]) -> str:
    """Return what packages have to be for, in words."""
    return f"packages for CPython {'.'.join(map(str, version))}"


def fits(tag: str, version: tuple[int, int], *, threaded: bool, arch: str) -> bool:
    """Say whether a wheel's tag, such as ``cp312-abi3-manylinux_2_28_x86_64``, fits an interpreter.

    Of the platform only the processor is compared: which C library a wheel needs is read from its libraries.
    """
    parts = tag.split("-")
    if len(parts) != len(("python", "abi", "platform")):
        return True
    pythons, abis, platforms = (part.split(".") for part in parts)
    pairs = [(python, abi) for python in pythons for abi in abis]
    if not any(_python_fits(python, abi, version, threaded=threaded) for python, abi in pairs):
        return False
    return any(_platform_fits(platform, arch) for platform in platforms)


def _python_fits(python: str, abi: str, version: tuple[int, int], *, threaded: bool) -> bool:
    """Say whether an interpreter of ``version`` takes a python and an ABI tag together."""
    match = re.fullmatch(r"(cp|py)(\d)(\d*)", python)
    if not match:
        return False
    minor = int(match[3]) if match[3] else 0
    older = int(match[2]) == version[0] and minor <= version[1]
    own = f"cp{version[0]}{version[1]}"
    if abi == "none":
        return older if match[1] == "py" or not match[3] else (int(match[2]), minor) == version
    if abi == "abi3":
        return older and not threaded
    return abi.removesuffix("d") == (f"{own}t" if threaded else own)


def _platform_fits(platform: str, arch: str) -> bool:
    """Say whether a platform tag is for a processor."""
    if platform == "any" or not arch or platform.endswith("universal2"):
        return True
    for spelling, name in _ARCHITECTURES.items():
        if platform.endswith(spelling):
            return name == arch
    return platform.endswith(f"_{arch}")


def judge_shadows(facts: Facts) -> Iterator[Finding]:
    """Yield each local file that takes a package's place, in the children or in a script started there."""
    for each in objects(facts, "local"):
        file, module = text(each, "file"), text(each, "module")
        observed, where = f"{file} is imported as {module}", (file,)
        if not flag(each, "owned") and not flag(each, "reaches"):
            yield finding("ENVIRONMENT-SHADOW-NEARBY", observed, where=where)
        elif not flag(each, "owned") and flag(each, "rival"):
            yield finding("ENVIRONMENT-SHADOWED", observed, where=where)

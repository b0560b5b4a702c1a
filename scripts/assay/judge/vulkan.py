"""Judges gate ``vulkan`` on native Linux: the loader takes NVIDIA's driver, which is whole and is listed.

Facts (``gates.vulkan`` writes them)::

    module {loaded, version}       the NVIDIA kernel module
    machine, container             as in ``judge.abi`` and ``judge.driver_linux``
    loader {child, shell: {path, real, found_via, problem}}   null where there is none
    child, shell, drivers, elsewhere                          described in ``judge.vulkan_drivers``
    layers [{name, path, problem}]     implicit layers that a program of this shell would be given
    nodes [{path, mode}]               of ``/dev/dri``; NVIDIA's driver needs none of them
    listed, opened {asked, silent, problem, code, reason, facts}
        what the loader lists (``assay.chain.vulkan_probe``), and where that is no NVIDIA GPU, which of the
        GPU's device nodes this process may open (``assay.chain.nodes``)

What the loader lists counts more than what files show: a GPU that is listed has all that it needs.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import MalformedFacts, flag, get, number, objects, text
from assay.judge.recorded import filled, some, there, told
from assay.judge.systempackages import with_package
from assay.judge.vulkan_drivers import SOFTWARE, judge_doubled, judge_drivers, judge_shell
from assay.model import Facts, Finding

RULES = 1

NVIDIA_VENDOR = 0x10DE
"""NVIDIA's PCI vendor number, which is its ``vendorID`` in Vulkan."""

LIBRARY = "libvulkan.so.1"

_DENIED = ("EACCES", "EPERM")
_VERSION = re.compile(r"\d{3,5}(?:\.\d{1,5}){1,2}")
_KEYS = (
    *("child", "container", "drivers", "elsewhere", "layers", "listed", "loader", "nodes", "opened"),
    "shell",
)


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what keeps Vulkan from the NVIDIA GPU; nothing where its driver is whole and lists it."""
    if not flag(facts, "module.loaded"):
        return (_no_driver(case, facts),)
    listed = list(nvidia_devices(facts))
    static = () if listed else (*_loader(case, facts), *judge_drivers(case, facts))
    return (
        *static,
        *_listed(case, facts),
        *judge_doubled(case, facts),
        *judge_shell(case, facts),
        *_layers(case, facts),
    )


def _no_driver(case: Case, facts: Facts) -> Finding:
    """Return that there is no driver to be shown to Vulkan, and what programs would get in its place."""
    software = [
        text(each, "path")
        for each in objects(facts, "child.manifests")
        if text(each, "kind") == SOFTWARE and not text(each, "problem")
    ]
    more = f"; Vulkan would compute on the processor: {', '.join(software)}" if software else ""
    observed = f"the NVIDIA kernel module is not loaded{more}"
    return finding("VULKAN-NO-DRIVER", observed, where=("module",), platform=case.platform)


def _loader(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the loader is missing, or cannot be loaded."""
    problem = text(facts, "loader.child.problem")
    if text(facts, "loader.child.path") and not problem:
        return
    observed = f"{text(facts, 'loader.child.path')}: {problem}" if problem else f"{LIBRARY} is not found"
    expected = with_package(LIBRARY, text(facts, "machine.os.id"))
    yield finding(
        "VULKAN-LOADER-MISSING", observed, expected=expected, where=("loader",), platform=case.platform
    )


def nvidia_devices(facts: Facts) -> Iterator[Facts]:
    """Yield the devices of NVIDIA's that the loader lists."""
    devices = objects(facts, "listed.facts.devices")
    return (each for each in devices if number(each, "vendor") == NVIDIA_VENDOR)


def _listed(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with what the loader lists, where it was asked."""
    problem = text(facts, "listed.problem")
    if flag(facts, "listed.silent"):
        yield finding("VULKAN-SILENT", problem, where=("listed",), platform=case.platform)
        return
    if not flag(facts, "listed.asked"):
        return
    devices = list(nvidia_devices(facts))
    if not devices:
        yield _none_listed(case, facts)
    module = text(facts, "module.version")
    for device in devices:
        info = text(device, "driver_info")
        if module and _VERSION.fullmatch(info) and info != module:
            observed = f"Vulkan says {info} of {text(device, 'name')}, the kernel module is {module}"
            yield finding(
                "VULKAN-DRIVER-VERSION",
                observed,
                expected=module,
                where=("listed",),
                platform=case.platform,
            )


def _none_listed(case: Case, facts: Facts) -> Finding:
    """Return why no GPU of NVIDIA's is listed: nodes that may not be opened, an error, or nothing more."""
    denied = [
        f"{text(node, 'path')}: {text(node, 'error')}"
        for node in objects(facts, "opened.facts.nodes")
        if text(node, "error") in _DENIED
    ]
    problem = text(facts, "listed.problem")
    names = [text(each, "name") for each in objects(facts, "listed.facts.devices")]
    observed = problem or f"the loader lists {', '.join(names) or 'no device'}"
    if denied:
        observed = f"{'; '.join(denied)} ({observed})"
        return finding("VULKAN-NODE-DENIED", observed, where=("opened",), platform=case.platform)
    entry = "VULKAN-FAILED" if problem else "VULKAN-NO-DEVICE"
    return finding(entry, observed, where=("listed",), platform=case.platform)


def _layers(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the implicit layers whose libraries cannot be loaded."""
    broken = [each for each in objects(facts, "layers") if text(each, "problem")]
    if broken:
        observed = "; ".join(f"{text(each, 'name')}: {text(each, 'problem')}" for each in broken)
        where = tuple(dict.fromkeys(text(each, "path") for each in broken))
        yield finding("VULKAN-LAYER-BROKEN", observed, where=where, platform=case.platform)


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    del case  # the sentence is about this machine alone
    version = text(facts, "module.version")
    names = [text(each, "name") for each in nvidia_devices(facts)]
    if names:
        return f"the Vulkan loader lists {' and '.join(names)} through NVIDIA's driver {version}"
    return (
        f"the Vulkan loader would take NVIDIA's driver {version}, and all that it loads is there; "
        "its devices were not listed"
    )


def check(case: Case, facts: Facts) -> None:
    """Ask for the loader, the driver and what was listed.

    Raises:
        MalformedFacts: something is not recorded.
    """
    claim(case, facts)  # raises where a fact that it names is malformed
    there(facts, *_KEYS)
    there(facts, "child.manifests", "shell.manifests", "machine.os")
    filled(facts, "loader.child.path", "module.version")
    told(facts, "listed.asked", "module.loaded", "opened.asked")
    some(facts, "drivers")
    for driver in objects(facts, "drivers"):
        there(driver, "missing", "version")
        if not list(nvidia_devices(facts)):
            filled(driver, "manifest", "path")
    if flag(facts, "listed.asked") and get(facts, "listed.facts.devices") is None:
        raise MalformedFacts("listed.facts.devices", "recorded")

"""Judges gate ``driver`` on native Linux: a module for this GPU, its nodes, and one version of everything.

Facts (``gates.driver_linux`` writes them)::

    devices [{bus, device, driver}]      NVIDIA's GPUs on the PCI bus; ``device`` is four hex digits,
                                         ``driver`` the kernel driver that is bound
    module {version, flavour, problem, loaded[], versions {name: version}, disk}
        the loaded kernel module; ``flavour`` is ``open`` or ``proprietary``
    gpus [{bus, model, uuid, firmware, excluded, minor, vbios}]     as ``/proc/driver/nvidia/gpus`` has them
    nodes [{path, mode}]                 device nodes, looked at after NVML and CUDA were asked
    kernel {release, secure_boot, lockdown}                         described in ``judge.driver_absent``
    container {kind, visible, capabilities, memory_limit}           memory in bytes, null for no limit
    firmware                             described in ``judge.driver_firmware``
    libraries                            described in ``judge.driver_userspace``
    log                                  described in ``judge.driver_log``
    nvml, cuda_api, opened, smi              described in ``judge.driver_live``
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_absent import judge_absent
from assay.judge.driver_firmware import judge_firmware, running
from assay.judge.driver_gpu import OPEN, PROPRIETARY, generation_of
from assay.judge.driver_live import judge_live
from assay.judge.driver_log import events, judge_log
from assay.judge.driver_userspace import judge_userspace, missing_parts, versions_of
from assay.judge.reading import MalformedFacts, mapping, number, objects, text, texts
from assay.judge.recorded import filled, some, there, told
from assay.model import Facts, Finding

NODES = ("/dev/nvidiactl", "/dev/nvidia-uvm")
"""What a process that computes opens besides its GPU's own node."""

LEAST_MEMORY = 2 << 30
"""Bytes: CUDA, nvcc and NumPy together take about one GiB of the host's memory."""

_GPU_NODE = re.compile(r"/dev/nvidia\d{1,5}")
_MODULE, _UVM = "nvidia", "nvidia_uvm"
_KEYS = (
    *("container", "cuda_api", "devices", "firmware", "gpus", "kernel", "libraries", "log", "module"),
    *("nodes", "nvml", "opened", "smi"),
)


def judge_linux(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the driver of a native Linux."""
    if not is_loaded(facts):
        yield from judge_absent(case, facts)
        return
    yield from _flavour(case, facts)
    yield from _bound(case, facts)
    if told_version := bool(text(facts, "module.version")):
        yield from _modules(case, facts)
        yield from judge_firmware(case, facts)
    else:
        yield _untold(case, facts)
    if _is_withheld(facts):
        observed = f"{text(facts, 'container.kind')}: the host's driver is there, and no /dev/nvidia*"
        yield finding("DRIVER-CONTAINER-NOT-GIVEN", observed, where=("nodes",), platform=case.platform)
    else:
        yield from _nodes(case, facts)
        yield from judge_userspace(case, facts) if told_version else missing_parts(case, facts)
    yield from _memory(case, facts)
    yield from judge_log(case, facts)
    yield from judge_live(case, facts)


def _untold(case: Case, facts: Facts) -> Finding:
    """Return that nothing tells the module's version: no part can be held against it."""
    problem = text(facts, "module.problem") or "no version"
    observed = f"module nvidia is loaded; /proc/driver/nvidia/version: {problem}"
    where = ("/proc/driver/nvidia/version", "/sys/module/nvidia/version")
    return finding("DRIVER-MODULE-UNTOLD", observed, where=where, platform=case.platform)


def is_loaded(facts: Facts) -> bool:
    """Say whether the kernel module is loaded."""
    return bool(text(facts, "module.version")) or _MODULE in texts(facts, "module.loaded")


def _flavour(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the module is of the flavour that does not drive this GPU, by its number or the log."""
    flavour = text(facts, "module.flavour")
    kinds = [(device, generation_of(device)) for device in objects(facts, "devices")]
    other = {OPEN: PROPRIETARY, PROPRIETARY: OPEN}.get(flavour, "")
    wrong = [
        f"{text(device, 'bus')} ({kind.name})" for device, kind in kinds if kind.needs and kind.needs == other
    ]
    said = events(facts, {OPEN: "gsp-required", PROPRIETARY: "open-required"}.get(flavour, ""))
    if not wrong and not said:
        return
    named = wrong or [text(event, "bus") for event in said]
    also = (
        "; the kernel's log says so too" if wrong and said else "; so the kernel's log says" if said else ""
    )
    module = text(facts, "module.version") or _MODULE
    observed = f"the {flavour} module {module} with {', '.join(named)}{also}"
    where = (*(("devices",) if wrong else ()), *(("log.events",) if said else ()))
    entry = "DRIVER-FLAVOUR-OPEN" if other == OPEN else "DRIVER-FLAVOUR-PROPRIETARY"
    if 0 < len(wrong) < len(kinds) and other == PROPRIETARY:
        entry = "DRIVER-GPU-LEFT-OUT"
    yield finding(entry, observed, where=where, platform=case.platform)


def _bound(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the GPUs that the loaded module does not drive: bound elsewhere, unsupported, or excluded."""
    version = text(facts, "module.version")
    for event in (*events(facts, "unsupported"), *events(facts, "legacy")):
        branch = text(event, "version")
        said = f"{text(event, 'bus')}: not supported by {branch}" if text(event, "bus") else f"needs {branch}"
        yield finding("DRIVER-GPU-UNSUPPORTED", f"{said}; the module is {version}", where=("log.events",))
    gpus, devices = objects(facts, "gpus"), objects(facts, "devices")
    excluded = [text(gpu, "bus") for gpu in gpus if text(gpu, "excluded").lower() == "yes"]
    away = [device for device in devices if text(device, "driver") != _MODULE]
    left = [f"{text(each, 'bus')}: bound to {text(each, 'driver') or 'no driver'}" for each in away]
    if devices and len(away) == len(devices) and not gpus:
        yield finding("DRIVER-NOT-BOUND", "; ".join(left), where=("devices",), platform=case.platform)
    elif gpus and len(excluded) == len(gpus):
        observed = f"excluded: {', '.join(excluded)}"
        yield finding("DRIVER-GPU-EXCLUDED", observed, where=("gpus",), platform=case.platform)
    elif excluded or (left and len(away) < len(devices)):
        observed = "; ".join((*left, *(f"{bus}: excluded" for bus in excluded)))
        yield finding("DRIVER-GPU-LEFT-OUT", observed, where=("devices", "gpus"), platform=case.platform)


def _modules(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the driver's modules are not of one version."""
    version, versions = text(facts, "module.version"), mapping(facts, "module.versions")
    other = {name: text({"version": said}, "version") for name, said in versions.items()}
    other = {name: said for name, said in other.items() if said not in {"", version}}
    if other:
        listed = ", ".join(f"{name} {said}" for name, said in sorted(other.items()))
        observed = f"nvidia {version}; {listed}"
        yield finding(
            "DRIVER-MODULES-MIXED",
            observed,
            expected=version,
            where=("module.versions",),
            platform=case.platform,
        )


def _paths(facts: Facts) -> tuple[str, ...]:
    """Return the device nodes' paths."""
    return tuple(text(node, "path") for node in objects(facts, "nodes"))


def _is_withheld(facts: Facts) -> bool:
    """Say whether this is a container that was given no GPU at all."""
    there_are = any(_GPU_NODE.fullmatch(path) or path in NODES for path in _paths(facts))
    return bool(text(facts, "container.kind")) and not there_are


def _nodes(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that nvidia_uvm is not loaded, and the device nodes that lack."""
    paths = _paths(facts)
    control, uvm = NODES
    without_uvm = uvm not in paths and _UVM not in texts(facts, "module.loaded")
    if without_uvm:
        observed = f"{uvm} is not there, and module nvidia_uvm is not loaded"
        where = (uvm, "module.loaded")
        yield finding("DRIVER-UVM-NOT-LOADED", observed, where=where, platform=case.platform)
    missing = [path for path in (control, uvm) if path not in paths and not (path == uvm and without_uvm)]
    missing += _missing_gpus(facts, paths)
    if missing:
        observed = f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} not there"
        yield finding("DRIVER-NODE-MISSING", observed, where=tuple(missing), platform=case.platform)


def _missing_gpus(facts: Facts, paths: tuple[str, ...]) -> list[str]:
    """Return the nodes of GPUs that lack; a container may be given a part of them."""
    minors = [text(gpu, "minor") for gpu in objects(facts, "gpus") if text(gpu, "excluded").lower() != "yes"]
    wanted = [f"/dev/nvidia{minor}" for minor in minors if minor.isascii() and minor.isdigit()]
    if any(_GPU_NODE.fullmatch(path) for path in paths) and (text(facts, "container.kind") or not wanted):
        return []
    return [path for path in wanted or ["/dev/nvidia0"] if path not in paths]


def _memory(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a container's memory hardly suffices to start CUDA and compile."""
    limit = number(facts, "container.memory_limit")
    if limit is not None and limit < LEAST_MEMORY:
        observed = f"the container may use {limit >> 20} MiB of memory"
        where = ("container.memory_limit",)
        yield finding("DRIVER-CONTAINER-MEMORY", observed, where=where, platform=case.platform)


def claim_linux(facts: Facts) -> str:
    """Return what a passed gate establishes of a native Linux: every part that was seen, of one version."""
    version, flavour = text(facts, "module.version"), text(facts, "module.flavour")
    parts = [f"kernel module ({flavour})"]
    if running(facts):
        parts.append("GSP firmware")
    parts += versions_of(facts)
    return f"{', '.join(parts[:-1])} and {parts[-1]} are of one driver version, {version}"


def check_linux(facts: Facts) -> None:
    """Ask for every part that the claim names, of the module's version.

    Raises:
        MalformedFacts: one is not recorded, or is of another version.
    """
    there(facts, *_KEYS)
    there(facts, "libraries.copies", "libraries.shell", "log.events", "module.versions", "module.disk")
    filled(facts, "module.version", "module.flavour")
    told(facts, "nvml.asked", "cuda_api.asked", "opened.asked", "smi.asked")
    some(facts, "nodes")
    version = text(facts, "module.version")
    for part in ("libcuda", "nvml"):
        if text(facts, f"libraries.loaded.{part}.version") != version:
            raise MalformedFacts(f"libraries.loaded.{part}.version", f"the module's, {version}")
    if text(facts, "nvml.facts.driver_version") not in {"", version}:
        raise MalformedFacts("nvml.facts.driver_version", f"the module's, {version}")

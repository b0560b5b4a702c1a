"""Judges gate ``chain``: what ran, on what, with which bytes, and whether every value is right.

Facts, besides those that ``child``, ``loaded``, ``modules``, ``device``, ``images``, ``rehearsal`` and
``tier`` describe::

    not_run                 "" where the child was started, else ``no-chain``, ``no-selection`` or
                            ``provider-interface``
    lacking [text]          what is missing, where it was not run
    chains [{name, state, missing[], stages[]}]
    chains[].stages[] {name, runtime, entry, compiler, canonical, fresh, loaded[], transfers[], runs[]}
        ``canonical`` and ``fresh`` are words (8 hex digits), or {count, sha256} over 4,096 of them
        transfers [{input, direction, bytes, runtime}], runs [{input, grid[], block[], duration_ns}]
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.child import ended_well, judge_child, judge_life
from assay.judge.device import is_allowed_software, judge_device
from assay.judge.images import compiled_at_run_time, judge_images
from assay.judge.loaded import judge_loaded
from assay.judge.modules import judge_modules
from assay.judge.reading import MalformedFacts, mapping, objects, text, texts
from assay.judge.recorded import of_whole_facts
from assay.judge.rehearsal import judge_rehearsal
from assay.judge.results import has_results, judge_results
from assay.judge.selected import EXECUTABLE
from assay.judge.tier import derive_tier, judge_tier
from assay.model import Facts, Finding

RULES = 1

NO_CHAIN, NO_SELECTION, INTERFACE = "no-chain", "no-selection", "provider-interface"
_NOT_RUN = {NO_CHAIN: "CHAIN-NONE", NO_SELECTION: "CHAIN-SELECTION", INTERFACE: "PROVIDER-INTERFACE"}

VIRTUALIZATION = {
    1: "passed through to a virtual machine",
    2: "a vGPU",
    3: "a vGPU's host",
    4: "a vSGA host",
}
"""NVML's virtualization modes (nvml.h, nvmlGpuVirtualizationMode_t); 0 is none."""


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return the findings of gate ``chain``, by these rules.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    return tuple(judge_process(case, facts, EXECUTABLE))


def judge_inner(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with a child's end, its results and its kernels, where nothing else was looked at.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    excused = bool(objects(facts, "child.errors")) or not ended_well(facts)
    return (
        *judge_life(case, facts),
        *judge_results(case, facts, excused=excused),
        *judge_rehearsal(case, facts),
    )


def judge_process(case: Case, facts: Facts, program: str) -> Iterator[Finding]:
    """Yield the findings: why nothing ran, or else every part's.

    Args:
        case: the plan and the run.
        facts: the child's.
        program: the variable that names the program of the child's process.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    if not case.plan.planned_chains(case.platform):
        yield finding("CHAIN-NONE", f"no chain is planned for {case.platform.value}", platform=case.platform)
        return
    if reason := text(facts, "not_run"):
        yield _not_run(case, facts, reason)
        return
    child = tuple(judge_child(case, facts))
    yield from child
    yield from judge_results(
        case, facts, excused=bool(objects(facts, "child.errors")) or not ended_well(facts)
    )
    yield from judge_images(case, facts)
    if ended_well(facts) or has_results(facts):
        yield from judge_loaded(case, facts, program)
        yield from judge_modules(facts)
    yield from judge_device(case, facts, derive_tier(case, facts))
    yield from judge_tier(case, facts)
    yield from judge_rehearsal(case, facts)


def _not_run(case: Case, facts: Facts, reason: str) -> Finding:
    """Return why the child was not started at all.

    Raises:
        MalformedFacts: the reason is none that the gate writes.
    """
    if reason not in _NOT_RUN:
        raise MalformedFacts("not_run", f"one of {', '.join(_NOT_RUN)}")
    observed = ", ".join(texts(facts, "lacking")) or reason
    return finding(_NOT_RUN[reason], observed, where=("not_run",), platform=case.platform)


@of_whole_facts
def claim(case: Case, facts: Facts) -> str:
    """Return what a passed chain establishes, of which device and bytes."""
    names = ", ".join(chain.name for chain in case.plan.planned_chains(case.platform))
    right = f"{names}: every value of every stage, canonical and fresh, is right, in one process"
    return f"{right} on {_device(facts)}, through {_provider(case, facts)}; {_images(case, facts)}"


def _device(facts: Facts) -> str:
    """Return the device in words."""
    device = mapping(facts, "devices.after")
    version = device.get("cuda_version")
    cuda = f"CUDA {version // 1000}.{version % 1000 // 10}" if isinstance(version, int) else "CUDA"
    driver = text(facts, "proc.after.module.version") or text(facts, "nvml.after.driver_version")
    uuid = text(device, "uuid")
    same = [gpu for gpu in objects(facts, "nvml.after.gpus") if text(gpu, "uuid").lower() == uuid.lower()]
    mode = same[0].get("virtualization") if same else None
    kind = VIRTUALIZATION.get(mode, "") if isinstance(mode, int) else ""
    details = [uuid, f"driver {driver}" if driver else "", cuda, kind]
    return f"{text(device, 'name') or 'an unnamed device'} ({', '.join(part for part in details if part)})"


def _provider(case: Case, facts: Facts) -> str:
    """Return the provider and the adapter in words."""
    adapter = mapping(facts, "adapter")
    if not adapter:
        return "the CUDA runtimes alone; WGSL is not established"
    provider = mapping(case.facts, "provider")
    software = ", a software adapter that the plan allows" if is_allowed_software(case, adapter) else ""
    name, sha256 = text(provider, "pin") or "the provider", text(provider, "sha256")
    return f"{name} of SHA-256 {sha256 or '(not checked)'} by {text(adapter, 'backend_type')}{software}"


def _images(case: Case, facts: Facts) -> str:
    """Return how the kernels came to be loaded."""
    loose = compiled_at_run_time(case, facts)
    if not loose:
        return "every kernel as gate `build` made it"
    named = ", ".join(f"{name} (SHA-256 {sha256})" for name, sha256 in loose)
    return f"compiled at run time and not by gate `build`: {named}"

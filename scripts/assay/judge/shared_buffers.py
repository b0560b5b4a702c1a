"""Judges gate ``shared-buffers``: one allocation of Vulkan's that CUDA computed on in place.

Facts (``gates.measures`` writes them), besides those of the child that ``judge.child`` and the chain gate
describe::

    not_run, lacking                 as in gate ``chain``; ``no-shader`` where build made no SPIR-V
    measured [{task, size, input, handle, semaphore, allocated, cuda_address, cuda_attributes, descriptor,
        memory {device, host_before, host_peak}, result,
        passes, timeline, steps [{side, wait, signal}], transfers [{direction, bytes, signal}]}]
        one of each input; ``size`` is the number of values, ``result`` as in ``judge.blocks``; every step
        raises the timeline by one: ``steps`` are the first pass's, ``transfers`` all copies by the host
    child.runtimes {cuda {uuid}, vulkan {uuid, device, driver_version, …}}      UUIDs as 32 hex digits
    provider_handles [text]          exported symbols of the provider that would hand out its memory
    shader {sha256}                  of the SPIR-V that the child was given
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.blocks import computed, wrong_blocks
from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.child import ended_well
from assay.judge.measuring import judge_measuring
from assay.judge.reading import MalformedFacts, mapping, number, objects, text, texts
from assay.judge.recorded import of_whole_facts
from assay.judge.results import INPUTS
from assay.judge.values import fresh_values
from assay.model import Facts, Finding
from assay.plan.values import SharedBuffers, Stage

RULES = 1

TASK = "shared-buffers"
NO_SHADER = "no-shader"

OPAQUE_FD, TIMELINE_FD = "opaque-fd", "timeline-opaque-fd"

DEVICE_MEMORY = 2
"""``CU_MEMORYTYPE_DEVICE`` (cuda.h)."""

_PASS = ("vulkan", "cuda", "vulkan")
"""The sides of one pass: each step waits for the timeline's value that the one before it signals."""

_ITEM = 4
"""Bytes of a float32."""


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the shared buffer.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    return tuple(_judge(case, facts))


def _judge(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield why nothing ran, or else every part's findings."""
    shared = case.plan.shared_buffers
    if shared is None:
        yield finding("SHARED-PLAN", "the plan has no [tool.assay.shared-buffers]")
        return
    if reason := text(facts, "not_run"):
        yield not_run(reason, facts)
        return
    yield from judge_measuring(case, case.plan.kernels[shared.chain], facts)
    yield from same_device(case, facts)
    yield from judge_shader(case, facts)
    measured = {
        text(each, "input"): each for each in objects(facts, "measured") if text(each, "task") == TASK
    }
    excused = not ended_well(facts) or bool(objects(facts, "child.errors"))
    for name in INPUTS:
        if name in measured:
            yield from _one(case, shared, name, measured[name])
        elif not excused:
            yield finding("SHARED-RESULT-MISSING", f"no result of the {name} values", where=("measured",))


def not_run(reason: str, facts: Facts) -> Finding:
    """Return why nothing was started."""
    if reason == NO_SHADER:
        looked = ", ".join(texts(facts, "lacking"))
        return finding("SHARED-SHADER-MISSING", f"gate build made no SPIR-V (looked for {looked})")
    return finding("SHARED-NOT-RUN", f"{reason}: {', '.join(texts(facts, 'lacking'))}", where=("not_run",))


def same_device(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where Vulkan's, CUDA's and the chain's device are not one by their UUIDs."""
    broken = not ended_well(facts) or bool(objects(facts, "child.errors"))
    if broken and not mapping(facts, "child.runtimes.vulkan"):
        return  # the child's error or end says why
    vulkan, cuda = text(facts, "child.runtimes.vulkan.uuid"), text(facts, "child.runtimes.cuda.uuid")
    chain = text(case.facts.get("chain", {}), "devices.after.uuid").removeprefix("GPU-").replace("-", "")
    seen = {"Vulkan": vulkan, "CUDA": cuda, "gate chain": chain or cuda}
    if len(set(seen.values())) != 1 or not cuda:
        observed = ", ".join(f"{name} {uuid or '(none)'}" for name, uuid in seen.items())
        yield finding("SHARED-DEVICE-OTHER", observed, where=("child.runtimes",))


def judge_shader(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the child was given another SPIR-V than gate build made (law 4)."""
    built = text(case.facts.get("build", {}), "shader.spirv.sha256")
    given = text(facts, "shader.sha256")
    if given != built or not given:
        observed = f"SPIR-V of SHA-256 {given or '(none)'}"
        yield finding("SHARED-SHADER-OTHER", observed, expected=f"SHA-256 {built}", where=("shader",))


def shared_stages(case: Case, shared: SharedBuffers) -> tuple[Stage, Stage, Stage]:
    """Return the stages whose arithmetic one pass has: shader, kernel, shader."""
    stages = {stage.name: stage for stage in case.plan.kernels[shared.chain].stages}
    shader = stages[shared.shader]
    return shader, stages[shared.kernel], shader


def _one(case: Case, shared: SharedBuffers, name: str, seen: Facts) -> Iterator[Finding]:
    """Yield what is wrong with one input's pass."""
    chain = case.plan.kernels[shared.chain]
    values = chain.values if name == "canonical" else fresh_values(case, chain.name)
    right = computed(shared_stages(case, shared), values)
    if wrong := wrong_blocks(mapping(seen, "result"), right, len(values)):
        yield finding("SHARED-VALUE-WRONG", f"{name}: {wrong}", where=(f"measured.{name}",))
    yield from one_allocation(name, seen, len(values))
    yield from no_copy(name, seen, len(values), 1)


def one_allocation(name: str, seen: Facts, count: int) -> Iterator[Finding]:
    """Yield where the facts do not show one allocation on the device, seen from both sides."""
    shown = {
        "the handle": (text(seen, "handle"), OPAQUE_FD),
        "the semaphore": (text(seen, "semaphore"), TIMELINE_FD),
        "CUDA's kind of memory": (number(seen, "cuda_attributes.memory_type"), DEVICE_MEMORY),
    }
    for what, (got, wanted) in shown.items():
        if got != wanted:
            observed = f"{name}: {what} is {got!r}"
            yield finding("SHARED-ALLOCATION", observed, expected=repr(wanted), where=(f"measured.{name}",))
    allocated = number(seen, "allocated") or 0
    if allocated < count * _ITEM or not text(seen, "cuda_address"):
        observed = f"{name}: {allocated} bytes allocated for {count} values"
        yield finding("SHARED-ALLOCATION", observed, where=(f"measured.{name}",))


def no_copy(name: str, seen: Facts, count: int, passes: int) -> Iterator[Finding]:
    """Yield where more was done than to load, to pass, to read, and to pass again without reading.

    Args:
        name: of what was measured, for the finding.
        seen: its facts.
        count: number of values.
        passes: how often both sides must have computed in all.
    """
    steps = [
        (text(each, "side"), number(each, "wait"), number(each, "signal")) for each in objects(seen, "steps")
    ]
    copies = [
        (text(each, "direction"), number(each, "bytes"), number(each, "signal"))
        for each in objects(seen, "transfers")
    ]
    size, last = count * _ITEM, len(_PASS) + 2
    shown = {
        "the first pass": (steps, [(side, at, at + 1) for at, side in enumerate(_PASS, 1)]),
        "copies by the host": (copies, [("host-to-device", size, 1), ("device-to-host", size, last)]),
        "passes": (number(seen, "passes"), passes),
        "the timeline": (number(seen, "timeline"), last + len(_PASS) * (passes - 1)),
    }
    for what, (got, wanted) in shown.items():
        if got != wanted:
            observed = f"{name}: {what}: {got}"
            yield finding("SHARED-COPIED", observed, expected=f"{wanted}", where=(f"measured.{name}",))


@of_whole_facts
def claim(case: Case, facts: Facts) -> str:
    """Return what a passed gate establishes, of exactly which pair."""
    device, driver = (text(facts, f"child.runtimes.vulkan.{name}") for name in ("device", "driver_version"))
    handles = texts(facts, "provider_handles")
    del case  # the sentence is about what was seen
    wgpu = (
        f"the provider exports {', '.join(handles)}, which no gate has tried"
        if handles
        else "the provider exports nothing that hands out its memory"
    )
    return (
        f"Vulkan (driver {driver}) and CUDA computed in place on one allocation of {device} without a copy "
        "through the host, handed over by a timeline semaphore; between wgpu and CUDA nothing is "
        f"established: {wgpu}"
    )


def check(case: Case, facts: Facts) -> None:
    """Ask for what the claim names.

    Raises:
        MalformedFacts: it is not recorded.
    """
    del case  # the plan's part is compared by the judge
    if "provider_handles" not in facts:
        raise MalformedFacts("provider_handles", "recorded")
    for name in ("device", "driver_version"):
        if not text(facts, f"child.runtimes.vulkan.{name}"):
            raise MalformedFacts(f"child.runtimes.vulkan.{name}", "recorded")
    for at, each in enumerate(objects(facts, "measured")):
        if number(each, "memory.device") is None:
            raise MalformedFacts(f"measured.{at}.memory.device", "an integer")

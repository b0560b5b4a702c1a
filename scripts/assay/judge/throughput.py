"""Judges gate ``throughput``: right values at every size, and the plan's bounds at one of them.

Facts (``gates.measures`` writes them), besides those of the child::

    not_run, lacking, shader                as in gate ``shared-buffers``
    measured [{task, size, bytes, turns, registered, floors, hops, kernels, chain, script, shared}]
        one of each planned size; durations are lists of nanoseconds
        floors {device-copy, pinned-to-device, pinned-to-host, empty-launch, empty-dispatch}
        hops {pycuda, wgpu, nvrtc}          each hop alone, from host memory to host memory
        kernels {wgpu, nvrtc}               by the device's own clock
        chain, script {ns, hops [{pycuda, wgpu, nvrtc}], memory, result}
        shared {ns, memory, result, …}      the shared buffer, where the plan has one, as in that gate
    cold                                    as in ``gates.cold``; null where the chain's child broke off
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from assay.judge.blocks import LENGTH, computed, wrong_blocks
from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.child import ended_well
from assay.judge.cold import CHAIN, SCRIPT, judge_cold, warm_median
from assay.judge.measuring import judge_measuring
from assay.judge.reading import MalformedFacts, get, items, mapping, number, objects, text
from assay.judge.recorded import of_whole_facts
from assay.judge.shared_buffers import (
    judge_shader,
    no_copy,
    not_run,
    one_allocation,
    same_device,
    shared_stages,
)
from assay.judge.speed import COLD, FLOORS, bounded, durations, median, ratio
from assay.judge.values import fresh_values
from assay.model import Facts, Finding
from assay.plan.values import Throughput

RULES = 1

TASK = "throughput"

WARM_UP = 2
"""Passes over a shared buffer before those whose durations count (``assay.chain.speed.clock``)."""

_TIMED = (
    *("floors.device-copy", "floors.pinned-to-device", "floors.pinned-to-host"),
    *("floors.empty-launch", "floors.empty-dispatch", "hops.pycuda", "hops.wgpu", "hops.nvrtc"),
    *("kernels.nvrtc", "chain.ns"),
)
_KERNEL = "kernel-of-device-copy"
_NS_PER_US = 1000
_NS_PER_MS = 10**6


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with what was measured.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    return tuple(_judge(case, facts))


def _judge(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield why nothing ran, or else every part's findings."""
    speed = case.plan.throughput
    if speed is None:
        yield finding("THROUGHPUT-PLAN", "the plan has no [tool.assay.throughput]")
        return
    if reason := text(facts, "not_run"):
        yield not_run(reason, facts)
        return
    yield from judge_measuring(case, case.plan.kernels[speed.chain], facts)
    if case.plan.shared_buffers is not None:
        yield from same_device(case, facts)
        yield from judge_shader(case, facts)
    measured = {
        number(each, "size"): each for each in objects(facts, "measured") if text(each, "task") == TASK
    }
    excused = not ended_well(facts) or bool(objects(facts, "child.errors"))
    fresh = fresh_values(case, speed.chain)
    for size in speed.sizes:
        if size in measured:
            yield from _size(case, speed, fresh, size, measured[size])
        elif not excused:
            yield finding("THROUGHPUT-MISSING", f"nothing was measured over {size} values")
    if not excused:
        yield from judge_cold(case, case.plan.kernels[speed.chain], mapping(facts, "cold"))
    if speed.floor_size in measured:
        # no cold start follows a child that broke off, which is told above
        unknown = {COLD} if excused else frozenset[str]()
        yield from _floors(speed, bounded(measured[speed.floor_size], facts), unknown)


def _size(case: Case, speed: Throughput, fresh: tuple[int, ...], size: int, seen: Facts) -> Iterator[Finding]:
    """Yield what is wrong with one size: wrong values, or a part that was not measured."""
    given = fresh[: min(size, LENGTH)]
    right = computed(case.plan.kernels[speed.chain].stages, given)
    for part in ("chain", "script"):
        if wrong := wrong_blocks(mapping(seen, f"{part}.result"), right, size):
            yield finding("THROUGHPUT-VALUE-WRONG", f"{part} over {size} values: {wrong}")
    for path in (*_TIMED, "script.ns"):
        taken = len(durations(seen, path))
        if path != "script.ns" and taken != speed.turns:
            observed = f"{path} over {size} values was measured {taken} times, not {speed.turns}"
            yield finding("THROUGHPUT-MISSING", observed)
    shared = case.plan.shared_buffers
    if shared is None:
        return
    if get(seen, "shared") is None:
        yield finding("THROUGHPUT-MISSING", f"the shared buffer was not measured over {size} values")
        return
    passed = computed(shared_stages(case, shared), given)
    if wrong := wrong_blocks(mapping(seen, "shared.result"), passed, size):
        yield finding("THROUGHPUT-VALUE-WRONG", f"shared buffer over {size} values: {wrong}")
    yield from one_allocation(f"{size} values", mapping(seen, "shared"), size)
    passes = 1 + WARM_UP + len(durations(seen, "shared.ns"))
    yield from no_copy(f"{size} values", mapping(seen, "shared"), size, passes)


def _floors(speed: Throughput, seen: Facts, unknown: Collection[str]) -> Iterator[Finding]:
    """Yield each bound of the plan that was not reached; nothing is known of those that are ``unknown``."""
    for name, bound in speed.floors:
        if name in unknown:
            continue
        if name == _KERNEL and not items(seen, "kernels.wgpu"):
            yield finding(
                "THROUGHPUT-MISSING", f"{name}: wgpu's adapter has no time stamps (timestamp-query)"
            )
            continue
        if (got := FLOORS[name](seen)) < bound:
            observed = f"{name} is {got} % over {speed.floor_size} values"
            yield finding("THROUGHPUT-FLOOR", observed, expected=f"at least {bound} %", where=("measured",))


@of_whole_facts
def claim(case: Case, facts: Facts) -> str:
    """Return what a passed gate establishes: ratios of this run, and the times that they come from."""
    speed = case.plan.throughput
    measured = {number(each, "size"): each for each in objects(facts, "measured")}
    if speed is None or speed.floor_size not in measured:
        return "nothing: nothing was measured"
    seen = measured[speed.floor_size]
    chain, script = median(seen, "chain.ns"), median(seen, "script.ns")
    pinned = 3 * (median(seen, "floors.pinned-to-device") + median(seen, "floors.pinned-to-host"))
    said = (
        f"over {speed.floor_size} float32 the chain through host memory takes {chain // _NS_PER_US} us, "
        f"{ratio(chain, pinned)} % of its six pinned copies and {ratio(chain, script)} % of a "
        "documentation-style script in the same process; its first exact result comes "
        f"{_first(facts)} after the start"
    )
    if get(seen, "shared") is None:
        return said
    shared = median(seen, "shared.ns")
    return f"{said}; a pass over the shared buffer takes {shared // _NS_PER_US} us"


def _first(facts: Facts) -> str:
    """Return how soon after a process's start the first exact result is there, beside the script's."""
    cold = mapping(facts, "cold")
    ours, script = warm_median(cold, CHAIN), warm_median(cold, SCRIPT)
    return f"{ours // _NS_PER_MS} ms ({ratio(ours, script)} % of such a script's)"


def check(case: Case, facts: Facts) -> None:
    """Ask for the memory peaks, which the plan's open question names, and for the turns.

    Raises:
        MalformedFacts: one is not recorded.
    """
    del case  # the plan's part is compared by the judge
    for at, each in enumerate(objects(facts, "measured")):
        if not number(each, "turns"):
            raise MalformedFacts(f"measured.{at}.turns", "a positive integer")
        for part in ("chain", "script", *(("shared",) if get(each, "shared") is not None else ())):
            memory = mapping(each, f"{part}.memory")
            if number(memory, "device") is None or "host_peak" not in memory:
                raise MalformedFacts(f"measured.{at}.{part}.memory", "peaks of host and device memory")

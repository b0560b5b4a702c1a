"""Judges the child that measures as the chain's is judged: its life, its isolation, and the bytes that ran.

Facts, besides those that ``child``, ``loaded`` and ``modules`` describe::

    sources [{chain, stage, sha256}]                    kernels as they were given to the child
    images [{chain, stage, kind, arch, sha256, size}]   what each stage was compiled to, and ran as
    devices, nvml, proc, adapter                        as ``device`` describes them
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.child import ended_well, judge_closing, judge_end, judge_isolation
from assay.judge.device import judge_device
from assay.judge.images import right_images
from assay.judge.loaded import judge_loaded
from assay.judge.modules import judge_modules
from assay.judge.reading import items, number, objects, text
from assay.model import Facts, Finding, Json
from assay.plan.values import Chain, Stage


def judge_measuring(case: Case, chain: Chain, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the child that measured ``chain``."""
    yield from judge_end(case, facts)
    yield from judge_isolation(facts)
    yield from judge_closing(facts)
    yield from judge_device(case, facts, case.plan.tier_on(case.platform))
    yield from _shared_gpu(facts)
    for stage in chain.stages:
        yield from _stage(case, chain, stage, facts)
    if ended_well(facts):
        yield from judge_loaded(case, facts)
        yield from judge_modules(facts)


def _stage(case: Case, chain: Chain, stage: Stage, facts: Facts) -> Iterator[Finding]:
    """Yield where a stage was given another source or image than gate build and the plan have (law 4)."""
    where = f"{chain.name}/{stage.name}"
    given, ran = _of(facts, "sources", where), _of(facts, "images", where)
    if given != [stage.sha256]:
        observed = f"{where} was given {stage.source} of SHA-256 {', '.join(given) or '(none)'}"
        yield finding("CHAIN-SOURCE-CHANGED", observed, expected=f"SHA-256 {stage.sha256}", where=(where,))
    right = right_images(case, chain, stage)
    due = ended_well(facts) and not objects(facts, "child.errors")
    if (due or ran) and (len(ran) != 1 or (right and ran[0] not in right)):
        observed = f"{where} ran as SHA-256 {', '.join(ran) or '(none)'}"
        expected = f"SHA-256 {' or '.join(right)}"
        yield finding("CHAIN-IMAGE-DIFFERS", observed, expected=expected, where=(where,))


def _shared_gpu(facts: Facts) -> Iterator[Finding]:
    """Yield that another process computes on the GPU: it takes time and memory of what is measured.

    A container may see the child under another number, so one new process is taken for it where it is not
    listed under its own.
    """
    before, after = _processes(facts, "before"), _processes(facts, "after")
    own = number(facts, "child.pid")
    late = [pid for pid in after if pid != own and pid not in before]
    others = [*before, *(late if own in after else late[1:])]
    if others:
        observed = f"{len(others)} other processes on the GPU: {', '.join(map(str, others))}"
        yield finding("GPU-SHARED", observed, where=("nvml",))


def _processes(facts: Facts, when: str) -> list[Json]:
    """Return the numbers of the processes that NVML sees computing on the GPU that was measured."""
    uuid = text(facts, "devices.after.uuid").lower()
    gpus = [gpu for gpu in objects(facts, f"nvml.{when}.gpus") if text(gpu, "uuid").lower() == uuid]
    return [pid for gpu in gpus for pid in items(gpu, "compute_processes")]


def _of(facts: Facts, key: str, where: str) -> list[str]:
    """Return the digests that are recorded of one stage."""
    return [
        text(each, "sha256")
        for each in objects(facts, key)
        if f"{text(each, 'chain')}/{text(each, 'stage')}" == where
    ]

"""Judges what each stage loaded: PTX as ``build`` recorded it, WGSL as the plan froze it (law 4).

Facts::

    sources [{chain, stage, sha256}]                            kernels as they were given to the child
    chains[].stages[].loaded [{kind, arch, sha256, size}]       what the stage's runtime was given
    (build) kernels [{chain, stage, kind, arch, sha256, …}]
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import objects, text
from assay.model import Facts, Finding
from assay.plan.values import Chain, Stage

CUBIN, PTX, WGSL = "cubin", "ptx", "wgsl"


def judge_images(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where a stage was given other bytes than it should have been."""
    given = {
        (text(each, "chain"), text(each, "stage")): text(each, "sha256") for each in objects(facts, "sources")
    }
    for chain, stage, seen in ran_stages(case, facts):
        where = f"{chain.name}/{stage.name}"
        if given.get((chain.name, stage.name)) != stage.sha256:
            observed = (
                f"{where} ran {stage.source} of SHA-256 {given.get((chain.name, stage.name)) or '(none)'}"
            )
            yield finding(
                "CHAIN-SOURCE-CHANGED", observed, expected=f"SHA-256 {stage.sha256}", where=(where,)
            )
        loaded = objects(seen, "loaded")
        if not loaded:
            yield finding("CHAIN-RESULT-MISSING", f"{where} records no image", where=(where,))
        right = right_images(case, chain, stage)
        for each in loaded:
            if right and text(each, "sha256") not in right:
                observed = f"{where} loaded {text(each, 'kind')} of SHA-256 {text(each, 'sha256')}"
                expected = f"SHA-256 {' or '.join(right)}"
                yield finding("CHAIN-IMAGE-DIFFERS", observed, expected=expected, where=(where,))


def ran_stages(case: Case, facts: Facts) -> Iterator[tuple[Chain, Stage, Facts]]:
    """Yield each planned stage that gave values, with its facts."""
    planned = {chain.name: chain for chain in case.plan.planned_chains(case.platform)}
    for found in objects(facts, "chains"):
        chain = planned.get(text(found, "name"))
        stages = {stage.name: stage for stage in chain.stages} if chain else {}
        for seen in objects(found, "stages"):
            stage = stages.get(text(seen, "name"))
            ran = seen.get("canonical") is not None or seen.get("fresh") is not None
            if chain and stage and ran:
                yield chain, stage, seen


def right_images(case: Case, chain: Chain, stage: Stage) -> tuple[str, ...]:
    """Return the digests (hex) that a stage may load, empty where ``build`` recorded none for it."""
    if stage.runtime == "wgpu":
        return (stage.sha256,)
    return tuple(
        text(kernel, "sha256")
        for kernel in objects(case.facts.get("build", {}), "kernels")
        if (text(kernel, "chain"), text(kernel, "stage")) == (chain.name, stage.name)
        and text(kernel, "kind") == PTX
        and text(kernel, "arch") == case.plan.lowest_architecture
    )


def compiled_at_run_time(case: Case, facts: Facts) -> tuple[tuple[str, str], ...]:
    """Return (chain/stage, SHA-256) of each image that was loaded and that ``build`` did not record."""
    return tuple(
        dict.fromkeys(
            (f"{chain.name}/{stage.name}", text(each, "sha256"))
            for chain, stage, seen in ran_stages(case, facts)
            for each in objects(seen, "loaded")
            if not right_images(case, chain, stage)
        )
    )

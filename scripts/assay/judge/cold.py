"""Judges cold starts: from the start of a process to the chain's first exact result (``gates.cold``)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.images import CUBIN, PTX
from assay.judge.reading import MalformedFacts, number, objects, text, texts
from assay.judge.values import expected_words
from assay.model import Facts, Finding
from assay.plan.values import Chain

CHAIN, SCRIPT = "chain", "script"

TURNS = 6
"""Of each; the first fills the caches."""


def judge_cold(case: Case, chain: Chain, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the cold starts: a turn without values, a wrong value, an image not built."""
    right = expected_words(chain, chain.values)[-1]
    for style in (CHAIN, SCRIPT):
        turns = turns_of(facts, style)
        ended = [turn for turn in turns if number(turn, "exit") == 0 and turn.get("end") is not None]
        if len(ended) != TURNS:
            observed = f"{len(ended)} of {TURNS} cold starts of the {style} gave values"
            yield finding("THROUGHPUT-MISSING", observed, where=("cold",))
        for at, turn in enumerate(ended):
            if texts(turn, "values") != right:
                yield finding("THROUGHPUT-VALUE-WRONG", f"cold start {at} of the {style}", where=("cold",))
    yield from _images(case, chain, facts)


def _images(case: Case, chain: Chain, facts: Facts) -> Iterator[Finding]:
    """Yield each image that gate build did not make for its stage (law 4)."""
    built = {
        (text(each, "stage"), text(each, "kind"), text(each, "arch"), text(each, "sha256"))
        for each in objects(case.facts.get("build", {}), "kernels")
        if text(each, "chain") == chain.name
    }
    wanted = {stage.name for stage in chain.stages if stage.runtime != "wgpu"}
    given = {text(each, "stage") for each in objects(facts, "images")}
    for each in objects(facts, "images"):
        key = (text(each, "stage"), text(each, "kind"), text(each, "arch"), text(each, "sha256"))
        if key not in built or key[1] not in {CUBIN, PTX}:
            observed = f"{key[0]} was given {key[1]} of SHA-256 {key[3]}"
            yield finding("CHAIN-IMAGE-DIFFERS", observed, where=("cold.images",))
    if wanted - given:
        observed = f"no image for {', '.join(sorted(wanted - given))}"
        yield finding("THROUGHPUT-MISSING", observed, where=("cold.images",))


def turns_of(facts: Facts, style: str) -> list[Facts]:
    """Return a style's turns in their order; the first fills the caches.

    Raises:
        MalformedFacts: they are not recorded.
    """
    return [turn for turn in objects(facts, "turns") if text(turn, "style") == style]


def warm_median(facts: Facts, style: str) -> int:
    """Return the median nanoseconds of a style's turns after the first.

    Raises:
        MalformedFacts: they are not recorded.
    """
    found = [number(turn, "end") for turn in turns_of(facts, style)[1:]]
    whole = [end for end in found if end is not None and end > 0]
    if not whole or len(whole) != len(found):
        raise MalformedFacts("turns", f"cold starts of the {style} with positive nanoseconds")
    return int(statistics.median(whole))

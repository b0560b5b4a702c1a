"""Judges a chain's results: every stage of every planned chain, value by value, bit for bit.

What must come out is computed anew from the plan and the run's nonce (``judge.values``); nothing that the
child said of its own correctness is read.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import items, number, objects, text
from assay.judge.values import expected_words, fresh_values, values_digest, words
from assay.model import Facts, Finding, Json
from assay.plan.values import Chain, Stage

LISTED = 4096
"""Most values that facts list one by one; more are given by their digest (FORMATS, "Receipt")."""

INPUTS = ("canonical", "fresh")

_WORD = re.compile(r"[0-9a-f]{8}")
_SIGN = 1 << 31
_INFINITY = 0x7F80_0000
"""Bits of +infinity in binary32; any larger magnitude is a NaN (IEEE 754-2019, 3.4)."""

_COPIES = ("host-to-device", "device-to-host")


def has_results(facts: Facts) -> bool:
    """Say whether any stage of any chain gave values at all."""
    return any(
        stage.get(name) is not None
        for chain in objects(facts, "chains")
        for stage in objects(chain, "stages")
        for name in INPUTS
    )


def judge_results(case: Case, facts: Facts, *, excused: bool) -> Iterator[Finding]:
    """Yield what is wrong with the results.

    Args:
        case: the plan and the run.
        facts: the chain gate's facts.
        excused: another finding already says why results are missing; wrong ones are named all the same.
    """
    planned = case.plan.planned_chains(case.platform)
    found = objects(facts, "chains")
    names = [chain.name for chain in planned]
    yield from _names("chain", names, [text(each, "name") for each in found], excused=excused)
    for chain in planned:
        for seen in (each for each in found if text(each, "name") == chain.name):
            yield from _chain(case, chain, seen, excused=excused)


def _names(kind: str, planned: Sequence[str], found: Sequence[str], *, excused: bool) -> Iterator[Finding]:
    """Yield what is missing, doubled, unplanned or out of order."""
    counts = Counter(found)
    missing = [name for name in planned if name not in counts]
    if missing and not excused:
        yield finding("CHAIN-RESULT-MISSING", f"no result of {kind} {', '.join(missing)}")
    if doubled := [name for name, count in counts.items() if count > 1]:
        yield finding("CHAIN-RESULT-DOUBLED", f"{kind} {', '.join(doubled)} stands more than once")
    if extra := [name for name in counts if name not in planned]:
        yield finding("CHAIN-RESULT-UNPLANNED", f"{kind} {', '.join(map(repr, extra))} is not planned")
    known = [name for name in found if name in planned]
    if not doubled and known != [name for name in planned if name in counts]:
        yield finding("CHAIN-RESULT-ORDER", f"{kind}s ran as {', '.join(known)}", expected=", ".join(planned))


def _chain(case: Case, chain: Chain, seen: Facts, *, excused: bool) -> Iterator[Finding]:
    """Yield what is wrong with one chain."""
    stages = objects(seen, "stages")
    names = [stage.name for stage in chain.stages]
    found = [text(stage, "name") for stage in stages]
    yield from _names(f"{chain.name} stage", names, found, excused=excused)
    if not stages:
        return
    expected = {
        "canonical": expected_words(chain, chain.values),
        "fresh": expected_words(chain, fresh_values(case, chain.name)),
    }
    for index, stage in enumerate(chain.stages):
        for each in (other for other in stages if text(other, "name") == stage.name):
            for name in INPUTS:
                result = Result(chain, stage, name, each, expected[name][index])
                yield from _values(result, excused=excused)
                yield from _transfers(result)


@dataclass(frozen=True)
class Result:
    """What one stage gave for one input, and what it should have given."""

    chain: Chain
    stage: Stage
    input: str
    seen: Facts
    expected: Sequence[str]

    @property
    def where(self) -> str:
        """Return chain, stage and input."""
        return f"{self.chain.name}/{self.stage.name}/{self.input}"


def _values(result: Result, *, excused: bool) -> Iterator[Finding]:
    """Yield the first wrong value of one result."""
    given = result.seen.get(result.input)
    if given is None:
        if not excused:
            yield finding("CHAIN-RESULT-MISSING", f"{result.where} has no values", where=(result.where,))
        return
    if isinstance(given, Mapping):
        wrong = _digest_differs(given, result.expected)
    else:
        wrong = _first_wrong(result.stage, items(result.seen, result.input), result.expected)
    if wrong:
        observed = f"{result.where}: {wrong[0]}"
        yield finding("CHAIN-VALUE-WRONG", observed, expected=wrong[1], where=(result.where,))


def _digest_differs(given: Facts, expected: Sequence[str]) -> tuple[str, str] | None:
    """Return (observed, expected) where values given by their digest are not the expected ones.

    A digest cannot be compared within a tolerance: only equal bits pass.
    """
    count, sha256 = number(given, "count"), text(given, "sha256")
    if len(expected) <= LISTED:
        return f"{count} values are given by a digest", f"a list of {len(expected)} values"
    right = values_digest(expected)
    if (count, sha256) == (len(expected), right):
        return None
    return f"{count} values with SHA-256 {sha256}", f"{len(expected)} values with SHA-256 {right}"


def _first_wrong(stage: Stage, given: Sequence[Json], expected: Sequence[str]) -> tuple[str, str] | None:
    """Return (observed, expected) of the first wrong value, None where all are right."""
    for index, (got, right) in enumerate(zip(given, expected, strict=False)):
        if got == right:
            continue
        if stage.ulp is None or not isinstance(got, str) or ulp_distance(got, right) > stage.ulp:
            return f"value {index} is {_shown(got)}", f"{_shown(right)}{_within(stage)}"
    if len(given) != len(expected):
        return f"there are {len(given)} values", f"{len(expected)} values"
    return None


def _within(stage: Stage) -> str:
    """Say how the stage is compared."""
    return ", bit for bit" if stage.ulp is None else f", within {stage.ulp} units in the last place"


def _shown(word: Json) -> str:
    """Return a word as value and bits."""
    if not isinstance(word, str) or not _WORD.fullmatch(word):
        return f"{str(word)[:40]!r}, which is no float32 word"
    return f"{struct.unpack('>f', bytes.fromhex(word))[0]!r} (0x{word})"


def ulp_distance(left: str, right: str) -> int:
    """Return how many binary32 values apart two words are; 2**32 where either is a NaN or no word."""
    if not (_WORD.fullmatch(left) and _WORD.fullmatch(right)):
        return 1 << 32
    first, second = int(left, 16), int(right, 16)
    if any(bits & ~_SIGN > _INFINITY for bits in (first, second)):
        return 1 << 32
    return abs(_ordered(first) - _ordered(second))


def _ordered(bits: int) -> int:
    """Return an integer that orders binary32 values as their numbers do; both zeros are 0."""
    return -(bits & ~_SIGN) if bits & _SIGN else bits


def _transfers(result: Result) -> Iterator[Finding]:
    """Yield where a run lacks the copies to the device and back that its values must have made."""
    if result.seen.get(result.input) is None:
        return
    made = {
        (text(each, "direction"), number(each, "bytes"))
        for each in objects(result.seen, "transfers")
        if text(each, "input") == result.input and text(each, "runtime") == result.stage.runtime
    }
    size = 4 * len(result.expected)
    if missing := [copy for copy in _COPIES if (copy, size) not in made]:
        observed = f"{result.where} records no {' and no '.join(missing)} copy of {size} bytes"
        yield finding("CHAIN-TRANSFER-UNRECORDED", observed, where=(result.where,))


def canonical_words(chain: Chain) -> tuple[str, ...]:
    """Return a chain's canonical input as words of shape (n,)."""
    return words(chain.values)


def fresh_words(case: Case, chain: Chain) -> tuple[str, ...]:
    """Return a chain's fresh input as words of shape (4096,)."""
    return words(fresh_values(case, chain.name))

"""The chain's values by stage: each canonical one beside what it must be, the fresh ones counted.

What must come out is computed anew from the plan and the run's nonce, as the judge does.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.judge.results import ulp_distance
from assay.judge.values import expected_words, fresh_values, values_digest, words
from assay.model import Facts, Json
from assay.plan.values import Chain, Stage
from assay.report.machine import CHAIN
from assay.report.subject import Subject
from assay.report.text import duration_text, mapping_at, number_at, objects_at, spaced, text_at
from assay.report.view import ChainView, Count, Piece, Row, StageView, Value, ValueRow

MOST_ROWS = 64
"""Canonical values that are listed; the rest are counted with their stage."""

_WORD = re.compile(r"[0-9a-f]{8}")
_EXACT = 24
"""Bits of a binary32's significand (IEEE 754-2019, table 3.5): integers below 2**24 need no exponent."""

_NOTHING = "no value"


@dataclass(frozen=True)
class _Result:
    """What one stage gave for one input, and what it must give, as words."""

    stage: Stage
    given: Sequence[Json]
    digest: Facts
    expected: tuple[str, ...]

    @functools.cached_property
    def same(self) -> bool:
        """Say whether values that are given by their digest are the expected ones."""
        return text_at(self.digest, "sha256") == values_digest(self.expected)

    def right(self, index: int) -> bool:
        """Say whether the value of an index is right; of values given by their digest all are, or none."""
        if self.digest:
            return self.same
        if index >= len(self.given):
            return False
        given, expected = self.given[index], self.expected[index]
        if given == expected:
            return True
        return isinstance(given, str) and ulp_distance(given, expected) <= (self.stage.ulp or 0)

    @functools.cached_property
    def count(self) -> int:
        """Return how many values are right; most often all of them, which is seen at once."""
        if tuple(self.given) == self.expected:
            return len(self.expected)
        return sum(map(self.right, range(len(self.expected))))

    @property
    def summary(self) -> Count:
        """Return how many values are right; one too many makes all of them wrong as a whole."""
        wanted, more = len(self.expected), len(self.given) - len(self.expected)
        extra = f", and {more:,} too many" if more > 0 and not self.digest else ""
        return Count(f"{self.count:,} of {wanted:,} right{extra}", self.count == wanted and not extra)


def chains_of(subject: Subject) -> tuple[ChainView, ...]:
    """Return every planned chain that left results."""
    found = {text_at(each, "name"): each for each in objects_at(subject.facts(CHAIN), "chains")}
    planned = subject.run.document.plan.planned_chains(subject.run.document.platform)
    return tuple(_chain(subject, chain, found[chain.name]) for chain in planned if chain.name in found)


def _chain(subject: Subject, chain: Chain, seen: Facts) -> ChainView:
    """Return one chain."""
    stages = {text_at(each, "name"): each for each in objects_at(seen, "stages")}
    fresh = expected_words(chain, fresh_values(subject.case, chain.name))
    canonical = expected_words(chain, chain.values)
    shown = []
    listed = []
    for number, stage in enumerate(chain.stages):
        facts = stages.get(stage.name, {})
        results = (
            _result(stage, facts, "canonical", canonical[number]),
            _result(stage, facts, "fresh", fresh[number]),
        )
        listed.append(results[0])
        shown.append(_stage(stage, facts, *results))
    rows = min(len(chain.values), MOST_ROWS)
    inputs = words(chain.values[:rows])
    return ChainView(
        chain.name,
        tuple(shown),
        tuple(_row(index, inputs[index], listed) for index in range(rows)),
        len(chain.values) - rows,
    )


def _result(stage: Stage, facts: Facts, name: str, expected: tuple[str, ...]) -> _Result:
    """Return one result of a stage; values that are no list are none, or given by their digest."""
    given = facts.get(name)
    listed = given if isinstance(given, Sequence) and not isinstance(given, str) else ()
    return _Result(stage, listed, mapping_at(facts, name), expected)


def _stage(stage: Stage, facts: Facts, canonical: _Result, fresh: _Result) -> StageView:
    """Return one stage."""
    compared = "bit for bit" if stage.ulp is None else f"within {stage.ulp} units in the last place"
    start = "the chain's values" if stage.input == "values" else "the stage before"
    return StageView(
        name=stage.name,
        rule=(Piece("code", stage.expect.text), Piece("text", f" of {start}, {compared}")),
        canonical=canonical.summary,
        fresh=fresh.summary,
        rows=tuple(row for row in _particulars(stage, facts, fresh) if row.value),
    )


def _particulars(stage: Stage, facts: Facts, fresh: _Result) -> Iterator[Row]:
    """Yield what ran, from what bytes, and how long."""
    compiler = text_at(facts, "compiler")
    yield Row("Runtime", f"{text_at(facts, 'runtime') or stage.runtime}{f', {compiler}' if compiler else ''}")
    yield Row("Entry", f"{stage.entry} in {stage.source}")
    yield Row("Source SHA-256", stage.sha256, code=True)
    for image in objects_at(facts, "loaded")[:MOST_ROWS]:
        kind = spaced("Loaded", text_at(image, "kind"), text_at(image, "arch"))
        yield Row(kind, text_at(image, "sha256"), code=True)
    yield Row("Fresh values SHA-256", _digest(fresh), code=True)
    for run in objects_at(facts, "runs")[:MOST_ROWS]:
        taken = number_at(run, "duration_ns")
        yield Row(f"Time, {text_at(run, 'input')}", "" if taken is None else duration_text(taken))


def _digest(result: _Result) -> str:
    """Return what a result's values hash to, ``""`` where they are no words."""
    if result.digest:
        return text_at(result.digest, "sha256")
    given = [word for word in result.given if isinstance(word, str) and _WORD.fullmatch(word)]
    return values_digest(given) if given and len(given) == len(result.given) else ""


def _row(index: int, word: str, results: Sequence[_Result]) -> ValueRow:
    """Return the values of one index."""
    return ValueRow(str(index), _number(word), tuple(_value(result, index) for result in results))


def _value(result: _Result, index: int) -> Value:
    """Return one value; the bits are shown where they matter."""
    right, expected = result.right(index), result.expected[index]
    if result.digest:
        return Value("by its digest", _number(expected), right)
    given = result.given[index] if index < len(result.given) else _NOTHING
    if right and given == expected:
        return Value(_number(expected), _number(expected), right)
    return Value(_bits(given), _bits(expected), right)


def _number(word: str) -> str:
    """Return a float32 word as its number, an integer without a point."""
    value: float = struct.unpack(">f", bytes.fromhex(word))[0]
    return str(int(value)) if value.is_integer() and abs(value) <= 2**_EXACT else repr(value)


def _bits(word: Json) -> str:
    """Return a value with its bits, whatever it is."""
    if isinstance(word, str) and _WORD.fullmatch(word):
        return f"{_number(word)} (0x{word})"
    return str(word)

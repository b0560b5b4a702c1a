"""Every value stands beside what it must be, worked out here by another route."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from assay.model import Json
from assay.report.values import MOST_ROWS, chains_of
from assay.report.view import ChainView, Count, Page, Value
from tests.evidence import support
from tests.evidence.support import Gate
from tests.plan.support import PLAN
from tests.report.worlds import COUNT, FRESH, chain_facts, fresh, qualified, stages, view, viewing, word

pytestmark = pytest.mark.usefixtures("world")


def chain_of(folder: Path, **changed: Json) -> ChainView:
    """Return the view of the chain whose stage `double` left something else."""
    plan = support.plan()
    found = stages(plan, {("double", key): value for key, value in changed.items()})
    facts = chain_facts(plan, chains=[{"name": "pipeline", "stages": found}])
    (chain,) = view(qualified(folder, chain=Gate(facts))).chains
    return chain


@pytest.mark.gate
def test_right_values_are_shown_beside_themselves(pages: dict[str, Page]) -> None:
    (chain,) = pages["qualified"].chains
    assert [stage.name for stage in chain.stages] == ["double", "add-one"]
    assert len(chain.rows) == COUNT
    for number, row in enumerate(chain.rows):
        twice, more = str(2 * number), str(2 * number + 1)
        assert (row.index, row.input) == (str(number), str(number))
        assert row.values == (Value(twice, twice, right=True), Value(more, more, right=True))


@pytest.mark.gate
def test_right_ones_are_counted(pages: dict[str, Page]) -> None:
    (chain,) = pages["qualified"].chains
    assert {stage.canonical for stage in chain.stages} == {Count("37 of 37 right", right=True)}
    assert {stage.fresh for stage in chain.stages} == {Count("4,096 of 4,096 right", right=True)}
    assert chain.wrong is False
    assert (chain.omitted, pages["undecided"].chains) == (0, ())


@pytest.mark.gate
def test_a_wrong_value_is_shown_with_its_bits(pages: dict[str, Page]) -> None:
    (chain,) = pages["rejected"].chains
    assert chain.rows[7].values[0] == Value("14.5 (0x41680000)", "14 (0x41600000)", right=False)
    assert chain.rows[7].values[1].right
    assert chain.stages[0].canonical == Count("36 of 37 right", right=False)
    assert (chain.stages[1].canonical.right, chain.wrong) == (True, True)


@pytest.mark.parametrize(
    ("given", "count", "first"),
    [
        ([], Count("0 of 37 right", right=False), Value("no value", "0 (0x00000000)", right=False)),
        (None, Count("0 of 37 right", right=False), Value("no value", "0 (0x00000000)", right=False)),
        (
            [word(2 * x) for x in range(COUNT + 2)],
            Count("37 of 37 right, and 2 too many", right=False),
            Value("0", "0", right=True),
        ),
        (
            ["zz", *(word(2 * x) for x in range(1, COUNT))],
            Count("36 of 37 right", right=False),
            Value("zz", "0 (0x00000000)", right=False),
        ),
        ([7] * COUNT, Count("0 of 37 right", right=False), Value("7", "0 (0x00000000)", right=False)),
        ("not a list", Count("0 of 37 right", right=False), Value("no value", "0 (0x00000000)", right=False)),
        (
            ["7fc00000"] * COUNT,
            Count("0 of 37 right", right=False),
            Value("nan (0x7fc00000)", "0 (0x00000000)", right=False),
        ),
        (
            {"count": COUNT, "sha256": "ab" * 32},
            Count("0 of 37 right", right=False),
            Value("by its digest", "0", right=False),
        ),
    ],
)
def test_values_that_no_gate_writes_are_wrong_and_no_error(
    tmp_path: Path,
    given: Json,
    count: Count,
    first: Value,
) -> None:
    chain = chain_of(tmp_path, canonical=given)
    assert chain.stages[0].canonical == count
    assert chain.rows[0].values[0] == first


def test_fresh_values_are_named_by_their_digest_and_a_wrong_one_is_counted(tmp_path: Path) -> None:
    drawn = fresh(support.plan(), "pipeline")
    given = [word(2 * x) for x in drawn]
    given[-1] = word(1)
    chain = chain_of(tmp_path, fresh=given)
    assert chain.stages[0].fresh == Count(f"{FRESH - 1:,} of {FRESH:,} right", right=False)
    digest = hashlib.sha256(bytes.fromhex("".join(given))).hexdigest()
    assert [row.value for row in chain.stages[0].rows if row.name == "Fresh values SHA-256"] == [digest]
    assert chain.wrong is False  # no canonical value is: the table need not be opened


def test_a_tolerance_of_the_plan_is_kept_and_said(tmp_path: Path) -> None:
    close = [f"{int(word(2 * x), 16) + (1 if x == 3 else 0):08x}" for x in range(COUNT)]
    with viewing(qualified(tmp_path)) as seen:
        plan = seen.subject.run.document.plan
        chain = plan.kernels["pipeline"]
        loose = replace(chain, stages=(replace(chain.stages[0], ulp=1), chain.stages[1]))
        changed = replace(plan, kernels={"pipeline": loose})
        run = replace(seen.subject.run, document=replace(seen.subject.run.document, plan=changed))
        facts = chain_facts(support.plan())
        listed: Any = facts["chains"]
        listed[0]["stages"][0]["canonical"] = close
        gates = tuple(
            replace(each, receipt=replace(each.receipt, facts=facts))
            if each.receipt.gate == "chain"
            else each
            for each in seen.subject.gates
        )
        (shown,) = chains_of(replace(seen.subject, run=run, gates=gates))
    assert shown.stages[0].canonical.right
    assert shown.rows[3].values[0] == Value(f"{6 + 2**-21} (0x40c00001)", "6 (0x40c00000)", right=True)
    assert "".join(piece.text for piece in shown.stages[0].rule).endswith("within 1 units in the last place")


def test_a_long_vector_is_listed_in_part_and_counted_whole(tmp_path: Path) -> None:
    long = {**PLAN["kernels"]["pipeline"], "values": {"start": 0, "count": 100}}
    plan = support.plan(kernels={"pipeline": long})
    with viewing(qualified(tmp_path)) as seen:
        run = replace(seen.subject.run, document=replace(seen.subject.run.document, plan=plan))
        (shown,) = chains_of(replace(seen.subject, run=run))
    assert (len(shown.rows), shown.omitted) == (MOST_ROWS, 100 - MOST_ROWS)
    assert shown.stages[0].canonical == Count("37 of 100 right", right=False)


def test_a_stage_says_what_ran_from_which_bytes_and_how_long(pages: dict[str, Page]) -> None:
    rows = {row.name: row.value for row in pages["qualified"].chains[0].stages[0].rows}
    assert rows["Runtime"] == "pycuda, nvcc 13.0.88"
    assert rows["Entry"] == "double_it in double.cu"
    assert (rows["Source SHA-256"], rows["Loaded ptx sm_75"]) == ("ab" * 32, "cd" * 32)
    assert rows["Time, canonical"] == "0.002 s"

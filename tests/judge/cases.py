"""What judges' tests share: a case over a small plan, and facts with one thing changed."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from assay.judge.case import Case
from assay.judge.rules import judge_gate
from assay.judge.table import row
from assay.model import Facts, Finding, Platform
from assay.plan import parse_plan
from tests.plan.support import plan_table

JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
"""Any JSON without floats, as a stranger may write it into a receipt."""


def make_case(
    plan: Mapping[str, Any] | None = None,
    facts: Mapping[str, Facts] | None = None,
    platform: Platform = Platform.LINUX,
) -> Case:
    """Return a case whose plan is the small one, or another."""
    return Case(parse_plan(plan or plan_table()), "0" * 64, platform, "ab" * 16, "", facts or {})


def judged(case: Case, gate: str, facts: Facts) -> tuple[Finding, ...]:
    """Return what a gate's newest rules find, as the engine and a reader call them."""
    found = row(case.plan, gate)
    return judge_gate(case, found, found.rules, facts)


def ids(findings: tuple[Finding, ...]) -> list[str]:
    """Return the findings' ids, in order."""
    return [finding.id for finding in findings]


def with_fact(facts: Mapping[str, Any], path: str, value: object) -> dict[str, Any]:
    """Return facts with the value at a dotted path replaced; ``...`` removes it."""
    made: Any = copy.deepcopy(dict(facts))
    target = made
    *way, last = path.split(".")
    for part in way:
        target = target[int(part)] if isinstance(target, list) else target[part]
    key: Any = int(last) if isinstance(target, list) else last
    if value is ...:
        del target[key]
    else:
        target[key] = value
    return made  # type: ignore[no-any-return]  # a copy of the object that was given


def paths_of(value: object, at: str = "") -> list[str]:
    """Return the dotted path of every value below ``value``."""
    below: list[tuple[object, Any]] = []
    if isinstance(value, Mapping):
        below = list(value.items())
    elif isinstance(value, list):
        below = list(enumerate(value))
    found: list[str] = []
    for key, part in below:
        path = f"{at}.{key}" if at else str(key)
        found += [path, *paths_of(part, path)]
    return found

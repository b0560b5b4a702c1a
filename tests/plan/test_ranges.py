"""One requirement admits more than another exactly where some version shows it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from assay.plan.ranges import admits_more
from assay.plan.versions import satisfies

PAIRS = {
    ("==13.0.*", "==13.0.*"): (False, False),
    (">=3.10,<3.15", ">=3.11,<3.15"): (True, False),
    ("==13.0.*", "==13.0.88"): (True, False),
    (">=13,<14", "==13.*"): (False, False),
    (">=13.0", "<13"): (True, True),
    (">1", ">=1"): (False, True),
    ("!=2.0", ">=0"): (False, True),
    ("<=2", "<2"): (True, False),
    ("==1", "==1.0.0"): (False, False),
    (">=580", ">=580.1"): (True, False),
}


@pytest.mark.gate
@pytest.mark.parametrize(("pair", "right"), PAIRS.items())
def test_wider_and_narrower_are_told_apart(pair: tuple[str, str], right: tuple[bool, bool]) -> None:
    one, other = pair
    assert (admits_more(one, other) is not None, admits_more(other, one) is not None) == right


NUMBERS = st.lists(st.integers(0, 3), min_size=1, max_size=3).map(lambda each: ".".join(map(str, each)))
CLAUSE = st.one_of(
    st.tuples(st.sampled_from(["==", "!=", ">=", "<=", ">", "<"]), NUMBERS).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), NUMBERS, st.just(".*")).map("".join),
)
REQUIREMENT = st.lists(CLAUSE, min_size=1, max_size=3).map(",".join)


@given(REQUIREMENT, REQUIREMENT, st.lists(NUMBERS, max_size=30))
def test_a_version_is_named_where_any_shows_it(wide: str, narrow: str, versions: list[str]) -> None:
    named = admits_more(wide, narrow)
    if named is None:
        assert [each for each in versions if satisfies(each, wide) and not satisfies(each, narrow)] == []
    else:
        assert SpecifierSet(wide).contains(named)
        assert not SpecifierSet(narrow).contains(named)

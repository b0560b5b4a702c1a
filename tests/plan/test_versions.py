"""Version requirements agree with the ``packaging`` library where both speak the same language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from assay.errors import PlanError
from assay.plan.versions import check_specifier, satisfies

RELEASES = st.lists(st.integers(0, 20), min_size=1, max_size=4).map(lambda parts: ".".join(map(str, parts)))
CLAUSES = st.one_of(
    st.tuples(st.sampled_from([">=", "<=", ">", "<", "==", "!="]), RELEASES).map("".join),
    st.tuples(st.sampled_from(["==", "!="]), RELEASES, st.just(".*")).map("".join),
)


@given(RELEASES, st.lists(CLAUSES, min_size=1, max_size=3))
def test_agrees_with_packaging(version: str, clauses: list[str]) -> None:
    specifier = ",".join(clauses)
    assert satisfies(version, specifier) is (Version(version) in SpecifierSet(specifier))


@pytest.mark.parametrize("text", ["", "13", "~=1.2", ">=1.*", "==1.x", "=>1", "1.0,", "== 1.0 beta"])
def test_other_specifiers_are_refused(text: str) -> None:
    with pytest.raises(PlanError):
        check_specifier(text, "versions.linux.cuda")


def test_a_version_without_numbers_fits_nothing() -> None:
    assert not satisfies("unknown", ">=0")

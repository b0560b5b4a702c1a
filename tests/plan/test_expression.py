"""The expectation language agrees with Python's own arithmetic and refuses everything else."""

from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import PlanError
from assay.plan.expression import EXACT, parse_expression

LEAVES = st.sampled_from(["x", "i"]) | st.integers(0, 99).map(str)
TEXTS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["+", "-", "*", " + ", " * "]), inner).map("".join),
        inner.map("({})".format),
        inner.map("-{}".format),
    ),
    max_leaves=12,
)


@given(TEXTS.filter(lambda text: len(text) <= 200), st.integers(-50, 50), st.integers(0, 50))
def test_agrees_with_python(text: str, x: int, i: int) -> None:
    tree = compile(ast.parse(text, mode="eval"), "<test>", "eval")
    assert parse_expression(text, "expect").at(x, i) == eval(tree, {"x": x, "i": i})  # noqa: S307  # the peer


@given(TEXTS.filter(lambda text: len(text) <= 200), st.integers(-50, 50), st.integers(0, 50))
def test_peak_bounds_every_smaller_input(text: str, x: int, i: int) -> None:
    expression = parse_expression(text, "expect")
    assert abs(expression.at(x, i)) <= expression.peak(50, 50)


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        expression = parse_expression(text, "expect")
    except PlanError as error:
        assert error.path == "expect"  # noqa: PT017  # both ways are allowed
    else:
        assert isinstance(expression.at(3, 4), int)


@pytest.mark.parametrize(
    "text",
    ["", "x/2", "x**2", "__import__('os')", "x;1", "(x", "x)", "2x", "x 2", "x.real", "٣*x", "1e3", "+"],
)
def test_what_is_not_in_the_grammar_is_refused(text: str) -> None:
    with pytest.raises(PlanError):
        parse_expression(text, "expect")


def test_deep_nesting_is_refused_by_length_and_not_by_recursion() -> None:
    with pytest.raises(PlanError, match="200"):
        parse_expression("(" * 5000 + "x" + ")" * 5000, "expect")
    assert parse_expression("(" * 99 + "x" + ")" * 99, "expect").at(7, 0) == 7


def test_exact_bound_is_where_float32_first_skips_an_integer() -> None:
    import struct  # noqa: PLC0415  # only this test needs it

    def through_float32(number: int) -> int:
        return int(struct.unpack("f", struct.pack("f", number))[0])

    assert through_float32(EXACT) == EXACT
    assert through_float32(EXACT + 1) != EXACT + 1

"""Arithmetic rounded once, against fractions."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.rehearsal.simt import rounding
from tests.rehearsal.support import Array

MODES = ("rn", "rz", "rm", "rp")
HARD64 = [0.0, -0.0, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, 1.0, -1.0, 1 + 2**-52]
HARD32 = [0.0, -0.0, 1e-45, -1e-45, 2.0**-126, 3.4028234663852886e38, 1.0, -1.0, 1 + 2.0**-23, 2.0**-149 * 3]


def doubles() -> st.SearchStrategy[float]:
    return (
        st.sampled_from(HARD64)
        | st.floats(allow_nan=False, allow_infinity=False)
        | st.integers(-9, 9).map(float)
    )


def singles() -> st.SearchStrategy[float]:
    finite = st.floats(width=32, allow_nan=False, allow_infinity=False)
    return st.sampled_from([float(np.float32(x)) for x in HARD32]) | finite | st.integers(-9, 9).map(float)


def check(result: float, exact: Fraction, mode: str, kind: type[np.floating]) -> None:
    """Check a result by the definition of its rounding: it and its neighbour enclose the exact value."""
    if math.isinf(result):
        largest = Fraction(float(np.finfo(kind).max))
        half = (largest - Fraction(neighbours(float(largest), kind)[0])) / 2
        beyond = largest + (half if mode == "rn" else 0)
        assert abs(exact) >= beyond if mode == "rn" else abs(exact) > beyond
        assert mode in {"rn", "rp" if result > 0 else "rm"}
        return
    value = Fraction(result)
    if value == exact:
        return
    below, above = (Fraction(float(x)) if np.isfinite(x) else None for x in neighbours(result, kind))
    if mode == "rm" or (mode == "rz" and exact > 0):
        assert value < exact
        assert above is None or above > exact
    elif mode in {"rp", "rz"}:
        assert value > exact
        assert below is None or below < exact
    else:
        near = [x for x in (below, above) if x is not None]
        assert all(abs(value - exact) <= abs(x - exact) for x in near)
        if any(abs(value - exact) == abs(x - exact) for x in near):
            bits = np.array([result], kind).view(f"u{np.dtype(kind).itemsize}")[0]
            assert int(bits) % 2 == 0


def neighbours(result: float, kind: type[np.floating]) -> tuple[float, float]:
    with np.errstate(over="ignore"):
        value = kind(result)
        return float(np.nextafter(value, kind(-np.inf))), float(np.nextafter(value, kind(np.inf)))


def calculated(function: Callable[..., Array], kind: type[np.floating], mode: str, *values: float) -> float:
    """Return what a function makes of single numbers."""
    with np.errstate(all="ignore"):
        return float(function(*(np.array([value], kind) for value in values), mode)[0])


@pytest.mark.gate
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@given(data=st.data())
def test_fma(kind: type[np.floating], mode: str, data: st.DataObject) -> None:
    a, b, c = (data.draw(singles() if kind is np.float32 else doubles()) for _ in range(3))
    result = calculated(rounding.fma, kind, mode, a, b, c)
    check(result, Fraction(a) * Fraction(b) + Fraction(c), mode, kind)


@pytest.mark.parametrize("mode", MODES)
@given(a=doubles(), scale=st.integers(-60, 60), near=st.integers(-3, 3))
def test_fma_where_the_product_is_almost_cancelled(mode: str, a: float, scale: int, near: int) -> None:
    a = math.ldexp(math.frexp(a)[0], scale)
    b = 1 + math.ldexp(near, -30)
    c = -float(np.float64(a) * np.float64(b)) * (1 + math.ldexp(near, -52))
    result = calculated(rounding.fma, np.float64, mode, a, b, c)
    check(result, Fraction(a) * Fraction(b) + Fraction(c), mode, np.float64)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["add", "multiply", "divide"])
@given(data=st.data())
def test_two_operands(name: str, kind: type[np.floating], mode: str, data: st.DataObject) -> None:
    a, b = (data.draw(singles() if kind is np.float32 else doubles()) for _ in range(2))
    if name == "divide" and b == 0:
        b = 3.0
    result = calculated(getattr(rounding, name), kind, mode, a, b)
    first, second = Fraction(a), Fraction(b)
    exact = (
        {"add": first + second, "multiply": first * second}.get(name) if name != "divide" else first / second
    )
    assert exact is not None
    check(result, exact, mode, kind)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@given(data=st.data())
def test_square_roots(kind: type[np.floating], mode: str, data: st.DataObject) -> None:
    a = abs(data.draw(singles() if kind is np.float32 else doubles()))
    result = calculated(rounding.square_root, kind, mode, a)
    value, exact = Fraction(result), Fraction(a)
    below, above = (Fraction(float(x)) for x in neighbours(result, kind))
    if mode in {"rm", "rz"}:
        assert value**2 <= exact < above**2
    elif mode == "rp":
        assert value**2 >= exact
        assert below < 0 or below**2 < exact
    else:
        assert ((value + below) / 2) ** 2 <= exact or below < 0
        assert exact <= ((value + above) / 2) ** 2


@pytest.mark.gate
@pytest.mark.parametrize(("mode", "sign"), [("rn", 1), ("rz", 1), ("rp", 1), ("rm", -1)])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_difference_of_nothing_is_minus_zero_only_when_rounding_down(
    kind: type[np.floating], mode: str, sign: int
) -> None:
    """IEEE 754-2019, 6.3."""
    assert math.copysign(1, calculated(rounding.add, kind, mode, 1.5, -1.5)) == sign
    assert math.copysign(1, calculated(rounding.fma, kind, mode, 2.0, 0.75, -1.5)) == sign
    assert math.copysign(1, calculated(rounding.add, kind, mode, 0.0, 0.0)) == 1
    assert math.copysign(1, calculated(rounding.add, kind, mode, -0.0, -0.0)) == -1


@pytest.mark.gate
@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ((math.inf, 1.0, 1.0), math.inf),
        ((math.inf, -1.0, math.inf), math.nan),
        ((math.inf, 0.0, 1.0), math.nan),
        ((2.0, 3.0, -math.inf), -math.inf),
        ((math.nan, 3.0, 1.0), math.nan),
    ],
)
def test_infinities_and_nan(
    kind: type[np.floating], values: tuple[float, float, float], expected: float
) -> None:
    for mode in MODES:
        result = calculated(rounding.fma, kind, mode, *values)
        assert result == expected or (math.isnan(result) and math.isnan(expected))


@given(st.lists(st.tuples(singles(), singles(), singles()), min_size=2, max_size=40))
def test_many_elements_are_computed_as_each_by_itself(values: list[tuple[float, float, float]]) -> None:
    a, b, c = (np.array(column, np.float32) for column in zip(*values, strict=True))
    with np.errstate(all="ignore"):
        together = rounding.fma(a, b, c, "rn")
        apart = [
            float(rounding.fma(a[i : i + 1], b[i : i + 1], c[i : i + 1], "rn")[0]) for i in range(a.size)
        ]
    assert together.tolist() == apart

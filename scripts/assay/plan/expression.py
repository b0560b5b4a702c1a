"""The ``expect`` language of a stage: integers, ``+``, ``-``, ``*``, ``x`` and ``i``; nothing else.

``x`` is the stage's input value and ``i`` its index.  An expression is data: it is parsed here with a
grammar of a dozen lines and evaluated over Python's exact integers, so that a verifier runs no code
from a bundle.  A float32 holds every integer up to 2**24 exactly (IEEE 754-2019, binary32, 24-bit
significand), which is the bound that keeps comparison by bits meaningful.

Grammar::

    sum     = product { ("+" | "-") product }
    product = factor { "*" factor }
    factor  = integer | "x" | "i" | "-" factor | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from assay.errors import PlanError

EXACT = 2**24
"""Largest magnitude up to which float32 holds every integer."""

_LONGEST = 200
_TOKEN = re.compile(r"\s*(\d+|[xi+\-*()])")

Value = Callable[[int, int], int]


@dataclass(frozen=True)
class Term:
    """A part of an expression, as functions of ``x`` and ``i``.

    Attributes:
        value: its exact value.
        bound: its value with every minus read as plus, which no smaller ``abs(x)`` or ``i`` can exceed.
        peak: the largest bound of any part of it.
    """

    value: Value
    bound: Value
    peak: Value


@dataclass(frozen=True)
class Expression:
    """A parsed expectation: ``at(x, i)`` is the expected value at input ``x`` and index ``i``.

    Attributes:
        text: the expression as it was written.
        at: its exact value.
        peak: an upper bound of every intermediate magnitude for inputs up to ``abs(x)`` and ``i``.
    """

    text: str
    at: Value
    peak: Value


def parse_expression(text: str, path: str) -> Expression:
    """Parse an expectation.

    Raises:
        PlanError: it is not in the grammar, or is over 200 characters long.
    """
    tokens = _tokens(text, path)
    term, rest = _sum(tokens, path)
    if rest:
        raise PlanError(path, f"has {rest[0]!r} where the expression ends", "integers, + - *, x, i", "")
    return Expression(text, term.value, term.peak)


def _tokens(text: str, path: str) -> tuple[str, ...]:
    """Split the text into tokens."""
    if len(text) > _LONGEST:
        raise PlanError(path, f"is {len(text)} characters long", f"at most {_LONGEST}", "")
    found, position, stripped = [], 0, text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if not match:
            raise PlanError(path, f"has {stripped[position:][:10]!r}", "integers, + - *, x, i", "")
        found.append(match[1])
        position = match.end()
    return tuple(found)


def _sum(tokens: tuple[str, ...], path: str) -> tuple[Term, tuple[str, ...]]:
    """Parse a sum and return it with the tokens that follow."""
    term, rest = _product(tokens, path)
    while rest and rest[0] in "+-":
        sign = 1 if rest[0] == "+" else -1
        right, rest = _product(rest[1:], path)
        term = _add(term, right, sign)
    return term, rest


def _product(tokens: tuple[str, ...], path: str) -> tuple[Term, tuple[str, ...]]:
    """Parse a product and return it with the tokens that follow."""
    term, rest = _factor(tokens, path)
    while rest and rest[0] == "*":
        right, rest = _factor(rest[1:], path)
        term = _multiply(term, right)
    return term, rest


def _factor(tokens: tuple[str, ...], path: str) -> tuple[Term, tuple[str, ...]]:
    """Parse a factor and return it with the tokens that follow."""
    if not tokens:
        raise PlanError(path, "ends too early", "integers, + - *, x, i", "")
    head, rest = tokens[0], tokens[1:]
    if head == "-":
        term, rest = _factor(rest, path)
        return _multiply(_constant(-1), term), rest
    if head == "(":
        term, rest = _sum(rest, path)
        if rest[:1] != (")",):
            raise PlanError(path, "has a parenthesis that is not closed", "a closing one", "")
        return term, rest[1:]
    return _leaf(head, path), rest


def _leaf(word: str, path: str) -> Term:
    """Return the term of a single token."""
    if word == "x":
        return Term(lambda x, _: x, lambda x, _: abs(x), lambda x, _: abs(x))
    if word == "i":
        return Term(lambda _, i: i, lambda _, i: abs(i), lambda _, i: abs(i))
    if word.isdecimal() and word.isascii():
        return _constant(int(word))
    raise PlanError(path, f"has {word!r} where a value should stand", "an integer, x or i", "")


def _constant(number: int) -> Term:
    """Return the term of a number."""
    return Term(lambda _x, _i: number, lambda _x, _i: abs(number), lambda _x, _i: abs(number))


def _add(left: Term, right: Term, sign: int) -> Term:
    """Return the sum or difference of two terms."""
    a, b = left.value, right.value
    value: Value = (lambda x, i: a(x, i) + b(x, i)) if sign > 0 else (lambda x, i: a(x, i) - b(x, i))
    return _joined(left, right, value, lambda x, i: left.bound(x, i) + right.bound(x, i))


def _multiply(left: Term, right: Term) -> Term:
    """Return the product of two terms."""
    a, b = left.value, right.value
    return _joined(
        left, right, lambda x, i: a(x, i) * b(x, i), lambda x, i: left.bound(x, i) * right.bound(x, i)
    )


def _joined(left: Term, right: Term, value: Value, bound: Value) -> Term:
    """Return a term of two others; its peak is the largest of theirs and its own bound."""
    return Term(value, bound, lambda x, i: max(left.peak(x, i), right.peak(x, i), bound(x, i)))

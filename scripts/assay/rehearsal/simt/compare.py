"""Comparison and selection (PTX ISA 9.0, section 9.7.6)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..ptx.types import TYPES, Type
from ..ptx.values import Instruction, Operand, Pair
from .floats import flush
from .forms import Builder, Form, Step, arity, form, ternary
from .operands import reader, writer
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope

PRED = TYPES["pred"]
_TYPES = "b16 b32 b64 u16 u32 u64 s16 s32 s64 f16 f32 f64"

_ORDERED: dict[str, Callable[[Array, Array], Array]] = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}
_UNSIGNED = {"lo": np.less, "ls": np.less_equal, "hi": np.greater, "hs": np.greater_equal}
_NEGATED = {"equ": "ne", "neu": "eq", "ltu": "ge", "leu": "gt", "gtu": "le", "geu": "lt"}
_COMPARISONS = frozenset({*_ORDERED, *_UNSIGNED, *_NEGATED, "num", "nan"})
_COMBINE: dict[str, Callable[[Array, Array], Array]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}


def comparison(name: str, kind: Type) -> Callable[[Array, Array], Array]:
    """Return a comparison of two arrays of a type; of floats the plain ones are false for NaN, ``…u`` true.

    Raises:
        UnsupportedError: the type has no such comparison.
    """
    if kind.kind == "f":
        return _float_comparison(name)
    if name in _UNSIGNED and kind.kind in "ub":
        return _UNSIGNED[name]
    if name in {"eq", "ne"} or (name in _ORDERED and kind.kind in "us"):
        return _ORDERED[name]
    raise UnsupportedError(f".{name} does not compare .{kind.name}")


def _float_comparison(name: str) -> Callable[[Array, Array], Array]:
    if name == "nan":
        return lambda a, b: np.isnan(a) | np.isnan(b)
    if name == "num":
        return lambda a, b: ~(np.isnan(a) | np.isnan(b))
    if name == "ne":
        return lambda a, b: (a < b) | (a > b)
    if name in _ORDERED:
        return _ORDERED[name]
    if name == "equ":
        return lambda a, b: ~((a < b) | (a > b))
    if name in _NEGATED:
        opposite = _ORDERED[_NEGATED[name]]
        return lambda a, b: ~opposite(a, b)
    raise UnsupportedError(f".{name} does not compare floats")


def _compared(instruction: Instruction, scope: Scope, f: Form) -> Callable[[Lanes], Array]:
    """Return how an instruction's a and b are compared."""
    name = f.one_of(_COMPARISONS, "")
    if not name:
        raise UnsupportedError("there is no comparison")
    compare = comparison(name, f.type)
    a, b = (reader(o, f.type, scope) for o in instruction.operands[1:3])
    if "ftz" in f.flags:
        return lambda lanes: compare(flush(a(lanes)), flush(b(lanes)))
    return lambda lanes: compare(a(lanes), b(lanes))


def set_predicate(instruction: Instruction, scope: Scope) -> Step:
    """Build ``setp``: one predicate, or one and its opposite, each combined with a third."""
    f = form(instruction, _COMPARISONS | set(_COMBINE) | {"ftz"}, _TYPES)
    combine = f.one_of(frozenset(_COMBINE), "")
    d, *_ = arity(instruction, 4 if combine else 3)
    first, second = _destinations(d)
    compare = _compared(instruction, scope, f)
    if not combine and second is None:
        return lambda lanes: first(lanes, compare(lanes))
    other = reader(instruction.operands[3], PRED, scope) if combine else None
    join = _COMBINE.get(combine)

    def step(lanes: Lanes) -> None:
        result = compare(lanes)
        opposite = ~result
        if join is not None and other is not None:
            known = other(lanes)
            result, opposite = join(result, known), join(opposite, known)
        first(lanes, result)
        if second is not None:
            second(lanes, opposite)

    return step


def _destinations(
    d: Operand,
) -> tuple[Callable[[Lanes, Array], None], Callable[[Lanes, Array], None] | None]:
    if isinstance(d, Pair):
        return writer(d.first, PRED), writer(d.second, PRED)
    return writer(d, PRED), None


def set_value(instruction: Instruction, scope: Scope) -> Step:
    """Build ``set``: all bits, or 1.0, where the comparison holds."""
    f = form(instruction, _COMPARISONS | set(_COMBINE) | {"ftz"}, _TYPES)
    if len(f.types) != 2:  # noqa: PLR2004  # of the result and of the operands
        raise UnsupportedError("two types expected")
    combine = f.one_of(frozenset(_COMBINE), "")
    d, *_ = arity(instruction, 4 if combine else 3)
    result = f.types[0]
    put, compare = writer(d, result), _compared(instruction, scope, f)
    other = reader(instruction.operands[3], PRED, scope) if combine else None
    join = _COMBINE.get(combine)
    true = np.array([1.0], np.float32) if result.kind == "f" else np.array([0xFFFFFFFF], np.uint32)

    def step(lanes: Lanes) -> None:
        holds = compare(lanes)
        if join is not None and other is not None:
            holds = join(holds, other(lanes))
        put(lanes, np.where(holds, true, np.zeros(1, true.dtype)))

    return step


def select(instruction: Instruction, scope: Scope) -> Step:
    """Build ``selp``: a where the predicate holds, else b."""
    f = form(instruction, frozenset(), _TYPES)
    kind = _bits(f.type)
    return ternary(instruction, scope, (kind, kind, PRED), lambda a, b, p: np.where(p, a, b), kind)


def select_by_sign(instruction: Instruction, scope: Scope) -> Step:
    """Build ``slct``: a where c >= 0, else b; NaN gives b."""
    f = form(instruction, {"ftz"}, _TYPES)
    if len(f.types) != 2 or f.type.name not in {"s32", "f32"}:  # noqa: PLR2004  # of the result and of c
        raise UnsupportedError("slct selects by .s32 or .f32")
    kind = _bits(f.types[0])

    def chosen(a: Array, b: Array, c: Array) -> Array:
        return np.where((flush(c) if "ftz" in f.flags else c) >= 0, a, b)

    return ternary(instruction, scope, (kind, kind, f.type), chosen, kind)


def _bits(kind: Type) -> Type:
    """Return the untyped bits of a type's width, for values that are only passed on.

    An immediate float keeps its type: its bits are what the type says.
    """
    return kind if kind.kind == "f" else TYPES[f"b{kind.bits}"]


def test_property(instruction: Instruction, scope: Scope) -> Step:
    """Build ``testp``: what kind of float a is."""
    f = form(instruction, frozenset(_PROPERTIES), "f32 f64")
    name = f.one_of(frozenset(_PROPERTIES), "")
    if not name:
        raise UnsupportedError("there is no property")
    d, a = arity(instruction, 2)
    put, read, test = writer(d, PRED), reader(a, f.type, scope), _PROPERTIES[name]
    return lambda lanes: put(lanes, test(read(lanes)))


def _subnormal(a: Array) -> Array:
    smallest = np.finfo(a.dtype).smallest_normal
    result: Array = (a != 0) & (np.abs(a) < smallest)
    return result


def _normal(a: Array) -> Array:
    result: Array = np.isfinite(a) & (np.abs(a) >= np.finfo(a.dtype).smallest_normal)
    return result


_PROPERTIES: dict[str, Callable[[Array], Array]] = {
    "finite": np.isfinite,
    "infinite": np.isinf,
    "number": lambda a: ~np.isnan(a),
    "notanumber": np.isnan,
    "normal": _normal,
    "subnormal": _subnormal,
}

BUILDERS: dict[str, Builder] = {
    "setp": set_predicate,
    "set": set_value,
    "selp": select,
    "slct": select_by_sign,
    "testp": test_property,
}
"""By opcode."""

"""Version requirements such as ``>=3.11,<3.15`` or ``==13.0.*``, without any library.

The reader's half must not need ``packaging``; only release numbers are compared (the subset of the
Python packaging specification "Version specifiers" that toolkits, drivers and packages here use).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.errors import PlanError

_CLAUSE = re.compile(r"(==|!=|>=|<=|>|<)\s*(\d+(?:\.\d+)*)(\.\*)?")
_RELEASE = re.compile(r"\d{1,18}(?:\.\d{1,18})*")
_COMPARE: Mapping[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = MappingProxyType(
    {
        ">=": operator.ge,
        "<=": operator.le,
        ">": operator.gt,
        "<": operator.lt,
        "==": operator.eq,
        "!=": operator.ne,
    }
)


def release(text: str) -> tuple[int, ...]:
    """Return the leading release numbers of a version, ``()`` where there are none."""
    match = _RELEASE.match(text)
    return tuple(int(part) for part in match[0].split(".")) if match else ()


def check_specifier(text: str, path: str) -> str:
    """Return ``text`` if it is a specifier.

    Raises:
        PlanError: it is not one.
    """
    for clause in text.split(","):
        match = _CLAUSE.fullmatch(clause.strip())
        if not match or (match[3] and match[1] not in {"==", "!="}):
            raise PlanError(path, f"is {text!r}", "clauses like >=3.11,<3.15 or ==13.0.*", "")
    return text


def satisfies(version: str, specifier: str) -> bool:
    """Say whether ``version`` fits every clause; a version without numbers fits none."""
    found = release(version)
    return bool(found) and all(_fits(found, clause.strip()) for clause in specifier.split(","))


def _fits(found: tuple[int, ...], clause: str) -> bool:
    """Say whether release numbers fit one clause; missing numbers count as zero."""
    match = _CLAUSE.fullmatch(clause)
    if not match:
        return False
    wanted = tuple(int(part) for part in match[2].split("."))
    if match[3]:
        return (found[: len(wanted)] == wanted) is (match[1] == "==")
    length = max(len(found), len(wanted))
    return _COMPARE[match[1]](_padded(found, length), _padded(wanted, length))


def _padded(numbers: tuple[int, ...], length: int) -> tuple[int, ...]:
    """Return the numbers with zeros up to ``length``."""
    return numbers + (0,) * (length - len(numbers))

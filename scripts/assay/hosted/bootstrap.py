# ruff: noqa: INP001  # no package: it ships as text inside the host library
"""What the host library runs inside CPython: operations with JSON in and out, and exceptions as JSON.

``host.c`` holds this text, runs it as module ``_assay_host`` and calls ``serve``.  CPython 3.10 or newer.

    evaluate [expression, {name: value}]        the value of an expression
    execute  [statements, {name: value}]        null
    call     ["module:name.of.function", [argument, ...], {name: argument}]
    end      []                                 {"unraisable": [exception, ...]}

Expressions and statements share one name space that lasts as long as CPython.  JSON has no NaN and no
infinity: a result that holds one is an exception, as is any that JSON has no form for.
"""

from __future__ import annotations

import importlib
import json
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from operator import attrgetter

_MOST = 20
"""Unraisable exceptions that are kept."""

_names: dict[str, object] = {"__name__": "__assay_host__", "__builtins__": __builtins__}
_unraisable: list[dict[str, str]] = []


def serve(operation: bytes, data: bytes) -> bytes:
    """Do an operation and return ``0`` and the result, or ``1`` and the exception, as JSON."""
    try:
        done = _OPERATIONS[operation](*json.loads(data))
        return b"0" + json.dumps(done, allow_nan=False, separators=(",", ":")).encode()
    except BaseException as error:  # noqa: BLE001  # every exception is the caller's, SystemExit too
        return b"1" + json.dumps(_told(error)).encode()


def _told(error: BaseException) -> dict[str, str]:
    """Return type, message and traceback of an exception; a message that fails is said to."""
    try:
        message = str(error)
    except Exception as inner:  # noqa: BLE001  # an exception's own text may raise anything
        message = f"(its text cannot be told: {type(inner).__name__})"
    try:
        trace = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception as inner:  # noqa: BLE001  # as above
        trace = f"(its traceback cannot be told: {type(inner).__name__})"
    return {"message": message, "traceback": trace, "type": type(error).__qualname__}


def _evaluate(expression: str, names: dict[str, object]) -> object:
    """Return the value of an expression."""
    _names.update(names)
    return eval(compile(expression, "<bun>", "eval"), _names)  # noqa: S307  # what the host is for


def _execute(statements: str, names: dict[str, object]) -> None:
    """Run statements."""
    _names.update(names)
    exec(compile(statements, "<bun>", "exec"), _names)  # noqa: S102  # what the host is for


def _call(path: str, arguments: list[object], named: dict[str, object]) -> object:
    """Call a function by module and name."""
    module, _, name = path.partition(":")
    function: Callable[..., object] = attrgetter(name)(importlib.import_module(module))
    return function(*arguments, **named)


def _end() -> dict[str, object]:
    """Drop the name space, so that what only it held is ended now, and return what could not be raised."""
    import gc  # noqa: PLC0415  # nothing else needs it

    _names.clear()
    gc.collect()
    return {"unraisable": _unraisable}


def _keep(unraisable: object) -> None:
    """Keep what a destructor or a thread could not raise, for ``end`` to tell."""
    error = getattr(unraisable, "exc_value", None)
    if len(_unraisable) < _MOST and isinstance(error, BaseException):
        _unraisable.append(_told(error))


sys.unraisablehook = _keep
threading.excepthook = _keep

_OPERATIONS: Mapping[bytes, Callable[..., object]] = {
    b"call": _call,
    b"end": _end,
    b"evaluate": _evaluate,
    b"execute": _execute,
}

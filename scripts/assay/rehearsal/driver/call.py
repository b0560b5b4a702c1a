"""One call: its integers as the types that cuda.h declares, and its end as a code."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TypeAlias

from ..errors import BadAddressError, OutOfMemoryError, PtxError
from .codes import CODES, SUCCESS, DriverError
from .report import say
from .state import Driver, FaultError

Handler: TypeAlias = Callable[..., None]
"""(driver, *integers); what it raises becomes the call's code."""

Calls: TypeAlias = Mapping[str, "tuple[Handler, str]"]
"""By exported name: the handler, and a letter for each argument.

``p`` a pointer, handle, ``size_t`` or other 64 bits; ``u`` ``unsigned int``; ``i`` ``int`` or an enumeration;
``h`` ``unsigned short``; ``b`` ``unsigned char``.  Upper bits of shorter ones are undefined (System V ABI,
AAPCS64).
"""

WORDS = 11

_MASKS = {"p": (1 << 64) - 1, "u": (1 << 32) - 1, "i": (1 << 32) - 1, "h": 0xFFFF, "b": 0xFF}
_SIGN = 1 << 31

NOT_SUPPORTED = CODES["CUDA_ERROR_NOT_SUPPORTED"]
REFUSED = "refused: "
"""Begins the message of an error that is also told on standard error and in the report."""

_BY_TYPE: Mapping[type[BaseException], int] = MappingProxyType(
    {
        BadAddressError: CODES["CUDA_ERROR_INVALID_VALUE"],
        MemoryError: CODES["CUDA_ERROR_OUT_OF_MEMORY"],
        OutOfMemoryError: CODES["CUDA_ERROR_OUT_OF_MEMORY"],
        PtxError: CODES["CUDA_ERROR_INVALID_PTX"],
    }
)

_UNINITIALISED = frozenset({"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString"})
_LOOKUPS = frozenset({"cuGetProcAddress", "cuGetProcAddress_v2", "cuGetExportTable"})
_BEFORE_INIT = _UNINITIALISED | _LOOKUPS
"""What may be called before ``cuInit`` (CUDA driver API, "Initialization")."""


def argument(letter: str, word: int) -> int:
    """Return one argument from its 64 bits."""
    value = word & _MASKS[letter]
    return value - (1 << 32) if letter == "i" and value & _SIGN else value


def entry(driver: Driver, name: str, handler: Handler, letters: str) -> Callable[..., int]:
    """Return what the C half calls for ``name``: eleven integers to a code; nothing is ever raised."""

    def run(
        *words: int,
        convert: Callable[[str, int], int] = argument,
        work: Callable[..., int] = ended,
        is_over: Callable[[], bool] = sys.is_finalizing,
    ) -> int:
        # Everything is at hand as a default: while the interpreter ends, modules lose their names.
        try:
            given = [convert(letter, word) for letter, word in zip(letters, words)]  # noqa: B905  # strict= reads all
            with driver.lock:
                return work(driver, name, lambda: handler(driver, *given))
        except BaseException:
            if is_over():
                return 4  # CUDA_ERROR_DEINITIALIZED
            raise

    return run


def ended(driver: Driver, name: str, action: Callable[[], None]) -> int:
    """Do a call's work and return its code."""
    if not driver.ready and name not in _BEFORE_INIT:
        return CODES["CUDA_ERROR_NOT_INITIALIZED"]
    try:
        action()
    except BaseException as error:  # noqa: BLE001  # an exception must not pass through C
        return _code(driver, name, error)
    return SUCCESS


def _code(driver: Driver, name: str, error: BaseException) -> int:
    """Return an error's code, and tell what the caller could not learn from it."""
    if isinstance(error, FaultError):
        return error.code
    if isinstance(error, DriverError):
        if error.code == NOT_SUPPORTED or error.message.startswith(REFUSED):
            told = error.message.removeprefix(REFUSED) or "it is not supported"
            driver.report.refused(name, error.code, told)
        return error.code
    if isinstance(error, PtxError):
        driver.report.refused(name, CODES["CUDA_ERROR_INVALID_PTX"], str(error))
    known = next((code for kind, code in _BY_TYPE.items() if isinstance(error, kind)), None)
    if known is None and sys.is_finalizing():
        return CODES["CUDA_ERROR_DEINITIALIZED"]
    if known is None:
        say(f"{name} has a defect:\n{''.join(traceback.format_exception(error))}")
        return CODES["CUDA_ERROR_UNKNOWN"]
    return known

"""One call: its integers as the types that cuda.h declares, and its end as a code."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping
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
``h`` ``unsigned short``; ``b`` ``unsigned char``.  Upper bits of shorter ones are undefined (System V ABI, AAPCS64).
"""

WORDS = 11

_MASKS = {"p": (1 << 64) - 1, "u": (1 << 32) - 1, "i": (1 << 32) - 1, "h": 0xFFFF, "b": 0xFF}
_SIGN = 1 << 31

NOT_SUPPORTED = CODES["CUDA_ERROR_NOT_SUPPORTED"]
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

    def run(*words: int) -> int:
        given = [argument(letter, word) for letter, word in zip(letters, words)]  # noqa: B905  # strict= reads all eleven
        with driver.lock:
            return ended(driver, name, lambda: handler(driver, *given))

    return run


def ended(driver: Driver, name: str, action: Callable[[], None]) -> int:
    """Do a call's work and return its code."""
    try:
        if not driver.ready and name not in _BEFORE_INIT:
            return CODES["CUDA_ERROR_NOT_INITIALIZED"]
        action()
    except FaultError as fault:
        return fault.code
    except DriverError as error:
        if error.code == NOT_SUPPORTED or error.message.startswith("refused"):
            driver.report.refused(name, error.code, error.message or "it is not supported")
        return error.code
    except OutOfMemoryError:
        return CODES["CUDA_ERROR_OUT_OF_MEMORY"]
    except BadAddressError:
        return CODES["CUDA_ERROR_INVALID_VALUE"]
    except PtxError as error:
        driver.report.refused(name, CODES["CUDA_ERROR_INVALID_PTX"], str(error))
        return CODES["CUDA_ERROR_INVALID_PTX"]
    except MemoryError:
        return CODES["CUDA_ERROR_OUT_OF_MEMORY"]
    except BaseException:  # noqa: BLE001  # an exception must not pass through C; the traceback is told
        say(f"{name} has a defect:\n{traceback.format_exc()}")
        return CODES["CUDA_ERROR_UNKNOWN"]
    return SUCCESS

"""Functions that the driver provides to kernels: ``vprintf``, ``__assertfail``, ``malloc`` and ``free``."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..errors import OutOfMemoryError
from ..ptx.values import Group, Instruction, Symbol
from .forms import Step
from .printing import print_formatted, read_string
from .unsupported import TrapError, UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes
    from .linking import Scope


class Call:
    """A call of a built-in function: its arguments and its result, in the caller's parameters.

    Args:
        instruction: the call.
        scope: of the caller.
    """

    def __init__(self, instruction: Instruction, scope: Scope) -> None:
        self.site = instruction
        self._scope = scope
        groups = [o for o in instruction.operands if isinstance(o, Group)]
        first_is_result = isinstance(instruction.operands[0], Group)
        self._results = _symbols(groups.pop(0)) if first_is_result else ()
        self._arguments = _symbols(groups.pop(0)) if groups else ()

    def argument(self, lanes: Lanes, number: int) -> Array:
        """Return an argument of the active threads as unsigned integers, shape (count,)."""
        if number >= len(self._arguments):
            raise UnsupportedError("the call has too few arguments")
        name = self._arguments[number]
        size = self._scope.parameter_sizes.get(name, 0)
        held = lanes.pick(self._scope.parameter_bytes(lanes, name, size))
        return np.ascontiguousarray(held).view(f"u{size}").reshape(-1)

    def answer(self, lanes: Lanes, value: Array) -> None:
        """Set the result of the active threads, shape (count,) or (1,)."""
        for name in self._results:
            size = self._scope.parameter_sizes.get(name, 0)
            held = self._scope.parameter_bytes(lanes, name, size)
            bits = np.ascontiguousarray(lanes.all(value).astype(f"u{size}")).view(np.uint8).reshape(-1, size)
            held[slice(None) if lanes.index is None else lanes.index] = bits


def _symbols(group: Group) -> tuple[str, ...]:
    return tuple(element.name for element in group.elements if isinstance(element, Symbol))


def _vprintf(call: Call, lanes: Lanes) -> None:
    print_formatted(lanes, call.site, call.argument(lanes, 0), call.argument(lanes, 1))
    call.answer(lanes, np.zeros(1, np.uint32))


def _assertfail(call: Call, lanes: Lanes) -> None:
    """Record a failed assertion (message, file, line, function, size) and stop the launch."""
    chunk = lanes.chunk
    message, file, _, function = (call.argument(lanes, n)[0] for n in range(4))
    line = int(call.argument(lanes, 2)[0])
    texts = [
        read_string(chunk, int(address)).decode(errors="replace") for address in (message, file, function)
    ]
    sentence = f"{texts[1]}:{line}: {texts[2]}: Assertion `{texts[0]}` failed"
    chunk.note("assertion", call.site, sentence, lanes.threads(), None)
    raise TrapError("trap", sentence)


_HEAP_ALIGNMENT = 16


def _malloc(call: Call, lanes: Lanes) -> None:
    """Give every thread a piece of global memory of its own, or 0 where there is none left."""
    memory, recorder = lanes.chunk.launch.memory, lanes.chunk.launch.recorder
    addresses = np.zeros(lanes.count, np.uint64)
    sizes, threads = call.argument(lanes, 0).tolist(), lanes.threads().tolist()
    with contextlib.suppress(OutOfMemoryError):
        for number, (size, thread) in enumerate(zip(sizes, threads, strict=True)):
            address = memory.allocate(max(size, _HEAP_ALIGNMENT), "heap")
            addresses[number] = address
            message = f"{size} bytes at {address:#x} from malloc are still allocated"
            memory.owe(recorder.finding("leak", call.site, message, lanes.chunk, thread, address))
    call.answer(lanes, addresses)


def _free(call: Call, lanes: Lanes) -> None:
    memory = lanes.chunk.launch.memory
    for thread, address in zip(lanes.threads(), call.argument(lanes, 0).tolist(), strict=True):
        held = memory.find(address)
        if held is not None and held.address == address and held.kind == "heap":
            memory.free(address)
        elif address:
            message = f"free of {address:#x}, where nothing begins that malloc returned"
            lanes.chunk.note(memory.fault(address), call.site, message, np.array([thread]), address)
    lanes.chunk.forget()


BUILTINS: dict[str, Callable[[Call, Lanes], None]] = {
    "vprintf": _vprintf,
    "__assertfail": _assertfail,
    "malloc": _malloc,
    "free": _free,
}
"""By name."""


def builtin(instruction: Instruction, scope: Scope) -> Step:
    """Return what a call of a built-in function does."""
    name = next(o.name for o in instruction.operands if isinstance(o, Symbol))
    function, call = BUILTINS[name], Call(instruction, scope)
    return lambda lanes: function(call, lanes)

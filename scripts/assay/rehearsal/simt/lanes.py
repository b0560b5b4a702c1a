"""The threads that execute an instruction together, and the registers that they see.

A register is an array over all threads of the chunk, or an array of one element where all threads have the
same
value: NumPy broadcasts it, so that uniform values cost nothing.  Registers own their arrays: an instruction
that
passes a value on unchanged copies it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from .dtypes import raw
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from ..ptx.types import Type
    from .chunk import Chunk
    from .flow import Key
    from .nodes import Program


class Frame:
    """One activation of a function: its registers and parameters, and where it returns to.

    Attributes:
        program: the function.
        registers: by slot, raw bits, shape (threads,) or (1,).
        params: ``.param`` variables and parameters by name, bytes of shape (threads, size).
        local_base: where its local variables begin in each thread's local memory.
        parent: the caller's frame, None for the kernel.
        resume: the number of the caller's block behind the call.
        key: the place of its blocks in the order of execution.
        depth: calls above it.
        living: threads that are in it or in what it calls.
        results: the caller's parameters that take the results.
        names: the caller's parameters that take the results, by the function's own name of each.
        carry: the carry of ``add.cc`` and its kin.
        undefined: of registers and ``.param`` variables that hold values which nothing wrote, the identities:
            see ``undefined``.
    """

    __slots__ = (
        "carry",
        "depth",
        "key",
        "living",
        "local_base",
        "names",
        "params",
        "parent",
        "program",
        "registers",
        "results",
        "resume",
        "undefined",
    )

    def __init__(self, program: Program, parent: Frame | None = None, resume: int = 0) -> None:
        self.program: Program = program
        self.registers: list[Array] = list(program.blank)
        self.params: dict[str, Array] = {}
        self.local_base: int = 0 if parent is None else parent.local_base + parent.program.local_bytes
        self.parent = parent
        self.resume = resume
        self.key: tuple[int, ...] = ()
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.living = 0
        self.results: list[Array] = []
        self.names: dict[str, str] = {}
        self.carry: Array = NO_CARRY
        self.undefined: dict[Key, Array] = {}

    def parameter(self, name: str, threads: int) -> Array:
        """Return the bytes of a ``.param`` variable or parameter, shape (threads, size).

        Raises:
            UnsupportedError: there is none of that name.
        """
        held = self.params.get(name)
        if held is None:
            size = self.program.parameter_sizes.get(name)
            if size is None:
                raise UnsupportedError(f"`{name}` is no parameter")
            held = self.params[name] = np.zeros((threads, size), np.uint8)
        return held


NO_CARRY: Array = np.zeros(1, np.bool_)


def blank(kind: Type) -> Array:
    """Return the value of a register that nothing wrote: zero."""
    return np.zeros(1, raw(kind))


class Lanes:
    """Active threads of a chunk in a frame.

    Attributes:
        chunk: the blocks that are executed together.
        frame: whose registers they see.
        index: their numbers in the chunk, ascending, or None for all.
        count: how many they are.
    """

    __slots__ = ("chunk", "count", "frame", "index")

    def __init__(self, chunk: Chunk, frame: Frame, index: Array | None) -> None:
        self.chunk: Chunk = chunk
        self.frame = frame
        self.index = index
        self.count = chunk.threads if index is None else index.size

    def get(self, slot: int) -> Array:
        """Return a register of the active threads, shape (count,) or (1,)."""
        value = self.frame.registers[slot]
        if self.index is None or value.shape[0] == 1:
            return value
        return value[self.index]

    def put(self, slot: int, value: Array) -> None:
        """Set the active threads' register to a value, shape (count,) or (1,), that nothing else holds."""
        if self.index is None:
            self.frame.registers[slot] = value
        else:
            self.frame.registers[slot] = self.merged(self.frame.registers[slot], value)

    def merged(self, held: Array, value: Array) -> Array:
        """Return ``held`` with the active threads' elements replaced."""
        if self.index is None:
            return value
        if held.shape[0] == 1:
            held = np.full(self.chunk.threads, held[0], held.dtype)
        held[self.index] = value
        return held

    def all(self, value: Array) -> Array:
        """Return a value with one element for each active thread."""
        return value if value.shape[0] == self.count else np.broadcast_to(value, (self.count,))

    def threads(self) -> Array:
        """Return the numbers of the active threads in the chunk."""
        return self.chunk.numbers if self.index is None else self.index

    def pick(self, of_all: Array) -> Array:
        """Return the active threads' elements of an array over the chunk."""
        return of_all if self.index is None else of_all[self.index]

    def narrow(self, mask: Array) -> Lanes:
        """Return the active threads for which ``mask``, shape (count,), is true."""
        return Lanes(self.chunk, self.frame, self.threads()[mask])

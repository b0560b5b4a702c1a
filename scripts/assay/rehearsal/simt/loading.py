"""Modules loaded into memory: variables get addresses, kernels their shared memory and their programs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from math import prod
from types import MappingProxyType

from ..device import MAX_CONSTANT, MAX_STATIC_SHARED, MAX_THREADS
from ..errors import OutOfMemoryError, PtxError
from ..memory import Memory
from ..ptx.types import TYPES
from ..ptx.values import (
    Address,
    Function,
    Instruction,
    Label,
    Module,
    Operand,
    Register,
    Special,
    Symbol,
    Variable,
    aligned,
    space_bytes,
)
from .linking import Names
from .nodes import Check, Program, Programs
from .program import compile_function
from .transfers import SHARED_SPACES

MAX_SHARED = 227 << 10
"""Bytes of shared memory of a block, compute capability 9.0."""

CODE_BASE = 1 << 52
"""Numbers that stand for the addresses of functions begin here, above every window of memory."""

_RED_ZONE = 64
"""Bytes between shared variables that nothing may touch, so that an index past one does not meet the next."""


@dataclass(frozen=True)
class Placed:
    """A variable with its address (of ``.global`` and ``.const``, generic) and size in bytes."""

    address: int
    size: int


@dataclass(frozen=True)
class Attributes:
    """What ``cuFuncGetAttribute`` asks for; bytes and threads."""

    max_threads_per_block: int
    shared_bytes: int
    constant_bytes: int
    local_bytes: int
    registers: int
    ptx_version: int
    binary_version: int


@dataclass(frozen=True)
class SharedLayout:
    """Where the shared variables of a kernel lie.

    Attributes:
        offsets: (function or "", name) -> offset in the block's window.
        segments: (start, stop) of each static variable.
        dynamic: where dynamic shared memory begins.
        size: bytes of the static variables alone.
        granule: bytes of the smallest access to shared memory.
        system: whether the kernel asks where the system's own shared memory is.
    """

    offsets: Mapping[tuple[str, str], int]
    segments: tuple[tuple[int, int], ...]
    dynamic: int
    size: int
    granule: int
    system: bool


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel ready to be launched."""

    function: Function
    shared: SharedLayout
    programs: Programs
    contended: bool
    attributes: Attributes


@dataclass(frozen=True, eq=False)
class Loaded:
    """A module in memory.

    Attributes:
        module: what was loaded.
        variables: global and const variables by name.
        functions: code number -> name of the function.
        kernel: name -> kernel; made when first asked for.  Raises KeyError where there is none.
    """

    module: Module
    variables: Mapping[str, Placed]
    functions: Mapping[int, str]
    kernel: Callable[[str], Kernel]

    def attributes(self, entry: str) -> Attributes:
        """Return the attributes of a kernel.

        Raises:
            KeyError: there is no such kernel.
        """
        return self.kernel(entry).attributes


def load_module(module: Module, memory: Memory) -> Loaded:
    """Place a module's variables, with their initial values, and check its kernels' sizes.

    Args:
        module: from ``parse``.
        memory: gets one allocation of kind ``module`` for each variable.

    Raises:
        OutOfMemoryError: the variables do not fit; none of them stays allocated.
        PtxError: an initialiser or a size is wrong; likewise.
    """
    code = {name: CODE_BASE + 16 * at for at, name in enumerate((*module.functions, *module.entries))}
    variables = _place(module, memory)
    placed = MappingProxyType(variables)
    try:
        _check_sizes(module)
        _initialise(module, placed, code, memory)
    except Exception:
        _release(variables.values(), memory)
        raise

    @cache
    def kernel(name: str) -> Kernel:
        return _kernel(module, module.entries[name], placed, code)

    return Loaded(module, placed, {number: name for name, number in code.items()}, kernel)


def unload_module(loaded: Loaded, memory: Memory) -> None:
    """Free a module's variables."""
    _release(loaded.variables.values(), memory)


def _release(placed: Iterable[Placed], memory: Memory) -> None:
    for variable in placed:
        memory.free(variable.address)


def _place(module: Module, memory: Memory) -> dict[str, Placed]:
    placed: dict[str, Placed] = {}
    for name, variable in module.variables.items():
        if variable.space not in {"global", "const"} or variable.external:
            continue
        try:
            placed[name] = Placed(memory.allocate(max(1, variable.size), "module"), variable.size)
        except OutOfMemoryError:
            _release(list(placed.values()), memory)
            raise
    return placed


def _check_sizes(module: Module) -> None:
    constant = space_bytes(module.variables.values(), "const")
    if constant > MAX_CONSTANT:
        raise PtxError(0, "", f"{constant} bytes of constant variables; a module has {MAX_CONSTANT}")
    for variable in module.variables.values():
        if variable.space == "shared" and variable.size > MAX_STATIC_SHARED:
            raise PtxError(variable.line, variable.name, f"{variable.size} bytes of shared memory")


def _initialise(
    module: Module, placed: Mapping[str, Placed], code: Mapping[str, int], memory: Memory
) -> None:
    """Write the initial values; what has none is zero (section 5.4.4)."""
    for name, place in placed.items():
        variable = module.variables[name]
        image = bytearray(variable.image) if variable.image is not None else None
        if image is None:
            memory.fill(place.address, b"\0", max(1, place.size))
            continue
        for reference in variable.references:
            address = _referenced(reference.symbol, variable, module, placed, code)
            if reference.mask is not None:
                address = address >> _lowest_bit(reference.mask) & 0xFF
            value = address & ((1 << 8 * reference.width) - 1)
            image[reference.offset : reference.offset + reference.width] = value.to_bytes(
                reference.width, "little"
            )
        memory.write(place.address, image)


def _lowest_bit(mask: int) -> int:
    return max(0, (mask & -mask).bit_length() - 1)


def _referenced(
    symbol: Symbol, variable: Variable, module: Module, placed: Mapping[str, Placed], code: Mapping[str, int]
) -> int:
    if symbol.name in placed:
        return placed[symbol.name].address + symbol.offset
    if symbol.name in code:
        return code[symbol.name]
    what = "is not declared" if symbol.name not in module.variables else "has no fixed address"
    raise PtxError(variable.line, variable.name, f"the initialiser's `{symbol.name}` {what}")


def _kernel(module: Module, entry: Function, placed: Mapping[str, Placed], code: Mapping[str, int]) -> Kernel:
    functions = _reachable(module, entry)
    shared = _shared_layout(module, functions)
    names = Names({name: place.address for name, place in placed.items()}, shared.offsets, code)

    programs = {function.name: _once(function, names) for function in functions}
    contended = any(i.opcode == "atom" and "cas" in i.modifiers for f in functions for i in f.instructions)
    return Kernel(entry, shared, programs, contended, _attributes(module, entry, functions, shared))


def _once(function: Function, names: Names) -> Callable[[Check], Program]:
    """Return how a function is compiled when it is first asked for."""
    made: list[Program] = []

    def program(check: Check) -> Program:
        if not made:
            made.append(compile_function(function, names, check))
        return made[0]

    return program


def _reachable(module: Module, entry: Function) -> list[Function]:
    """Return a kernel and the functions that it may call: all of them where it calls through an address."""
    found = {entry.name: entry}
    todo = [entry]
    while todo:
        for instruction in todo.pop().instructions:
            for name in _called(module, instruction):
                function = module.functions.get(name) or module.entries.get(name)
                if function is not None and function.defined and name not in found:
                    found[name] = function
                    todo.append(function)
    return list(found.values())


def _called(module: Module, instruction: Instruction) -> Iterator[str]:
    """Yield the functions that an instruction names; each of them may be called."""
    if instruction.opcode == "call" and any(isinstance(o, Register) for o in instruction.operands):
        yield from module.functions
    for operand in instruction.operands:
        if isinstance(operand, (Symbol, Label)):
            yield operand.name


def _shared_layout(module: Module, functions: list[Function]) -> SharedLayout:
    """Lay out the shared variables of a kernel.

    Raises:
        PtxError: they take more than a block may have.
    """
    variables = [(f.name, v) for f in functions for v in f.variables.values() if v.space == "shared"]
    used = {name for f in functions for i in f.instructions for o in i.operands for name in _symbols(o)}
    variables += [("", v) for name, v in module.variables.items() if v.space == "shared" and name in used]
    offsets: dict[tuple[str, str], int] = {}
    segments: list[tuple[int, int]] = []
    offset = size = 0
    for owner, variable in variables:
        if not variable.size:
            continue
        start = aligned(offset, max(16, variable.align))
        offsets[owner, variable.name] = start
        segments.append((start, start + variable.size))
        offset = start + variable.size + _RED_ZONE
        size = aligned(size, variable.align) + variable.size
    if size > MAX_STATIC_SHARED:
        raise PtxError(
            functions[0].line, functions[0].name, f"{size} bytes of shared variables; at most 48 KiB"
        )
    dynamic = aligned(offset, 128)
    offsets |= {(owner, v.name): dynamic for owner, v in variables if not v.size}
    return SharedLayout(offsets, tuple(segments), dynamic, size, _granule(functions), _system(functions))


def _symbols(operand: Operand) -> Iterator[str]:
    if isinstance(operand, Symbol):
        yield operand.name
    elif isinstance(operand, Address) and isinstance(operand.base, Symbol):
        yield operand.base.name


def _system(functions: list[Function]) -> bool:
    """Return whether anything reads a register ``%reserved_smem_offset_…`` (section 10.29)."""
    operands = (o for f in functions for i in f.instructions for o in i.operands)
    return any(isinstance(o, Special) and o.name.startswith("%reserved_smem_offset") for o in operands)


def _granule(functions: list[Function]) -> int:
    """Return the bytes of the smallest access that may go to shared memory."""
    sizes = {_WIDEST}
    for function in functions:
        for instruction in function.instructions:
            if instruction.opcode in {"ld", "ldu", "st", "atom", "red"}:
                spaces = {m for m in instruction.modifiers if m.split("::")[0] in _SPACES}
                kinds = [TYPES[m] for m in instruction.modifiers if m in TYPES]
                if kinds and (not spaces or spaces & SHARED_SPACES):
                    sizes.add(kinds[-1].size)
            elif instruction.opcode == "cp":
                sizes.add(4)
    return min(sizes)


_SPACES = frozenset({"global", "const", "shared", "local", "param"})
_WIDEST = 8


def _attributes(
    module: Module, entry: Function, functions: list[Function], shared: SharedLayout
) -> Attributes:
    bound = entry.reqntid or entry.maxntid
    version = module.version.split(".")
    target = "".join(c for c in module.target if c.isdigit())
    return Attributes(
        max_threads_per_block=min(MAX_THREADS, prod(bound)) if bound else MAX_THREADS,
        shared_bytes=shared.size,
        constant_bytes=space_bytes(module.variables.values(), "const"),
        local_bytes=max(space_bytes(f.variables.values(), "local") for f in functions),
        registers=min(255, len(entry.registers)),
        ptx_version=10 * int(version[0]) + int(version[1]),
        binary_version=int(target or 0),
    )

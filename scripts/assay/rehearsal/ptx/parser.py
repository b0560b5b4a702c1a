"""PTX text to a ``Module`` (PTX ISA 9.0, chapters 4 and 11)."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..errors import PtxError
from .body import Body, body
from .declarations import SPACES, parameters, variables
from .lexer import Tokens
from .operands import SPECIAL
from .values import (
    Address,
    Function,
    Group,
    Instruction,
    Label,
    Module,
    Operand,
    Pair,
    Parameter,
    Symbol,
    Variable,
    Vector,
)

_LINKING = frozenset({".extern", ".visible", ".weak", ".common"})
_COUNTED = frozenset({".maxnreg", ".minnctapersm", ".maxnctapersm", ".maxclusterrank", ".abi_preserve"})
_MAX_ENTRIES = 1 << 16


@dataclass
class _Parts:
    """A module that is being read."""

    version: str = ""
    target: str = ""
    functions: dict[str, Function] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    files: dict[int, str] = field(default_factory=dict)


def parse(text: str, seconds: float = 30.0) -> Module:
    """Return the module that a PTX text describes.

    Args:
        text: PTX, as ``nvcc -ptx`` or NVRTC write it; a final NUL is ignored.
        seconds: how long it may take.

    Raises:
        PtxError: it is no PTX, or declares what this interpreter does not know.  Instructions are looked at
            only when they are executed: one that cannot be run does no harm in a kernel that never reaches
                it.
    """
    tokens = Tokens(text.rstrip("\0"), seconds)
    parts = _Parts()
    while tokens.ahead.kind != "end":
        _module_statement(tokens, parts)
        tokens.taken.clear()
    if not parts.version:
        raise PtxError(1, "", "no PTX: there is no .version")
    return _module(parts)


def _module(parts: _Parts) -> Module:
    for function in parts.functions.values():
        _check_names(function, parts)
    entries = {name: f for name, f in parts.functions.items() if f.entry}
    functions = {name: f for name, f in parts.functions.items() if not f.entry}
    return Module(parts.version, parts.target, entries, functions, parts.variables, parts.files)


def _module_statement(tokens: Tokens, parts: _Parts) -> None:
    word = tokens.kind("dotted", "a directive")
    if not parts.version and word != ".version":
        raise tokens.error("PTX begins with .version")
    linking = set()
    while word in _LINKING:
        linking.add(word)
        word = tokens.kind("dotted", "a directive")
    if word in SPACES:
        for variable in variables(tokens, word[1:], external=".extern" in linking):
            _add_variable(tokens, parts, variable)
    elif word in {".entry", ".func"}:
        _add_function(tokens, parts, _function(tokens, entry=word == ".entry"))
    else:
        _small(tokens, parts, word)


def _small(tokens: Tokens, parts: _Parts, word: str) -> None:
    """Read a directive that is neither a variable nor a function."""
    if word == ".version":
        parts.version = tokens.kind("float", "a version")
    elif word == ".target":
        parts.target = tokens.kind("name", "a target")
        while tokens.take(","):
            tokens.kind("name", "a target's option")
    elif word == ".address_size":
        if tokens.number() != _ADDRESS_BITS:
            raise tokens.error("only 64-bit addresses are supported")
    elif word == ".file":
        _file(tokens, parts)
    elif word == ".section":
        _section(tokens)
    elif word in {".pragma", ".alias"}:
        _until(tokens, ";")
    else:
        raise tokens.error(f"the directive `{word}` is not known")


_ADDRESS_BITS = 64


def _file(tokens: Tokens, parts: _Parts) -> None:
    number = tokens.number()
    parts.files[number] = tokens.kind("string", "a path")[1:-1].replace('\\"', '"').replace("\\\\", "\\")
    while tokens.take(","):
        tokens.number()


def _section(tokens: Tokens) -> None:
    """Go past debug data: with -lineinfo there are only the names of inlined functions."""
    tokens.next()
    tokens.expect("{")
    _until(tokens, "}")


def _until(tokens: Tokens, mark: str) -> None:
    while not tokens.take(mark):
        if tokens.next().kind == "end":
            raise tokens.error(f"`{mark}` expected")
        tokens.taken.clear()


def _add_variable(tokens: Tokens, parts: _Parts, variable: Variable) -> None:
    before = parts.variables.get(variable.name)
    if before is not None and not before.external and not variable.external:
        raise tokens.error(f"`{variable.name}` is declared twice")
    if before is None or before.external:
        parts.variables[variable.name] = variable


def _add_function(tokens: Tokens, parts: _Parts, function: Function) -> None:
    before = parts.functions.get(function.name)
    if before is not None and before.defined and function.defined:
        raise tokens.error(f"`{function.name}` is defined twice")
    if len(parts.functions) >= _MAX_ENTRIES:
        raise tokens.error("too many functions")
    if before is None or not before.defined:
        parts.functions[function.name] = function


def _function(tokens: Tokens, *, entry: bool) -> Function:
    line = tokens.ahead.line
    returns: tuple[Parameter, ...] = ()
    if not entry and tokens.at("("):
        returns, _ = parameters(tokens)
    name = tokens.kind("name", "a function's name")
    given: tuple[Parameter, ...] = ()
    size = 0
    if tokens.at("("):
        given, size = parameters(tokens)
    bounds = _bounds(tokens)
    if tokens.take(";"):
        return Function(name, entry, given, size, returns, defined=False, line=line)
    found = body(tokens, tuple(p.name for p in (*given, *returns)))
    return _defined(Function(name, entry, given, size, returns, line=line), found, bounds)


def _defined(head: Function, found: Body, bounds: dict[str, tuple[int, int, int]]) -> Function:
    return Function(
        name=head.name,
        entry=head.entry,
        parameters=head.parameters,
        parameter_bytes=head.parameter_bytes,
        returns=head.returns,
        registers=tuple(found.names.types),
        variables=found.names.variables,
        instructions=tuple(found.instructions),
        labels=found.labels,
        tables=found.tables,
        maxntid=bounds.get(".maxntid"),
        reqntid=bounds.get(".reqntid"),
        line=head.line,
    )


def _bounds(tokens: Tokens) -> dict[str, tuple[int, int, int]]:
    """Read the directives between a head and its body (section 11.4)."""
    bounds: dict[str, tuple[int, int, int]] = {}
    while tokens.ahead.kind == "dotted":
        word = tokens.next().text
        if word in {".maxntid", ".reqntid", ".reqnctapercluster", ".explicitcluster"}:
            if word != ".explicitcluster":
                bounds[word] = _triple(tokens)
        elif word in _COUNTED:
            tokens.number()
        elif word == ".pragma":
            _until(tokens, ";")
        elif word not in {".noreturn", ".blocksareclusters"}:
            raise tokens.error(f"the directive `{word}` is not known before a body")
    return bounds


def _triple(tokens: Tokens) -> tuple[int, int, int]:
    numbers = [tokens.number()]
    while len(numbers) < len("xyz") and tokens.take(","):
        numbers.append(tokens.number())
    x, y, z = (*numbers, 1, 1)[:3]
    return x, y, z


def _check_names(function: Function, parts: _Parts) -> None:
    """Refuse names that nothing declares: labels, variables and functions."""
    known = {*function.variables, *(p.name for p in (*function.parameters, *function.returns))}
    for instruction in function.instructions:
        for item in instruction.operands:
            _check_operand(item, instruction, function, known, parts)
    for table in function.tables.values():
        for target in table:
            if target not in function.labels:
                raise PtxError(function.line, function.name, f"the label `{target}` is not there")


def _check_operand(
    item: Operand, instruction: Instruction, function: Function, known: set[str], parts: _Parts
) -> None:
    if isinstance(item, Label):
        if item.name not in function.labels:
            raise PtxError(instruction.line, instruction.text, f"the label `{item.name}` is not there")
    elif isinstance(item, (Vector, Group)):
        for element in item.elements:
            _check_operand(element, instruction, function, known, parts)
    elif isinstance(item, Pair):
        _check_operand(item.first, instruction, function, known, parts)
        _check_operand(item.second, instruction, function, known, parts)
    elif isinstance(item, Address):
        if isinstance(item.base, Symbol):
            _check_symbol(item.base.name, instruction, function, known, parts)
    elif isinstance(item, Symbol):
        _check_symbol(item.name, instruction, function, known, parts)


def _check_symbol(
    name: str, instruction: Instruction, function: Function, known: set[str], parts: _Parts
) -> None:
    if name in known or name in parts.variables or name in parts.functions or name in SPECIAL:
        return
    if name in function.labels or name in function.tables or instruction.opcode in _NAMED_LATER:
        return
    raise PtxError(instruction.line, instruction.text, f"`{name}` is not declared")


_NAMED_LATER = frozenset({"call", "tex", "tld4", "suld", "sust", "txq", "suq"})
"""Their operands may be prototypes, textures and surfaces; they are refused by name when executed."""

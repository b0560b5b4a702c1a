"""Requests as immutable values, parsed strictly: what is unknown, doubled or of another type is refused."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from .document import loads
from .failures import RequestError
from .runtimes import NAMES
from .words import WORD

RUN = "assay/chain-run/1"
COMPILE = "assay/chain-compile/1"

NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")
FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,63}")
ENTRY = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
ARCHITECTURE = re.compile(r"sm_[0-9]{2,3}")
SOURCE = re.compile(r"[\t\n\r\x20-\x7e]+")
"""PyCUDA writes a kernel's source in the locale's encoding, so only ASCII gives the same bytes everywhere."""

INPUTS = ("canonical", "fresh")
"""The value sets that every chain runs on, as requests and results name them."""

MOST_EACH = 64
"""Most values that one thread may compute."""

BACKENDS = ("Vulkan", "D3D12", "Metal", "OpenGL")

T = TypeVar("T")


@dataclass(frozen=True)
class Stage:
    """One step: ``text`` is the kernel's source, ``input`` is ``previous`` or ``values``.

    ``each`` is how many values one thread computes.
    """

    name: str
    runtime: str
    source: str
    text: str
    entry: str
    input: str
    each: int = 1


@dataclass(frozen=True)
class Chain:
    """Ordered stages over float32 values given as words (empty where only compiled)."""

    name: str
    stages: tuple[Stage, ...]
    canonical: tuple[str, ...] = ()
    fresh: tuple[str, ...] = ()

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Return the runtimes of the stages, each once, in order of first use."""
        return tuple(dict.fromkeys(stage.runtime for stage in self.stages))

    def values(self, name: str) -> tuple[str, ...]:
        """Return the words of the value set ``name``, one of ``INPUTS``."""
        return {"canonical": self.canonical, "fresh": self.fresh}[name]


@dataclass(frozen=True)
class Adapter:
    """Which wgpu adapter is wanted.

    Attributes:
        backend: one of ``BACKENDS``; no other is enabled.
        vendor: PCI vendor number.
        software: parts of adapter names that may be taken although they are not of ``vendor``.
    """

    backend: str
    vendor: int
    software: tuple[str, ...]


@dataclass(frozen=True)
class RunRequest:
    """What ``run`` does; ``ordinal`` is CUDA's number of the device."""

    architecture: str
    nvcc: str
    ordinal: int
    adapter: Adapter | None
    chains: tuple[Chain, ...]

    @property
    def runtimes(self) -> tuple[str, ...]:
        """Return the runtimes that the stages name, in order of first use."""
        return tuple(dict.fromkeys(name for chain in self.chains for name in chain.runtimes))


@dataclass(frozen=True)
class CompileRequest:
    """What ``compile`` makes."""

    architectures: tuple[str, ...]
    nvcc: str
    chains: tuple[Chain, ...]


def parse_run(data: bytes) -> RunRequest:
    """Parse a request of ``run``.

    Raises:
        RequestError: it is wrong, with the dotted path of the key.
    """
    table = document(data, RUN)
    request = RunRequest(
        architecture=table.text("architecture", ARCHITECTURE),
        nvcc=table.text("nvcc"),
        ordinal=table.number("ordinal", 255),
        adapter=adapter(table.value("adapter"), "adapter"),
        chains=table.each("chains", valued_chain),
    )
    table.finish()
    _check_chains(request.chains)
    if request.adapter is None and "wgpu" in request.runtimes:
        raise RequestError("adapter", "is null although a stage uses wgpu")
    return request


def parse_compile(data: bytes) -> CompileRequest:
    """Parse a request of ``compile``.

    Raises:
        RequestError: it is wrong, with the dotted path of the key.
    """
    table = document(data, COMPILE)
    request = CompileRequest(
        architectures=table.each("architectures", lambda value, path: _text(value, path, ARCHITECTURE)),
        nvcc=table.text("nvcc"),
        chains=table.each("chains", _chain),
    )
    table.finish()
    _check_chains(request.chains)
    _check_unique(request.architectures, "architectures")
    return request


class Table:
    """An object of the request, read key by key and finished."""

    def __init__(self, value: object, path: str) -> None:
        if not isinstance(value, Mapping):
            raise RequestError(path, "is not an object")
        self._value = value
        self._unread = set(value)
        self.path = path

    def at(self, key: str) -> str:
        """Return the dotted path of a key."""
        return f"{self.path}.{key}" if self.path else key

    def has(self, key: str) -> bool:
        """Say whether a key is there."""
        return key in self._value

    def value(self, key: str) -> object:
        """Return a key's value."""
        if key not in self._value:
            raise RequestError(self.at(key), "is missing")
        self._unread.discard(key)
        value: object = self._value[key]
        return value

    def text(self, key: str, match: re.Pattern[str] | None = None) -> str:
        """Return a text, not empty, that matches wholly."""
        return _text(self.value(key), self.at(key), match)

    def one_of(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return one of the allowed texts."""
        text = self.text(key)
        if text not in allowed:
            raise RequestError(self.at(key), f"is {text!r}, not one of {', '.join(allowed)}")
        return text

    def number(self, key: str, most: int) -> int:
        """Return an integer from 0 to ``most``."""
        value = self.value(key)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise RequestError(self.at(key), f"is not an integer from 0 to {most}")
        return value

    def each(self, key: str, read: Callable[[object, str], T], *, empty: bool = False) -> tuple[T, ...]:
        """Return a list, each element read; it may be empty only where that is said."""
        value = self.value(key)
        if not isinstance(value, list) or not (value or empty):
            raise RequestError(self.at(key), "is not a list with elements")
        return tuple(read(element, f"{self.at(key)}.{index}") for index, element in enumerate(value))

    def finish(self) -> None:
        """Refuse keys that nobody read."""
        if self._unread:
            raise RequestError(self.at(str(min(self._unread))), "is not a known key")


def document(data: bytes, schema: str) -> Table:
    """Return a request's table after its schema was checked."""
    table = Table(loads(data), "")
    table.one_of("schema", (schema,))
    return table


def _text(value: object, path: str, match: re.Pattern[str] | None = None) -> str:
    """Return a text that is not empty and matches wholly."""
    if not isinstance(value, str) or not value:
        raise RequestError(path, "is not a text")
    if match and not match.fullmatch(value):
        raise RequestError(path, f"is {value[:60]!r}, not like {match.pattern}")
    return value


def adapter(value: object, path: str) -> Adapter | None:
    """Read the wanted adapter."""
    if value is None:
        return None
    table = Table(value, path)
    adapter = Adapter(
        backend=table.one_of("backend", BACKENDS),
        vendor=table.number("vendor", 0xFFFF_FFFF),
        software=table.each("software", _text, empty=True),
    )
    table.finish()
    return adapter


def valued_chain(value: object, path: str) -> Chain:
    """Read a chain with its values."""
    table = Table(value, path)
    chain = Chain(
        name=table.text("name", NAME),
        stages=table.each("stages", _stage),
        canonical=table.each("canonical", _word),
        fresh=table.each("fresh", _word),
    )
    table.finish()
    return chain


def _chain(value: object, path: str) -> Chain:
    """Read a chain that is only compiled."""
    table = Table(value, path)
    chain = Chain(table.text("name", NAME), table.each("stages", _stage))
    table.finish()
    return chain


def _stage(value: object, path: str) -> Stage:
    """Read one stage."""
    table = Table(value, path)
    stage = Stage(
        name=table.text("name", NAME),
        runtime=table.one_of("runtime", NAMES),
        source=table.text("source", FILE),
        text=_source(table.value("text"), table.at("text")),
        entry=table.text("entry", ENTRY),
        input=table.one_of("input", ("previous", "values")),
        each=table.number("each", MOST_EACH) if table.has("each") else 1,
    )
    table.finish()
    if not stage.each:
        raise RequestError(table.at("each"), "is 0")
    return stage


def _source(value: object, path: str) -> str:
    """Read a kernel's source."""
    text = _text(value, path)
    if not SOURCE.fullmatch(text):
        raise RequestError(path, "is not ASCII text, so its bytes would depend on the locale")
    return text


def _word(value: object, path: str) -> str:
    """Read one float32 word."""
    return _text(value, path, WORD)


def _check_chains(chains: tuple[Chain, ...]) -> None:
    """Refuse doubled names, and a first stage that continues nothing."""
    _check_unique(tuple(chain.name for chain in chains), "chains")
    for number, chain in enumerate(chains):
        path = f"chains.{number}.stages"
        _check_unique(tuple(stage.name for stage in chain.stages), path)
        if chain.stages[0].input != "values":
            raise RequestError(f"{path}.0.input", "is 'previous', but nothing comes before it")


def _check_unique(names: tuple[str, ...], path: str) -> None:
    """Refuse a name that stands twice."""
    if len(set(names)) != len(names):
        raise RequestError(path, "names one twice")

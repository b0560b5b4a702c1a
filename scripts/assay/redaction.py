"""Roots paths and redacts secrets before anything is judged or written (law 9).

One compiled pattern does both, on bytes, so that a log of any length streams through it: absolute paths
below a named root become ``$NAME/…``; values of secret-like variables (6 bytes or more), and other values
of 12 bytes or more that are neither listed nor paths, become ``[redacted]``.  Shorter secrets and user and
host names are never text-replaced: that destroys logs and protects nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from assay.model import Json

RULES = 1
"""Version of these rules, named in every receipt."""

MARK = b"[redacted]"

SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|PRIVATE|API_?KEY|ACCESS_?KEY|AUTH|COOKIE|SIGNING_?KEY|SESSION_?(?:ID|KEY|TOKEN)",
    re.IGNORECASE,
)
SHORTEST_SECRET = 6
SHORTEST_OTHER = 12

LISTED = frozenset(
    {
        *("PATH", "HOME", "PWD", "OLDPWD", "SHELL", "TERM", "COLORTERM", "LANG", "LANGUAGE", "TZ", "TMPDIR"),
        *("CC", "CXX", "CUDAHOSTCXX", "NVCC_CCBIN", "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"),
        *("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT", "CUDA_VERSION", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER"),
        *("NVIDIA_VISIBLE_DEVICES", "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_PRODUCT_NAME", "DEBIAN_FRONTEND"),
        *("LD_LIBRARY_PATH", "LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "WGPU_BACKEND_TYPE"),
        *("BUN_PYTHON_EXECUTABLE", "BUN_PYTHON_LIBPYTHON", "BUN_PYTHON_HOST_LIBRARY", "BUV_RUNTIME_LIB"),
        *("USER", "LOGNAME", "HOSTNAME", "USERNAME", "COMPUTERNAME", "SOURCE_DATE_EPOCH"),
    }
)
"""Variables whose values are facts of a machine and may stand in a log (names of people are law 9's
exception: replacing them as text destroys logs)."""

_LISTED_PREFIX = ("LC_", "VK_", "XDG_")
_PATHLIKE = re.compile(r"(?:[A-Za-z]:)?[/\\.~]|file:")
_LEFT = re.compile(rb"[A-Za-z0-9_.\-/\\$]")
_OPTIONS = (b"-I", b"-L", b"-B")
_RIGHT = re.compile(rb"[A-Za-z0-9_\-]|\.[A-Za-z0-9]")
_BEHIND = 2
"""Bytes looked at before a path: one that continues it to the left, or a compiler's option against it."""

_NEVER_ROOTS = frozenset({"/", "/usr", "/usr/local", "/opt", "/home", "/bin", "/lib", "/tmp", ""})  # noqa: S108  # names, not files
"""Folders that hold a whole system: rooting them would call every system library part of a selection."""


@dataclass(frozen=True)
class Redactor:
    """A compiled set of replacements.

    Attributes:
        pattern: finds where a literal may stand, or None where nothing is replaced.
        replacements: replacement by literal, the longest literal first.
        longest: bytes of the longest literal.
        roots: the name of every root with its absolute paths, longest path first.
    """

    pattern: re.Pattern[bytes] | None
    replacements: Mapping[bytes, bytes]
    longest: int
    roots: tuple[tuple[str, str], ...]

    def data(self, data: bytes) -> tuple[bytes, int]:
        """Return the bytes redacted, and how many redactions (not rootings) were made."""
        redacted, count, _ = self.part(data, 0, len(data))
        return redacted, count

    def part(self, data: bytes, start: int, stop: int) -> tuple[bytes, int, int]:
        """Redact from ``start`` everything that begins before ``stop``.

        Returns:
            the redacted bytes, the number of redactions, and where the rest begins.
        """
        parts, position, count = [], start, 0
        for at, literal in self._found(data, start, stop):
            replacement = self.replacements[literal]
            count += replacement == MARK
            parts += [data[position:at], replacement]
            position = at + len(literal)
        rest = max(position, stop)
        return b"".join([*parts, data[position:rest]]), count, rest

    def _found(self, data: bytes, start: int, stop: int) -> Iterator[tuple[int, bytes]]:
        """Yield where a literal stands that is to be replaced, from left to right."""
        position = start
        while self.pattern and (match := self.pattern.search(data, position)) and match.start() < stop:
            literal = self._fitting(data, match.start())
            if literal is not None:
                yield match.start(), literal
            position = match.start() + (len(literal) if literal else 1)

    def _fitting(self, data: bytes, at: int) -> bytes | None:
        """Return the longest literal at a place; a root's path must stand there as whole path parts."""
        for literal, replacement in self.replacements.items():
            if data.startswith(literal, at) and (replacement == MARK or _is_whole(data, at, len(literal))):
                return literal
        return None

    def text(self, text: str) -> tuple[str, int]:
        """Return the text redacted, and the number of redactions."""
        data, count = self.data(_bytes(text))
        return data.decode("utf-8", "replace"), count

    def json(self, value: Json) -> tuple[Json, int]:
        """Return a JSON value with every string and key redacted, and the number of redactions."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._object(value)
        if isinstance(value, list | tuple):
            parts = [self.json(part) for part in value]
            return [part for part, _ in parts], sum(count for _, count in parts)
        return value, 0

    def _object(self, value: Mapping[str, Json]) -> tuple[Json, int]:
        """Return an object redacted, and the number of redactions."""
        done: dict[str, Json] = {}
        total = 0
        for key, part in value.items():
            name, first = self.text(key)
            done[name], second = self.json(part)
            total += first + second
        return done, total


class RedactingStream:
    """Redacts a stream chunk by chunk; nothing that spans two chunks slips through."""

    def __init__(self, redactor: Redactor) -> None:
        """Start an empty stream."""
        self._redactor = redactor
        self._pending = b""
        self._context = b""
        self.count = 0

    def feed(self, chunk: bytes) -> bytes:
        """Return what is certain after ``chunk``; the rest is kept until more comes."""
        self._pending += chunk
        return self._emit(len(self._pending) - self._redactor.longest - _BEHIND)

    def finish(self) -> bytes:
        """Return what was kept."""
        return self._emit(len(self._pending))

    def _emit(self, limit: int) -> bytes:
        """Return the redacted bytes of everything that starts before ``limit``."""
        if limit <= 0:
            return b""
        buffer, offset = self._context + self._pending, len(self._context)
        redacted, count, rest = self._redactor.part(buffer, offset, offset + limit)
        self.count += count
        self._context, self._pending = buffer[max(0, rest - _BEHIND) : rest], buffer[rest:]
        return redacted


def _bytes(text: str) -> bytes:
    """Return text as the bytes it came from (PEP 383), or with its lone surrogates as they are."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def make_redactor(
    environ: Mapping[str, str], roots: Iterable[tuple[str, str]], allowed: Iterable[str] = ()
) -> Redactor:
    """Return the redactor of a run.

    Args:
        environ: the environment of the run.
        roots: names such as ``$TOOLKIT`` with the absolute paths they stand for; the longest one wins.
        allowed: further variables whose values may be shown.
    """
    usable = sorted(
        {(path.rstrip("/\\"), name) for name, path in roots if path.rstrip("/\\") not in _NEVER_ROOTS},
        key=lambda pair: (-len(pair[0]), pair[1]),
    )
    literals = dict.fromkeys(map(_bytes, _secrets(environ, frozenset(allowed))), MARK)
    literals |= {_bytes(path): name.encode() for path, name in reversed(usable)}
    replacements = {
        literal: literals[literal] for literal in sorted(literals, key=lambda text: (-len(text), text))
    }
    # Alternatives that all begin with a literal byte let the engine skip to those bytes: 30 times as fast
    # as a pattern that looks behind at each place.
    pattern = re.compile(b"|".join(map(re.escape, replacements))) if replacements else None
    ordered = tuple((name, path) for path, name in usable)
    return Redactor(pattern, replacements, max(map(len, replacements), default=0), ordered)


def _secrets(environ: Mapping[str, str], allowed: frozenset[str]) -> Iterable[str]:
    """Yield the values that no log may show."""
    for name, value in environ.items():
        if SECRET_NAME.search(name):
            if len(_bytes(value)) >= SHORTEST_SECRET:
                yield value
        elif not _is_listed(name, allowed) and _is_long(value) and not _PATHLIKE.match(value):
            yield value


def _is_listed(name: str, allowed: frozenset[str]) -> bool:
    """Say whether a variable's value may be shown."""
    return name in LISTED or name in allowed or name.startswith(_LISTED_PREFIX)


def _is_long(value: str) -> bool:
    """Say whether a value is long enough to be replaced without destroying a log."""
    return len(_bytes(value)) >= SHORTEST_OTHER


def _is_whole(data: bytes, at: int, length: int) -> bool:
    """Say whether the path at a place is neither the middle nor the beginning of a longer name."""
    before = data[max(0, at - _BEHIND) : at]
    continued = _LEFT.fullmatch(before[-1:]) and before not in _OPTIONS
    return not continued and not _RIGHT.match(data, at + length)

"""Canonical JSON as in RFC 8785, restricted: no floats, and a strict, bounded reader.

A document has one spelling: keys in the order of their UTF-16 code units (RFC 8785, section 3.2.3), no
white space, the shortest escapes (section 3.2.2.2), UTF-8.  Numbers are integers below 2**53 in magnitude,
which every reader of JSON holds exactly (RFC 8259, section 6), so no rule about floats is needed.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import operator
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from assay.errors import BundleError, CanonicalError, NewerSchemaError
from assay.model import Json

LARGEST = 2**53 - 1
"""Largest magnitude of an integer (RFC 8785, section 3.2.2.3; RFC 7493, section 2.2)."""

DEPTH = 32
"""Deepest nesting of objects and arrays; a scalar has depth 0."""

DOCUMENT_BYTES = 1 << 20
"""Largest document that is read where the caller says nothing else."""

DOCUMENT_NODES = 1 << 17
"""Most values in a document: Python needs up to about 100 bytes for one that takes three bytes of JSON."""

_DIGITS = len(str(LARGEST)) + 1
_SHOWN = 40
"""Characters of a hostile value that an error quotes."""

_INTEGERS = "integers only"
_SURROGATE = re.compile("[\ud800-\udfff]")
_BEYOND_SURROGATES = re.compile("[\ue000-\U0010ffff]")
"""Only from U+E000 on does the order of code points differ from the order of UTF-16 code units."""

_SCHEMA = re.compile(r"assay/([a-z][a-z-]{0,30})/([1-9][0-9]{0,8})")


def dumps(value: Json) -> bytes:
    """Return the one canonical spelling of ``value`` (UTF-8).

    Raises:
        CanonicalError: a float, an integer of 2**53 or more, a lone surrogate, a key that is not a string, a
            nesting deeper than 32, or something that JSON has no form for; named by its dotted path.
    """
    return _spelled(_ordered(value, (), 0))


def digest(value: Json) -> str:
    """Return the SHA-256 (hex) of the canonical spelling.

    Raises:
        CanonicalError: as ``dumps``.
    """
    return hashlib.sha256(dumps(value)).hexdigest()


def loads(data: bytes, *, member: str = "", limit: int = DOCUMENT_BYTES, nodes: int = DOCUMENT_NODES) -> Json:
    """Read a canonical document; any other spelling of the same value is refused.

    Args:
        data: the document.
        member: where it stands, for errors.
        limit: most bytes.
        nodes: most values.

    Raises:
        BundleError: as ``parse``, or the bytes are not the canonical spelling.
    """
    value = parse(data, member=member, limit=limit, nodes=nodes)
    spelled = _spelled(value)
    if spelled != data:
        at = _first_difference(spelled, data)
        expected = "sorted keys, no spaces, shortest escapes"
        _refuse(member, "", f"is not canonical JSON from byte {at} on", expected)
    return value


def parse(data: bytes, *, member: str = "", limit: int = DOCUMENT_BYTES, nodes: int = DOCUMENT_NODES) -> Json:
    """Read a document strictly, in any spelling: one value, unique keys, integers only, bounded.

    Objects are returned with their keys in canonical order.

    Raises:
        BundleError: it is too large or too deep, is not UTF-8 or not JSON, or holds a doubled key, a float,
            a NaN, an integer of 2**53 or more or a lone surrogate.
    """
    _check_bounds(data, member, limit, nodes)
    try:
        value: Json = json.loads(
            data.decode(),
            object_pairs_hook=lambda pairs: _object(pairs, member),
            parse_int=lambda digits: _integer(digits, member),
            parse_float=lambda number: _refuse(member, "", f"has the number {number[:_SHOWN]}", _INTEGERS),
            parse_constant=lambda name: _refuse(member, "", f"has {name}", _INTEGERS),
        )
        return _ordered(value, (), 0)
    except UnicodeDecodeError as error:
        _refuse(member, "", f"is not UTF-8 at byte {error.start}", "UTF-8")
    except json.JSONDecodeError as error:
        _refuse(member, "", f"is not JSON: {error.msg} at character {error.pos}", "one JSON value")
    except RecursionError:
        _refuse(member, "", "is nested too deeply", f"at most {DEPTH} levels")
    except CanonicalError as error:
        _refuse(member, error.path, error.fault, error.expected)


def read_object(
    data: bytes, kind: str, *, member: str, limit: int = DOCUMENT_BYTES, nodes: int = DOCUMENT_NODES
) -> Mapping[str, Json]:
    """Read a canonical document of schema ``assay/<kind>/1`` and return it without its ``schema``.

    Raises:
        NewerSchemaError: it has a newer schema: the reader has to be updated.
        BundleError: as ``loads``, or it is not an object of that kind.
    """
    document = loads(data, member=member, limit=limit, nodes=nodes)
    if not isinstance(document, Mapping):
        _refuse(member, "", "is not an object", f"an object with schema assay/{kind}/1")
    check_schema(document.get("schema"), kind, member=member)
    return {key: value for key, value in document.items() if key != "schema"}


def check_schema(schema: Json, kind: str, *, member: str, newest: int = 1) -> int:
    """Return the version of the schema ``assay/<kind>/<version>``.

    Raises:
        NewerSchemaError: the version is above ``newest``.
        BundleError: it is no schema of that kind.
    """
    match = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if match is None or match[1] != kind:
        _refuse(member, "schema", f"is {_short(schema)}", f'"assay/{kind}/{newest}"')
    if int(match[2]) > newest:
        raise NewerSchemaError(
            f"has schema {match[0]}",
            f"at most assay/{kind}/{newest}",
            "update assay",
            member=member,
            field="schema",
        )
    return int(match[2])


def _check_bounds(data: bytes, member: str, limit: int, nodes: int) -> None:
    """Refuse what would cost too much to look into.

    Every value but the first follows a ``[``, ``{`` or ``,`` (or a ``:``, whose key does), so their number
    bounds the number of values; those inside strings only make the bound stricter.
    """
    if len(data) > limit:
        _refuse(member, "", f"is {len(data)} bytes long", f"at most {limit} bytes")
    if (found := count_nodes(data)) > nodes:
        _refuse(member, "", f"has up to {found} values", f"at most {nodes} values")


def count_nodes(data: bytes) -> int:
    """Return an upper bound of the number of a document's values, without reading it."""
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _first_difference(ours: bytes, theirs: bytes) -> int:
    """Return the offset of the first byte that differs."""
    pairs = enumerate(zip(ours, theirs, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(ours), len(theirs)))


def _spelled(ordered: Json) -> bytes:
    """Return the spelling of a value whose keys are in order."""
    text = json.dumps(
        ordered, ensure_ascii=False, allow_nan=False, check_circular=False, separators=(",", ":")
    )
    return text.encode()


def _object(pairs: list[tuple[str, Json]], member: str) -> dict[str, Json]:
    """Return an object whose keys are unique."""
    made = dict(pairs)
    if len(made) != len(pairs):
        doubled = next(
            one for one, other in itertools.pairwise(sorted(key for key, _ in pairs)) if one == other
        )
        _refuse(member, "", f"has the key {_short(doubled)} twice", "unique keys")
    return made


def _integer(digits: str, member: str) -> int:
    """Return an integer below 2**53; longer ones are never converted (that takes quadratic time)."""
    if len(digits) > _DIGITS or abs(int(digits)) > LARGEST:
        _refuse(member, "", f"has the integer {digits[:_SHOWN]}", "a magnitude below 2^53")
    return int(digits)


def _ordered(value: Json, path: tuple[str | int, ...], depth: int) -> Json:
    """Return ``value`` with its keys in canonical order, after checking that it has a canonical form.

    What is in order already is returned as it is, so that reading a document does not take its room twice.
    """
    if value is None or isinstance(value, str | int):
        return _scalar(value, path)
    if depth >= DEPTH:
        raise CanonicalError(path, "is nested too deeply", f"at most {DEPTH} levels")
    if isinstance(value, Mapping):
        keys = _sorted_keys(value, path)
        parts = [_ordered(value[key], (*path, key), depth + 1) for key in keys]
        same = type(value) is dict and list(value) == keys and all(map(operator.is_, parts, value.values()))
        return value if same else dict(zip(keys, parts, strict=True))
    if isinstance(value, list | tuple):
        if _is_plain(value):
            return list(value) if isinstance(value, tuple) else value
        parts = [_ordered(part, (*path, number), depth + 1) for number, part in enumerate(value)]
        return value if type(value) is list and all(map(operator.is_, parts, value)) else parts
    kind = type(value).__name__
    raise CanonicalError(path, f"is of type {kind}", "an object, list, string, integer, boolean or null")


def _is_plain(value: Sequence[Json]) -> bool:
    """Say quickly of a list of strings or of integers that each has a canonical form: long lists are such."""
    kinds = set(map(type, value))
    if kinds == {str}:
        return "".join(value).isascii()  # type: ignore[arg-type]  # strings
    if kinds == {int}:
        return -LARGEST <= min(value) <= max(value) <= LARGEST  # type: ignore[type-var,operator]  # integers
    return False


def _scalar(value: str | int | None, path: tuple[str | int, ...]) -> Json:
    """Return a string, integer (a boolean is one) or None that has a canonical form."""
    if isinstance(value, str):
        if not value.isascii() and _SURROGATE.search(value):
            raise CanonicalError(path, "has a lone surrogate", "Unicode scalar values")
    elif value is not None and abs(value) > LARGEST:
        raise CanonicalError(path, "is an integer of 2^53 or more", "a magnitude below 2^53")
    return value


def _sorted_keys(value: Mapping[str, Json], path: tuple[str | int, ...]) -> list[str]:
    """Return the keys in the order of their UTF-16 code units."""
    keys = list(value)
    for key in keys:
        if not isinstance(key, str):
            raise CanonicalError(path, f"has a key of type {type(key).__name__}", "strings as keys")
        if not key.isascii() and _SURROGATE.search(key):
            raise CanonicalError(path, "has a lone surrogate in a key", "Unicode scalar values")
    if any(not key.isascii() and _BEYOND_SURROGATES.search(key) for key in keys):
        return sorted(keys, key=lambda key: key.encode("utf-16-be"))
    return sorted(keys)


def _short(value: Json) -> str:
    """Return a hostile value in ASCII, cut to a length that fits into an error."""
    if isinstance(value, str):
        return ascii(value[:_SHOWN])
    return str(value) if isinstance(value, int) else f"a {type(value).__name__}"


def _refuse(member: str, field: str, observed: str, expected: str) -> NoReturn:
    """Raise the error of a broken document."""
    raise BundleError(observed, expected, "ask for an unaltered copy", member=member, field=field)

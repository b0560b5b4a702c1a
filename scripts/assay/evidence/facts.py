"""Facts on their way into a receipt and out again: settled, long lists put aside, and found again.

A list of over 1,000 entries becomes an artifact ``{"entries": […], "schema": "assay/list/1"}``; in its place
the facts hold the reference ``{"entries": n, "list_sha256": "…"}``, with the artifact's SHA-256.  A list
inside such a list stays where it is, so that a reader never follows a reference to a reference.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import NoReturn

from assay import canonical
from assay.errors import BundleError, CanonicalError, GateError
from assay.evidence.names import LISTS_BYTES, LISTS_NODES, MAX_LIST, SHA256, artifact_name
from assay.model import Facts, Json

REFERENCE = "list_sha256"
_FIELDS = frozenset({"entries", REFERENCE})
_SCHEMA = "assay/list/1"
_WIDE = 3
"""How much more a byte of text beyond ASCII counts: Python may take four bytes for each of its characters."""


def settle(facts: Facts) -> Facts:
    """Return the facts as a reader will see them: lists for tuples, keys in canonical order.

    What is judged in the run must be what is judged by every reader, so judge these.

    Raises:
        GateError: a fact has no canonical form, or its name is kept for references.
    """
    try:
        settled = canonical.parse(canonical.dumps(facts), limit=LISTS_BYTES, nodes=LISTS_NODES)
    except (BundleError, CanonicalError) as error:
        raise GateError(
            f"facts: {error.observed}", error.expected, "report this defect of the gate"
        ) from error
    if not isinstance(settled, Mapping):
        raise GateError("facts: the value is not an object", "an object", "report this defect of the gate")
    _refuse_references(settled, ())
    return settled


def spill(facts: Facts) -> tuple[Facts, dict[str, bytes]]:
    """Return the facts with each long list replaced by a reference, and the artifacts by SHA-256 (hex).

    Raises:
        GateError: as ``settle``, or the lists together are larger than a reader allows.
    """
    artifacts: dict[str, bytes] = {}
    short = {key: _shorten(value, artifacts) for key, value in settle(facts).items()}
    try:
        expand(short, artifacts.__getitem__)
    except BundleError as error:
        raise GateError(error.observed, error.expected, "record less, or a digest of it") from error
    return short, artifacts


def _shorten(value: Json, artifacts: dict[str, bytes]) -> Json:
    """Return a fact with each long list put aside among the artifacts."""
    if isinstance(value, Mapping):
        return {key: _shorten(part, artifacts) for key, part in value.items()}
    if not isinstance(value, list):
        return value
    if len(value) <= MAX_LIST:
        return [_shorten(part, artifacts) for part in value]
    data = canonical.dumps({"entries": value, "schema": _SCHEMA})
    sha256 = hashlib.sha256(data).hexdigest()
    artifacts[sha256] = data
    return {"entries": len(value), REFERENCE: sha256}


def expand(facts: Facts, read: Callable[[str], bytes], *, member: str = "") -> Facts:
    """Return the facts with each reference replaced by its list.

    Args:
        facts: as they stand in a receipt.
        read: returns the bytes of the artifact of that SHA-256.
        member: the receipt, for errors.

    Raises:
        BundleError: a reference or its artifact is not what it should be, a list in the receipt is too long,
            or the lists together are too large.
    """
    room = _Room(read, member)
    return {key: room.lengthen(value, ("facts", key)) for key, value in facts.items()}


class _Room:
    """The lists of one receipt's facts, each read once and all of them bounded together."""

    def __init__(self, read: Callable[[str], bytes], member: str) -> None:
        self._read = read
        self._member = member
        self._lists: dict[str, Sequence[Json]] = {}
        self._bytes = LISTS_BYTES
        self._nodes = LISTS_NODES

    def lengthen(self, value: Json, path: tuple[str, ...]) -> Json:
        """Return a fact with each list in its place."""
        if isinstance(value, Mapping):
            if REFERENCE in value:
                return self._entries(value, path)
            return {key: self.lengthen(part, (*path, key)) for key, part in value.items()}
        if not isinstance(value, list):
            return value
        if len(value) > MAX_LIST:
            self._refuse(path, f"has {len(value)} entries", f"at most {MAX_LIST}, or a reference")
        if {dict, list}.isdisjoint(map(type, value)):
            return value
        return [self.lengthen(part, (*path, str(number))) for number, part in enumerate(value)]

    def _entries(self, reference: Mapping[str, Json], path: tuple[str, ...]) -> Sequence[Json]:
        """Return the list that a reference names."""
        sha256, count = reference[REFERENCE], reference.get("entries")
        if frozenset(reference) != _FIELDS or not isinstance(sha256, str) or not SHA256.fullmatch(sha256):
            self._refuse(path, "is no reference", f'"entries" and "{REFERENCE}"')
        if sha256 not in self._lists:
            self._lists[sha256] = self._list(sha256)
        found = self._lists[sha256]
        if count != len(found) or isinstance(count, bool) or len(found) <= MAX_LIST:
            observed = f"names {count} entries of a list of {len(found)}"
            self._refuse(path, observed, f"as many, over {MAX_LIST}")
        return found

    def _refuse(self, path: tuple[str, ...], observed: str, expected: str) -> NoReturn:
        """Raise the error of a broken fact."""
        raise BundleError(observed, expected, "", member=self._member, field=".".join(path))

    def _list(self, sha256: str) -> Sequence[Json]:
        """Read one list."""
        name = artifact_name(sha256)
        data = self._read(sha256)
        self._nodes -= canonical.count_nodes(data)
        self._bytes -= len(data) * (1 if data.isascii() else _WIDE)
        if self._bytes < 0 or self._nodes < 0:
            expected = f"at most {LISTS_BYTES} bytes and {LISTS_NODES} values a receipt"
            raise BundleError("is one list too many", expected, "", member=name)
        document = canonical.read_object(data, "list", member=name, limit=LISTS_BYTES, nodes=LISTS_NODES)
        entries = document.get("entries")
        if set(document) != {"entries"} or not isinstance(entries, list):
            raise BundleError("is not a list", '"entries" and "schema"', "", member=name)
        return entries


def _refuse_references(value: Json, path: tuple[str, ...]) -> None:
    """Refuse facts that would be read as a reference."""
    if isinstance(value, Mapping):
        if REFERENCE in value:
            raise GateError(
                f"facts: {'.'.join(path)} has a key {REFERENCE}", "another name", "rename the fact"
            )
        for key, part in value.items():
            _refuse_references(part, (*path, key))
    elif isinstance(value, list):
        for number, part in enumerate(value):
            _refuse_references(part, (*path, str(number)))

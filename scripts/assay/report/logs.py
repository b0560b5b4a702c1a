"""Logs, bounded: the first and the last lines, how much there is, and the member that has the rest."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence

from assay.evidence.container import Container
from assay.evidence.names import log_name
from assay.model import Receipt
from assay.report.text import size_text
from assay.report.view import Log

HEAD_BYTES = 4 << 10
TAIL_BYTES = 8 << 10
"""Of a longer log so much is shown from its beginning, and from its end, where a failure's cause stands."""

LINE = 500
"""Characters of one line."""

_COLOURS = re.compile(r"\x1b\[[0-9;:]*m")
"""Select Graphic Rendition (ECMA-48, 8.3.117): it says nothing but how a terminal should look."""

_CUT_END = re.compile(rb"[\xc2-\xf4][\x80-\xbf]{0,2}\Z")
_CUT_START = re.compile(rb"\A[\x80-\xbf]{1,3}")
"""A character of UTF-8 that may have been cut in two (RFC 3629, section 4)."""


def log_of(container: Container, bundle: str, receipt: Receipt) -> Log | None:
    """Return a gate's log, None where it left none.

    Args:
        container: the open bundle.
        bundle: its file's name, for the command that reads the rest.
        receipt: the gate's receipt.
    """
    if receipt.log is None:
        return None
    member = log_name(receipt.gate)
    head, tail, stored = _ends(container, member)
    shown = len(head) + len(tail)
    return Log(
        member=member,
        size=size_text(receipt.log.size),
        head=_lines(head),
        tail=_lines(tail),
        left_out=_left_out(receipt.log.size, stored, shown),
        command=f"tar -xOf {shlex.quote(bundle)} {member}",
    )


def _ends(container: Container, member: str) -> tuple[bytes, bytes, int]:
    """Return the beginning and the end of a log, cut between characters, and its stored size in bytes."""
    size = container.size(member)
    with container.open(member) as stream:
        if size <= HEAD_BYTES + TAIL_BYTES:
            return stream.read(), b"", size
        head = stream.read(HEAD_BYTES)
        stream.seek(size - TAIL_BYTES)
        tail = stream.read()
    return _CUT_END.sub(b"", head), _CUT_START.sub(b"", tail), size


def _left_out(size: int, stored: int, shown: int) -> str:
    """Say what is not shown, ``""`` where nothing is missing."""
    parts: Sequence[str] = (
        f"{size_text(stored - shown)} are left out here" if shown < stored else "",
        f"the bundle keeps {size_text(stored)} of it, its beginning and its end" if stored < size else "",
    )
    return "; ".join(part for part in parts if part)


def _lines(data: bytes) -> tuple[str, ...]:
    r"""Return the lines of a log, colours left out, tabs as spaces, bytes that are no UTF-8 as ``\xNN``."""
    if not data:
        return ()
    text = _COLOURS.sub("", data.decode("utf-8", "backslashreplace"))
    return tuple(_cut(line.rstrip("\r")) for line in text.removesuffix("\n").split("\n"))


def _cut(line: str) -> str:
    """Return a line of bounded length."""
    if len(line) > LINE:
        return f"{line[:LINE].expandtabs()}… ({len(line)} characters)"
    return line.expandtabs()

"""Times as evidence writes them: RFC 3339 in UTC with ``Z`` (FORMATS, "JSON")."""

from __future__ import annotations

import re
from datetime import UTC, datetime

PATTERN = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,9})?Z"
"""RFC 3339, section 5.6, with the offset ``Z`` alone."""


def write_time(moment: datetime) -> str:
    """Return a time as RFC 3339 UTC, in whole seconds.

    Args:
        moment: a time with its zone.
    """
    return f"{moment.astimezone(UTC).replace(microsecond=0, tzinfo=None).isoformat()}Z"


def read_time(text: str) -> datetime:
    """Return the time that ``text`` gives, a fraction of a second cut off.

    Raises:
        ValueError: it is not RFC 3339 UTC, or there is no such day or hour.
    """
    if not re.fullmatch(PATTERN, text):
        msg = f"{text!r} is not RFC 3339 UTC"
        raise ValueError(msg)
    return datetime.fromisoformat(text[:19]).replace(tzinfo=UTC)

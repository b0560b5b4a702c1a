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
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read_time(text: str) -> datetime:
    """Return the time that ``text`` gives, a fraction of a second cut off.

    Raises:
        ValueError: it is not RFC 3339 UTC, or there is no such day or hour.
    """
    if not re.fullmatch(PATTERN, text):
        raise ValueError(text)
    return datetime.strptime(f"{text[:19]}+0000", "%Y-%m-%dT%H:%M:%S%z")

"""Values as a reader reads them: sizes, durations, times, counts; and facts that need not be there."""

from __future__ import annotations

import contextlib

from assay.judge import reading
from assay.judge.reading import MalformedFacts
from assay.model import Facts, Json

_NS = 10**9
_MINUTE_S = 60
_NAME = 80


def size_text(size: int) -> str:
    """Return a size in bytes."""
    return f"{size:,} {'byte' if size == 1 else 'bytes'}"


def memory_text(size: int | None) -> str:
    """Return a size in bytes as GiB, ``""`` where it is not known."""
    return "" if size is None else f"{size / 2**30:.1f} GiB"


def duration_text(duration_ns: int) -> str:
    """Return a duration in nanoseconds as seconds, or minutes and seconds."""
    seconds = duration_ns / _NS
    if seconds < _MINUTE_S:
        return f"{seconds:.3f} s"
    return f"{int(seconds) // _MINUTE_S} min {seconds % _MINUTE_S:.1f} s"


def time_text(moment: str) -> str:
    """Return RFC 3339 UTC as a date and a time."""
    return f"{moment[:10]} {moment[11:19]} UTC"


def count_text(count: int, one: str, many: str = "") -> str:
    """Return a count of something."""
    return f"{count:,} {one if count == 1 else many or f'{one}s'}"


def joined(parts: tuple[str, ...]) -> str:
    """Return words as a list in a sentence."""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}" if parts else ""


def spaced(*parts: str) -> str:
    """Return the parts that there are, in one line."""
    return " ".join(part for part in parts if part)


def shortened(text: str) -> str:
    """Return a name of a length that a sentence bears."""
    return text if len(text) <= _NAME else f"{text[:_NAME]}…"


def text_at(facts: Json, path: str) -> str:
    """Return a string or an integer of the facts, ``""`` where there is none: facts may be anything."""
    with contextlib.suppress(MalformedFacts):
        value = reading.get(facts, path)
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
    return ""


def number_at(facts: Json, path: str) -> int | None:
    """Return an integer of the facts, None where there is none."""
    with contextlib.suppress(MalformedFacts):
        return reading.number(facts, path)
    return None


def objects_at(facts: Json, path: str) -> tuple[Facts, ...]:
    """Return a list of objects of the facts, empty where there is none."""
    with contextlib.suppress(MalformedFacts):
        return reading.objects(facts, path)
    return ()


def texts_at(facts: Json, path: str) -> tuple[str, ...]:
    """Return a list of strings of the facts, empty where there is none."""
    with contextlib.suppress(MalformedFacts):
        return reading.texts(facts, path)
    return ()


def mapping_at(facts: Json, path: str) -> Facts:
    """Return an object of the facts, empty where there is none."""
    with contextlib.suppress(MalformedFacts):
        return reading.mapping(facts, path)
    return {}

"""Which versions one requirement admits and another refuses: exact, over all release numbers there are."""

from __future__ import annotations

import re

from assay.plan.versions import release, satisfies

_NUMBERS = re.compile(r"\d+(?:\.\d+)*")


def admits_more(wide: str, narrow: str) -> str | None:
    """Return a version that ``wide`` admits and ``narrow`` refuses, None where there is none.

    Every clause compares with a release or with all that begin so; between two neighbours of those bounds all
    versions are treated alike, so one of each is enough.
    """
    return next(
        (each for each in _probes(wide, narrow) if satisfies(each, wide) and not satisfies(each, narrow)),
        None,
    )


def _probes(*requirements: str) -> list[str]:
    """Return every bound of the requirements, and one version above and below each."""
    found: set[tuple[int, ...]] = {(0,)}
    for text in _NUMBERS.findall(",".join(requirements)):
        numbers = release(text)
        above = (*numbers[:-1], numbers[-1] + 1)  # the first that does not begin so
        found |= {numbers, above}
    length = max(map(len, found)) + 1
    padded = {numbers + (0,) * (length - len(numbers)) for numbers in found}
    between = {(*numbers[:-1], numbers[-1] + 1) for numbers in padded}
    return [".".join(map(str, numbers)) for numbers in sorted(padded | between)]

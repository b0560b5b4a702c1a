"""Ratios of one run's speeds, in percent, from medians of recorded durations.

Only ratios of one run are compared: its own floors and its own rival were measured beside it.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay.judge.cold import CHAIN, SCRIPT, warm_median
from assay.judge.reading import MalformedFacts, get, items, mapping, number, objects
from assay.model import Facts

COLD = "cold-of-script"
"""The bound that is of processes of their own."""

_WHOLE = 100


def durations(facts: Facts, path: str) -> tuple[int, ...]:
    """Return recorded nanoseconds.

    Raises:
        MalformedFacts: they are not a list of positive integers.
    """
    found = items(facts, path)
    if not found or not all(
        isinstance(each, int) and not isinstance(each, bool) and each > 0 for each in found
    ):
        raise MalformedFacts(path, "a list of positive integers")
    return tuple(each for each in found if isinstance(each, int))


def median(facts: Facts, path: str) -> int:
    """Return the median of recorded nanoseconds, rounded down.

    Raises:
        MalformedFacts: as ``durations``.
    """
    return int(statistics.median(durations(facts, path)))


def ratio(numerator: int, denominator: int) -> int:
    """Return a ratio in percent, rounded down."""
    return numerator * _WHOLE // max(denominator, 1)


def _kernel(facts: Facts) -> int:
    """Return the slowest kernel's speed as part of the device's own copy of the same buffer."""
    copy = median(facts, "floors.device-copy")
    return min(ratio(copy, median(facts, f"kernels.{name}")) for name in ("nvrtc", "wgpu"))


def _pinned(facts: Facts) -> int:
    """Return the nanoseconds of one pinned copy each way."""
    return median(facts, "floors.pinned-to-device") + median(facts, "floors.pinned-to-host")


def _copies(facts: Facts) -> int:
    """Return the slowest CUDA hop's speed as part of its two copies' alone."""
    return min(ratio(_pinned(facts), median(facts, f"hops.{name}")) for name in ("pycuda", "nvrtc"))


def _wgpu(facts: Facts) -> int:
    """Return how much faster wgpu's hop is than its documentation-style form."""
    found = [number(each, "wgpu") for each in objects(facts, "script.hops")]
    whole = [each for each in found if each is not None and each > 0]
    if not whole or len(whole) != len(found):
        raise MalformedFacts("script.hops", "a list of objects with wgpu's nanoseconds")
    return ratio(int(statistics.median(whole)), median(facts, "hops.wgpu"))


def _cold(facts: Facts) -> int:
    """Return how much sooner than the plain script the chain has its first exact result."""
    cold = mapping(facts, "cold")
    return ratio(warm_median(cold, SCRIPT), warm_median(cold, CHAIN))


def bounded(measured: Facts, facts: Facts) -> Facts:
    """Return what ``FLOORS`` read: one size's facts with the cold starts of the same gate's ``facts``."""
    return {**measured, "cold": get(facts, "cold")}


FLOORS: Mapping[str, Callable[[Facts], int]] = MappingProxyType(
    {
        "kernel-of-device-copy": _kernel,
        "copies-of-pinned-copies": _copies,
        "wgpu-of-script": _wgpu,
        "chain-of-script": lambda facts: ratio(median(facts, "script.ns"), median(facts, "chain.ns")),
        "chain-of-pinned-copies": lambda facts: ratio(3 * _pinned(facts), median(facts, "chain.ns")),
        "shared-of-chain": lambda facts: ratio(median(facts, "chain.ns"), median(facts, "shared.ns")),
        COLD: _cold,
    }
)
"""By the plan's name of a bound: the speed that it bounds, in percent of what it is compared to.

``kernel-of-device-copy``: the slowest kernel by device events, of the device's copy of the same buffer.
``copies-of-pinned-copies``: the slowest CUDA hop, of one pinned copy up and one down.
``wgpu-of-script``, ``chain-of-script``: the hop and the chain, of the documentation-style script.
``chain-of-pinned-copies``: the chain, of its six pinned copies one after the other.
``shared-of-chain``: a pass over the shared buffer, of the chain through host memory.
``cold-of-script``: from process start to the first exact result, of the documentation-style script.
"""

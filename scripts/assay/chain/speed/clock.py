"""Durations in integer nanoseconds: by the host's monotonic clock, and by events of the device."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..cuda_calls import Cuda

WARM_UP = 2
"""Runs before the first that counts: pages are touched, clocks and caches come up."""

_NS_PER_MS = 1_000_000


def host_ns(action: Callable[[], object], turns: int) -> list[int]:
    """Return how long an action takes by the host's clock, ``turns`` times after ``WARM_UP`` others."""
    for _ in range(WARM_UP):
        action()
    return [_once(action) for _ in range(turns)]


def _once(action: Callable[[], object]) -> int:
    """Return how long an action takes once."""
    begun = time.perf_counter_ns()
    action()
    return time.perf_counter_ns() - begun


def device_ns(cuda: Cuda, enqueue: Callable[[], object], turns: int) -> list[int]:
    """Return how long enqueued work takes by the device's events (resolution about 0.5 us)."""
    found = []
    with cuda.event() as begun, cuda.event() as ended:
        for turn in range(WARM_UP + turns):
            cuda.call("cuEventRecord", begun, cuda.stream)
            enqueue()
            cuda.call("cuEventRecord", ended, cuda.stream)
            cuda.call("cuEventSynchronize", ended)
            taken = round(cuda.call("cuEventElapsedTime", begun, ended) * _NS_PER_MS)
            found += [taken] if turn >= WARM_UP else []
    return found

"""Special registers (PTX ISA 9.0, chapter 10)."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..arrays import Array
from ..device import MULTIPROCESSORS, WARP
from .unsupported import UnsupportedError

if TYPE_CHECKING:
    from .lanes import Lanes


def special(name: str) -> Callable[[Lanes], Array]:
    """Return how a special register is read.

    Raises:
        UnsupportedError: the interpreter does not have it.
    """
    base, _, axis = name.partition(".")
    if axis and base in _INDEXED:
        return _INDEXED[base]("xyz".index(axis))
    if name in _PLAIN:
        return _PLAIN[name]
    raise UnsupportedError(f"the special register {name} is not supported")


def _thread(axis: int) -> Callable[[Lanes], Array]:
    return lambda lanes: lanes.pick(lanes.chunk.thread_index[axis])


def _block(axis: int) -> Callable[[Lanes], Array]:
    def read(lanes: Lanes) -> Array:
        of_all = lanes.chunk.block_index[axis]
        return of_all if of_all.shape[0] == 1 else lanes.pick(of_all)

    return read


def _block_size(axis: int) -> Callable[[Lanes], Array]:
    return lambda lanes: _one(lanes.chunk.launch.block[axis])


def _grid_size(axis: int) -> Callable[[Lanes], Array]:
    return lambda lanes: _one(lanes.chunk.launch.grid[axis])


def _zero(_axis: int) -> Callable[[Lanes], Array]:
    return lambda _lanes: _one(0)


def _unit(_axis: int) -> Callable[[Lanes], Array]:
    return lambda _lanes: _one(1)


def _one(value: int, kind: type[np.unsignedinteger] = np.uint32) -> Array:
    return np.array([value & np.iinfo(kind).max], kind)


def _lane(lanes: Lanes) -> Array:
    return lanes.pick(lanes.chunk.lane)


def _multiprocessor(lanes: Lanes) -> Array:
    """Return ``%smid``: blocks go round the multiprocessors, as they do on an idle device."""
    block = lanes.chunk.first + lanes.pick(lanes.chunk.block_of)
    return (block % MULTIPROCESSORS).astype(np.uint32)


def _warp_in_block(lanes: Lanes) -> Array:
    return lanes.pick(lanes.chunk.in_block) // np.uint32(WARP)


def _warps_in_block(lanes: Lanes) -> Array:
    return _one(lanes.chunk.warps_per_block)


def _lane_mask(name: str) -> Callable[[Lanes], Array]:
    def read(lanes: Lanes) -> Array:
        one = np.uint32(1) << _lane(lanes)
        below = one - np.uint32(1)
        return {"eq": one, "lt": below, "le": below | one, "gt": ~(below | one), "ge": ~below}[name]

    return read


def _clock(lanes: Lanes) -> Array:
    """Return a count that grows with every read, in nanoseconds: the order of events, not their cost."""
    return _one(lanes.chunk.launch.now(), np.uint64)


def _clock_low(lanes: Lanes) -> Array:
    return _one(lanes.chunk.launch.now())


def _clock_high(lanes: Lanes) -> Array:
    return _one(lanes.chunk.launch.now() >> 32)


def _timer(_lanes: Lanes) -> Array:
    return _one(time.time_ns(), np.uint64)


def _timer_low(_lanes: Lanes) -> Array:
    return _one(time.time_ns())


def _timer_high(_lanes: Lanes) -> Array:
    return _one(time.time_ns() >> 32)


def _launch_number(lanes: Lanes) -> Array:
    return _one(lanes.chunk.launch.number, np.uint64)


def _shared_total(lanes: Lanes) -> Array:
    return _one(lanes.chunk.launch.shared_total)


def _shared_dynamic(lanes: Lanes) -> Array:
    return _one(lanes.chunk.launch.shared_dynamic)


def _shared_system(lanes: Lanes) -> Array:
    """Return where the system's shared memory begins; PTX leaves open what lies where in it (10.29)."""
    return _one(lanes.chunk.launch.shared_system)


_INDEXED: dict[str, Callable[[int], Callable[[Lanes], Array]]] = {
    "%tid": _thread,
    "%ntid": _block_size,
    "%ctaid": _block,
    "%nctaid": _grid_size,
    # Without clusters each block is a cluster of its own (section 10, "%clusterid").
    "%clusterid": _block,
    "%nclusterid": _grid_size,
    "%cluster_ctaid": _zero,
    "%cluster_nctaid": _unit,
}

_PLAIN: dict[str, Callable[[Lanes], Array]] = {
    "%laneid": _lane,
    "%warpid": _warp_in_block,
    "%nwarpid": _warps_in_block,
    "%smid": _multiprocessor,
    "%nsmid": lambda _lanes: _one(MULTIPROCESSORS),
    "%gridid": _launch_number,
    "%clock": _clock_low,
    "%clock_hi": _clock_high,
    "%clock64": _clock,
    "%globaltimer": _timer,
    "%globaltimer_lo": _timer_low,
    "%globaltimer_hi": _timer_high,
    "%total_smem_size": _shared_total,
    "%dynamic_smem_size": _shared_dynamic,
    **{f"%reserved_smem_offset_{name}": _shared_system for name in ("begin", "0", "1")},
    "%is_explicit_cluster": lambda _lanes: np.zeros(1, np.bool_),
    "%cluster_ctarank": lambda _lanes: _one(0),
    "%cluster_nctarank": lambda _lanes: _one(1),
    "WARP_SZ": lambda _lanes: _one(WARP),
    **{f"%lanemask_{name}": _lane_mask(name) for name in ("eq", "le", "lt", "ge", "gt")},
}

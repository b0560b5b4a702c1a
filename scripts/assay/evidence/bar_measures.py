"""How high the bar of what is measured lies: shared buffers, sizes and the floors of speeds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from assay.evidence.moves import Direction, Move, changed, demand, fewer_is_lower
from assay.plan import Plan


def shared_moves(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare which buffer is to be shared."""
    before, after = old.shared_buffers, new.shared_buffers
    if before is None or after is None:
        named = (None if each is None else f"{each.chain}/{each.source}" for each in (before, after))
        yield from demand("shared-buffers", *named)
        return
    for field in dataclasses.fields(before):
        yield from changed(
            f"shared-buffers.{field.name}", getattr(before, field.name), getattr(after, field.name)
        )


def throughput_moves(old: Plan, new: Plan) -> Iterator[Move]:
    """Compare what speed is measured, how often, and the least that it must be."""
    before, after = old.throughput, new.throughput
    if before is None or after is None:
        named = (None if each is None else each.chain for each in (before, after))
        yield from demand("throughput", *named)
        return
    yield from changed("throughput.chain", before.chain, after.chain)
    sizes = (tuple(map(str, each.sizes)) for each in (before, after))
    yield from fewer_is_lower("throughput.sizes", "size", *sizes)
    yield from _at_least("throughput.turns", before.turns, after.turns)
    yield from changed("throughput.floor-size", before.floor_size, after.floor_size)
    floors = dict(before.floors), dict(after.floors)
    for name in sorted({*floors[0], *floors[1]}):
        yield from _at_least(f"throughput.floors.{name}", *(each.get(name, 0) for each in floors))


def _at_least(path: str, old: int, new: int) -> Iterator[Move]:
    """Compare one number below which a run fails, 0 for none."""
    if old != new:
        direction = Direction.LOWERED if new < old else Direction.RAISED
        yield Move(direction, path, f"{old or 'nothing'} became {new or 'nothing'}")

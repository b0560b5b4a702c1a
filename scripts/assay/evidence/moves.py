"""Moves of the bar, and how lists and single demands of two plans are compared."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from assay.model import Json, Platform


class Direction(StrEnum):
    """Where the bar went."""

    LOWERED = "lowered"
    CHANGED = "changed"
    RAISED = "raised"


@dataclass(frozen=True)
class Move:
    """One move of the bar.

    Attributes:
        direction: where it went.
        path: the dotted path of the plan's key.
        text: what is otherwise.
        platform: where it is asked, None where it is asked everywhere.
        used: whether either of the two runs was there.
    """

    direction: Direction
    path: str
    text: str
    platform: Platform | None = None
    used: bool = True

    def to_json(self) -> dict[str, Json]:
        """Return its JSON form."""
        return {
            "direction": self.direction.value,
            "path": self.path,
            "platform": self.platform.value if self.platform else None,
            "text": self.text,
            "used": self.used,
        }


def fewer_is_lower(path: str, what: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Move]:
    """Yield what of a list of demands is gone and what came."""
    yield from (Move(Direction.LOWERED, path, f"{what} {each} removed") for each in old if each not in new)
    yield from (Move(Direction.RAISED, path, f"{what} {each} added") for each in new if each not in old)


def more_is_lower(path: str, what: str, old: tuple[str, ...], new: tuple[str, ...]) -> Iterator[Move]:
    """Yield what of a list of allowances came and what is gone."""
    yield from (Move(Direction.LOWERED, path, f"{what} {each} allowed") for each in new if each not in old)
    yield from (
        Move(Direction.RAISED, path, f"{what} {each} no longer allowed") for each in old if each not in new
    )


def changed(path: str, old: object, new: object) -> Iterator[Move]:
    """Yield a change that is neither higher nor lower."""
    if old != new:
        yield Move(Direction.CHANGED, path, f"{old} became {new}")


def demand(path: str, old: str | None, new: str | None) -> Iterator[Move]:
    """Compare a demand that there may be."""
    if old == new:
        return
    direction = Direction.LOWERED if new is None else Direction.RAISED if old is None else Direction.CHANGED
    yield Move(direction, path, f"{old or 'nothing'} became {new or 'nothing'}")

"""``Pending``: what is not there yet, taken once it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Pending(Generic[T]):
    """What is not there yet."""

    def __init__(self, take: Callable[[], T]) -> None:
        """Take it with ``take``, which waits for it and is called once."""
        self._take = take
        self._taken: list[T] = []

    def result(self) -> T:
        """Wait for it and return it; a later call returns the same.

        Raises:
            Exception: what ``take`` raises.
        """
        if not self._taken:
            self._taken.append(self._take())
        return self._taken[0]

"""Which bytes of an allocation were ever written.

Most buffers are filled from front to back, by a copy or by blocks in order; those cost one number.  Only a
buffer that is written out of order gets a map of one byte for each byte.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Bytes


class Written:
    """The shadow of ``size`` bytes, none of them written yet."""

    __slots__ = ("_map", "_prefix", "size")

    def __init__(self, size: int) -> None:
        self.size = size
        self._prefix = 0
        self._map: Bytes | None = None

    @property
    def complete(self) -> bool:
        """Whether every byte was written, as far as is known at a glance."""
        return self._map is None and self._prefix == self.size

    def mark(self, start: int, stop: int) -> None:
        """Note that the bytes from ``start`` up to ``stop`` were written."""
        if start == 0 and stop == self.size:
            self._prefix, self._map = stop, None
        elif self._map is not None:
            self._map[start:stop] = 1
        elif start <= self._prefix:
            self._prefix = max(self._prefix, stop)
        else:
            self._mapped()[start:stop] = 1

    def mark_elements(self, index: Array, width: int) -> None:
        """Note that the elements at ``index``, counted in elements of ``width`` bytes, were written."""
        if self._map is None and self._dense(index, width):
            return
        for offset in range(width):
            self._mapped()[index * width + offset] = 1

    def covers(self, start: int, stop: int) -> bool:
        """Return whether every byte from ``start`` up to ``stop`` was written, as known at a glance."""
        if self._map is None:
            return stop <= self._prefix
        return stop - start <= _GLANCE and bool(self._map[start:stop].all())

    def touched(self, start: int, stop: int) -> bool:
        """Return whether any byte from ``start`` up to ``stop`` was written."""
        if self._map is None:
            return start < self._prefix
        return bool(self._map[start:stop].any())

    def unwritten(self, index: Array, width: int) -> Array:
        """Return, for each element, whether *none* of its bytes was written.

        Structures are copied with their padding, so that a half written element is no mistake.
        """
        if self._map is None:
            unread: Array = index * width >= self._prefix
            return unread
        known = self._map[index * width]
        for offset in range(1, width):
            if known.all():
                break
            known |= self._map[index * width + offset]
        missing: Array = known == 0
        return missing

    def copy(self, source: Written, start: int, size: int, target: int) -> None:
        """Let ``size`` bytes from ``target`` be as written as those of ``source`` from ``start``."""
        if source.covers(start, start + size):
            self.mark(target, target + size)
            return
        state = source.state(start, start + size)
        self._mapped()[target : target + size] = state

    def state(self, start: int, stop: int) -> Bytes:
        """Return one byte for each byte from ``start`` up to ``stop``: 1 where it was written."""
        if self._map is not None:
            return self._map[start:stop].copy()
        state = np.zeros(stop - start, np.uint8)
        state[: max(0, self._prefix - start)] = 1
        return state

    def _dense(self, index: Array, width: int) -> bool:
        """Mark elements that follow one another without a gap, and tell whether they did."""
        first, last = int(index[0]), int(index[-1])
        if last - first + 1 != index.size or first * width > self._prefix:
            return False
        if index.size > 1 and not (index[1:] > index[:-1]).all():
            return False
        self.mark(first * width, (last + 1) * width)
        return True

    def _mapped(self) -> Bytes:
        if self._map is None:
            self._map = np.zeros(self.size, np.uint8)
            self._map[: self._prefix] = 1
        return self._map


_GLANCE = 1 << 20
"""Longer ranges of a mapped buffer are looked at element by element, not as a whole."""

"""Gives back what was taken, also when a block fails, without hiding why it failed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def releasing(release: Callable[[], object]) -> Iterator[None]:
    """Call ``release`` after the block.

    Where the block failed, an error of the release (a broken context refuses everything) is dropped: the
    first error is the one that says what happened.
    """
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):
            release()
        raise
    release()

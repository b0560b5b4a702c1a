"""What an instruction raises when it cannot be run."""

from __future__ import annotations


class UnsupportedError(Exception):
    """An instruction that the interpreter does not have, or that is no PTX; ``launch`` gives it a place."""


class TrapError(Exception):
    """A thread executed ``trap``, or failed an assertion.

    Args:
        reason: as in ``LaunchError``.
        message: a sentence.
    """

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message

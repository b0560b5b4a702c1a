"""Which line of a program made a call of the driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from types import FrameType

_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep  # noqa: PTH100, PTH120  # compared with names of files
_LIBRARIES = (f"{os.sep}site-packages{os.sep}", f"{os.sep}dist-packages{os.sep}")


def caller() -> tuple[str, int]:
    """Return file and line of the call that the driver serves: of the program, not of a library it uses.

    Where only libraries called, it is the innermost of them; without any frame, an empty name and 0.
    """
    frames = list(_frames(sys._getframe()))  # noqa: SLF001  # the only way to a caller that came through C
    own = (frame for frame in frames if not any(part in frame.f_code.co_filename for part in _LIBRARIES))
    frame = next(own, frames[0] if frames else None)
    return (frame.f_code.co_filename, frame.f_lineno) if frame is not None else ("", 0)


def place() -> str:
    """Return the caller in words, empty where it is not known."""
    file, line = caller()
    return f" at {file}:{line}" if file else ""


def _frames(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames outside the driver, innermost first; what has no file is no place."""
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_OWN, "<frozen")):
            yield frame
        frame = frame.f_back

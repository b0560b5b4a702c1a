"""Which of the GPU's device nodes this process may open; each is closed at once.

A node can be there and be denied, by its mode or by a container's device controller: only opening shows it.
"""

from __future__ import annotations

import errno
import os
from pathlib import Path

FOLDER = Path("/dev")
_NAMES = ("nvidiactl", "nvidia-uvm", "dxg")
_NUMBERED = "nvidia[0-9]*"

MAX_NODES = 64


def facts(folder: Path = FOLDER) -> dict[str, object]:
    """Return ``nodes``: each node's path, with the name of the error that opening it gave, or ``""``."""
    named = [folder / name for name in _NAMES if (folder / name).exists()]
    found = [*named, *sorted(folder.glob(_NUMBERED))][:MAX_NODES]
    return {"nodes": [{"error": _opened(path), "path": str(path)} for path in found]}


def _opened(path: Path) -> str:
    """Return the name of the error, such as ``EPERM``."""
    try:
        os.close(os.open(path, os.O_RDWR | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)))
    except OSError as error:
        return errno.errorcode.get(error.errno or 0, "unknown")
    return ""

"""PTX values executed over many threads at once with NumPy."""

from __future__ import annotations

from .launching import launch
from .loading import Attributes, Kernel, Loaded, Placed, load_module, unload_module

__all__ = ["Attributes", "Kernel", "Loaded", "Placed", "launch", "load_module", "unload_module"]

"""A CUDA driver on the CPU: the PTX half of it, for machines without an NVIDIA GPU.

The folder ships alone and runs inside the *selected* interpreter: Python 3.10 or newer and NumPy 2.1 or
newer, nothing else, relative imports only.

What the driver's handlers call (this contract is stable):

``parse(text, seconds=30.0) -> Module``
    PTX text to immutable values.  ``module.entries[name]`` has ``parameters`` (each with ``name``, ``type``,
    ``align``, ``offset``, ``size``), ``parameter_bytes``, ``maxntid``, ``reqntid``, ``shared_bytes``;
    ``module.variables`` the module-scope ``.global``, ``.const`` and ``.shared`` variables with their
    initialisers; ``module.files`` the table behind ``.loc``.  Raises ``PtxError(line, instruction,
    message)``.

``Memory(capacity)``
    The device's (and pinned host) memory, NumPy-backed, with a shadow that knows what is allocated, freed and
    written.  ``allocate(size, kind)``, ``free``, ``read``, ``write``, ``fill``, ``copy``, ``contains``,
    ``leaked`` (allocations), ``leaks`` (findings); ``adopt`` for host memory that the caller owns.  Raises
    ``OutOfMemoryError``, ``BadAddressError``.

``load_module(module, memory) -> Loaded``
    Places the module-scope variables; ``loaded.variables[name]`` has ``address`` and ``size``,
    ``loaded.attributes(entry)`` what ``cuFuncGetAttribute`` asks for; ``simt.unload_module`` undoes it.

``launch(loaded, entry, grid, block, parameters, shared_bytes, memory, limits) -> Report``
    Runs one kernel to its end.  ``report.findings`` (each with kind, message, kernel, source file and line,
    PTX line, block and thread index, address, and how often), ``report.printed`` (what ``printf`` wrote),
    ``report.instructions`` (thread instructions).  Raises ``LaunchError(reason, ...)`` with the partial
    report where the kernel cannot be run to its end: see ``errors.LaunchError`` for the reasons.
"""

from __future__ import annotations

from .errors import BadAddressError, LaunchError, OutOfMemoryError, PtxError, RehearsalError
from .findings import FATAL, KINDS, Finding, Index, Limits, Report
from .memory import Allocation, Memory
from .ptx import Function, Module, Parameter, Variable, parse
from .simt import Attributes, Kernel, Loaded, Placed, launch, load_module, unload_module

__all__ = [
    "FATAL",
    "KINDS",
    "Allocation",
    "Attributes",
    "BadAddressError",
    "Finding",
    "Function",
    "Index",
    "Kernel",
    "LaunchError",
    "Limits",
    "Loaded",
    "Memory",
    "Module",
    "OutOfMemoryError",
    "Parameter",
    "Placed",
    "PtxError",
    "RehearsalError",
    "Report",
    "Variable",
    "launch",
    "load_module",
    "parse",
    "unload_module",
]

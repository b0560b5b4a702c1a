"""The device's sizes, which its attributes tell, its special registers show and its launches keep.

CUDA C++ Programming Guide, "Technical Specifications per Compute Capability"; what differs between devices is
that of compute capability 7.5.
"""

from __future__ import annotations

MULTIPROCESSORS = 64
"""Many on purpose: programs size their grids by it, and wide grids suit an interpreter of whole vectors."""

WARP = 32
"""Threads of a warp."""

MAX_THREADS = 1024
"""Threads of a block."""

MAX_BLOCK = (1024, 1024, 64)
"""Threads of a block along each axis."""

MAX_GRID = ((1 << 31) - 1, 65535, 65535)
"""Blocks of a grid along each axis."""

MAX_CONSTANT = 64 << 10
"""Bytes of constant memory of a module."""

MAX_STATIC_SHARED = 48 << 10
"""Bytes of shared variables of a kernel: more has to be dynamic."""

SYSTEM_SHARED = 1 << 10
"""Bytes of shared memory that the system keeps for itself behind a block's own from compute capability 8.0 on
(CUDA C++ Programming Guide, "Compute Capability 8.x", "Shared Memory")."""

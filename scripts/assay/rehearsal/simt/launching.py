"""Launches: checks, chunks of blocks, and the report."""

from __future__ import annotations

import itertools
from math import prod

import numpy as np

from ..device import MAX_BLOCK, MAX_GRID, SYSTEM_SHARED
from ..errors import LaunchError
from ..findings import Index, Limits, Report
from ..memory import Memory
from ..ptx.values import aligned
from .chunk import Chunk, Launch
from .generic import GenericSpace
from .globals import GlobalSpace
from .loading import MAX_SHARED, Kernel, Loaded
from .local import LocalSpace
from .parameters import ParameterSpace
from .recorder import Recorder
from .scheduler import Scheduler
from .shared import SharedSpace
from .unsupported import TrapError, UnsupportedError

CHUNK_THREADS = 1 << 15
"""Threads that run together: enough that NumPy's own cost per call is small, few enough for the caches."""

CONTENDED_THREADS = 1 << 9
"""As above, for kernels that compare and swap: of all threads at an address one gets on at a time."""

_HEAP = 30 << 20
"""Bytes, allocated once and freed at once.  From then on glibc's malloc keeps what chunks free for the next
ones (its threshold for giving memory back follows the largest block freed, up to 32 MiB) instead of faulting
every page in again: kernels over many values take half the time."""

_Segments = tuple[tuple[int, int], ...]

_ENDLESS = frozenset({"deadline", "instructions"})
"""Reasons to stop a kernel that may be in an endless loop."""

_NUMBERS = itertools.count(1)


def launch(  # noqa: PLR0913, PLR0917  # what cuLaunchKernel takes
    loaded: Loaded,
    entry: str,
    grid: Index,
    block: Index,
    parameters: bytes,
    shared_bytes: int,
    memory: Memory,
    limits: Limits,
) -> Report:
    """Run a kernel to its end.

    Args:
        loaded: its module.
        entry: its name.
        grid: blocks (x, y, z).
        block: threads of a block (x, y, z).
        parameters: the parameter buffer, at least as long as the kernel's parameters.
        shared_bytes: dynamic shared memory of a block.
        memory: global memory.
        limits: how far it may go.

    Returns:
        What was seen; memory holds what the kernel wrote.

    Raises:
        LaunchError: it could not start or finish.
    """
    if entry not in loaded.module.entries:
        raise LaunchError("not-found", f"the module has no kernel {entry}")
    kernel = loaded.kernel(entry)
    _check(kernel, grid, block, parameters, shared_bytes)
    recorder = Recorder(entry, loaded.module.files, limits.findings)
    started = _launch(loaded, kernel, grid, block, parameters, shared_bytes, memory, limits, recorder)
    np.empty(_HEAP, np.uint8)
    with np.errstate(all="ignore"):
        first, total = 0, prod(grid)
        while first < total:
            first += _run_chunk(started, kernel, first, total - first)
    return recorder.report()


def _launch(  # noqa: PLR0913, PLR0917  # as above
    loaded: Loaded,
    kernel: Kernel,
    grid: Index,
    block: Index,
    parameters: bytes,
    shared_bytes: int,
    memory: Memory,
    limits: Limits,
    recorder: Recorder,
) -> Launch:
    buffer = np.frombuffer(parameters, np.uint8)[: kernel.function.parameter_bytes].copy()
    return Launch(
        grid,
        block,
        buffer,
        memory,
        limits,
        recorder,
        shared_dynamic=shared_bytes,
        shared_total=kernel.shared.size + shared_bytes,
        shared_system=aligned(kernel.shared.dynamic + shared_bytes, _SYSTEM_ALIGN),
        number=next(_NUMBERS),
        functions=dict(loaded.functions),
    )


_SYSTEM_ALIGN = 128
"""Of what begins at ``%reserved_smem_offset_begin``: as dynamic shared memory is."""


def _check(kernel: Kernel, grid: Index, block: Index, parameters: bytes, shared_bytes: int) -> None:
    """Refuse what a driver refuses with ``CUDA_ERROR_INVALID_VALUE``."""
    function = kernel.function
    threads = prod(block)
    wrong = ""
    if any(not 1 <= size <= most for size, most in zip(grid, MAX_GRID, strict=True)):
        wrong = f"a grid of {grid} blocks"
    elif any(not 1 <= size <= most for size, most in zip(block, MAX_BLOCK, strict=True)):
        wrong = f"a block of {block} threads"
    elif threads > kernel.attributes.max_threads_per_block:
        wrong = (
            f"a block of {threads} threads; {function.name} takes {kernel.attributes.max_threads_per_block}"
        )
    elif function.reqntid is not None and block != function.reqntid:
        wrong = f"a block of {block} threads; {function.name} requires {function.reqntid}"
    elif len(parameters) < function.parameter_bytes:
        wrong = f"{len(parameters)} bytes of parameters; {function.name} takes {function.parameter_bytes}"
    elif not 0 <= shared_bytes <= MAX_SHARED - kernel.shared.size:
        wrong = f"{shared_bytes} bytes of dynamic shared memory; a block has {MAX_SHARED} in all"
    if wrong:
        raise LaunchError("invalid-value", wrong)


def _run_chunk(started: Launch, kernel: Kernel, first: int, left: int) -> int:
    """Run the next blocks and return how many they were."""
    segments = _segments(started, kernel)
    window = segments[-1][1] if segments else 0
    recorder = started.recorder
    try:
        blocks = _blocks(started, kernel, window, left)
        chunk = _chunk(started, kernel, segments, first, blocks)
        scheduler = Scheduler(chunk, kernel.programs)
    except (TrapError, MemoryError) as error:
        reason = error.reason if isinstance(error, TrapError) else "memory"
        raise LaunchError(reason, f"{kernel.function.name}: {error}", recorder.report()) from None
    try:
        scheduler.run(kernel.function.name)
    except TrapError as error:
        if error.reason in _ENDLESS and scheduler.site is not None:
            going = np.flatnonzero(chunk.alive)
            chunk.note("endless", scheduler.site, f"{error}, and was stopped here", going[:1], None)
        raise LaunchError(error.reason, _sentence(scheduler, recorder, error), recorder.report()) from None
    except UnsupportedError as error:
        raise LaunchError("unsupported", _sentence(scheduler, recorder, error), recorder.report()) from None
    except MemoryError as error:
        raise LaunchError("memory", _sentence(scheduler, recorder, error), recorder.report()) from None
    finally:
        chunk.dissolve()
    return blocks


def _sentence(scheduler: Scheduler, recorder: Recorder, error: Exception) -> str:
    site = scheduler.site
    return f"{recorder.where(site)}: {error}" if site is not None else f"{recorder.kernel}: {error}"


def _blocks(started: Launch, kernel: Kernel, window: int, left: int) -> int:
    """Return how many blocks to run together, from what one of them takes.

    Raises:
        TrapError: one alone takes more than the launch may.
    """
    threads = prod(started.block)
    program = kernel.programs[kernel.function.name](started.check)
    each = program.register_bytes + 2 * program.local_bytes + _THREAD_BYTES
    cost = threads * each + SharedSpace.bytes_needed(window, kernel.shared.granule)
    if cost > started.limits.memory:
        raise TrapError("memory", f"one block takes {cost} bytes of registers, local and shared memory")
    wanted = CONTENDED_THREADS if kernel.contended else CHUNK_THREADS
    return min(left, max(1, wanted // threads), started.limits.memory // cost)


_THREAD_BYTES = 128
"""What the interpreter itself keeps for a thread."""


def _segments(started: Launch, kernel: Kernel) -> _Segments:
    """Return (start, stop) of all that is allocated in a block's window of shared memory, ascending."""
    layout, system = kernel.shared, started.shared_system
    dynamic = ((layout.dynamic, layout.dynamic + started.shared_dynamic),) if started.shared_dynamic else ()
    return (*layout.segments, *dynamic, *(((system, system + SYSTEM_SHARED),) if layout.system else ()))


def _chunk(started: Launch, kernel: Kernel, segments: _Segments, first: int, blocks: int) -> Chunk:
    chunk = Chunk(started, first, blocks)
    layout = kernel.shared
    size = segments[-1][1] if segments else 0
    system = started.shared_system if layout.system else None
    chunk.shared = SharedSpace(chunk, size, segments, layout.granule, system)
    chunk.local = LocalSpace(chunk, started.limits.memory)
    chunk.spaces = {
        "global": GlobalSpace(started.memory),
        "const": GlobalSpace(started.memory),
        "shared": chunk.shared,
        "local": chunk.local,
        "param": ParameterSpace(),
    }
    chunk.spaces["generic"] = GenericSpace(chunk.spaces)
    return chunk

"""What a launch reports: findings with their place, printed bytes, instructions executed."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = (
    "out-of-bounds",
    "misaligned",
    "use-after-free",
    "uninitialised",
    "barrier",
    "race",
    "assertion",
    "endless",
    "leak",
)
"""Every kind of finding.

``out-of-bounds``, ``misaligned`` and ``use-after-free``: an access outside what is allocated, at an address
that is no multiple of its size, or to memory that was freed; the access is not made (a read gives 0).
``uninitialised``: a read of bytes none of which was ever written, whose value then reached a result in global
memory, a branch, an address or an atomic operation (a value that nothing uses is no mistake).  ``barrier``: a
barrier in divergent code.  ``race``: two threads reached the same shared memory in one barrier interval, at
least one wrote, and nothing ordered them.  ``assertion``: ``assert`` failed in a kernel.
``endless``: the kernel ran for longer than it may, and was stopped.  ``leak``: memory still allocated at the
end.

What the host does wrong has no kernel: it freed memory twice (``use-after-free``), or copied to itself what
nothing wrote (``uninitialised``).
"""

FATAL = frozenset({"out-of-bounds", "misaligned", "use-after-free", "assertion"})
"""The kinds that make a GPU return an error (illegal or misaligned address, assert) for the launch."""

Index = tuple[int, int, int]
"""A block's or thread's (x, y, z)."""


@dataclass(frozen=True)
class Finding:
    """One mistake of a kernel; the first thread that made it stands for all that made it at that instruction.

    Attributes:
        kind: one of ``KINDS``.
        message: a sentence.
        kernel: the entry's name.
        file: the source file, empty without ``-lineinfo``.
        line: the source line, 0 without ``-lineinfo``.
        ptx_line: the line of the instruction in the PTX text, from 1.
        block: the block's index.
        thread: the thread's index in its block.
        address: the address that was meant (an offset for shared and local memory), None for barriers.
        count: how many accesses at this instruction had this kind.
    """

    kind: str
    message: str
    kernel: str
    file: str = ""
    line: int = 0
    ptx_line: int = 0
    block: Index = (0, 0, 0)
    thread: Index = (0, 0, 0)
    address: int | None = None
    count: int = 1

    @property
    def fatal(self) -> bool:
        """Whether a GPU would have ended the launch with an error."""
        return self.kind in FATAL

    def __str__(self) -> str:
        """Return the finding as one line for a terminal."""
        source = f"{self.file}:{self.line}" if self.file else f"PTX line {self.ptx_line}"
        where = f"block {self.block} thread {self.thread}"
        times = f" ({self.count} times)" if self.count > 1 else ""
        return f"{self.kind}: {self.kernel} at {source}, {where}: {self.message}{times}"


@dataclass(frozen=True)
class Report:
    """What a launch left behind besides memory.

    Attributes:
        findings: in the order in which they were first seen.
        printed: what ``printf`` wrote, in the order of execution.
        instructions: instructions executed, counted once for each thread.
    """

    findings: tuple[Finding, ...] = ()
    printed: bytes = b""
    instructions: int = 0


@dataclass(frozen=True)
class Limits:
    """How far a launch may go.

    Attributes:
        seconds: wall-clock time.
        instructions: thread instructions.
        output: bytes that ``printf`` may write.
        memory: bytes of registers, shared and local memory that one chunk of blocks may take.
        findings: distinct findings that are kept.
    """

    seconds: float = 60.0
    instructions: int = 1 << 40
    output: int = 1 << 20
    memory: int = 1 << 29
    findings: int = 200

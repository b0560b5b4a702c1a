"""What the tests of the rehearsal share: PTX made by the selected nvcc, and kernels run on arrays."""

from __future__ import annotations

import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.rehearsal import Limits, Memory, Report, launch, load_module, parse
from assay.selection import Selection

Array = npt.NDArray[Any]
Size = int | tuple[int, ...]

SAMPLES = Path(__file__).resolve().parent / "samples"

HEAD = ".version 9.0\n.target sm_90\n.address_size 64\n"
"""What every PTX text begins with."""


def nvcc_ptx(selection: Selection, source: Path, target: Path, *flags: str) -> str:
    """Return the PTX that the selected nvcc makes of a file, with source lines."""
    assert selection.toolkit is not None
    nvcc = str(Path(selection.toolkit) / "bin" / "nvcc")
    command = [nvcc, "-ptx", "-lineinfo", *(flags or ("-arch=sm_75",)), "-o", str(target), str(source)]
    subprocess.run(command, check=True, capture_output=True, timeout=300)  # noqa: S603  # the selected compiler
    return target.read_text()


def triple(size: Size) -> tuple[int, int, int]:
    """Return a grid or block size with all three axes."""
    x, y, z = (*(size if isinstance(size, tuple) else (size,)), 1, 1)[:3]
    return x, y, z


class Device:
    """A module in a memory of its own; arrays go in and come back.

    Args:
        text: PTX.
        capacity: bytes of memory.
    """

    def __init__(self, text: str, capacity: int = 1 << 30) -> None:
        self.memory = Memory(capacity)
        self.module = parse(text)
        self.loaded = load_module(self.module, self.memory)

    def upload(self, values: Array) -> int:
        """Return the address of a copy of an array."""
        data = np.ascontiguousarray(values).tobytes()
        address = self.memory.allocate(max(1, len(data)))
        self.memory.write(address, data)
        return address

    def empty(self, size: int) -> int:
        """Return the address of so many bytes that nothing wrote."""
        return self.memory.allocate(size)

    def download(self, address: int, kind: Any, count: int) -> Array:  # noqa: ANN401  # whatever NumPy takes as a type
        """Return so many elements from an address."""
        return np.frombuffer(self.memory.read(address, np.dtype(kind).itemsize * count), kind)

    def run(  # noqa: PLR0913  # what a launch takes
        self,
        entry: str,
        grid: Size,
        block: Size,
        kinds: str,
        *values: float,
        shared: int = 0,
        limits: Limits | None = None,
    ) -> Report:
        """Launch a kernel; ``kinds`` are the parameters' types as ``struct`` names them."""
        parameters = struct.pack(f"@{kinds}", *values)
        found = limits if limits is not None else Limits(seconds=60)
        return launch(self.loaded, entry, triple(grid), triple(block), parameters, shared, self.memory, found)


def body(text: str, registers: str = "") -> str:
    """Return a module with one kernel ``k(ptr out)`` whose body has common registers declared."""
    return f"""{HEAD}
.visible .entry k(.param .u64 out)
{{
    .reg .pred %p<9>; .reg .b16 %h<19>; .reg .b32 %r<49>; .reg .b64 %d<49>; .reg .f32 %f<29>; .reg .f64
    %g<29>;
    {registers}
    ld.param.u64 %d0, [out];
    mov.u32 %r0, %tid.x;
    {text}
    ret;
}}
"""


def kinds_of(findings: Sequence[Any]) -> list[str]:
    """Return the kinds of findings, in order."""
    return [finding.kind for finding in findings]

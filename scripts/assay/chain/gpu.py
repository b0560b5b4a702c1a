"""What ``GpuRuntime`` of the Bun side runs in the hosted CPython: single kernels of WGSL and CUDA.

Values travel as one text of words (see ``words``), so that every bit passes through JSON.  Nothing is loaded
until ``Gpu.load``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from . import words
from .compiling import image_to_run
from .runtimes import Runtime, opener
from .spec import Chain, RunRequest, Stage, adapter

WGSL, CUDA = "wgpu", "nvrtc"

_SOURCES = {WGSL: "kernel.wgsl", CUDA: "kernel.cu"}
_CHAIN = Chain("gpu", ())
_WORD = 8


class Gpu:
    """The runtimes, open."""

    def __init__(
        self, request: RunRequest, opened: Mapping[str, Runtime], stack: contextlib.ExitStack
    ) -> None:
        self._request = request
        self._opened = opened
        self._stack = stack

    @classmethod
    def load(cls, wanted: object, architecture: str, ordinal: int) -> Gpu:
        """Open the provider and the CUDA device; what was opened is closed where the other cannot be.

        Args:
            wanted: the adapter as a chain's request has it, None for CUDA alone.
            architecture: what CUDA is compiled for, such as ``sm_75``.
            ordinal: CUDA's number of the device.

        Raises:
            RequestError: ``wanted`` is no adapter.
            UnavailableError: the machine or the selection lacks something.
        """
        request = RunRequest(architecture, "nvcc", ordinal, adapter(wanted, "adapter"), ())
        opened: dict[str, Runtime] = {}
        with contextlib.ExitStack() as stack:
            for name in (WGSL, CUDA) if request.adapter else (CUDA,):
                opened[name] = opener(name).open(request)
                stack.callback(opened[name].close)
            return cls(request, opened, stack.pop_all())

    def facts(self) -> dict[str, object]:
        """Return what each runtime says of itself and its device."""
        return {name: runtime.facts() for name, runtime in self._opened.items()}

    def run(self, runtime: str, source: str, entry: str, values: str) -> str:
        """Compile a kernel, dispatch it over values, wait for it and return what it made.

        Args:
            runtime: ``WGSL`` or ``CUDA``.
            source: the kernel, in the form of the runtime's module.
            entry: the name of its function.
            values: float32 words, one after the other.

        Raises:
            CompileError: the compiler refused it.
        """
        stage = Stage("kernel", runtime, _SOURCES[runtime], source, entry, "values")
        image = image_to_run(_CHAIN, stage, self._request.architecture, self._request.nvcc)
        given = words.to_array([values[at : at + _WORD] for at in range(0, len(values), _WORD)])
        return words.to_bytes(self._opened[runtime].run(image, entry, given).values).hex()

    def close(self) -> None:
        """Close them, in the reverse order of opening."""
        self._stack.close()

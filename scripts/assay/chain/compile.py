"""Makes every image of a plan: PTX for the lowest architecture, a CUBIN for each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from . import document, nvcc, nvrtc
from .architecture import lowest
from .compiling import CUBIN, PTX, compile_stage, is_compiled
from .failures import describe
from .spec import Chain, CompileRequest, Stage
from .values import Image

SCHEMA = "assay/chain-compiled/1"

RESULT = "result.json"

_WORKERS = 8
"""Most compilers at once; each is a process of its own (nvcc) or a call that releases the lock (NVRTC)."""


@dataclass(frozen=True)
class Job:
    """One image to make."""

    chain: Chain
    stage: Stage
    kind: str
    architecture: str


def compile_all(request: CompileRequest, folder: Path) -> int:
    """Write every image and ``result.json`` into ``folder`` and return how many could not be made.

    Raises:
        OSError: the folder cannot be written.
    """
    wanted = jobs(request)
    with ThreadPoolExecutor(min(_WORKERS, os.cpu_count() or 1)) as pool:
        done = list(pool.map(lambda job: _make(job, request.nvcc), wanted))
    outputs = [
        _write(job, image, folder)
        for job, image in zip(wanted, done, strict=True)
        if isinstance(image, Image)
    ]
    errors = [
        _error(job, error) for job, error in zip(wanted, done, strict=True) if isinstance(error, Exception)
    ]
    result = {"compilers": _compilers(request), "errors": errors, "outputs": outputs, "schema": SCHEMA}
    document.write(folder / RESULT, result)
    return len(errors)


def jobs(request: CompileRequest) -> tuple[Job, ...]:
    """Return what is to be made, in the order of the request."""
    stages = [(chain, stage) for chain in request.chains for stage in chain.stages if is_compiled(stage)]
    kinds = [(PTX, lowest(request.architectures)), *((CUBIN, name) for name in request.architectures)]
    return tuple(Job(chain, stage, *kind) for chain, stage in stages for kind in kinds)


def _make(job: Job, nvcc_path: str) -> Image | Exception:
    """Return the image of one job, or why there is none."""
    try:
        return compile_stage(job.chain, job.stage, job.kind, job.architecture, nvcc_path)
    except Exception as error:  # noqa: BLE001  # whatever a compiler's package raises is reported
        return error


def _write(job: Job, image: Image, folder: Path) -> dict[str, object]:
    """Write one image and return its entry."""
    (folder / image.name).write_bytes(image.data)
    return {
        **image.to_json(),
        "architecture": job.architecture,
        "chain": job.chain.name,
        "compiler": image.compiler,
        "stage": job.stage.name,
    }


def _error(job: Job, error: Exception) -> dict[str, object]:
    """Return the entry of an image that could not be made; it has the fields of an ``error`` event."""
    place = {"chain": job.chain.name, "input": None, "runtime": job.stage.runtime, "stage": job.stage.name}
    return {**describe(error), **place, "step": "compile"}


def _compilers(request: CompileRequest) -> dict[str, object]:
    """Return what each compiler is that the stages need, or the error that asking it gave."""
    asked: Mapping[str, tuple[str, Callable[[], Mapping[str, object]]]] = {
        "pycuda": ("nvcc", lambda: nvcc.version(request.nvcc)),
        "nvrtc": ("nvrtc", nvrtc.facts),
    }
    used = {stage.runtime for chain in request.chains for stage in chain.stages}
    return {name: _ask(ask) for runtime, (name, ask) in asked.items() if runtime in used}


def _ask(ask: Callable[[], Mapping[str, object]]) -> Mapping[str, object]:
    """Return a compiler's facts, or its error."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001  # as in _make
        return {"error": describe(error)}

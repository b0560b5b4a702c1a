"""From nothing to the first exact result: images that are made already, and both sides opened at once.

wgpu is imported and its device opened in a thread of its own while CUDA makes its contexts: what takes long
on either side happens in a driver, outside Python's lock.  ``speed.plain`` is what this is measured beside.

The request ``assay/chain-cold/1`` is ``{"schema", "ordinal", "adapter", "chain": {…as in run, with one set of
values twice}, "images": [{"stage", "kind", "data": hex}]}``; the result is ``{"schema", "adapter", "parts":
[{"name", "begin", "end"}], "end", "values": [words]}`` with nanoseconds since ``--began``.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from . import spec, words
from .cuda_calls import Cuda, primary
from .failures import RequestError
from .packages import load
from .runtime_wgpu import choose, open_adapters, request_device, workgroup_size
from .speed.script import Script
from .values import Image

if TYPE_CHECKING:
    from .spec import Adapter, Chain, Stage

COLD, RESULT = "assay/chain-cold/1", "assay/chain-cold-result/1"

T = TypeVar("T")


@dataclass(frozen=True)
class ColdRequest:
    """A chain with an image for each stage (``speed.plain`` reads the same request and compiles anew)."""

    ordinal: int
    adapter: Adapter
    chain: Chain
    images: Mapping[str, Image]

    def of(self, runtime: str) -> tuple[Stage, Image]:
        """Return the stage of a runtime and its image."""
        stage = next(stage for stage in self.chain.stages if stage.runtime == runtime)
        return stage, self.images[stage.name]


@dataclass
class _Clock:
    """Nanoseconds since the parent began to start this process, on the clock that both read."""

    began: int
    parts: list[dict[str, object]] = field(default_factory=list)

    def now(self) -> int:
        """Return the nanoseconds that have gone by."""
        return time.monotonic_ns() - self.began

    def part(self, name: str, do: Callable[[], T]) -> T:
        """Do something and keep when it began and ended; threads append whole entries."""
        begin = self.now()
        done = do()
        self.parts.append({"name": name, "begin": begin, "end": self.now()})
        return done


def cold(request: ColdRequest, began: int) -> dict[str, object]:
    """Run the chain once over its canonical values and return the result's document.

    Args:
        request: what is run.
        began: when the parent began to start this process, of ``time.monotonic_ns``.

    Raises:
        ChainError: something is missing or failed.
    """
    clock = _Clock(began)
    clock.parts.append({"name": "start", "begin": 0, "end": clock.now()})
    with ThreadPoolExecutor(1) as beside, contextlib.ExitStack() as stack:
        opening = beside.submit(_wgpu, request, clock)
        clock.part("import cuda", lambda: (load("cuda.bindings.driver"), load("numpy")))
        cuda = clock.part("context cuda", lambda: stack.enter_context(primary(request.ordinal)))
        stage, image = request.of("nvrtc")
        last = clock.part("load nvrtc", lambda: stack.enter_context(cuda.kernel(image, stage.entry)))
        first = _pycuda(request, clock)
        device, pipeline = opening.result()
        script = _script(request, cuda, last, first, (device, pipeline))
        given = words.to_array(request.chain.canonical)
        result, _ = clock.part("run", lambda: script.run(given))
        ended = clock.now()
    return {
        "adapter": device.adapter.info["device"],
        "end": ended,
        "parts": clock.parts,
        "schema": RESULT,
        "values": words.report(result)["values"],
    }


def _wgpu(request: ColdRequest, clock: _Clock) -> tuple[Any, Any]:
    """Return wgpu's device and the stage's pipeline."""
    clock.part("import wgpu", lambda: load("wgpu.backends.wgpu_native"))
    stage, image = request.of("wgpu")
    device = clock.part(
        "adapter", lambda: request_device(choose(open_adapters(request.adapter), request.adapter))
    )
    compute = {
        "module": device.create_shader_module(code=image.data.decode("ascii")),
        "entry_point": stage.entry,
    }
    pipeline = clock.part("pipeline", lambda: device.create_compute_pipeline(layout="auto", compute=compute))
    return device, pipeline


def _pycuda(request: ColdRequest, clock: _Clock) -> tuple[Any, Any, Any]:
    """Return PyCUDA's driver module, its own context (not current) and the first stage's kernel."""
    driver = clock.part("import pycuda", lambda: load("pycuda.driver"))
    driver.init()
    context = clock.part("context pycuda", driver.Device(request.ordinal).make_context)
    stage, image = request.of("pycuda")
    kernel = clock.part(
        "load pycuda", lambda: driver.module_from_buffer(image.data + b"\0").get_function(stage.entry)
    )
    context.pop()
    return driver, context, kernel


def _script(
    request: ColdRequest,
    cuda: Cuda,
    last: Any,  # noqa: ANN401  # a CUDA kernel
    first: Sequence[Any],
    second: Sequence[Any],
) -> Script:
    """Return what runs the three stages in the simplest way: over 37 values nothing else is faster."""
    image = request.of("wgpu")[1]
    each = tuple(request.of(runtime)[0].each for runtime in ("pycuda", "wgpu", "nvrtc"))
    return Script(
        pycuda=first[0],
        context=first[1],
        first=first[2],
        device=second[0],
        pipeline=second[1],
        block=workgroup_size(image.data.decode("ascii")),
        cuda=cuda,
        last=last,
        each=(each[0], each[1], each[2]),
    )


def parse_cold(data: bytes) -> ColdRequest:
    """Parse a request of ``cold``.

    Raises:
        RequestError: it is wrong, with the dotted path of the key.
    """
    table = spec.document(data, COLD)
    ordinal = table.number("ordinal", 255)
    adapter = spec.adapter(table.value("adapter"), "adapter")
    chain = spec.valued_chain(table.value("chain"), "chain")
    images = dict(table.each("images", _image))
    table.finish()
    if adapter is None:
        raise RequestError("adapter", "is null")
    if set(images) != {stage.name for stage in chain.stages}:
        raise RequestError("images", "are not one for each stage")
    each = {stage.name: stage.each for stage in chain.stages}
    made = {name: Image(name, kind, data, "", each[name]) for name, (kind, data) in images.items()}
    return ColdRequest(ordinal, adapter, chain, made)


def _image(value: object, path: str) -> tuple[str, tuple[str, bytes]]:
    """Read one image."""
    table = spec.Table(value, path)
    stage, kind = table.text("stage", spec.NAME), table.text("kind")
    data = table.text("data")
    table.finish()
    try:
        return stage, (kind, bytes.fromhex(data))
    except ValueError as error:
        raise RequestError(f"{path}.data", "is no hex") from error

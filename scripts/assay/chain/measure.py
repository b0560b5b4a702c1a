"""Measures: buffers that Vulkan and CUDA share, and how fast the chain is beside floors and rival.

Events as ``run`` sends them, with ``measuring`` and ``measured`` in place of a chain's: ``measured`` carries
``task``, ``size`` and ``facts``.  What came out is described so that a reader can compute it anew
(``blocks.describe``); nothing is compared here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from . import blocks, document, interpreter, words
from .compiling import image_to_run
from .cuda_calls import Cuda, primary
from .events import Events, attempt
from .measure_spec import MeasureRequest
from .memory import Peak
from .packages import load
from .run import Surroundings
from .runtime_wgpu import (
    adapter_facts,
    buffer_limits,
    choose,
    library_facts,
    open_adapters,
    request_device,
)
from .shared.path import Kernels, opened
from .shared.vulkan_device import VulkanDevice
from .spec import INPUTS
from .speed.throughput import Parts, measure_size
from .values import Image

if TYPE_CHECKING:
    from .words import Array

SHARED, THROUGHPUT = "shared-buffers", "throughput"


@dataclass(frozen=True)
class _Sides:
    """What is open; None where it is not asked for or could not be opened."""

    cuda: Cuda | None
    vulkan: VulkanDevice | None
    device: Any

    def names(self) -> list[str]:
        """Return the names of what is open."""
        every = {"cuda": self.cuda, "vulkan": self.vulkan, "wgpu": self.device}
        return [name for name, side in every.items() if side is not None]


def measure(request: MeasureRequest, around: Surroundings) -> int:
    """Do what a request asks for and return how many errors were reported.

    Raises:
        OSError: the reader of the events has gone; everything is closed all the same.
    """
    events = around.events
    events.emit("hello", **interpreter.hello())
    with contextlib.ExitStack() as stack:
        sides = _open(request, events, stack)
        _device("before", request, around)
        images = _images(request, events)
        if images:
            _tasks(request, events, sides, images)
        _device("after", request, around)
        events.emit("holding", runtimes=sides.names(), **interpreter.loaded())
        around.wait()
    events.emit("end", errors=events.errors)
    return events.errors


def _open(request: MeasureRequest, events: Events, stack: contextlib.ExitStack) -> _Sides:
    """Open CUDA, then what shares with it, then wgpu."""
    cuda = _side("cuda", partial(_cuda, request.ordinal), events, stack)
    vulkan = device = None
    if cuda is not None and request.sharing is not None:
        vulkan = _side("vulkan", partial(_vulkan, cuda), events, stack)
    if cuda is not None and request.throughput is not None:
        device = _side("wgpu", partial(_wgpu, request), events, stack)
    return _Sides(cuda, vulkan, device)


def _side(
    name: str,
    open_it: Callable[[contextlib.ExitStack], tuple[Any, Mapping[str, object]]],
    events: Events,
    stack: contextlib.ExitStack,
) -> Any:  # noqa: ANN401  # one of the sides
    """Open one side and report it; where the stack unwinds past it, it is closed and that is reported.

    A side that cannot be closed (a lost device refuses everything) keeps no other open.
    """
    events.emit("opening", runtime=name)
    with contextlib.ExitStack() as own:
        got = attempt(events, lambda: open_it(own), step="open", runtime=name)
        if got is None:
            return None
        stack.callback(_close, name, own.pop_all(), events)
    events.emit("opened", runtime=name, facts=document.plain(got[1]))
    return got[0]


def _close(name: str, own: contextlib.ExitStack, events: Events) -> None:
    """Close one side and report how that went; a reader that has gone keeps nothing open."""
    with contextlib.suppress(OSError):
        if attempt(events, partial(_closed, own), step="close", runtime=name):
            events.emit("closed", runtime=name)


def _closed(own: contextlib.ExitStack) -> bool:
    """Close what one side holds and return that it is closed."""
    own.close()
    return True


def _cuda(ordinal: int, stack: contextlib.ExitStack) -> tuple[Cuda, Mapping[str, object]]:
    """Open CUDA's primary context."""
    cuda = stack.enter_context(primary(ordinal))
    return cuda, {"uuid": cuda.uuid.hex(), "version": load("importlib.metadata").version("cuda-bindings")}


def _vulkan(cuda: Cuda, stack: contextlib.ExitStack) -> tuple[VulkanDevice, Mapping[str, object]]:
    """Open the Vulkan device that has CUDA's UUID."""
    device = VulkanDevice.open(cuda.uuid)
    stack.callback(device.close)
    return device, device.facts()


def _wgpu(request: MeasureRequest, stack: contextlib.ExitStack) -> tuple[Any, Mapping[str, object]]:
    """Open wgpu's device with time stamps where it has them."""
    if request.adapter is None:
        raise AssertionError("the request was checked for an adapter")  # pragma: no cover
    adapter = choose(open_adapters(request.adapter), request.adapter)
    features = [name for name in ("timestamp-query",) if name in adapter.features]
    device = request_device(adapter, features)
    stack.callback(device.destroy)
    told = {"adapter": adapter_facts(adapter), "features": features, "limits": buffer_limits(adapter)}
    return device, {**library_facts(), **told}


def _device(when: str, request: MeasureRequest, around: Surroundings) -> None:
    """Report the CUDA device."""
    ask = lambda: document.plain(around.device(request.ordinal))  # noqa: E731  # one use, as in run
    device = attempt(around.events, ask, step="device")
    if device is not None:
        around.events.emit("device", when=when, device=device)


def _images(request: MeasureRequest, events: Events) -> Mapping[str, Image]:
    """Return the image of each stage, or nothing where one could not be made."""
    images: dict[str, Image] = {}
    for stage in request.chain.stages:
        place = {"chain": request.chain.name, "stage": stage.name}
        events.emit("compiling", **place)
        make = partial(image_to_run, request.chain, stage, request.architecture, request.nvcc)
        image = attempt(events, make, step="compile", runtime=stage.runtime, **place)
        if image is None:
            return {}
        events.emit("compiled", **place, image=image.to_json(), compiler=image.compiler)
        images[stage.name] = image
    return images


def _tasks(request: MeasureRequest, events: Events, sides: _Sides, images: Mapping[str, Image]) -> None:
    """Do every task, one after the other, each reported as it ends."""
    for name, size, task in _planned(request, sides, images):
        events.emit("measuring", task=name, size=size)
        facts = attempt(events, task, step="run", runtime=name, input=str(size))
        if facts is not None:
            events.emit("measured", task=name, size=size, facts=document.plain(facts))


def _planned(
    request: MeasureRequest, sides: _Sides, images: Mapping[str, Image]
) -> Iterator[tuple[str, int, Callable[[], Mapping[str, object]]]]:
    """Yield each task with its name and number of values."""
    cuda, vulkan = sides.cuda, sides.vulkan
    kernels = _kernels(request, images)
    if request.throughput is None and cuda is not None and vulkan is not None and kernels is not None:
        for name in INPUTS:
            values = words.to_array(request.chain.values(name))
            yield SHARED, values.size, partial(_shared, cuda, vulkan, kernels, name, values)
    if request.throughput is not None and cuda is not None and sides.device is not None:
        fresh = words.to_array(request.chain.fresh)
        parts = Parts(request, cuda, sides.device, vulkan, kernels, images)
        for size in request.throughput.sizes:
            yield THROUGHPUT, size, partial(measure_size, parts, fresh, size, request.throughput.turns)


def _kernels(request: MeasureRequest, images: Mapping[str, Image]) -> Kernels | None:
    """Return what runs on the shared buffer."""
    if request.sharing is None:
        return None
    stage = request.stage(request.sharing.kernel)
    sharing = request.sharing
    return Kernels(sharing.spirv, sharing.entry, sharing.each, images[stage.name], stage.entry)


def _shared(
    cuda: Cuda, vulkan: VulkanDevice, kernels: Kernels, name: str, values: Array
) -> Mapping[str, object]:
    """Run the shared path once over a set of values."""
    with Peak(cuda) as peak, opened(cuda, vulkan, kernels, values.size) as path:
        path.load(values)
        path.run()
        result = path.read()
        facts = path.facts()
        peak.look()
    return {**facts, "input": name, "memory": peak.facts(), "result": blocks.describe(result)}

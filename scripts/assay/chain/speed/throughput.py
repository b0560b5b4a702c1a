"""Measures one size: floors, hops, the whole chain, the shared buffer, and the documentation-style script."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import blocks
from ..cuda_calls import Cuda
from ..measure_spec import RUNTIMES
from ..memory import Peak
from ..packages import load
from ..runtime_wgpu import workgroup_size
from ..shared.path import Kernels, opened
from .buffers import ITEM, pinned, registered
from .clock import WARM_UP, device_ns, host_ns
from .cuda_hop import cuda_hop
from .fast import FastChain
from .floors import cuda_floors, empty_launch
from .pycuda_hop import PycudaHop, pycuda_hop
from .script import Script
from .wgpu_hop import wgpu_hop

if TYPE_CHECKING:
    from ..measure_spec import MeasureRequest
    from ..shared.vulkan_device import VulkanDevice
    from ..spec import Stage
    from ..values import Image
    from ..words import Array

SCRIPT_TURNS = 3
"""Runs of the script that count: it takes half a second over 2**26 values, and spreads little."""


@dataclass(frozen=True)
class Parts:
    """What a measurement is made with; ``vulkan`` and ``kernels`` are None where nothing is shared."""

    request: MeasureRequest
    cuda: Cuda
    device: Any
    vulkan: VulkanDevice | None
    kernels: Kernels | None
    images: Mapping[str, Image]

    def stage(self, runtime: str) -> tuple[Stage, Image]:
        """Return the stage of a runtime, with its image."""
        stage = next(each for each in self.request.chain.stages if each.runtime == runtime)
        return stage, self.images[stage.name]


def measure_size(parts: Parts, fresh: Array, size: int, turns: int) -> dict[str, object]:
    """Return every duration over ``size`` values in ns, memory peaks and what came out.

    Args:
        parts: what is open.
        fresh: values of shape (4096,) that the input repeats.
        size: number of values.
        turns: how often each part is measured.
    """
    given = load("numpy").resize(fresh, size)
    facts: dict[str, object] = {"bytes": size * ITEM, "turns": turns}
    facts.update(_host_path(parts, given, turns))
    if parts.vulkan is not None and parts.kernels is not None:
        facts["shared"] = _shared(parts, parts.vulkan, parts.kernels, given, turns)
    return facts


@contextlib.contextmanager
def _opened(parts: Parts, given: Array) -> Iterator[tuple[FastChain, bool]]:
    """Yield the fast chain with everything allocated; tell whether CUDA pinned wgpu's memory."""
    size, cuda = given.size, parts.cuda
    with contextlib.ExitStack() as stack:
        own = [stack.enter_context(pinned(cuda, size)) for _ in range(3)]
        own[0][:] = given
        stage, image = parts.stage("pycuda")
        hop = pycuda_hop(parts.request.ordinal, image, stage.entry, stage.each, size)
        first = stack.enter_context(hop)
        stage, image = parts.stage("wgpu")
        second = stack.enter_context(wgpu_hop(parts.device, image, stage.entry, stage.each, size))
        stage, image = parts.stage("nvrtc")
        kernel = stack.enter_context(cuda.kernel(image, stage.entry))
        last = stack.enter_context(cuda_hop(cuda, kernel, stage.each, size))
        with second.result() as mapped:
            pinned_too = stack.enter_context(registered(cuda, mapped))
        yield FastChain(first, second, last, *own), pinned_too


def _host_path(parts: Parts, given: Array, turns: int) -> dict[str, object]:
    """Return floors, hops, whole chain and script."""
    cuda, size = parts.cuda, given.size
    with Peak(cuda) as peak, _opened(parts, given) as (chain, pinned_too):
        peak.look()
        for _ in range(WARM_UP):
            chain.run()
        runs = [chain.run() for _ in range(turns)]
        result = blocks.describe(chain.result)
        hops = {name: host_ns(hop, turns) for name, hop in chain.hops().items()}
        last = chain.last
        floors = cuda_floors(cuda, chain.between, (last.given, last.made), turns)
        floors["empty-launch"] = empty_launch(cuda, last.kernel, last.given, turns)
        floors["empty-dispatch"] = host_ns(chain.second.empty, turns)
        kernels = {
            "nvrtc": device_ns(cuda, lambda: last.launch(0, size), turns),
            "wgpu": chain.second.kernel_ns(turns),
        }
        memory = peak.facts()
        script = _script(parts, chain.first, last.kernel, given)
    return {
        "chain": {
            "hops": runs,
            "memory": memory,
            "ns": [sum(run.values()) for run in runs],
            "result": result,
        },
        "floors": floors,
        "hops": hops,
        "kernels": kernels,
        "registered": pinned_too,
        "script": script,
    }


def _script(parts: Parts, first: PycudaHop, last: Any, given: Array) -> dict[str, object]:  # noqa: ANN401  # a CUDA kernel
    """Return the documentation-style script's durations, memory and result."""
    stage, image = parts.stage("wgpu")
    source = image.data.decode("ascii")
    compute = {"module": parts.device.create_shader_module(code=source), "entry_point": stage.entry}
    each = tuple(parts.stage(runtime)[0].each for runtime in RUNTIMES)
    script = Script(
        pycuda=first.cuda,
        context=first.context,
        first=first.kernel,
        device=parts.device,
        pipeline=parts.device.create_compute_pipeline(layout="auto", compute=compute),
        block=workgroup_size(source),
        cuda=parts.cuda,
        last=last,
        each=(each[0], each[1], each[2]),
    )
    with Peak(parts.cuda) as peak:
        result, _ = script.run(given)
        runs = [script.run(given)[1] for _ in range(SCRIPT_TURNS)]
        peak.look()
    total = [sum(run.values()) for run in runs]
    return {"hops": runs, "memory": peak.facts(), "ns": total, "result": blocks.describe(result)}


def _shared(
    parts: Parts, vulkan: VulkanDevice, kernels: Kernels, given: Array, turns: int
) -> dict[str, object]:
    """Return the shared path's durations, memory and result: one pass from loaded values, then the clock."""
    with Peak(parts.cuda) as peak, opened(parts.cuda, vulkan, kernels, given.size) as path:
        peak.look()
        path.load(given)
        path.run()
        result = blocks.describe(path.read())
        taken = host_ns(path.run, turns)
        return {**path.facts(), "memory": peak.facts(), "ns": taken, "result": result}

"""wgpu: WGSL on one adapter of one backend, never on a CPU or another backend unasked.

Only the wanted backend is enabled, so that no other driver is even loaded.  wgpu's own choice is not used:
without a Vulkan loader it answers a wish for high performance with a software renderer and says nothing.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .failures import ChainError, UnavailableError
from .packages import load
from .release import releasing
from .values import Image, Ran, both_ways

if TYPE_CHECKING:
    from .spec import Adapter, RunRequest
    from .words import Array

NAME = "wgpu"

NATIVE_BACKENDS: Mapping[str, str] = {"Vulkan": "Vulkan", "D3D12": "DX12", "Metal": "Metal", "OpenGL": "GL"}
"""By WebGPU's name of a backend, the name that wgpu-native's instance knows it by."""

SOFTWARE_TYPE = "CPU"

BINDING_LIMIT = "max-storage-buffer-binding-size"
BUFFER_LIMIT = "max-buffer-size"
GROUPS_LIMIT = "max-compute-workgroups-per-dimension"

_WORKGROUP = re.compile(r"@workgroup_size\(\s*([1-9][0-9]{0,3})\s*\)")

_INFO = (
    "adapter_type",
    "architecture",
    "backend_type",
    "description",
    "device",
    "device_id",
    "vendor",
    "vendor_id",
)


class Runtime:
    """An open device of wgpu."""

    def __init__(self, wgpu: Any, adapters: Sequence[Any], adapter: Any, device: Any) -> None:  # noqa: ANN401  # wgpu is untyped here
        self._wgpu = wgpu
        self._adapters = adapters
        self._adapter = adapter
        self._device = device

    @classmethod
    def open(cls, request: RunRequest) -> Runtime:
        """Choose the wanted adapter and ask for a device with the adapter's whole buffer sizes.

        Raises:
            UnavailableError: wgpu, its library or the wanted adapter are missing.
        """
        wanted = request.adapter
        if wanted is None:
            raise ChainError("no adapter is named")
        adapters = open_adapters(wanted)
        adapter = choose(adapters, wanted)
        return cls(load("wgpu"), adapters, adapter, request_device(adapter))

    def run(self, image: Image, entry: str, values: Array) -> Ran:
        """Run a WGSL kernel over values of shape (n,).

        The kernel reads ``@group(0) @binding(0) var<storage, read>`` and writes ``@binding(1)
        var<storage, read_write>``, both ``array<f32>``; its ``@workgroup_size(N)`` is a number.  Groups are
        laid out over x and, past the device's limit, over y.

        Raises:
            UnavailableError: the values are more than the device can bind (``adapter-limit``).
            ChainError: the kernel states no workgroup size.
        """
        self._check_size(values.nbytes)
        block = workgroup_size(image.data.decode("ascii"))
        grid = groups(values.size, block * image.each, self._device.limits[GROUPS_LIMIT])
        usage = self._wgpu.BufferUsage
        with contextlib.ExitStack() as buffers:
            given = buffers.enter_context(self._buffer(values.nbytes, usage.STORAGE | usage.COPY_DST))
            made = buffers.enter_context(self._buffer(values.nbytes, usage.STORAGE | usage.COPY_SRC))
            back = buffers.enter_context(self._buffer(values.nbytes, usage.MAP_READ | usage.COPY_DST))
            self._device.queue.write_buffer(given, 0, values)
            self._submit(image, entry, grid, (given, made, back))
            result = self._read(back, values)
        return Ran(result, grid, (block, 1, 1), both_ways(values.nbytes, NAME))

    def facts(self) -> dict[str, object]:
        """Return versions, wgpu's native library, every adapter that was seen, and the one in use."""
        return {
            **library_facts(),
            "adapter": adapter_facts(self._adapter),
            "adapters": [adapter_facts(adapter) for adapter in self._adapters],
            "limits": {
                name: self._device.limits[name] for name in (BINDING_LIMIT, BUFFER_LIMIT, GROUPS_LIMIT)
            },
        }

    def close(self) -> None:
        """Destroy the device."""
        self._device.destroy()

    def _check_size(self, size: int) -> None:
        """Refuse values that the device cannot bind."""
        most = min(self._device.limits[BINDING_LIMIT], self._device.limits[BUFFER_LIMIT])
        if size > most:
            raise UnavailableError(f"the adapter binds {most} bytes, not {size}", reason="adapter-limit")

    @contextlib.contextmanager
    def _buffer(self, size: int, usage: int) -> Iterator[Any]:
        """Make a buffer of ``size`` bytes inside the block."""
        buffer = self._device.create_buffer(size=size, usage=usage)
        with releasing(buffer.destroy):
            yield buffer

    def _submit(self, image: Image, entry: str, grid: tuple[int, int, int], buffers: Sequence[Any]) -> None:
        """Submit the kernel and the copy of its output for reading."""
        given, made, back = buffers
        shader = self._device.create_shader_module(code=image.data.decode("ascii"))
        compute = {"module": shader, "entry_point": entry}
        pipeline = self._device.create_compute_pipeline(layout="auto", compute=compute)
        entries = [{"binding": at, "resource": {"buffer": item}} for at, item in enumerate((given, made))]
        group = self._device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
        encoder = self._device.create_command_encoder()
        work = encoder.begin_compute_pass()
        work.set_pipeline(pipeline)
        work.set_bind_group(0, group)
        work.dispatch_workgroups(*grid)
        work.end()
        encoder.copy_buffer_to_buffer(made, 0, back, 0, back.size)
        self._device.queue.submit([encoder.finish()])

    def _read(self, back: Any, values: Array) -> Array:  # noqa: ANN401  # wgpu is untyped here
        """Wait by mapping (``on_submitted_work_done_sync`` is broken in wgpu 0.32) and copy the output."""
        numpy = load("numpy")
        back.map_sync("READ")
        with releasing(back.unmap):
            result: Array = numpy.frombuffer(back.read_mapped(copy=False), dtype=values.dtype).copy()
        return result


def open_adapters(wanted: Adapter) -> Sequence[Any]:
    """Start wgpu with the wanted backend alone, where it has not been started, and return its adapters.

    Raises:
        UnavailableError: wgpu or its library are missing.
    """
    wgpu = load("wgpu")
    extras = load("wgpu.backends.wgpu_native.extras")
    # a process has one instance for good: opened a second time, it has the backend of the first
    with contextlib.suppress(RuntimeError):
        extras.set_instance_extras(backends=[NATIVE_BACKENDS[wanted.backend]])
    adapters: Sequence[Any] = wgpu.gpu.enumerate_adapters_sync()
    return adapters


def choose(adapters: Sequence[Any], wanted: Adapter) -> Any:  # noqa: ANN401  # wgpu is untyped here
    """Return the wanted adapter: the vendor's hardware first, then allowed others by name, never another.

    Raises:
        UnavailableError: there is none (``adapter-missing``); the message names every adapter seen.
    """
    fitting = [adapter for adapter in adapters if adapter.info["backend_type"] == wanted.backend]
    for adapter in fitting:
        if adapter.info["vendor_id"] == wanted.vendor and adapter.info["adapter_type"] != SOFTWARE_TYPE:
            return adapter
    for adapter in fitting:
        if any(part in adapter.info["device"] for part in wanted.software):
            return adapter
    seen = "; ".join(_summary(adapter.info) for adapter in adapters) or "none"
    message = f"no {wanted.backend} adapter of vendor {wanted.vendor:#06x} among: {seen}"
    raise UnavailableError(message, reason="adapter-missing")


def buffer_limits(adapter: Any) -> dict[str, int]:  # noqa: ANN401  # wgpu is untyped here
    """Return the adapter's whole buffer sizes, which a device has only where they are asked for."""
    return {name: adapter.limits[name] for name in (BINDING_LIMIT, BUFFER_LIMIT)}


def request_device(adapter: Any, features: Sequence[str] = ()) -> Any:  # noqa: ANN401  # as above
    """Return a device with the adapter's whole buffer sizes and these features."""
    return adapter.request_device_sync(
        required_limits=buffer_limits(adapter), required_features=list(features)
    )


def workgroup_size(source: str) -> int:
    """Return the one workgroup size that a WGSL source states as a number.

    Raises:
        ChainError: it states none or several.
    """
    sizes = set(_WORKGROUP.findall(source))
    if len(sizes) != 1:
        raise ChainError("the WGSL states no single @workgroup_size(N) with a number")
    return int(sizes.pop())


def groups(count: int, block: int, most: int) -> tuple[int, int, int]:
    """Return how many workgroups of ``block`` run over ``count`` values, at most ``most`` in a row.

    Rows are of one length: 65,536 groups as 65,535 and a row with one left 65,534 idle, a fifth of the
    kernel's time (H200).
    """
    needed = -(-count // block)
    rows = -(-needed // most)
    return (-(-needed // rows), rows, 1)


def every_adapter() -> dict[str, object]:
    """Return wgpu's library and every adapter of every backend; this loads the drivers of all of them.

    Raises:
        UnavailableError: wgpu or its library are missing.
    """
    wgpu = load("wgpu")
    adapters = [adapter_facts(adapter) for adapter in wgpu.gpu.enumerate_adapters_sync()]
    return {**library_facts(), "adapters": adapters}


def library_facts() -> dict[str, object]:
    """Return wgpu's version, its native library and that library's version.

    Raises:
        UnavailableError: wgpu or its library are missing.
    """
    native = load("wgpu.backends.wgpu_native")
    return {
        "library": native.lib_path,
        "library_version": ".".join(str(part) for part in native.lib_version_info),
        "version": load("wgpu").__version__,
    }


def adapter_facts(adapter: Any) -> dict[str, object]:  # noqa: ANN401  # wgpu is untyped here
    """Return an adapter's info and its storage limit in bytes."""
    info = {key: adapter.info[key] for key in _INFO}
    return {**info, "storage_limit": adapter.limits[BINDING_LIMIT]}


def _summary(info: Mapping[str, object]) -> str:
    """Return one line about an adapter."""
    return f"{info['device']} ({info['adapter_type']} via {info['backend_type']}, vendor {info['vendor_id']})"

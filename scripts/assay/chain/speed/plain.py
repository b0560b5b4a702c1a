"""The chain as the documentation of its packages writes it, from the first import: a program of its own.

It runs as ``python -s plain.py REQUEST RESULT BEGAN`` and imports nothing beside the packages: PyCUDA's
tutorial (``pycuda.autoinit``, ``SourceModule``), wgpu-py's guide (a high-performance adapter,
``create_buffer_with_data``, ``read_buffer``), cuda-python's overview (NVRTC, primary context, launch).
``chain.cold`` describes request and result.
"""

from __future__ import annotations

import ctypes
import json
import re
import struct
import sys
import time
from pathlib import Path
from typing import Any

BLOCK = 256


class Clock:
    """Nanoseconds since the parent began to start this process, and the parts that they went into."""

    def __init__(self, began: int) -> None:
        self._began = began
        self.parts: list[dict[str, object]] = [{"name": "start", "begin": 0, "end": self.now()}]

    def now(self) -> int:
        """Return the nanoseconds that have gone by."""
        return time.monotonic_ns() - self._began

    def timed(self, name: str, do: Any) -> Any:  # noqa: ANN401  # whatever is done
        """Do something and keep how long it took."""
        begin = self.now()
        done = do()
        self.parts.append({"name": name, "begin": begin, "end": self.now()})
        return done


def main(request: str, result: str, began: int) -> None:
    """Run the three stages, each from import to values, and write the result."""
    document = json.loads(Path(request).read_text())
    clock = Clock(began)
    first, second, last = document["chain"]["stages"]
    values = [struct.unpack(">f", bytes.fromhex(word))[0] for word in document["chain"]["canonical"]]
    numpy = clock.timed("import numpy", _import_numpy)
    given = numpy.array(values, dtype=numpy.float32)
    doubled = _pycuda(given, first, clock)
    added, adapter = _wgpu(doubled, second, clock)
    made = _cuda(added, last, clock)
    end = clock.now()
    words = [struct.pack(">f", float(value)).hex() for value in made]
    answer = {
        "adapter": adapter,
        "end": end,
        "parts": clock.parts,
        "schema": "assay/chain-cold-result/1",
        "values": words,
    }
    Path(result).write_text(json.dumps(answer))


def _import_numpy() -> Any:  # noqa: ANN401  # a module
    import numpy  # noqa: ICN001, PLC0415  # its time is a part of its own

    return numpy


def _import_pycuda() -> Any:  # noqa: ANN401  # modules
    import pycuda.autoinit  # noqa: PLC0415  # as above
    import pycuda.compiler  # noqa: PLC0415  # as above
    import pycuda.driver  # noqa: PLC0415  # as above

    return pycuda


def _import_wgpu() -> Any:  # noqa: ANN401  # a module
    import wgpu  # noqa: PLC0415  # as above

    return wgpu


def _import_cuda() -> Any:  # noqa: ANN401  # modules
    from cuda.bindings import driver, nvrtc  # noqa: PLC0415  # as above

    return driver, nvrtc


def _pycuda(values: Any, stage: dict[str, Any], clock: Clock) -> Any:  # noqa: ANN401  # arrays of shape (n,)
    """Run the first stage as PyCUDA's tutorial does."""
    pycuda = clock.timed("import pycuda and context", _import_pycuda)
    build = pycuda.compiler.SourceModule
    module = clock.timed("compile pycuda", lambda: build(stage["text"], no_extern_c=True))
    return clock.timed("run pycuda", lambda: _launch_pycuda(pycuda.driver, module, values, stage))


def _launch_pycuda(driver: Any, module: Any, values: Any, stage: dict[str, Any]) -> Any:  # noqa: ANN401  # as above
    numpy = _import_numpy()
    kernel = module.get_function(stage["entry"])
    given, made = driver.mem_alloc(values.nbytes), driver.mem_alloc(values.nbytes)
    driver.memcpy_htod(given, values)
    blocks = -(-values.size // (BLOCK * stage["each"]))
    kernel(given, made, numpy.uint32(values.size), grid=(blocks, 1), block=(BLOCK, 1, 1))
    result = numpy.empty_like(values)
    driver.memcpy_dtoh(result, made)
    return result


def _wgpu(values: Any, stage: dict[str, Any], clock: Clock) -> tuple[Any, str]:  # noqa: ANN401  # as above
    """Run the second stage as wgpu-py's guide does."""
    wgpu = clock.timed("import wgpu", _import_wgpu)
    device = clock.timed("adapter", lambda: _device(wgpu))
    result = clock.timed("run wgpu", lambda: _dispatch(wgpu, device, values, stage))
    return result, device.adapter.info["device"]


def _device(wgpu: Any) -> Any:  # noqa: ANN401  # as above
    adapter = wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    return adapter.request_device_sync()


def _dispatch(wgpu: Any, device: Any, values: Any, stage: dict[str, Any]) -> Any:  # noqa: ANN401  # as above
    usage = wgpu.BufferUsage
    module = device.create_shader_module(code=stage["text"])
    given = device.create_buffer_with_data(data=values, usage=usage.STORAGE)
    made = device.create_buffer(size=values.nbytes, usage=usage.STORAGE | usage.COPY_SRC)
    compute = {"module": module, "entry_point": stage["entry"]}
    pipeline = device.create_compute_pipeline(layout="auto", compute=compute)
    entries = [{"binding": at, "resource": {"buffer": each}} for at, each in enumerate((given, made))]
    group = device.create_bind_group(layout=pipeline.get_bind_group_layout(0), entries=entries)
    block = int(re.findall(r"@workgroup_size\((\d+)\)", stage["text"])[0])
    encoder = device.create_command_encoder()
    work = encoder.begin_compute_pass()
    work.set_pipeline(pipeline)
    work.set_bind_group(0, group)
    work.dispatch_workgroups(-(-values.size // (block * stage["each"])))
    work.end()
    device.queue.submit([encoder.finish()])
    return _import_numpy().frombuffer(device.queue.read_buffer(made), dtype="float32")


def _cuda(values: Any, stage: dict[str, Any], clock: Clock) -> Any:  # noqa: ANN401  # as above
    """Run the third stage as cuda-python's overview does, in the device's primary context."""
    driver, nvrtc = clock.timed("import cuda", _import_cuda)
    device = clock.timed("context cuda", lambda: _context(driver))
    kernel = clock.timed("compile nvrtc", lambda: _compiled(driver, nvrtc, device, stage))
    result = clock.timed("run nvrtc", lambda: _launch_cuda(driver, kernel, values, stage))
    _ok(driver.cuCtxPopCurrent())
    return result


def _context(driver: Any) -> Any:  # noqa: ANN401  # as above
    _ok(driver.cuInit(0))
    device = _ok(driver.cuDeviceGet(0))
    _ok(driver.cuCtxPushCurrent(_ok(driver.cuDevicePrimaryCtxRetain(device))))
    return device


def _compiled(driver: Any, nvrtc: Any, device: Any, stage: dict[str, Any]) -> Any:  # noqa: ANN401  # as above
    attribute = driver.CUdevice_attribute
    major = _ok(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device))
    minor = _ok(driver.cuDeviceGetAttribute(attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device))
    program = _ok(nvrtc.nvrtcCreateProgram(stage["text"].encode(), b"kernel.cu", 0, [], []))
    options = [f"--gpu-architecture=compute_{major}{minor}".encode()]
    _ok(nvrtc.nvrtcCompileProgram(program, len(options), options))
    image = b" " * _ok(nvrtc.nvrtcGetPTXSize(program))
    _ok(nvrtc.nvrtcGetPTX(program, image))
    module = _ok(driver.cuModuleLoadData(image))
    return _ok(driver.cuModuleGetFunction(module, stage["entry"].encode()))


def _launch_cuda(driver: Any, kernel: Any, values: Any, stage: dict[str, Any]) -> Any:  # noqa: ANN401  # as above
    stream = _ok(driver.cuStreamCreate(0))
    given, made = _ok(driver.cuMemAlloc(values.nbytes)), _ok(driver.cuMemAlloc(values.nbytes))
    _ok(driver.cuMemcpyHtoDAsync(given, values.ctypes.data, values.nbytes, stream))
    blocks = -(-values.size // (BLOCK * stage["each"]))
    types = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)
    arguments = ((int(given), int(made), values.size), types)
    _ok(driver.cuLaunchKernel(kernel, blocks, 1, 1, BLOCK, 1, 1, 0, stream, arguments, 0))
    result = _import_numpy().empty_like(values)
    _ok(driver.cuMemcpyDtoHAsync(result.ctypes.data, made, values.nbytes, stream))
    _ok(driver.cuStreamSynchronize(stream))
    return result


def _ok(answer: tuple[Any, ...]) -> Any:  # noqa: ANN401  # what the call gives
    """Return what a call gives, or end: such programs check no more than this."""
    status, *given = answer
    if int(status):
        raise SystemExit(f"CUDA or NVRTC: {status}")
    return given[0] if given else None


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

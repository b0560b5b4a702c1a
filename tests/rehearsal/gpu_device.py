"""A real GPU through cuda.bindings' driver interface, for the comparison."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.rehearsal.gpu_cases import Array, Step


class Gpu:
    """The first device, its primary context current."""

    def __init__(self) -> None:
        from cuda.bindings import driver  # noqa: PLC0415  # only a machine with a GPU has it

        self._cuda = driver
        self._check(driver.cuInit(0))
        self._device = self._check(driver.cuDeviceGet(0))
        context = self._check(driver.cuDevicePrimaryCtxRetain(self._device))
        self._check(driver.cuCtxSetCurrent(context))

    def _check(self, told: tuple[Any, ...]) -> Any:  # noqa: ANN401  # whatever the call returns
        code, *values = told
        if int(code) != 0:
            raise RuntimeError(f"{code!r}")
        return values[0] if values else None

    def facts(self) -> dict[str, Any]:
        """Return the device's name, compute capability and the driver's version."""
        attribute = self._cuda.CUdevice_attribute
        major, minor = (
            self._check(self._cuda.cuDeviceGetAttribute(name, self._device))
            for name in (
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                attribute.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
        name = self._check(self._cuda.cuDeviceGetName(100, self._device))
        return {
            "name": bytes(name).split(b"\0")[0].decode(),
            "compute_capability": f"{major}.{minor}",
            "cuda_driver_version": self._check(self._cuda.cuDriverGetVersion()),
        }

    def load(self, text: str) -> Any:  # noqa: ANN401  # a module handle
        """Return a module made of PTX by the driver."""
        return self._check(self._cuda.cuModuleLoadData(text.encode() + b"\0"))

    def run(self, module: Any, steps: tuple[Step, ...], buffers: dict[str, Array]) -> dict[str, bytes]:  # noqa: ANN401  # as above
        """Run launches on copies of buffers and return what the buffers hold then."""
        cuda, places = self._cuda, {}
        for name, values in buffers.items():
            data = np.ascontiguousarray(values)
            places[name] = (self._check(cuda.cuMemAlloc(data.nbytes)), data.nbytes)
            self._check(cuda.cuMemcpyHtoD(places[name][0], data.ctypes.data, data.nbytes))
        try:
            for step in steps:
                self._launch(module, step, {name: int(place) for name, (place, _) in places.items()})
            return {name: self._read(*place) for name, place in places.items()}
        finally:
            for place, _ in places.values():
                self._check(cuda.cuMemFree(place))

    def _read(self, place: Any, size: int) -> bytes:  # noqa: ANN401  # a device pointer
        data = np.empty(size, np.uint8)
        self._check(self._cuda.cuMemcpyDtoH(data.ctypes.data, place, size))
        return data.tobytes()

    def _launch(self, module: Any, step: Step, places: dict[str, int]) -> None:  # noqa: ANN401  # as above
        kernel = self._check(self._cuda.cuModuleGetFunction(module, step.kernel.encode()))
        arguments = [
            np.array([places[a]], np.uint64) if isinstance(a, str) else np.array([a]) for a in step.arguments
        ]
        pointers = np.array([argument.ctypes.data for argument in arguments], np.uint64)
        self._check(
            self._cuda.cuLaunchKernel(
                kernel, *step.grid, *step.block, step.shared, 0, pointers.ctypes.data, 0
            )
        )
        self._check(self._cuda.cuCtxSynchronize())

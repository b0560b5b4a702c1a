"""The unmodified cuda.bindings and cuda.core of the embedded selection, on the CPU's driver."""

from __future__ import annotations

import uuid

from tests.rehearsal.driver.programs import Programs
from tests.rehearsal.driver.test_pycuda import FILL

HEAD = """
import ctypes
import numpy as np
from cuda.bindings import driver as cu
def call(name, *arguments):
    code, *given = getattr(cu, name)(*arguments)
    if int(code):
        raise RuntimeError(f"{name}: {code.name}")
    return given[0] if len(given) == 1 else given
call("cuInit", 0)
primary = call("cuDevicePrimaryCtxRetain", 0)
call("cuCtxPushCurrent", primary)
"""
END = """
call("cuCtxPopCurrent")
call("cuDevicePrimaryCtxRelease", 0)
"""

NAMES = """
names = []
def code(name, *arguments):
    names.append(getattr(cu, name)(*arguments)[0].name)
"""


def test_a_kernel_of_a_module_and_of_a_library_runs_in_the_primary_context(programs: Programs) -> None:
    ran = programs.run(
        HEAD
        + FILL
        + """
def filled(kernel):
    memory = call("cuMemAlloc", 400)
    arguments = ((memory, 100), (None, ctypes.c_uint32))
    call("cuLaunchKernel", kernel, 1, 1, 1, 128, 1, 1, 0, 0, arguments, 0)
    call("cuCtxSynchronize")
    out = np.empty(100, np.uint32)
    call("cuMemcpyDtoH", out.ctypes.data, memory, 400)
    call("cuMemFree", memory)
    return out.tolist() == list(range(100))
module = call("cuModuleLoadData", PTX)
one = filled(call("cuModuleGetFunction", module, b"fill"))
library = call("cuLibraryLoadData", PTX, [], [], 0, [], [], 0)
kernel = call("cuLibraryGetKernel", library, b"fill")
two = filled(call("cuKernelGetFunction", kernel))
say([one, two, call("cuLibraryGetKernelCount", library), call("cuKernelGetParamInfo", kernel, 1)])
call("cuLibraryUnload", library)
call("cuModuleUnload", module)
"""
        + END
    )
    assert ran.said == [True, True, 1, [8, 4]]
    assert (ran.exit, ran.errors, ran.of("finding")) == (0, "", [])


def test_what_is_wrong_has_the_driver_s_own_codes(programs: Programs) -> None:
    ran = programs.run(
        HEAD
        + FILL
        + NAMES
        + """
code("cuModuleLoadData", PTX.replace(b".version 9.0", b".version 9.1"))
module = call("cuModuleLoadData", PTX)
code("cuModuleGetFunction", module, b"other")
function = call("cuModuleGetFunction", module, b"fill")
code("cuLaunchKernel", function, 1, 1, 1, 2048, 1, 1, 0, 0, 0, 0)
code("cuLaunchKernel", function, 0, 1, 1, 32, 1, 1, 0, 0, 0, 0)
call("cuModuleUnload", module)
code("cuModuleUnload", module)
code("cuFuncGetAttribute", cu.CUfunction_attribute.CU_FUNC_ATTRIBUTE_NUM_REGS, function)
stream = call("cuStreamCreate", 0); call("cuStreamDestroy", stream); code("cuStreamSynchronize", stream)
code("cuEventElapsedTime_v2" if hasattr(cu, "cuEventElapsedTime_v2") else "cuEventElapsedTime",
     call("cuEventCreate", 0), call("cuEventCreate", 0))
call("cuCtxPopCurrent"); code("cuMemAlloc", 4); call("cuCtxPushCurrent", primary)
say(names)
"""
        + END
    )
    assert ran.said == [
        "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        "CUDA_ERROR_NOT_FOUND",
        "CUDA_ERROR_INVALID_VALUE",
        "CUDA_ERROR_INVALID_VALUE",
        "CUDA_ERROR_INVALID_HANDLE",
        "CUDA_ERROR_INVALID_HANDLE",
        "CUDA_ERROR_INVALID_HANDLE",
        "CUDA_ERROR_INVALID_HANDLE",
        "CUDA_ERROR_INVALID_CONTEXT",
    ]


def test_a_kernel_s_fault_stays_until_its_context_ends(programs: Programs) -> None:
    ran = programs.run(
        HEAD
        + FILL
        + NAMES
        + """
function = call("cuModuleGetFunction", call("cuModuleLoadData", PTX), b"fill")
memory = call("cuMemAlloc", 4)
code("cuLaunchKernel", function, 1, 1, 1, 32, 1, 1, 0, 0, ((memory, 2), (None, ctypes.c_uint32)), 0)
for _ in range(2):
    code("cuCtxSynchronize")
code("cuMemFree", memory)
call("cuCtxPopCurrent"); call("cuDevicePrimaryCtxRelease", 0)
primary = call("cuDevicePrimaryCtxRetain", 0); call("cuCtxPushCurrent", primary)
code("cuCtxSynchronize")
say(names)
"""
        + END
    )
    illegal = "CUDA_ERROR_ILLEGAL_ADDRESS"
    assert ran.said == ["CUDA_SUCCESS", illegal, illegal, illegal, "CUDA_SUCCESS"]
    assert [each["kind"] for each in ran.of("finding")] == ["out-of-bounds"]


def test_pointers_pools_managed_memory_and_host_functions(programs: Programs) -> None:
    ran = programs.run(
        HEAD
        + """
pool = call("cuDeviceGetDefaultMemPool", 0)
stream = call("cuStreamCreateWithPriority", 1, -3)
memory = call("cuMemAllocFromPoolAsync", 1000, pool, stream)
base, size = call("cuMemGetAddressRange", int(memory) + 10)
kind = call("cuPointerGetAttribute", cu.CUpointer_attribute.CU_POINTER_ATTRIBUTE_MEMORY_TYPE, memory)
call("cuMemFreeAsync", memory, stream)
managed = call("cuMemAllocManaged", 16, 1)
call("cuMemsetD8", managed, 7, 16)
seen = ctypes.string_at(int(managed), 16) == bytes([7] * 16)
call("cuMemFree", managed)
called = []
function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda data: called.append(data))
call("cuLaunchHostFunc", stream, cu.CUhostFn(ctypes.cast(function, ctypes.c_void_p).value), 5)
say([int(base) == int(memory), size, int(kind), seen, called, call("cuStreamGetPriority", stream)])
call("cuStreamDestroy", stream)
"""
        + END
    )
    assert ran.said == [True, 1000, 2, True, [5], -3]
    assert ran.errors == ""


def test_cuda_core_makes_a_stream_compiles_and_launches(programs: Programs) -> None:
    ran = programs.run("""
import numpy as np
from cuda.bindings import driver as cu
from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
device = Device(0)
device.set_current()
stream = device.create_stream()
text = ('extern "C" __global__ void add(const float *a, float *b, unsigned n)'
        '{ unsigned i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) b[i] = a[i] + 1; }')
kernel = Program(text, "c++", ProgramOptions(arch="sm_75")).compile("ptx").get_kernel("add")
given, made = (device.memory_resource.allocate(400, stream=stream) for _ in range(2))
values = np.arange(100, dtype=np.float32)
cu.cuMemcpyHtoD(int(given.handle), values.ctypes.data, 400)
launch(stream, LaunchConfig(grid=1, block=128), kernel, given, made, np.uint32(100))
stream.sync()
back = np.empty_like(values)
cu.cuMemcpyDtoH(back.ctypes.data, int(made.handle), 400)
say([device.name, device.uuid, bool((back == values + 1).all())])
given.close(); made.close(); stream.close()
""")
    name, identity, right = ran.said
    assert (name, right) == ("CPU (rehearsal)", True)
    assert uuid.UUID(identity).bytes == b"assay-rehearsal\0"

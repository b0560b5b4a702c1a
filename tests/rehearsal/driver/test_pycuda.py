"""The unmodified PyCUDA of the embedded selection, on the CPU's driver."""

from __future__ import annotations

from tests.rehearsal.driver.programs import Programs

CONTEXT = """
import numpy as np
import pycuda.driver as cuda
cuda.init()
device = cuda.Device(0)
context = device.make_context()
"""
END = "\ncontext.pop()\ncontext.detach()\n"

CUBIN = "CUDA_ERROR_NO_BINARY_FOR_GPU: refused: a CUBIN is code for a GPU; load PTX"

FILL = """
PTX = b'''
.version 9.0
.target sm_75
.address_size 64
.visible .entry fill(.param .u64 fill_param_0, .param .u32 fill_param_1)
{
  .reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<5>;
  ld.param.u64 %rd1, [fill_param_0];
  ld.param.u32 %r1, [fill_param_1];
  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;
  mad.lo.s32 %r5, %r2, %r3, %r4;
  setp.ge.u32 %p1, %r5, %r1;
  @%p1 bra DONE;
  cvta.to.global.u64 %rd2, %rd1;
  mul.wide.u32 %rd3, %r5, 4;
  add.s64 %rd4, %rd2, %rd3;
  st.global.u32 [%rd4], %r5;
DONE:
  ret;
}
''' + b'\\0'
"""


def test_the_device_is_told_as_what_it_is(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + """
say([device.name(), device.compute_capability(), device.total_memory(), cuda.get_driver_version(),
     cuda.Device.count(), device.pci_bus_id(), device.get_attribute(cuda.device_attribute.WARP_SIZE)])
"""
        + END
    )
    assert ran.said == ["CPU (rehearsal)", [7, 5], 4 << 30, 13000, 1, "0000:00:00.0", 32]
    assert (ran.exit, ran.errors) == (0, "")


def test_memory_goes_there_and_back_plain_pinned_pitched_and_in_a_stream(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + """
given = np.arange(1000, dtype=np.float32)
memory = cuda.mem_alloc(given.nbytes)
free = cuda.mem_get_info()[0]
cuda.memcpy_htod(memory, given)
plain = np.empty_like(given); cuda.memcpy_dtoh(plain, memory)
stream = cuda.Stream(); event = cuda.Event(); other = cuda.Event()
pinned = cuda.pagelocked_empty(1000, np.float32)
event.record(stream)
cuda.memcpy_dtoh_async(pinned, memory, stream)
other.record(stream); other.synchronize(); stream.synchronize()
second = cuda.mem_alloc(given.nbytes)
cuda.memcpy_dtod(second, memory, given.nbytes)
cuda.memset_d32(memory, 0x40490fdb, 10)
filled = np.empty(11, np.float32); cuda.memcpy_dtoh(filled, memory)
rows, pitch = cuda.mem_alloc_pitch(100, 10, 4)
copy = cuda.Memcpy2D()
copy.set_src_host(given[:250]); copy.set_dst_device(rows)
copy.src_pitch = copy.width_in_bytes = 100; copy.dst_pitch = pitch; copy.height = 10
copy(aligned=True)
back = np.empty(250, np.float32)
copy = cuda.Memcpy2D()
copy.set_src_device(rows); copy.set_dst_host(back)
copy.dst_pitch = copy.width_in_bytes = 100; copy.src_pitch = pitch; copy.height = 10
copy(aligned=True)
again = np.empty_like(given); cuda.memcpy_dtoh(again, second)
say([bool((plain == given).all()), bool((pinned == given).all()), bool((again == given).all()),
     bool((back == given[:250]).all()), filled.tolist(), pitch, (4 << 30) - free,
     event.time_till(other) >= 0])
for each in (memory, second, rows): each.free()
pinned.base.free()
"""
        + END
    )
    pi = 3.1415927410125732  # 0x40490fdb as binary32
    assert ran.said == [True, True, True, True, [pi] * 10 + [10.0], 512, 4000, True]
    assert (ran.exit, ran.of("finding")) == (0, [])


def test_a_kernel_is_launched_with_packed_arguments_and_by_prepared_calls(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + FILL
        + """
function = cuda.module_from_buffer(PTX).get_function("fill")
out = np.zeros(1000, np.uint32)
function(cuda.Out(out), np.uint32(1000), grid=(4, 1), block=(256, 1, 1))
memory = cuda.mem_alloc(400)
function.prepare("PI")
function.prepared_call((1, 1), (128, 1, 1), memory, 100)
second = np.zeros(100, np.uint32); cuda.memcpy_dtoh(second, memory); memory.free()
say([out.tolist() == list(range(1000)), second.tolist() == list(range(100)),
     function.max_threads_per_block, function.shared_size_bytes])
"""
        + END
    )
    assert ran.said == [True, True, 1024, 0]
    assert [(each["kernel"], each["grid"], each["block"]) for each in ran.of("launch")] == [
        ("fill", [4, 1, 1], [256, 1, 1]),
        ("fill", [1, 1, 1], [128, 1, 1]),
    ]
    assert ran.of("end") == [{"event": "end", "findings": 0, "launches": 2}]


def test_an_index_past_the_end_is_told_with_its_thread_and_ends_the_context(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + FILL
        + """
function = cuda.module_from_buffer(PTX).get_function("fill")
memory = cuda.mem_alloc(400)
function(memory, np.uint32(101), grid=(1, 1), block=(128, 1, 1))
try:
    context.synchronize()
except cuda.LogicError as error:
    say(str(error))
"""
        + END
    )
    assert ran.said == "cuCtxSynchronize failed: illegal address"
    (found,) = ran.of("finding")
    assert (found["kind"], found["kernel"], found["thread"]) == ("out-of-bounds", "fill", [100, 0, 0])
    assert "0 bytes past the end of 400 bytes" in found["message"]
    assert "out-of-bounds: fill" in ran.errors


def test_what_is_freed_may_not_be_used_and_sizes_are_checked(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + """
memory = cuda.mem_alloc(400); address = int(memory); memory.free()
codes = []
for action in (lambda: cuda.memcpy_dtoh(np.empty(100, np.float32), address),
               lambda: cuda.memset_d8(address, 0, 1),
               lambda: cuda.mem_alloc(8 << 30),
               lambda: cuda.mem_alloc(0),
               lambda: cuda.Device(1),
               lambda: cuda.module_from_buffer(b"no PTX\\0"),
               lambda: cuda.module_from_buffer(b"\\x7fELF" + bytes(100))):
    try:
        action(); codes.append(None)
    except cuda.Error as error:
        codes.append([type(error).__name__, str(error)])
say(codes)
"""
        + END
    )
    assert ran.said == [
        ["LogicError", "cuMemcpyDtoH failed: invalid value"],
        ["LogicError", "cuMemsetD8 failed: invalid value"],
        ["MemoryError", "cuMemAlloc failed: out of memory"],
        ["LogicError", "cuMemAlloc failed: invalid value"],
        ["LogicError", "cuDeviceGet failed: invalid device"],
        ["LogicError", "cuModuleLoadDataEx failed: invalid ptx - PTX line 1: a directive expected in `no`"],
        [
            "RuntimeError",
            f"cuModuleLoadDataEx failed: no binary for gpu - {CUBIN}",
        ],
    ]
    assert "a CUBIN is code for a GPU" in ran.errors


def test_memory_that_a_context_leaves_is_told(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + """
from pycuda.driver import pagelocked_empty
keep = device.make_context()
from cuda.bindings import driver
driver.cuMemAlloc(123)
keep.pop(); keep.detach()
"""
        + END
    )
    (found,) = ran.of("finding")
    assert found["kind"] == "leak"
    assert found["message"].startswith("123 bytes of device memory")
    assert found["message"].endswith("; asked for at <string>:14")
    assert ran.exit == 0


def test_memory_that_is_freed_twice_is_told_with_the_line(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + """
from cuda.bindings import driver
_, address = driver.cuMemAlloc(123)
say([int(driver.cuMemFree(address)[0]), int(driver.cuMemFree(address)[0]), int(driver.cuMemFree(12345)[0])])
"""
        + END
    )
    assert ran.said == [0, 1, 1]  # CUDA_ERROR_INVALID_VALUE
    (found,) = ran.of("finding")
    assert (found["kind"], found["kernel"]) == ("use-after-free", "")
    assert found["message"].endswith("was freed before, and is freed again at <string>:13")


def test_a_copy_to_the_host_of_what_nothing_wrote_is_told_with_the_line(programs: Programs) -> None:
    ran = programs.run(
        CONTEXT
        + """
memory = cuda.mem_alloc(400)
taken = np.zeros(100, np.float32)
cuda.memcpy_dtoh(taken, memory)
cuda.memset_d8(memory, 1, 4)
cuda.memcpy_dtoh(taken, memory)
memory.free()
"""
        + END
    )
    (found,) = ran.of("finding")
    assert (found["kind"], found["kernel"]) == ("uninitialised", "")
    assert "a copy of 400 bytes to the host" in found["message"]
    assert found["message"].endswith("which nothing wrote at <string>:13")


def test_its_own_compiler_elementwise_reduction_and_scan_run_through_the_wrapper(programs: Programs) -> None:
    ran = programs.run("""
import numpy as np
import pycuda.autoinit, pycuda.driver as cuda, pycuda.gpuarray as gpuarray
from pycuda.compiler import SourceModule
from pycuda.elementwise import ElementwiseKernel
module = SourceModule('__device__ int seven = 7;'
    ' __global__ void twice(float *a, int n)'
    ' { int i = threadIdx.x + blockIdx.x * blockDim.x; if (i < n) a[i] *= 2; }')
given = np.arange(1000, dtype=np.float32); twice = given.copy()
module.get_function("twice")(cuda.InOut(twice), np.int32(1000), block=(128, 1, 1), grid=(8, 1))
seven = np.zeros(1, np.int32); cuda.memcpy_dtoh(seven, module.get_global("seven")[0])
array = gpuarray.to_gpu(given)
square = ElementwiseKernel("float *z, float *x", "z[i] = x[i] * x[i]")
made = gpuarray.empty_like(array); square(made, array)
from pycuda.reduction import ReductionKernel
from pycuda.scan import ExclusiveScanKernel, InclusiveScanKernel
dot = ReductionKernel(np.float32, neutral="0", reduce_expr="a+b", map_expr="x[i]*y[i]",
    arguments="float *x, float *y")
numbers = np.arange(5000, dtype=np.int32) % 13 - 6
scanned = []
for kernel in (InclusiveScanKernel(np.int32, "a+b"), ExclusiveScanKernel(np.int32, "a+b", "0")):
    held = gpuarray.to_gpu(numbers); kernel(held); scanned.append(held.get())
sums = np.cumsum(numbers, dtype=np.int32)
say([bool((scanned[0] == sums).all()), bool((scanned[1] == sums - numbers).all()),
     float(dot(array, array).get()), bool((twice == 2 * given).all()), int(seven[0]),
     bool(((2 * array + 1).get() == 2 * given + 1).all()),
     bool((made.get() == given * given).all()), float(gpuarray.sum(array).get()),
     float(gpuarray.max(array).get())])
""")
    squares = 332_833_500.0  # sum of i * i below 1000: n (n - 1) (2 n - 1) / 6
    assert ran.said[:2] == [True, True]
    assert abs(ran.said[2] - squares) < 100  # float32, in another order
    assert ran.said[3:] == [True, 7, True, True, 499500.0, 999.0]
    assert (ran.exit, ran.of("finding")) == (0, [])

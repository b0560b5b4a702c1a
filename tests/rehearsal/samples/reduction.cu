// Sums, in the steps by which a reduction is usually taught: from divergent branches to shuffles.
// Each block leaves one partial sum.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

// Dynamic shared memory of any element type.
template <typename T> __device__ T *scratch()
{
    extern __shared__ __align__(16) unsigned char bytes[];
    return reinterpret_cast<T *>(bytes);
}

// Threads whose number is a multiple of a growing power of two work: every warp diverges.
template <typename T> __device__ void interleaved(const T *in, T *out, unsigned int count)
{
    T *held = scratch<T>();
    unsigned int me = threadIdx.x, i = blockIdx.x * blockDim.x + me;
    held[me] = i < count ? in[i] : T(0);
    __syncthreads();
    for (unsigned int step = 1; step < blockDim.x; step *= 2) {
        if (me % (2 * step) == 0) {
            held[me] += held[me + step];
        }
        __syncthreads();
    }
    if (me == 0) {
        out[blockIdx.x] = held[0];
    }
}

// The same pairs, worked on by the first threads: bank conflicts instead of divergence.
template <typename T> __device__ void strided(const T *in, T *out, unsigned int count)
{
    T *held = scratch<T>();
    unsigned int me = threadIdx.x, i = blockIdx.x * blockDim.x + me;
    held[me] = i < count ? in[i] : T(0);
    __syncthreads();
    for (unsigned int step = 1; step < blockDim.x; step *= 2) {
        unsigned int place = 2 * step * me;
        if (place < blockDim.x) {
            held[place] += held[place + step];
        }
        __syncthreads();
    }
    if (me == 0) {
        out[blockIdx.x] = held[0];
    }
}

// The upper half is added to the lower half.
template <typename T> __device__ void halving(const T *in, T *out, unsigned int count)
{
    T *held = scratch<T>();
    unsigned int me = threadIdx.x, i = blockIdx.x * blockDim.x + me;
    held[me] = i < count ? in[i] : T(0);
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
        if (me < half) {
            held[me] += held[me + half];
        }
        __syncthreads();
    }
    if (me == 0) {
        out[blockIdx.x] = held[0];
    }
}

// Two elements are added on the way in.
template <typename T> __device__ void first_add(const T *in, T *out, unsigned int count)
{
    T *held = scratch<T>();
    unsigned int me = threadIdx.x, i = blockIdx.x * blockDim.x * 2 + me;
    T sum = i < count ? in[i] : T(0);
    if (i + blockDim.x < count) {
        sum += in[i + blockDim.x];
    }
    held[me] = sum;
    __syncthreads();
    for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
        if (me < half) {
            held[me] = sum = sum + held[me + half];
        }
        __syncthreads();
    }
    if (me == 0) {
        out[blockIdx.x] = sum;
    }
}

template <typename T> __device__ T warp_sum(unsigned int members, T sum)
{
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_down_sync(members, sum, offset);
    }
    return sum;
}

// The last warp works with shuffles, the loop is unrolled for a block size known to the compiler.
template <typename T, unsigned int BLOCK> __device__ void unrolled(const T *in, T *out, unsigned int count)
{
    T *held = scratch<T>();
    unsigned int me = threadIdx.x, i = blockIdx.x * BLOCK * 2 + me;
    T sum = i < count ? in[i] : T(0);
    if (i + BLOCK < count) {
        sum += in[i + BLOCK];
    }
    held[me] = sum;
    __syncthreads();
#pragma unroll
    for (unsigned int half = 512; half >= 32; half /= 2) {
        if (BLOCK >= 2 * half) {
            if (me < half) {
                held[me] = sum = sum + held[me + half];
            }
            __syncthreads();
        }
    }
    if (me < 32) {
        sum = warp_sum(0xffffffffu, sum);
    }
    if (me == 0) {
        out[blockIdx.x] = sum;
    }
}

// Every thread walks the grid; warps leave their sums to the first warp, whose lanes a ballot names.
template <typename T, unsigned int BLOCK, bool POWER> __device__ void walking(const T *in, T *out, unsigned int count)
{
    T *held = scratch<T>();
    unsigned int me = threadIdx.x, stride = BLOCK * gridDim.x;
    T sum = T(0);
    if (POWER) {
        for (unsigned int i = blockIdx.x * BLOCK * 2 + me; i < count; i += 2 * stride) {
            sum += in[i] + in[i + BLOCK];
        }
    } else {
        for (unsigned int i = blockIdx.x * BLOCK + me; i < count; i += stride) {
            sum += in[i];
        }
    }
    sum = warp_sum(0xffffffffu, sum);
    if (me % 32 == 0) {
        held[me / 32] = sum;
    }
    __syncthreads();
    const unsigned int warps = BLOCK / 32;
    unsigned int members = __ballot_sync(0xffffffffu, me < warps);
    if (me < warps) {
        sum = held[me];
        for (int offset = warps / 2; offset > 0; offset /= 2) {
            sum += __shfl_down_sync(members, sum, offset);
        }
    }
    if (me == 0) {
        out[blockIdx.x] = sum;
    }
}

// Cooperative groups: tiles of 32 threads.
template <typename T> __device__ void grouped(const T *in, T *out, unsigned int count)
{
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
    T *held = scratch<T>();
    T sum = T(0);
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    for (int offset = tile.size() / 2; offset > 0; offset /= 2) {
        sum += tile.shfl_xor(sum, offset);
    }
    if (tile.thread_rank() == 0) {
        held[block.thread_rank() / 32] = sum;
    }
    cg::sync(block);
    if (block.thread_rank() == 0) {
        sum = T(0);
        for (unsigned int warp = 0; warp < block.size() / 32; ++warp) {
            sum += held[warp];
        }
        out[blockIdx.x] = sum;
    }
}

#define KERNEL(NAME, BODY, T)                                                                     \
    extern "C" __global__ void NAME(const T *in, T *out, unsigned int count)                      \
    {                                                                                             \
        BODY(in, out, count);                                                                     \
    }

#define KERNELS(T, SUFFIX)                                                                        \
    KERNEL(interleaved_##SUFFIX, interleaved<T>, T)                                               \
    KERNEL(strided_##SUFFIX, strided<T>, T)                                                       \
    KERNEL(halving_##SUFFIX, halving<T>, T)                                                       \
    KERNEL(first_add_##SUFFIX, first_add<T>, T)                                                   \
    KERNEL(unrolled_64_##SUFFIX, (unrolled<T, 64>), T)                                            \
    KERNEL(unrolled_128_##SUFFIX, (unrolled<T, 128>), T)                                          \
    KERNEL(unrolled_512_##SUFFIX, (unrolled<T, 512>), T)                                          \
    KERNEL(walking_64_##SUFFIX, (walking<T, 64, false>), T)                                       \
    KERNEL(walking_256_##SUFFIX, (walking<T, 256, false>), T)                                     \
    KERNEL(walking_256_power_##SUFFIX, (walking<T, 256, true>), T)                                \
    KERNEL(grouped_##SUFFIX, grouped<T>, T)

KERNELS(int, int)
KERNELS(float, float)
KERNELS(double, double)

// The block that finishes last adds up what the others left: atomics and a fence instead of a second launch.
__device__ unsigned int finished = 0;

extern "C" __global__ void single_pass(const float *in, volatile float *partial, float *out, unsigned int count)
{
    __shared__ float held[256];
    __shared__ bool last;
    float sum = 0.0f;
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        sum += in[i];
    }
    for (int pass = 0; pass < 2; ++pass) {
        held[threadIdx.x] = sum;
        __syncthreads();
        for (unsigned int half = blockDim.x / 2; half > 0; half /= 2) {
            if (threadIdx.x < half) {
                held[threadIdx.x] += held[threadIdx.x + half];
            }
            __syncthreads();
        }
        if (pass == 1) {
            break;
        }
        if (threadIdx.x == 0) {
            partial[blockIdx.x] = held[0];
            __threadfence();
            last = atomicInc(&finished, gridDim.x - 1) == gridDim.x - 1;
        }
        __syncthreads();
        if (!last) {
            return;
        }
        sum = 0.0f;
        for (unsigned int i = threadIdx.x; i < gridDim.x; i += blockDim.x) {
            sum += partial[i];
        }
    }
    if (threadIdx.x == 0) {
        out[0] = held[0];
    }
}

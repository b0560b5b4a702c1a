// Exclusive prefix sums of unsigned integers: within blocks, then over the sums of the blocks.

#define BLOCK 256

// Naive: log2(size) steps over an array twice as long whose first half is zero.
__device__ unsigned int inclusive(unsigned int value, volatile unsigned int *held, unsigned int size)
{
    unsigned int place = 2 * threadIdx.x - (threadIdx.x & (size - 1));
    held[place] = 0;
    place += size;
    held[place] = value;
    for (unsigned int offset = 1; offset < size; offset <<= 1) {
        __syncthreads();
        unsigned int sum = held[place] + held[place - offset];
        __syncthreads();
        held[place] = sum;
    }
    return held[place];
}

// Arrays of `size` elements, four of them a thread.
extern "C" __global__ void scan_arrays(uint4 *out, const uint4 *in, unsigned int size)
{
    __shared__ unsigned int held[2 * BLOCK];
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 given = in[i], sum = given;
    sum.y += sum.x;
    sum.z += sum.y;
    sum.w += sum.z;
    unsigned int before = inclusive(sum.w, held, size / 4) - sum.w;
    out[i] = make_uint4(before, before + sum.x, before + sum.y, before + sum.z);
}

// The last elements of the blocks' scans, and what they stand for, scanned by one block.
extern "C" __global__ void scan_tops(unsigned int *tops, const unsigned int *out, const unsigned int *in,
                                     unsigned int count, unsigned int length)
{
    __shared__ unsigned int held[2 * BLOCK];
    unsigned int i = threadIdx.x, value = 0;
    if (i < count) {
        unsigned int last = length - 1 + length * i;
        value = out[last] + in[last];
    }
    unsigned int sum = inclusive(value, held, BLOCK);
    if (i < count) {
        tops[i] = sum - value;
    }
}

extern "C" __global__ void add_tops(uint4 *out, const unsigned int *tops)
{
    __shared__ unsigned int top;
    if (threadIdx.x == 0) {
        top = tops[blockIdx.x];
    }
    __syncthreads();
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    uint4 sum = out[i];
    out[i] = make_uint4(sum.x + top, sum.y + top, sum.z + top, sum.w + top);
}

// Inclusive, with shuffles: within warps, then over the warps.
extern "C" __global__ void scan_by_shuffles(int *data, int *sums)
{
    extern __shared__ int warps[];
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int value = data[i];
    for (int offset = 1; offset < 32; offset *= 2) {
        int below = __shfl_up_sync(0xffffffffu, value, offset);
        if (lane >= offset) {
            value += below;
        }
    }
    if (lane == 31) {
        warps[warp] = value;
    }
    __syncthreads();
    if (warp == 0 && lane < blockDim.x / 32) {
        int members = (1 << (blockDim.x / 32)) - 1, sum = warps[lane];
        for (int offset = 1; offset < blockDim.x / 32; offset *= 2) {
            int below = __shfl_up_sync(members, sum, offset, blockDim.x / 32);
            if (lane >= offset) {
                sum += below;
            }
        }
        warps[lane] = sum;
    }
    __syncthreads();
    value += warp > 0 ? warps[warp - 1] : 0;
    data[i] = value;
    if (threadIdx.x == blockDim.x - 1) {
        sums[blockIdx.x] = value;
    }
}

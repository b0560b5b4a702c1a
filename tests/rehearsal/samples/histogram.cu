// Histograms of bytes: 64 bins counted by each thread for itself, 256 bins counted by each warp with atomics.

#define THREADS_64 64
#define WARPS_256 6
#define MERGE 256

// Byte counters, laid out so that the threads of a warp use different banks.
__device__ void count(unsigned char *mine, unsigned int word)
{
    for (int shift = 2; shift < 32; shift += 8) {
        mine[((word >> shift) & 0x3f) * THREADS_64] += 1;
    }
}

extern "C" __global__ void histogram_64(unsigned int *partial, const uint4 *data, unsigned int length)
{
    __shared__ unsigned char counters[64 * THREADS_64];
    unsigned int me = threadIdx.x;
    unsigned int place = (me & ~63u) | ((me & 15) << 2) | ((me & 48) >> 4);
    for (int i = 0; i < 64 / 4; ++i) {
        reinterpret_cast<unsigned int *>(counters)[me + i * THREADS_64] = 0;
    }
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + me; i < length; i += blockDim.x * gridDim.x) {
        uint4 four = data[i];
        count(counters + place, four.x);
        count(counters + place, four.y);
        count(counters + place, four.z);
        count(counters + place, four.w);
    }
    __syncthreads();
    unsigned int sum = 0;
    for (int i = 0; i < THREADS_64; ++i) {
        sum += counters[me * THREADS_64 + (i + 4 * (me & 15)) % THREADS_64];
    }
    partial[blockIdx.x * 64 + me] = sum;
}

extern "C" __global__ void histogram_256(unsigned int *partial, const unsigned int *data, unsigned int length)
{
    __shared__ unsigned int counters[WARPS_256 * 256];
    unsigned int *mine = counters + threadIdx.x / 32 * 256;
    for (unsigned int i = threadIdx.x; i < WARPS_256 * 256; i += blockDim.x) {
        counters[i] = 0;
    }
    __syncthreads();
    for (unsigned int i = blockIdx.x * blockDim.x + threadIdx.x; i < length; i += blockDim.x * gridDim.x) {
        unsigned int word = data[i];
        atomicAdd(mine + (word & 0xff), 1u);
        atomicAdd(mine + (word >> 8 & 0xff), 1u);
        atomicAdd(mine + (word >> 16 & 0xff), 1u);
        atomicAdd(mine + (word >> 24), 1u);
    }
    __syncthreads();
    for (unsigned int bin = threadIdx.x; bin < 256; bin += blockDim.x) {
        unsigned int sum = 0;
        for (int warp = 0; warp < WARPS_256; ++warp) {
            sum += counters[warp * 256 + bin];
        }
        partial[blockIdx.x * 256 + bin] = sum;
    }
}

// One block a bin adds up the partial histograms.
extern "C" __global__ void merge(unsigned int *bins, const unsigned int *partial, unsigned int count)
{
    __shared__ unsigned int held[MERGE];
    unsigned int sum = 0;
    for (unsigned int i = threadIdx.x; i < count; i += MERGE) {
        sum += partial[blockIdx.x + i * gridDim.x];
    }
    held[threadIdx.x] = sum;
    for (unsigned int half = MERGE / 2; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) {
            held[threadIdx.x] += held[threadIdx.x + half];
        }
    }
    if (threadIdx.x == 0) {
        bins[blockIdx.x] = held[0];
    }
}

extern "C" __global__ void histogram_global(unsigned int *bins, const unsigned char *data, unsigned int length)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < length) {
        atomicAdd(bins + data[i], 1u);
    }
}

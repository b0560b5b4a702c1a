// What the other samples leave out: calls, recursion, switches, printf, local arrays, votes, matches, locks.

#include <cstdio>

__noinline__ __device__ float polynomial(float x, float a, float b)
{
    return a * x * x + b;
}

extern "C" __global__ void calls(const float *in, float *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = i % 3 ? polynomial(in[i], 2.0f, 1.0f) : polynomial(in[i], -1.0f, 0.5f);
    }
}

__noinline__ __device__ unsigned int fibonacci(unsigned int n)
{
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void recursion(unsigned int *out)
{
    out[threadIdx.x] = fibonacci(threadIdx.x);
}

struct Shape
{
    __device__ virtual int area() const = 0;
};

struct Square : Shape
{
    int side;
    __device__ Square(int given) : side(given) {}
    __device__ int area() const override { return side * side; }
};

struct Pair : Shape
{
    int width, height;
    __device__ Pair(int given) : width(given), height(given + 1) {}
    __device__ int area() const override { return width * height; }
};

__noinline__ __device__ int measure(const Shape *shape)
{
    return shape->area();
}

extern "C" __global__ void virtual_calls(int *out)
{
    int i = threadIdx.x;
    Square square(i);
    Pair pair(i);
    out[i] = i % 2 ? measure(&square) : measure(&pair);
}

extern "C" __global__ void switches(const int *in, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    int value = in[i];
    switch (value & 7) {
    case 0: value = value * 3 + 1; break;
    case 1: value = value ^ 0x55; break;
    case 2: value = value - 100;
    case 3: value = value << 2; break;
    case 4: value = __popc(value); break;
    case 5: value = value / 7; break;
    case 6: value = value % 11; break;
    default: value = -value;
    }
    out[i] = value;
}

extern "C" __global__ void collatz(const unsigned int *in, unsigned int *steps, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        unsigned int value = in[i], taken = 0;
        while (value != 1) {
            value = value & 1 ? 3 * value + 1 : value / 2;
            ++taken;
        }
        steps[i] = taken;
    }
}

extern "C" __global__ void local_arrays(const int *in, int *out, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) {
        return;
    }
    int held[16];
    for (int k = 0; k < 16; ++k) {
        held[k] = in[i] + k * k;
    }
    int at = in[i] & 15, sum = 0;
    for (int k = 0; k < 5; ++k) {
        sum += held[(at + 3 * k) & 15];
        held[(at + k) & 15] = sum;
    }
    out[i] = sum;
}

extern "C" __global__ void prints(int count)
{
    if (threadIdx.x < count) {
        printf("%d of %s: %5.2f %#x %c %lld%%\n", threadIdx.x, "four", threadIdx.x * 0.5, threadIdx.x + 255,
               'a' + threadIdx.x, -5000000000LL * threadIdx.x);
    }
}

extern "C" __global__ void votes(const int *in, unsigned int *out)
{
    int value = in[threadIdx.x];
    out[4 * threadIdx.x] = __ballot_sync(0xffffffffu, value > 0);
    out[4 * threadIdx.x + 1] = __any_sync(0xffffffffu, value > 90) + 2 * __all_sync(0xffffffffu, value > -90);
    out[4 * threadIdx.x + 2] = __match_any_sync(0xffffffffu, value / 16);
    out[4 * threadIdx.x + 3] = __activemask() + __syncthreads_count(value > 0);
}

// Threads of all warps take a lock in turn; the winner lets the others go on waiting.
__device__ int lock_word = 0;

extern "C" __global__ void locks(int *total)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            __threadfence();
            *reinterpret_cast<volatile int *>(total) += threadIdx.x;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}

__constant__ int table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
__device__ float offsets[3] = {0.25f, -1.5f, 3.0f};

extern "C" __global__ void constants(float *out)
{
    out[threadIdx.x] = table[threadIdx.x & 7] + offsets[threadIdx.x % 3];
}

struct Big
{
    int head;
    float values[6];
    double tail;
};

extern "C" __global__ void structures(Big given, double *out)
{
    out[threadIdx.x] = given.head + given.values[threadIdx.x % 6] * given.tail;
}

extern "C" __global__ void compare_and_swap(double *sum, const double *in)
{
    unsigned long long *bits = reinterpret_cast<unsigned long long *>(sum), before = *bits, assumed;
    do {
        assumed = before;
        before = atomicCAS(bits, assumed, __double_as_longlong(in[threadIdx.x] + __longlong_as_double(assumed)));
    } while (assumed != before);
}

extern "C" __global__ void atomics(int *words, unsigned long long *wide, float *real)
{
    int me = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(words, 1);
    atomicMax(words + 1, me);
    atomicMin(words + 2, -me);
    atomicOr(words + 3, 1 << (me & 31));
    atomicXor(words + 4, me);
    atomicAnd(words + 5, ~(1 << (me & 15)));
    atomicInc(reinterpret_cast<unsigned int *>(words + 6), 16);
    atomicDec(reinterpret_cast<unsigned int *>(words + 7), 100);
    words[16 + me] = atomicExch(words + 8, me);
    words[1040 + me] = atomicAdd(words + 9, 2);
    atomicAdd(wide, 1ULL << (me & 63));
    atomicAdd(real, 0.5f);
}

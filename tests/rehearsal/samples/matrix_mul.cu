// C = A · B in tiles held in shared memory.

template <int TILE> __device__ void multiply(float *c, const float *a, const float *b, int a_width, int b_width)
{
    __shared__ float left[TILE][TILE], right[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    for (int start = 0; start < a_width; start += TILE) {
        left[y][x] = a[row * a_width + start + x];
        right[y][x] = b[(start + y) * b_width + column];
        __syncthreads();
#pragma unroll
        for (int k = 0; k < TILE; ++k) {
            sum += left[y][k] * right[k][x];
        }
        __syncthreads();
    }
    c[row * b_width + column] = sum;
}

extern "C" __global__ void matrix_mul_16(float *c, const float *a, const float *b, int a_width, int b_width)
{
    multiply<16>(c, a, b, a_width, b_width);
}

extern "C" __global__ void matrix_mul_32(float *c, const float *a, const float *b, int a_width, int b_width)
{
    multiply<32>(c, a, b, a_width, b_width);
}

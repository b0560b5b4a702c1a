// A matrix of float, copied and transposed in tiles of 32 × 32 by blocks of 32 × 8 threads.

#define TILE 32
#define ROWS 8

extern "C" __global__ void copy(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS) {
        out[(y + row) * width + x] = in[(y + row) * width + x];
    }
}

extern "C" __global__ void copy_through_shared(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE && x < width; row += ROWS) {
        if (y + row < height) {
            tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
        }
    }
    __syncthreads();
    for (int row = 0; row < TILE && x < width; row += ROWS) {
        if (y + row < height) {
            out[(y + row) * width + x] = tile[threadIdx.y + row][threadIdx.x];
        }
    }
}

extern "C" __global__ void transpose_naive(float *out, const float *in, int width, int height)
{
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS) {
        out[x * height + y + row] = in[(y + row) * width + x];
    }
}

// PAD keeps the columns of a tile in different banks; DIAGONAL spreads the blocks over the partitions.
template <int PAD, bool DIAGONAL> __device__ void tiled(float *out, const float *in, int width, int height)
{
    __shared__ float tile[TILE][TILE + PAD];
    int block_x = blockIdx.x, block_y = blockIdx.y;
    if (DIAGONAL) {
        if (width == height) {
            block_y = blockIdx.x;
            block_x = (blockIdx.x + blockIdx.y) % gridDim.x;
        } else {
            int number = blockIdx.x + gridDim.x * blockIdx.y;
            block_y = number % gridDim.y;
            block_x = (number / gridDim.y + block_y) % gridDim.x;
        }
    }
    int x = block_x * TILE + threadIdx.x, y = block_y * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS) {
        tile[threadIdx.y + row][threadIdx.x] = in[(y + row) * width + x];
    }
    __syncthreads();
    x = block_y * TILE + threadIdx.x;
    y = block_x * TILE + threadIdx.y;
    for (int row = 0; row < TILE; row += ROWS) {
        out[(y + row) * height + x] = tile[threadIdx.x][threadIdx.y + row];
    }
}

extern "C" __global__ void transpose_tiled(float *out, const float *in, int width, int height)
{
    tiled<0, false>(out, in, width, height);
}

extern "C" __global__ void transpose_padded(float *out, const float *in, int width, int height)
{
    tiled<1, false>(out, in, width, height);
}

extern "C" __global__ void transpose_diagonal(float *out, const float *in, int width, int height)
{
    tiled<1, true>(out, in, width, height);
}

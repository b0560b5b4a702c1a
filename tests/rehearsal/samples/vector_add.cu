// c[i] = a[i] + b[i], and the same with a stride over the grid

extern "C" __global__ void vector_add(const float *a, const float *b, float *c, int count)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) {
        c[i] = a[i] + b[i];
    }
}

extern "C" __global__ void saxpy_strided(float factor, const float *x, float *y, int count)
{
    for (int i = blockDim.x * blockIdx.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
        y[i] = factor * x[i] + y[i];
    }
}

extern "C" __global__ void add_vectors_of_four(const float4 *a, const float4 *b, float4 *c, int count)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < count) {
        float4 left = a[i], right = b[i];
        c[i] = make_float4(left.x + right.x, left.y + right.y, left.z + right.z, left.w + right.w);
    }
}

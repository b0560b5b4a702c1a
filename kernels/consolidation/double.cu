// out[i] = 2 * in[i]
extern "C" __global__ void twice(const float *in, float *out, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = 2.0f * in[i];
    }
}

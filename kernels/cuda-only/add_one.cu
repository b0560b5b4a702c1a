// out[i] = in[i] + 1
extern "C" __global__ void add_one(const float *in, float *out, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = in[i] + 1.0f;
    }
}

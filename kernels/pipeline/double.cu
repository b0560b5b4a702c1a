// out[i] = 2 * in[i]; a thread computes four values, a block apart, so that neighbours read neighbours.
extern "C" __global__ void twice(const float *in, float *out, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x * 4 + threadIdx.x;
    if (i + 3 * blockDim.x < count) {
        float a = in[i];
        float b = in[i + blockDim.x];
        float c = in[i + 2 * blockDim.x];
        float d = in[i + 3 * blockDim.x];
        out[i] = 2.0f * a;
        out[i + blockDim.x] = 2.0f * b;
        out[i + 2 * blockDim.x] = 2.0f * c;
        out[i + 3 * blockDim.x] = 2.0f * d;
    } else {
        for (unsigned int k = 0; k < 4; k++, i += blockDim.x) {
            if (i < count) {
                out[i] = 2.0f * in[i];
            }
        }
    }
}

#version 450
// made[i] = given[i] + 1, as add_one.wgsl has it; given and made may be one buffer.
layout(local_size_x = 256) in;
layout(std430, set = 0, binding = 0) readonly buffer Given { float given[]; };
layout(std430, set = 0, binding = 1) writeonly buffer Made { float made[]; };
layout(push_constant) uniform Count { uint count; };

const uint BLOCK = 256u;

void main()
{
    uint i = (gl_WorkGroupID.y * gl_NumWorkGroups.x + gl_WorkGroupID.x) * 4u * BLOCK + gl_LocalInvocationIndex;
    if (i + 3u * BLOCK < count) {
        float a = given[i];
        float b = given[i + BLOCK];
        float c = given[i + 2u * BLOCK];
        float d = given[i + 3u * BLOCK];
        made[i] = a + 1.0;
        made[i + BLOCK] = b + 1.0;
        made[i + 2u * BLOCK] = c + 1.0;
        made[i + 3u * BLOCK] = d + 1.0;
    } else {
        for (uint k = 0u; k < 4u; k++) {
            if (i + k * BLOCK < count) {
                made[i + k * BLOCK] = given[i + k * BLOCK] + 1.0;
            }
        }
    }
}

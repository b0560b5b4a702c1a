// made[i] = given[i] + 1; an invocation computes four values, a group apart, so that neighbours read neighbours.
// Groups that do not fit in a row continue in the next.
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> made: array<f32>;

const BLOCK: u32 = 256u;

@compute @workgroup_size(256)
fn add_one(
    @builtin(local_invocation_index) lane: u32,
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
) {
    let n = arrayLength(&given);
    let i = (group.y * groups.x + group.x) * 4u * BLOCK + lane;
    if (i + 3u * BLOCK < n) {
        let a = given[i];
        let b = given[i + BLOCK];
        let c = given[i + 2u * BLOCK];
        let d = given[i + 3u * BLOCK];
        made[i] = a + 1.0;
        made[i + BLOCK] = b + 1.0;
        made[i + 2u * BLOCK] = c + 1.0;
        made[i + 3u * BLOCK] = d + 1.0;
    } else {
        // written out: with a loop here the other branch runs a fifth slower (H200)
        if (i < n) {
            made[i] = given[i] + 1.0;
        }
        if (i + BLOCK < n) {
            made[i + BLOCK] = given[i + BLOCK] + 1.0;
        }
        if (i + 2u * BLOCK < n) {
            made[i + 2u * BLOCK] = given[i + 2u * BLOCK] + 1.0;
        }
    }
}

// made[i] = given[i] + 1; groups that do not fit in a row continue in the next.
@group(0) @binding(0) var<storage, read> given: array<f32>;
@group(0) @binding(1) var<storage, read_write> made: array<f32>;

const BLOCK: u32 = 256u;

@compute @workgroup_size(256)
fn add_one(@builtin(global_invocation_id) id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
    let i = id.y * groups.x * BLOCK + id.x;
    if (i < arrayLength(&given)) {
        made[i] = given[i] + 1.0;
    }
}

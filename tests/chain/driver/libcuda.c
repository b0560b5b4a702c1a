/* A CUDA driver on the CPU for tests: one device, float kernels known by name, every call logged.
 *
 * It shows in which order PyCUDA and cuda.bindings call a driver and whether everything is given back; it
 * computes nothing but `out = 2 * in` and `out = in + 1`, and shows nothing about a real GPU.
 *
 *   ASSAY_DRIVER_LOG   file to which the name of each call is appended, with a handle where there is one
 *   ASSAY_DRIVER_FAIL  NAME=CODE: that function returns CODE (of CUresult) and does nothing
 *   ASSAY_DRIVER_PINNED  bytes of pinned memory that one piece may have; unlimited where it is not set
 *
 * Signatures: cuda.h of CUDA 13.0.  Names that only have to exist are in others.h, made by the test.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int Result;
typedef struct { const char *name; } Function;
typedef struct { char *image; } Module;

static void *stack[64];
static int depth;
static char primary[] = "primary", own[] = "own";
static Function functions[] = {{"twice"}, {"add_one"}};

static Result enter(const char *name, const void *handle)
{
    const char *path = getenv("ASSAY_DRIVER_LOG"), *fail = getenv("ASSAY_DRIVER_FAIL");
    size_t length = strlen(name);
    FILE *log = path ? fopen(path, "a") : NULL;
    if (log) {
        fprintf(log, handle ? "%s %p\n" : "%s\n", name, handle);
        fclose(log);
    }
    return fail && !strncmp(fail, name, length) && fail[length] == '=' ? atoi(fail + length + 1) : 0;
}

#define ENTER(handle) do { Result code_ = enter(__func__, (const void *)(handle)); if (code_) return code_; } while (0)

Result cuInit(unsigned flags) { (void)flags; ENTER(0); return 0; }
Result cuDriverGetVersion(int *version) { ENTER(0); *version = 13000; return 0; }
Result cuGetErrorString(Result code, const char **text) { (void)code; *text = "the test driver was told to fail"; return 0; }

Result cuGetErrorName(Result code, const char **name)
{
    *name = code == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : code == 100 ? "CUDA_ERROR_NO_DEVICE" : code == 2 ? "CUDA_ERROR_OUT_OF_MEMORY" : NULL;
    return *name ? 0 : 1;
}

Result cuDeviceGetCount(int *count) { ENTER(0); *count = 1; return 0; }
Result cuDeviceGet(int *device, int ordinal) { ENTER(0); *device = ordinal; return ordinal ? 101 : 0; }
Result cuDeviceGetName(char *name, int size, int device) { (void)device; ENTER(0); snprintf(name, size, "Test Device"); return 0; }
Result cuDeviceTotalMem_v2(size_t *bytes, int device) { (void)device; ENTER(0); *bytes = 1 << 30; return 0; }

Result cuDeviceGetUuid_v2(unsigned char *uuid, int device)
{
    (void)device;
    ENTER(0);
    for (int i = 0; i < 16; i++) uuid[i] = (unsigned char)(0x11 * i);
    return 0;
}

Result cuDeviceGetPCIBusId(char *text, int size, int device)
{
    (void)device;
    ENTER(0);
    snprintf(text, size, "0000:1B:00.0");
    return 0;
}

Result cuDeviceGetAttribute(int *value, int attribute, int device)
{
    (void)device;
    ENTER(0);
    *value = attribute == 75 ? 9 : attribute == 16 ? 4 : attribute == 1 ? 1024 : 0;
    return 0;
}

Result cuDeviceComputeCapability(int *major, int *minor, int device) { (void)device; ENTER(0); *major = 9; *minor = 0; return 0; }

/* NVRTC asks for this whenever there is a libcuda, and crashes where the name is missing. */
Result cuGetExportTable(const void **table, const void *id) { (void)id; ENTER(0); *table = NULL; return 500; }

Result cuCtxCreate_v4(void **context, void *parameters, unsigned flags, int device)
{
    (void)parameters, (void)flags, (void)device;
    ENTER(0);
    stack[depth++] = *context = own;
    return 0;
}

Result cuCtxDetach(void *context) /* how PyCUDA ends a context */
{
    ENTER(context);
    if (depth && stack[depth - 1] == context) depth--;
    return 0;
}

Result cuCtxPushCurrent_v2(void *context) { ENTER(context); stack[depth++] = context; return 0; }
Result cuCtxSetCurrent(void *context) { ENTER(context); if (depth) depth--; stack[depth++] = context; return 0; }
Result cuCtxGetCurrent(void **context) { ENTER(0); *context = depth ? stack[depth - 1] : NULL; return 0; }
Result cuCtxGetDevice(int *device) { ENTER(0); *device = 0; return depth ? 0 : 201; }
Result cuCtxSynchronize(void) { ENTER(depth ? stack[depth - 1] : NULL); return depth ? 0 : 201; }

Result cuCtxPopCurrent_v2(void **context)
{
    ENTER(depth ? stack[depth - 1] : NULL);
    if (!depth) return 201;
    depth--;
    if (context) *context = stack[depth];
    return 0;
}

Result cuDevicePrimaryCtxRetain(void **context, int device) { (void)device; ENTER(primary); *context = primary; return 0; }
Result cuDevicePrimaryCtxRelease_v2(int device) { (void)device; ENTER(primary); return 0; }

Result cuModuleLoadData(void **module, const void *image)
{
    ENTER(depth ? stack[depth - 1] : NULL);
    if (!depth) return 201;
    if (!strstr(image, ".version 9.0")) return 222; /* CUDA_ERROR_UNSUPPORTED_PTX_VERSION */
    Module *made = malloc(sizeof *made);
    made->image = strdup(image);
    *module = made;
    return 0;
}

Result cuModuleLoadDataEx(void **module, const void *image, unsigned count, int *options, void **values)
{
    (void)count, (void)options, (void)values;
    return cuModuleLoadData(module, image);
}

Result cuModuleUnload(void *module)
{
    ENTER(depth ? stack[depth - 1] : NULL);
    free(((Module *)module)->image);
    free(module);
    return 0;
}

Result cuModuleGetFunction(void **function, void *module, const char *name)
{
    char entry[128];
    ENTER(0);
    snprintf(entry, sizeof entry, ".entry %s(", name);
    for (unsigned i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name) && strstr(((Module *)module)->image, entry)) {
            *function = &functions[i];
            return 0;
        }
    return 500; /* CUDA_ERROR_NOT_FOUND */
}

Result cuFuncSetBlockShape(void *function, int x, int y, int z) { (void)function, (void)x, (void)y, (void)z; return 0; }
Result cuMemAlloc_v2(uint64_t *memory, size_t size) { *memory = 0; ENTER(depth ? stack[depth - 1] : NULL); *memory = (uint64_t)(uintptr_t)malloc(size); return 0; }
Result cuMemFree_v2(uint64_t memory) { ENTER(depth ? stack[depth - 1] : NULL); free((void *)(uintptr_t)memory); return 0; }

Result cuMemHostAlloc(void **memory, size_t size, unsigned flags)
{
    const char *most = getenv("ASSAY_DRIVER_PINNED");
    (void)flags;
    ENTER(depth ? stack[depth - 1] : NULL);
    if (!depth) return 201;
    if (most && size > strtoull(most, NULL, 10)) return 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    *memory = malloc(size);
    return 0;
}

Result cuMemFreeHost(void *memory) { ENTER(depth ? stack[depth - 1] : NULL); free(memory); return 0; }

Result cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t size) { ENTER(0); memcpy((void *)(uintptr_t)to, from, size); return 0; }
Result cuMemcpyDtoH_v2(void *to, uint64_t from, size_t size) { ENTER(0); memcpy(to, (void *)(uintptr_t)from, size); return 0; }

Result cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                      unsigned shared, void *stream, void **parameters, void **extra)
{
    const float *in;
    float *out;
    uint32_t count;
    int twice = !strcmp(((Function *)function)->name, "twice");
    (void)shared, (void)stream;
    ENTER(depth ? stack[depth - 1] : NULL);
    if (parameters) {
        in = *(float **)parameters[0], out = *(float **)parameters[1], count = *(uint32_t *)parameters[2];
    } else { /* CU_LAUNCH_PARAM_BUFFER_POINTER, then the arguments packed */
        char *packed = extra[1];
        memcpy(&in, packed, 8), memcpy(&out, packed + 8, 8), memcpy(&count, packed + 16, 4);
    }
    if ((uint64_t)gx * gy * gz * bx * by * bz < count) return 1;
    for (uint32_t i = 0; i < count; i++) out[i] = twice ? 2.0f * in[i] : in[i] + 1.0f;
    return 0;
}

Result cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    static const char *suffixes[] = {"", "_v2", "_v3", "_v4"};
    char full[256];
    (void)version, (void)flags;
    *function = NULL;
    for (int i = 0; i < 4 && !*function; i++) {
        snprintf(full, sizeof full, "%s%s", name, suffixes[i]);
        *function = dlsym(RTLD_DEFAULT, full);
    }
    if (status) *status = *function ? 0 : 1;
    return *function ? 0 : 500;
}

#define ONLY_EXISTS(name) Result name(void) { return enter(#name, NULL), 801; } /* CUDA_ERROR_NOT_SUPPORTED */
#include "others.h"

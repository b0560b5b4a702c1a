/* A Vulkan loader that lists what ASSAY_VULKAN says: "refuse", "memory", or the number of its devices.
 * Layouts are those of vulkan_core.h (Vulkan 1.3), written out here so that the tests need no headers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    uint32_t apiVersion, driverVersion, vendorID, deviceID, deviceType;
    char deviceName[256];
    uint8_t pipelineCacheUUID[16];
    uint64_t limits[63];
    uint32_t sparse[5];
} Properties;

typedef struct {
    uint32_t sType;
    void *pNext;
    uint32_t driverID;
    char driverName[256], driverInfo[256];
    uint8_t conformance[4];
} Driver;

typedef struct {
    uint32_t sType;
    void *pNext;
    Properties properties;
} Properties2;

typedef struct {
    uint32_t sType;
    const void *pNext;
    uint32_t flags;
    const struct { uint32_t sType; const void *pNext; const char *name; uint32_t version; const char *engine;
                   uint32_t engineVersion, apiVersion; } *application;
} Create;

static int made;
static uint32_t version(int minor) { return 1u << 22 | (uint32_t)minor << 12 | 250; }
static const char *wish(void) { const char *said = getenv("ASSAY_VULKAN"); return said ? said : "1"; }

int vkEnumerateInstanceVersion(uint32_t *told) { *told = version(3); return 0; }

int vkCreateInstance(const Create *create, const void *allocator, void **instance)
{
    if (!strcmp(wish(), "refuse")) { return -9; }
    if (!strcmp(wish(), "memory")) { return -1; }
    if (create->sType != 1 || create->application->apiVersion != (1u << 22 | 2u << 12)) { return -3; }
    made = 1;
    *instance = &made;
    return 0;
}

void vkDestroyInstance(void *instance, const void *allocator)
{
    if (instance != &made || !made) { abort(); }
    made = 0;
    const char *seen = getenv("ASSAY_VULKAN_CLOSED");
    if (seen && symlink("closed", seen)) { abort(); }
}

int vkEnumeratePhysicalDevices(void *instance, uint32_t *count, void **devices)
{
    uint32_t there = (uint32_t)atoi(wish()), fit = there < *count ? there : *count;
    for (uint32_t at = 0; at < fit; at++) { devices[at] = (void *)(uintptr_t)(at + 1); }
    *count = fit;
    return fit < there ? 5 : 0;
}

void vkGetPhysicalDeviceProperties(void *device, Properties *told)
{
    int first = (uintptr_t)device == 1;
    memset(told, 0, sizeof *told);
    told->apiVersion = first ? version(3) : version(1);
    told->vendorID = first ? 0x10de : 0x8086;
    told->deviceID = 0x2335;
    told->deviceType = first ? 2 : 4;
    strcpy(told->deviceName, first ? "NVIDIA H200" : "Other");
}

void vkGetPhysicalDeviceProperties2(void *device, Properties2 *told)
{
    Driver *driver = told->pNext;
    if (told->sType != 1000059001 || driver->sType != 1000196000) { abort(); }
    vkGetPhysicalDeviceProperties(device, &told->properties);
    driver->driverID = 4;
    strcpy(driver->driverName, "NVIDIA");
    strcpy(driver->driverInfo, "580.159.04");
}

"""A Vulkan device, chosen by UUID, that exports memory and semaphores as file descriptors.

PyPI's ``vulkan`` is a thin binding of the C interface: every handle is in view, so that what is shared can be
said exactly.  (``slangpy`` would bring a shader compiler of 92 MB, and hides the handles.)

Sources: Vulkan 1.2, ``VkPhysicalDeviceIDProperties``, ``VK_KHR_external_memory_fd``,
``VK_KHR_external_semaphore_fd`` and "Timeline Semaphores".
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..failures import UnavailableError
from ..packages import load
from ..release import releasing

if TYPE_CHECKING:
    from types import ModuleType

EXTENSIONS = ("VK_KHR_external_memory_fd", "VK_KHR_external_semaphore_fd")

_API = (1, 2, 0)
_DRIVER_VERSION_BITS = (22, 14, 6)
"""NVIDIA packs ``driverVersion`` as 10, 8, 8 and 6 bits (vulkan.gpuinfo.org, "Driver version")."""


class VulkanDevice:
    """An open device with one compute queue; everything made through it is freed by ``close``, last first."""

    def __init__(self, vk: ModuleType, stack: contextlib.ExitStack, physical: Any) -> None:  # noqa: ANN401  # cffi handle
        self.vk = vk
        self._stack = stack
        self.physical = physical
        self.family = _compute_family(vk, physical)
        self.device = self.made("Device", vk.vkCreateDevice(physical, self._create_info(), None), owner=None)
        self.queue = vk.vkGetDeviceQueue(self.device, self.family, 0)
        self._memories = vk.vkGetPhysicalDeviceMemoryProperties(physical)

    @classmethod
    def open(cls, uuid: bytes) -> VulkanDevice:
        """Open the device with that UUID (16 bytes).

        Raises:
            UnavailableError: the package, the loader, the device or an extension is missing.
        """
        vk = load("vulkan")
        with contextlib.ExitStack() as stack:
            instance = _instance(vk)
            stack.callback(vk.vkDestroyInstance, instance, None)
            physical = _physical(vk, instance, uuid)
            device = cls(vk, stack, physical)
            device._stack = stack.pop_all()
        return device

    def _create_info(self) -> Any:  # noqa: ANN401  # cffi structure
        """Return what the device is made with: one compute queue, both extensions, timeline semaphores."""
        vk = self.vk
        features = vk.VkPhysicalDeviceTimelineSemaphoreFeatures(timelineSemaphore=vk.VK_TRUE)
        queue = vk.VkDeviceQueueCreateInfo(queueFamilyIndex=self.family, queueCount=1, pQueuePriorities=[1.0])
        return vk.VkDeviceCreateInfo(
            pNext=features,
            queueCreateInfoCount=1,
            pQueueCreateInfos=[queue],
            enabledExtensionCount=len(EXTENSIONS),
            ppEnabledExtensionNames=list(EXTENSIONS),
            enabledLayerCount=0,
            ppEnabledLayerNames=[],
        )

    def made(self, kind: str, handle: Any, *, owner: object = ...) -> Any:  # noqa: ANN401  # cffi handles
        """Return a handle that ``close`` destroys with ``vkDestroy<kind>`` (``vkFree<kind>`` for memory)."""
        destroy: Callable[..., None] = getattr(
            self.vk, f"vkFree{kind}" if kind == "Memory" else f"vkDestroy{kind}"
        )
        if owner is None:
            self._stack.callback(destroy, handle, None)
        else:
            self._stack.callback(destroy, self.device, handle, None)
        return handle

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Free what is made inside the block at its end, after the device has come to rest."""
        with contextlib.ExitStack() as stack:
            outer, self._stack = self._stack, stack
            try:
                with releasing(self.wait_idle):
                    yield
            finally:
                self._stack = outer

    def wait_idle(self) -> None:
        """Wait until the device has nothing more to do."""
        self.vk.vkDeviceWaitIdle(self.device)

    def close(self) -> None:
        """Free everything, the device and the instance last."""
        with self._stack:
            self.wait_idle()

    def memory_type(self, allowed: int, flags: int) -> int:
        """Return the first memory type of ``allowed`` (a bit mask) that has all ``flags``.

        Raises:
            UnavailableError: there is none (``memory-type-missing``).
        """
        for number in range(self._memories.memoryTypeCount):
            if allowed >> number & 1 and self._memories.memoryTypes[number].propertyFlags & flags == flags:
                return number
        raise UnavailableError("the device has no fitting memory type", reason="memory-type-missing")

    def function(self, name: str) -> Callable[..., Any]:
        """Return an extension's function."""
        found: Callable[..., Any] = self.vk.vkGetDeviceProcAddr(self.device, name)
        return found

    def facts(self) -> dict[str, object]:
        """Return name, UUID (hex), numbers and versions of the device, and what is used of it."""
        vk = self.vk
        properties = vk.vkGetPhysicalDeviceProperties(self.physical)
        return {
            "api_version": _version(properties.apiVersion, (22, 12, 0)),
            "binding": _package_version(),
            "device": properties.deviceName,
            "device_id": properties.deviceID,
            "driver_version": _driver(properties.driverVersion),
            "extensions": list(EXTENSIONS),
            "uuid": device_uuid(vk, self.physical).hex(),
            "vendor_id": properties.vendorID,
        }


def device_uuid(vk: ModuleType, physical: Any) -> bytes:  # noqa: ANN401  # cffi handle
    """Return a device's UUID, which CUDA gives the same device too (16 bytes)."""
    ids = vk.ffi.new("VkPhysicalDeviceIDProperties*")
    ids.sType = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_ID_PROPERTIES
    properties = vk.ffi.new("VkPhysicalDeviceProperties2*")
    properties.sType = vk.VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2
    properties.pNext = ids
    # the package's own wrapper copies the structures, and would drop what pNext points to
    load("vulkan._vulkan").lib.vkGetPhysicalDeviceProperties2(physical, properties)
    return bytes(vk.ffi.buffer(ids.deviceUUID))


def _instance(vk: ModuleType) -> Any:  # noqa: ANN401  # cffi handle
    """Return an instance without any layer."""
    application = vk.VkApplicationInfo(
        pApplicationName="assay",
        applicationVersion=1,
        pEngineName="assay",
        engineVersion=1,
        apiVersion=vk.VK_MAKE_VERSION(*_API),
    )
    info = vk.VkInstanceCreateInfo(
        pApplicationInfo=application,
        enabledLayerCount=0,
        ppEnabledLayerNames=[],
        enabledExtensionCount=0,
        ppEnabledExtensionNames=[],
    )
    try:
        return vk.vkCreateInstance(info, None)
    except Exception as error:  # the binding raises classes of its own for every code
        raise UnavailableError(f"Vulkan does not start: {error!r}", reason="vulkan-missing") from error


def _physical(vk: ModuleType, instance: Any, uuid: bytes) -> Any:  # noqa: ANN401  # cffi handles
    """Return the device with that UUID, after it was seen to have the extensions."""
    devices = vk.vkEnumeratePhysicalDevices(instance)
    for device in devices:
        if device_uuid(vk, device) == uuid:
            has = {each.extensionName for each in vk.vkEnumerateDeviceExtensionProperties(device, None)}
            if lacking := [name for name in EXTENSIONS if name not in has]:
                raise UnavailableError(f"the device lacks {', '.join(lacking)}", reason="extension-missing")
            return device
    seen = ", ".join(device_uuid(vk, device).hex() for device in devices) or "none"
    message = f"no Vulkan device has the CUDA device's UUID {uuid.hex()}; seen: {seen}"
    raise UnavailableError(message, reason="device-missing")


def _compute_family(vk: ModuleType, physical: Any) -> int:  # noqa: ANN401  # cffi handle
    """Return the first queue family that computes."""
    families = vk.vkGetPhysicalDeviceQueueFamilyProperties(physical)
    for number, family in enumerate(families):
        if family.queueFlags & vk.VK_QUEUE_COMPUTE_BIT:
            return number
    raise UnavailableError("the device has no queue that computes", reason="queue-missing")


def _version(number: int, shifts: Sequence[int]) -> str:
    """Return a packed version in dotted form; each part reaches up to the next higher one's place."""
    tops = (32, *shifts[:-1])
    parts = [number >> low & (1 << top - low) - 1 for top, low in zip(tops, shifts, strict=True)]
    return ".".join(map(str, parts))


def _driver(number: int) -> str:
    """Return NVIDIA's driver version of a packed number: ``580.159.4.0``."""
    return _version(number, (*_DRIVER_VERSION_BITS, 0))


def _package_version() -> str:
    """Return the binding's version."""
    versions: Mapping[str, str] = {"vulkan": load("importlib.metadata").version("vulkan")}
    return versions["vulkan"]

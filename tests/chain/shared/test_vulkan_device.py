"""A Vulkan device that is lost: everything is given back all the same, last first."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from assay.chain.shared.vulkan_device import VulkanDevice


class LostError(Exception):
    """What the binding raises for VK_ERROR_DEVICE_LOST."""


class Binding:
    """The binding's functions, which only record what is freed."""

    VK_QUEUE_COMPUTE_BIT = 2

    def __init__(self, *, lost: bool) -> None:
        self.lost = lost
        self.freed: list[str] = []

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401  # functions, structures and numbers
        def call(*arguments: object, **_: object) -> object:
            if name == "vkDeviceWaitIdle" and self.lost:
                raise LostError
            if name.startswith(("vkDestroy", "vkFree")):
                self.freed.append(f"{name} {arguments[-2]}")
            return "device"

        return call

    def vkGetPhysicalDeviceQueueFamilyProperties(self, _physical: object) -> list[Any]:  # noqa: N802  # Vulkan's name
        """Return one family that computes."""
        return [type("Family", (), {"queueFlags": 2})()]


def opened(binding: Any) -> VulkanDevice:  # noqa: ANN401  # stands for a module
    """Return an open device."""
    return VulkanDevice(binding, contextlib.ExitStack(), "physical")


@pytest.mark.parametrize("lost", [False, True])
def test_all_is_freed_last_first_also_on_a_lost_device(*, lost: bool) -> None:
    binding = Binding(lost=lost)
    device = opened(binding)
    device.made("Semaphore", "kept")
    expected = pytest.raises(LostError) if lost else contextlib.nullcontext()
    with expected, device.scope():
        device.made("Buffer", "buffer")
        device.made("Memory", "memory")
    assert binding.freed == ["vkFreeMemory memory", "vkDestroyBuffer buffer"]
    with pytest.raises(LostError) if lost else contextlib.nullcontext():
        device.close()
    assert binding.freed[2:] == ["vkDestroySemaphore kept", "vkDestroyDevice device"]


def test_the_first_error_is_the_one_that_is_told() -> None:
    device = opened(Binding(lost=True))
    with pytest.raises(MemoryError), device.scope():
        raise MemoryError
    with pytest.raises(LostError), device.scope():
        pass

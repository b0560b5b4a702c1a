"""Memory, semaphores, shaders and submissions of a Vulkan device, as far as the shared path needs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..runtime_wgpu import groups
from .vulkan_device import VulkanDevice

BLOCK = 256
"""Threads of a workgroup; the shader states the same number."""

_ROW = 32768
"""Workgroups in a row: every device allows 65,535 over x (Vulkan, "Required Limits")."""

NS = 10**9


@dataclass(frozen=True)
class Memory:
    """A buffer with memory of its own: handles, and the size that was allocated in bytes."""

    buffer: Any
    memory: Any
    size: int


def device_memory(vulkan: VulkanDevice, size: int) -> Memory:
    """Allocate ``size`` bytes on the device that can be exported as a file descriptor."""
    vk = vulkan.vk
    kind = vk.VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
    return _memory(
        vulkan,
        size,
        vk.VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT,
        vk.VkExternalMemoryBufferCreateInfo(handleTypes=kind),
        vk.VkExportMemoryAllocateInfo(handleTypes=kind),
    )


def host_memory(vulkan: VulkanDevice, size: int) -> tuple[Memory, Any]:
    """Allocate ``size`` bytes that host and device see, and return them mapped, as a writable buffer."""
    vk = vulkan.vk
    flags = (
        vk.VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT
        | vk.VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
        | vk.VK_MEMORY_PROPERTY_HOST_CACHED_BIT
    )
    memory = _memory(vulkan, size, flags, None, None)
    return memory, vk.vkMapMemory(vulkan.device, memory.memory, 0, size, 0)


def _memory(vulkan: VulkanDevice, size: int, flags: int, buffer_next: Any, memory_next: Any) -> Memory:  # noqa: ANN401  # cffi structures
    """Make a buffer and bind memory of the wanted kind to it."""
    vk = vulkan.vk
    usage = (
        vk.VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
        | vk.VK_BUFFER_USAGE_TRANSFER_SRC_BIT
        | vk.VK_BUFFER_USAGE_TRANSFER_DST_BIT
    )
    info = vk.VkBufferCreateInfo(
        pNext=buffer_next, size=size, usage=usage, sharingMode=vk.VK_SHARING_MODE_EXCLUSIVE
    )
    buffer = vk.vkCreateBuffer(vulkan.device, info, None)
    vulkan.made("Buffer", buffer)
    needs = vk.vkGetBufferMemoryRequirements(vulkan.device, buffer)
    wanted = vk.VkMemoryAllocateInfo(
        pNext=memory_next,
        allocationSize=needs.size,
        memoryTypeIndex=vulkan.memory_type(needs.memoryTypeBits, flags),
    )
    memory = vulkan.made("Memory", vk.vkAllocateMemory(vulkan.device, wanted, None))
    vk.vkBindBufferMemory(vulkan.device, buffer, memory, 0)
    return Memory(buffer, memory, needs.size)


def memory_descriptor(vulkan: VulkanDevice, memory: Memory) -> int:
    """Return a new file descriptor of exported memory; who imports it owns it."""
    vk = vulkan.vk
    kind = vk.VK_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD_BIT
    info = vk.VkMemoryGetFdInfoKHR(memory=memory.memory, handleType=kind)
    return int(vulkan.function("vkGetMemoryFdKHR")(vulkan.device, info))


class Timeline:
    """A timeline semaphore that can be exported: its value only grows."""

    def __init__(self, vulkan: VulkanDevice) -> None:
        vk = vulkan.vk
        kind = vk.VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
        begin = vk.VkSemaphoreTypeCreateInfo(semaphoreType=vk.VK_SEMAPHORE_TYPE_TIMELINE, initialValue=0)
        export = vk.VkExportSemaphoreCreateInfo(pNext=begin, handleTypes=kind)
        made = vk.vkCreateSemaphore(vulkan.device, vk.VkSemaphoreCreateInfo(pNext=export), None)
        self.handle = vulkan.made("Semaphore", made)
        self._vulkan = vulkan

    def descriptor(self) -> int:
        """Return a new file descriptor of the semaphore; who imports it owns it."""
        vk = self._vulkan.vk
        kind = vk.VK_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD_BIT
        info = vk.VkSemaphoreGetFdInfoKHR(semaphore=self.handle, handleType=kind)
        return int(self._vulkan.function("vkGetSemaphoreFdKHR")(self._vulkan.device, info))

    def wait(self, value: int, seconds: int) -> None:
        """Block until the semaphore has that value.

        Raises:
            VkTimeout: of the binding; it did not come within ``seconds``.
        """
        vk = self._vulkan.vk
        info = vk.VkSemaphoreWaitInfo(semaphoreCount=1, pSemaphores=[self.handle], pValues=[value])
        vk.vkWaitSemaphores(self._vulkan.device, info, seconds * NS)


class Shader:
    """A compute shader in SPIR-V over one buffer, which it reads (binding 0) and writes (binding 1)."""

    def __init__(self, vulkan: VulkanDevice, code: bytes, entry: str) -> None:
        vk, device = vulkan.vk, vulkan.device
        self._vulkan = vulkan
        module = vk.vkCreateShaderModule(
            device, vk.VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None
        )
        vulkan.made("ShaderModule", module)
        self._set_layout = vulkan.made("DescriptorSetLayout", self._descriptors())
        constant = vk.VkPushConstantRange(stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT, offset=0, size=4)
        layout = vk.VkPipelineLayoutCreateInfo(
            setLayoutCount=1,
            pSetLayouts=[self._set_layout],
            pushConstantRangeCount=1,
            pPushConstantRanges=[constant],
        )
        self.layout = vulkan.made("PipelineLayout", vk.vkCreatePipelineLayout(device, layout, None))
        stage = vk.VkPipelineShaderStageCreateInfo(
            stage=vk.VK_SHADER_STAGE_COMPUTE_BIT, module=module, pName=entry
        )
        info = vk.VkComputePipelineCreateInfo(stage=stage, layout=self.layout)
        self.pipeline = vulkan.made("Pipeline", vk.vkCreateComputePipelines(device, None, 1, [info], None)[0])

    def _descriptors(self) -> Any:  # noqa: ANN401  # cffi handle
        """Return the layout of two storage buffers."""
        vk = self._vulkan.vk
        bindings = [
            vk.VkDescriptorSetLayoutBinding(
                binding=number,
                descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                descriptorCount=1,
                stageFlags=vk.VK_SHADER_STAGE_COMPUTE_BIT,
            )
            for number in (0, 1)
        ]
        info = vk.VkDescriptorSetLayoutCreateInfo(bindingCount=len(bindings), pBindings=bindings)
        return vk.vkCreateDescriptorSetLayout(self._vulkan.device, info, None)

    def bind(self, memory: Memory, size: int) -> Any:  # noqa: ANN401  # cffi handle
        """Return a descriptor set in which both bindings are the same ``size`` bytes."""
        vk, device = self._vulkan.vk, self._vulkan.device
        room = vk.VkDescriptorPoolSize(type=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER, descriptorCount=2)
        pool = vk.vkCreateDescriptorPool(
            device, vk.VkDescriptorPoolCreateInfo(maxSets=1, poolSizeCount=1, pPoolSizes=[room]), None
        )
        self._vulkan.made("DescriptorPool", pool)
        wanted = vk.VkDescriptorSetAllocateInfo(
            descriptorPool=pool, descriptorSetCount=1, pSetLayouts=[self._set_layout]
        )
        bound = vk.vkAllocateDescriptorSets(device, wanted)[0]
        writes = [
            vk.VkWriteDescriptorSet(
                dstSet=bound,
                dstBinding=number,
                dstArrayElement=0,
                descriptorCount=1,
                descriptorType=vk.VK_DESCRIPTOR_TYPE_STORAGE_BUFFER,
                pBufferInfo=[vk.VkDescriptorBufferInfo(buffer=memory.buffer, offset=0, range=size)],
            )
            for number in (0, 1)
        ]
        vk.vkUpdateDescriptorSets(device, len(writes), writes, 0, None)
        return bound


class Commands:
    """Records and submits command buffers of one queue."""

    def __init__(self, vulkan: VulkanDevice) -> None:
        vk = vulkan.vk
        self._vulkan = vulkan
        info = vk.VkCommandPoolCreateInfo(queueFamilyIndex=vulkan.family)
        self._pool = vulkan.made("CommandPool", vk.vkCreateCommandPool(vulkan.device, info, None))

    def copy(self, given: Memory, made: Memory, size: int) -> Any:  # noqa: ANN401  # cffi handle
        """Return the recorded copy of ``size`` bytes."""
        vk = self._vulkan.vk
        buffer = self._begin()
        region = vk.VkBufferCopy(srcOffset=0, dstOffset=0, size=size)
        vk.vkCmdCopyBuffer(buffer, given.buffer, made.buffer, 1, [region])
        vk.vkEndCommandBuffer(buffer)
        return buffer

    def dispatch(self, shader: Shader, bound: Any, count: int, each: int) -> Any:  # noqa: ANN401  # cffi handles
        """Return the recorded run of a shader over ``count`` values, ``each`` of them to a thread."""
        vk = self._vulkan.vk
        buffer = self._begin()
        point, stage = vk.VK_PIPELINE_BIND_POINT_COMPUTE, vk.VK_SHADER_STAGE_COMPUTE_BIT
        vk.vkCmdBindPipeline(buffer, point, shader.pipeline)
        vk.vkCmdBindDescriptorSets(buffer, point, shader.layout, 0, 1, [bound], 0, None)
        vk.vkCmdPushConstants(buffer, shader.layout, stage, 0, 4, vk.ffi.new("uint32_t*", count))
        vk.vkCmdDispatch(buffer, *groups(count, BLOCK * each, _ROW))
        vk.vkEndCommandBuffer(buffer)
        return buffer

    def _begin(self) -> Any:  # noqa: ANN401  # cffi handle
        """Return a command buffer that records."""
        vk = self._vulkan.vk
        info = vk.VkCommandBufferAllocateInfo(
            commandPool=self._pool, level=vk.VK_COMMAND_BUFFER_LEVEL_PRIMARY, commandBufferCount=1
        )
        buffer = vk.vkAllocateCommandBuffers(self._vulkan.device, info)[0]
        vk.vkBeginCommandBuffer(buffer, vk.VkCommandBufferBeginInfo())
        return buffer

    def submit(self, buffer: Any, timeline: Timeline, wait: int, signal: int) -> None:  # noqa: ANN401  # cffi handle
        """Submit what was recorded: it begins at the timeline's value ``wait``, and ends with ``signal``."""
        vk = self._vulkan.vk
        values = vk.VkTimelineSemaphoreSubmitInfo(
            waitSemaphoreValueCount=1,
            pWaitSemaphoreValues=[wait],
            signalSemaphoreValueCount=1,
            pSignalSemaphoreValues=[signal],
        )
        info = vk.VkSubmitInfo(
            pNext=values,
            waitSemaphoreCount=1,
            pWaitSemaphores=[timeline.handle],
            pWaitDstStageMask=[vk.VK_PIPELINE_STAGE_ALL_COMMANDS_BIT],
            commandBufferCount=1,
            pCommandBuffers=[buffer],
            signalSemaphoreCount=1,
            pSignalSemaphores=[timeline.handle],
        )
        vk.vkQueueSubmit(self._vulkan.queue, 1, [info], None)

"""Buffers that Vulkan allocates and CUDA computes on in place: one allocation, no copy through the host."""

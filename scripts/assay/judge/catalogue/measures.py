"""Findings of gates ``shared-buffers`` and ``throughput``."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_GLSLANG = (
    "install glslang: glslang-tools (Debian, Ubuntu), glslang (Fedora, Arch, Alpine); `nox -s provision` "
    "unpacks it for the project where there is apt-get"
)
_EXTERNAL = "CUDA driver API: External Resource Interoperability; VK_KHR_external_memory_fd"
_PLAN = "plan: throughput"

ENTRIES = (
    Entry(
        "SHARED-PLAN",
        "the gate is planned, and what it shares is not",
        Severity.ERROR,
        "a table [tool.assay.shared-buffers]",
        "add the table, or remove the gate from the plan",
        "CONTRIBUTING: the plan",
    ),
    Entry(
        "SHARED-NOT-RUN",
        "nothing could be started with this selection",
        Severity.UNAVAILABLE,
        "a selection whose chain can run",
        "see gate chain, which names what lacks",
        "DESIGN: Selection",
    ),
    Entry(
        "SHARED-SHADER-MISSING",
        "there is no compiler for the Vulkan shader",
        Severity.UNAVAILABLE,
        "glslangValidator on PATH or unpacked in .assay/shaders",
        _GLSLANG,
        "glslang: README",
    ),
    Entry(
        "SHARED-SHADER-OTHER",
        "another SPIR-V ran than gate build made",
        Severity.FAILURE,
        "the SPIR-V that gate build recorded",
        "qualify again, and find out what changed it meanwhile",
        "DESIGN, law 4",
    ),
    Entry(
        "SHARED-DEVICE-OTHER",
        "Vulkan and CUDA are not on one device",
        Severity.FAILURE,
        "one UUID from Vulkan, CUDA and gate chain",
        "hide the other GPUs with CUDA_VISIBLE_DEVICES, or plan the device that both see",
        "Vulkan: VkPhysicalDeviceIDProperties",
    ),
    Entry(
        "SHARED-ALLOCATION",
        "the facts do not show one allocation seen from both sides",
        Severity.FAILURE,
        "device memory of Vulkan's, exported and imported by descriptor",
        "update the driver; if it is current, report the gate's log as a defect",
        _EXTERNAL,
    ),
    Entry(
        "SHARED-COPIED",
        "the facts do not exclude a copy through the host between the sides",
        Severity.FAILURE,
        "one copy in, every pass, one copy out, and no other step on the timeline",
        "what ran is not this release's child: qualify again with the installed package",
        _EXTERNAL,
    ),
    Entry(
        "GPU-SHARED",
        "another process computes on the GPU that is measured",
        Severity.WARNING,
        "no other compute process (NVML)",
        "end it (nvidia-smi names it) and measure again before ratios are compared",
        "nvml.h: nvmlDeviceGetComputeRunningProcesses",
    ),
    Entry(
        "SHARED-RESULT-MISSING",
        "a pass over the shared buffer gave no values",
        Severity.FAILURE,
        "a result of the canonical and of the fresh values",
        "read the gate's log",
        _EXTERNAL,
    ),
    Entry(
        "SHARED-VALUE-WRONG",
        "a value of the shared buffer is wrong",
        Severity.FAILURE,
        "every value exact",
        "the hand-over between the sides is broken (driver), or a kernel is wrong: compare with gate chain",
        "plan: the stages' expect",
    ),
    Entry(
        "THROUGHPUT-PLAN",
        "the gate is planned, and what it measures is not",
        Severity.ERROR,
        "a table [tool.assay.throughput]",
        "add the table, or remove the gate from the plan",
        "CONTRIBUTING: the plan",
    ),
    Entry(
        "THROUGHPUT-MISSING",
        "a part of the plan was not measured",
        Severity.FAILURE,
        "every planned size, and the shared buffer where it is planned",
        "read the gate's log",
        _PLAN,
    ),
    Entry(
        "THROUGHPUT-VALUE-WRONG",
        "a measured run gave a wrong value",
        Severity.FAILURE,
        "every value exact at every size",
        "what is fast and wrong counts for nothing: compare with gate chain, then look at the size",
        "plan: the stages' expect",
    ),
    Entry(
        "THROUGHPUT-FLOOR",
        "a speed is below the plan's bound",
        Severity.FAILURE,
        "at least the bound, in percent of what was measured beside it",
        "end what else uses the GPU, its host's memory or PCIe and measure again; `assay compare` with an "
        "earlier bundle shows which part became slower",
        _PLAN,
    ),
)

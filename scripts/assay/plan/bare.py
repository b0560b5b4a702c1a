"""The plan of a machine that is looked at without a project: no pins, so nothing is held against any."""

from __future__ import annotations

from types import MappingProxyType

from assay.model import Platform, Tier
from assay.plan.values import Plan

_ALLOWED = (
    *("CUDA_DEVICE_ORDER", "CUDA_VISIBLE_DEVICES", "NVCC_CCBIN", "VK_DRIVER_FILES", "VK_ICD_FILENAMES"),
    *("VK_ADD_DRIVER_FILES", "VK_LOADER_DRIVERS_SELECT", "VK_LOADER_DRIVERS_DISABLE", "XDG_DATA_DIRS"),
    *("XDG_CONFIG_DIRS", "XDG_CONFIG_HOME", "XDG_DATA_HOME"),
)
"""What reaches every program of the shell; no plan is there to keep it out."""


def bare_plan(gates: tuple[str, ...]) -> Plan:
    """Return a plan of these gates that pins, builds and claims nothing."""
    return Plan(
        project="none",
        modules=(),
        tier=Tier.PHYSICAL,
        allow_unclean_tree=True,
        architectures=(),
        gates=gates,
        commands=(),
        deadlines=MappingProxyType({}),
        versions=MappingProxyType({}),
        providers=(),
        backend=MappingProxyType({Platform.LINUX: "Vulkan", Platform.WINDOWS: "D3D12"}),
        software_adapters=MappingProxyType({}),
        msvc_toolset=None,
        chains=MappingProxyType({}),
        kernels=MappingProxyType({}),
        smoke=(),
        allow_environment=_ALLOWED,
        disclose=(),
        built_by=MappingProxyType({}),
        cites=(),
        references=(),
        claims=(),
        tiers=MappingProxyType({Platform.WSL: Tier.WSL}),
    )

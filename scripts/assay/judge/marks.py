"""The marks of the tiers: each looks at one source and says, in words, what is missing there.

Sources: the child's open device nodes and mapped files as its parent saw them, the CUDA driver's word in the
child, NVML's word in another process, and the kernel module's files.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.loaded import cuda_libraries, is_seen, mapped_of
from assay.judge.owner import Owner, below, owners_of, slashed
from assay.judge.reading import objects, text, texts
from assay.model import Facts, Platform, Tier

DXG = "/dev/dxg"
"""The paravirtual GPU of WSL (dxgkrnl)."""

WSL_LIBRARIES = "/usr/lib/wsl"
"""Where WSL projects the Windows driver's libraries (NVIDIA, "CUDA on WSL User Guide")."""

WINDOWS_SYSTEM = "C:/Windows"

CPU_DEVICE = "GPU-61737361-792d-7265-6865-617273616c00"
"""The device of the rehearsal's driver (its bytes spell its name)."""

_GPU_NODE = re.compile(r"/dev/nvidia\d+")
_CONTROL_NODE = "/dev/nvidiactl"

Mark = Callable[[Case, Facts], Iterator[str]]
"""A mark yields why it is not there; nothing where it is.  It raises MalformedFacts as the getters do."""


def _seen(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the child was looked into while it waited."""
    if not is_seen(facts):
        yield "the child's mapped files were not seen"


def _on_linux(case: Case, _: Facts) -> Iterator[str]:
    """Require a native Linux."""
    if case.platform is not Platform.LINUX:
        yield f"the platform is {case.platform.value}"


def _on_wsl(case: Case, _: Facts) -> Iterator[str]:
    """Require WSL."""
    if case.platform is not Platform.WSL:
        yield f"the platform is {case.platform.value}"


def _nvidia_nodes(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the child held an NVIDIA GPU and its control node open, and no paravirtual GPU."""
    nodes = texts(facts, "device_nodes")
    if not any(_GPU_NODE.fullmatch(node) for node in nodes):
        yield "the child held no NVIDIA GPU (/dev/nvidia<n>) open"
    if _CONTROL_NODE not in nodes:
        yield f"the child did not hold {_CONTROL_NODE} open"
    if DXG in nodes:
        yield f"the child held {DXG} open"


def _no_nvidia_nodes(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the child held no NVIDIA device node open."""
    held = [node for node in texts(facts, "device_nodes") if node.startswith("/dev/nvidia")]
    if held:
        yield f"the child held {', '.join(held)} open"


def _paravirtual_node(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the child held WSL's GPU open."""
    if DXG not in texts(facts, "device_nodes"):
        yield f"the child did not hold {DXG} open"


def _no_paravirtual_node(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the child did not hold WSL's GPU open."""
    if DXG in texts(facts, "device_nodes"):
        yield f"the child held {DXG} open"


def _cuda_uuid(_: Case, facts: Facts) -> Iterator[str]:
    """Require one CUDA device, the same before and after."""
    before, after = text(facts, "devices.before.uuid"), text(facts, "devices.after.uuid")
    if not before or before != after:
        yield f"CUDA's device is {before or 'not told'} before and {after or 'not told'} after the chain"


def _nvml_agrees(_: Case, facts: Facts) -> Iterator[str]:
    """Require that NVML knows the CUDA device, under the same name and PCI address."""
    uuid = text(facts, "devices.after.uuid").lower()
    gpus = objects(facts, "nvml.after.gpus")
    same = [gpu for gpu in gpus if uuid and text(gpu, "uuid").lower() == uuid]
    if len(same) != 1:
        why = text(facts, "nvml.after.problem") or f"NVML knows {', '.join(_uuids(gpus)) or 'no GPU'}"
        yield f"NVML does not know CUDA's device: {why}"
        return
    if text(same[0], "name") != text(facts, "devices.after.name"):
        yield "NVML and CUDA give the device different names"
    if _bus(text(same[0], "pci.bus")) != _bus(text(facts, "devices.after.pci_bus")):
        yield "NVML and CUDA give the device different PCI addresses"


def _kernel_agrees(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the kernel module's files know the CUDA device."""
    uuid = text(facts, "devices.after.uuid").lower()
    gpus = objects(facts, "proc.after.gpus")
    same = [gpu for gpu in gpus if uuid and text(gpu, "GPU UUID").lower() == uuid]
    if len(same) != 1:
        yield "/proc/driver/nvidia/gpus does not know CUDA's device"
    elif _bus(text(same[0], "bus")) != _bus(text(facts, "devices.after.pci_bus")):
        yield "/proc/driver/nvidia/gpus gives the device another PCI address"


def _not_the_cpus(_: Case, facts: Facts) -> Iterator[str]:
    """Require another device than the one of the CPU's driver, which no GPU is."""
    if text(facts, "devices.after.uuid").lower() == CPU_DEVICE.lower():
        yield f"CUDA's device is {CPU_DEVICE}, the CPU driver's"


def _nobody_knows_device(_: Case, facts: Facts) -> Iterator[str]:
    """Require that neither NVML nor the kernel know the CUDA device."""
    uuid = text(facts, "devices.after.uuid").lower()
    known = {text(gpu, "uuid").lower() for gpu in objects(facts, "nvml.after.gpus")}
    known |= {text(gpu, "GPU UUID").lower() for gpu in objects(facts, "proc.after.gpus")}
    if uuid and uuid in known:
        yield f"NVML or the kernel knows CUDA's device {uuid}"


def _one_driver_version(_: Case, facts: Facts) -> Iterator[str]:
    """Require whole, equal versions of kernel module, libcuda and NVML's driver."""
    module = text(facts, "proc.after.module.version")
    others = {"libcuda": text(facts, "libcuda.version"), "NVML's": text(facts, "nvml.after.driver_version")}
    if not module:
        yield "no NVIDIA kernel module states its version"
    for name, version in others.items():
        if version != module:
            yield f"the {name} version is {version or 'not told'}, the kernel module's {module or 'not told'}"


def _no_kernel_module(_: Case, facts: Facts) -> Iterator[str]:
    """Require that no NVIDIA kernel module is loaded (WSL has none)."""
    if version := text(facts, "proc.after.module.version"):
        yield f"an NVIDIA kernel module {version} is loaded"


def _not_the_drivers(_: Case, facts: Facts) -> Iterator[str]:
    """Require that libcuda is not of the kernel module's version."""
    module = text(facts, "proc.after.module.version")
    if module and text(facts, "libcuda.version") == module:
        yield f"libcuda is the kernel module's, {module}"


def _systems_libcuda(_: Case, facts: Facts) -> Iterator[str]:
    """Require one libcuda, the system's."""
    owners, found = owners_of(facts), cuda_libraries(mapped_of(facts))
    if len(found) != 1:
        yield f"{len(found)} libcuda are mapped"
    for each in found:
        if owners.of(each.path) is not Owner.SYSTEM:
            yield f"libcuda is {each.path}, not the system's"


def _projected_libcuda(_: Case, facts: Facts) -> Iterator[str]:
    """Require that libcuda is the Windows driver's, projected into WSL."""
    yield from _libcuda_below(facts, WSL_LIBRARIES)


def _windows_libcuda(_: Case, facts: Facts) -> Iterator[str]:
    """Require that the CUDA driver is Windows' own."""
    yield from _libcuda_below(facts, WINDOWS_SYSTEM)


def _libcuda_below(facts: Facts, folder: str) -> Iterator[str]:
    """Require that every libcuda lies below a folder."""
    found = cuda_libraries(mapped_of(facts))
    if not found:
        yield "no libcuda is mapped"
    for each in found:
        if not below(slashed(each.path), folder):
            yield f"libcuda is {each.path}, not below {folder}"


def _nvml_driver(_: Case, facts: Facts) -> Iterator[str]:
    """Require that NVML tells the driver's version."""
    if not text(facts, "nvml.after.driver_version"):
        yield "NVML does not tell the driver's version"


def _uuids(gpus: tuple[Facts, ...]) -> tuple[str, ...]:
    """Return the UUIDs of GPUs."""
    return tuple(text(gpu, "uuid") for gpu in gpus)


def _bus(address: str) -> tuple[int, ...] | str:
    """Return a PCI address as numbers: NVML writes the domain with 8 digits, CUDA and Linux with 4."""
    parts = re.fullmatch(r"([0-9a-f]{4,8}):([0-9a-f]{2}):([0-9a-f]{2})\.([0-7])", address.lower())
    return tuple(int(part, 16) for part in parts.groups()) if parts else address


MARKS: Mapping[Tier, tuple[Mark, ...]] = MappingProxyType(
    {
        Tier.PHYSICAL: (
            *(_seen, _on_linux, _nvidia_nodes, _cuda_uuid, _nvml_agrees),
            *(_kernel_agrees, _systems_libcuda, _one_driver_version, _not_the_cpus),
        ),
        Tier.WSL: (
            *(_seen, _on_wsl, _paravirtual_node, _no_nvidia_nodes, _cuda_uuid, _nvml_agrees),
            *(_projected_libcuda, _nvml_driver, _no_kernel_module, _not_the_cpus),
        ),
        Tier.REHEARSAL: (
            *(_seen, _no_nvidia_nodes, _no_paravirtual_node, _cuda_uuid),
            *(_nobody_knows_device, _not_the_drivers),
        ),
    }
)

WINDOWS_MARKS: tuple[Mark, ...] = (
    _seen,
    _no_nvidia_nodes,
    _cuda_uuid,
    _nvml_agrees,
    _windows_libcuda,
    _nvml_driver,
    _not_the_cpus,
)
"""The physical tier's own row for Windows, which has neither device nodes nor /proc."""

"""Judges gate ``driver`` under WSL: the projected Windows driver and only it.

Facts (``gates.driver_wsl`` writes them)::

    dxg                     whether ``/dev/dxg``, the paravirtual GPU, is there
    projected[], store[]    names in ``/usr/lib/wsl/lib``, and NVIDIA's packages in ``/usr/lib/wsl/drivers``
    packages[]              installed packages of a Linux display driver
    module                  as on native Linux, where WSL must have none
    kernel {release}        the running kernel
    container, libraries    as on native Linux; the projected libraries have no version in their names
    nvml, cuda_api, opened, smi described in ``judge.driver_live``

What WSL limits is in ``cuda_api.facts``: managed memory by attribute, pinned memory by what was allocated.
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_live import judge_live
from assay.judge.marks import DXG, WSL_LIBRARIES
from assay.judge.owner import below, slashed
from assay.judge.reading import MalformedFacts, flag, get, mapping, number, objects, text, texts
from assay.judge.recorded import there, told
from assay.model import Facts, Finding

_LIBCUDA = "libcuda.so.1"
_KEYS = (
    *("container", "cuda_api", "dxg", "kernel", "libraries", "module", "nvml", "opened", "packages"),
    *("projected", "smi", "store"),
)


def judge_wsl(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the driver under WSL; versions that differ there are as they should be."""
    yield from _linux_driver(case, facts)
    if _LIBCUDA not in texts(facts, "projected"):
        yield _not_projected(case, facts)
        return
    if not flag(facts, "dxg"):
        observed = f"{DXG} is not there; {WSL_LIBRARIES}/lib is"
        yield finding("DRIVER-WSL-NO-DEVICE", observed, where=(DXG,), platform=case.platform)
    yield from _shadowed(case, facts)
    yield from judge_live(case, facts)


def _not_projected(case: Case, facts: Facts) -> Finding:
    """Return the finding of a Windows host that projects no NVIDIA driver."""
    names = texts(facts, "projected")
    held = f"holds only {', '.join(names[:8])}" if names else "is empty or not there"
    observed = (
        f"{WSL_LIBRARIES}/lib {held}; NVIDIA's packages in the driver store: {len(texts(facts, 'store'))}"
    )
    where = (f"{WSL_LIBRARIES}/lib",)
    return finding("DRIVER-WSL-NOT-PROJECTED", observed, where=where, platform=case.platform)


def _shadowed(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that another libcuda would be loaded than the projected one, by the children or by this shell."""
    for view, who in (("loaded", "the children"), ("shell", "a program started from this shell")):
        path = text(facts, f"libraries.{view}.libcuda.path")
        if path and not _is_projected(facts, view):
            via = text(facts, f"libraries.{view}.libcuda.found_via")
            observed = f"{who} would load {path} (found via {via}), not {WSL_LIBRARIES}/lib/{_LIBCUDA}"
            yield finding("DRIVER-WSL-SHADOWED", observed, where=(path,), platform=case.platform)
            return
    if get(facts, "libraries.loaded.libcuda") is None:
        observed = f"the loader does not look into {WSL_LIBRARIES}/lib"
        yield finding("DRIVER-WSL-SHADOWED", observed, where=("/etc/ld.so.conf.d",), platform=case.platform)


def _is_projected(facts: Facts, view: str) -> bool:
    """Say whether a libcuda is the projected one, or a link to it."""
    paths = (text(facts, f"libraries.{view}.libcuda.{name}") for name in ("path", "real"))
    return any(below(slashed(path), WSL_LIBRARIES) for path in paths if path)


def _linux_driver(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a Linux kernel module is loaded, and the parts of a Linux driver that lie about."""
    loaded = text(facts, "module.version") or ", ".join(texts(facts, "module.loaded"))
    if loaded:
        observed = f"the Linux kernel module {loaded} is loaded"
        yield finding("DRIVER-WSL-MODULE", observed, where=("module",), platform=case.platform)
    packages = texts(facts, "packages")
    copies = [text(copy, "path") for copy in objects(facts, "libraries.copies")]
    copies = [path for path in copies if not below(slashed(path), WSL_LIBRARIES)]
    if packages or copies:
        observed = "; ".join(
            f"{what} {', '.join(found[:8])}"
            for what, found in (("packages", packages), ("libraries", copies))
            if found
        )
        yield finding("DRIVER-WSL-LINUX-DRIVER", observed, where=("packages",), platform=case.platform)


def claim_wsl(facts: Facts) -> str:
    """Return what a passed gate establishes under WSL: whose libcuda is loaded, and what CUDA says of it."""
    version = text(facts, "nvml.facts.driver_version")
    path = text(facts, "libraries.loaded.libcuda.path")
    of = f" of Windows driver {version}" if version else ""
    return f"the projected libcuda{of} ({path}) is loaded and no Linux driver is in its way{_limits(facts)}"


def _limits(facts: Facts) -> str:
    """Return what CUDA told of managed and pinned memory."""
    devices = objects(facts, "cuda_api.facts.devices")
    if not devices:
        return ""
    managed = {number(device, "concurrent_managed_access") for device in devices}
    pinned = number(facts, "cuda_api.facts.pinned.largest")
    words = [
        "concurrent access to managed memory" if managed == {1} else "no concurrent access to managed memory"
    ]
    if pinned is not None:
        words.append(f"{pinned >> 20} MiB of pinned memory in one piece")
    return f"; CUDA tells of {' and '.join(words)}"


def check_wsl(facts: Facts) -> None:
    """Ask for all that the claim names.

    Raises:
        MalformedFacts: it is not recorded.
    """
    there(facts, *_KEYS)
    there(facts, "libraries.copies", "libraries.shell")
    told(facts, "dxg", "nvml.asked", "cuda_api.asked", "opened.asked", "smi.asked")
    if not _is_projected(facts, "loaded"):
        raise MalformedFacts("libraries.loaded.libcuda", f"below {WSL_LIBRARIES}")
    if mapping(facts, "module").get("version") is None:
        raise MalformedFacts("module.version", "recorded")

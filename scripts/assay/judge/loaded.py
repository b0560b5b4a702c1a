"""Judges which libraries the child had mapped while it waited: provider, toolkit, driver, and the unasked.

Facts::

    mapped [{path, sha256, size, deleted, method, problem}]     files mapped for execution, rooted
    unseen                                                      why there is no such list, or ""
    provider {path, real}                                       the selected provider
    preload [path]                                              entries of /etc/ld.so.preload
    layers [{manifest, name, library, drivers}]                 implicit Vulkan layers that are installed;
                                                                ``drivers``: the library is the driver itself
    libcuda {path, version}                                     the mapped driver library and its version
    proc.after.module.version                                   the kernel module's version
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.images import ran_stages
from assay.judge.owner import Owner, Owners, is_libpython, name_of, owners_of, slashed
from assay.judge.reading import flag, items, objects, text, texts
from assay.judge.selected import EXECUTABLE
from assay.model import Facts, Finding, Platform
from assay.plan.values import WGPU_NATIVE

_WGPU = re.compile(r"(?:lib)?wgpu[_-]native[\w.-]*\.(?:so[\w.]*|dylib|dll)", re.IGNORECASE)
_NVRTC = re.compile(r"libnvrtc(?:\.alt)?\.so[\w.]*|nvrtc64_[\w.]*\.dll", re.IGNORECASE)
_PARTS = re.compile(
    r"lib(?:nvrtc-builtins|cudart|nvJitLink|nvvm|nvfatbin)\.(?:so|alt\.so)[\w.]*"
    r"|(?:nvrtc-builtins|cudart|nvJitLink|nvvm|nvfatbin)64_[\w.]*\.dll",
    re.IGNORECASE,
)
"""Parts of a toolkit that must be of one toolkit (CUDA Toolkit release notes, component list)."""

_CUDA = re.compile(r"libcuda\.so[\w.]*|nvcuda(?:64)?\.dll", re.IGNORECASE)

_IN_MEMORY = re.compile(r"/memfd:(?:/?\.gl\w*|/?\.?nv[\w.-]*|libffi|mesa[\w-]*)")
_TEMPORARY_CODE = re.compile(r"\.gl\w{6}|ffi\w{6}")
"""Memory that drivers and libffi fill with code of their own: ``.glXXXXXX`` of the NVIDIA driver (its README,
"Known Issues", on ``noexec``), libffi's closures (src/closures.c), Mesa's shaders."""

_DEVICE = re.compile(r"/dev/(?!shm/).+")
"""A device's memory, which has no bytes of a file; /dev/shm holds files."""


@dataclass(frozen=True)
class Mapped:
    """A file mapped for execution; ``sha256`` is of the file as mapped, ``""`` with a ``problem``."""

    path: str
    sha256: str
    problem: str
    deleted: bool

    @property
    def name(self) -> str:
        """Return the file's name."""
        return name_of(self.path)

    @property
    def is_memory(self) -> bool:
        """Say whether it is no file: a device's memory, or what a driver or libffi fills with code."""
        if is_device(self.path):
            return True
        return self.deleted and bool(_IN_MEMORY.fullmatch(self.path) or _TEMPORARY_CODE.fullmatch(self.name))

    def shown(self) -> str:
        """Return path and digest."""
        return f"{self.path} (SHA-256 {self.sha256})" if self.sha256 else self.path


def mapped_of(facts: Facts) -> tuple[Mapped, ...]:
    """Return the mapped files.

    Raises:
        MalformedFacts: a field has another type than the gate writes.
    """
    return tuple(
        Mapped(
            text(each, "path"), text(each, "sha256"), text(each, "problem"), flag(each, "deleted") or False
        )
        for each in objects(facts, "mapped")
    )


def is_seen(facts: Facts) -> bool:
    """Say whether there is a list of mapped files at all."""
    return not text(facts, "unseen") and bool(items(facts, "mapped"))


def is_device(path: str) -> bool:
    """Say whether a mapping is a device's memory."""
    return _DEVICE.fullmatch(path) is not None


def is_cuda_library(path: str) -> bool:
    """Say whether a file is named as the CUDA driver's library."""
    return _CUDA.fullmatch(name_of(path)) is not None


def cuda_libraries(mapped: Sequence[Mapped]) -> tuple[Mapped, ...]:
    """Return the CUDA driver libraries among mapped files."""
    return tuple(each for each in mapped if is_cuda_library(each.path))


def judge_loaded(case: Case, facts: Facts, program: str = EXECUTABLE) -> Iterator[Finding]:
    """Yield what is wrong with the mapped libraries.

    Args:
        case: the plan and the run.
        facts: the child's.
        program: the variable that names the program of the child's process.

    Raises:
        MalformedFacts: a fact has another type than the gate writes.
    """
    if not is_seen(facts):
        observed = text(facts, "unseen") or "no mapped file is recorded"
        yield finding("CHAIN-UNSEEN", observed, where=("mapped",), platform=case.platform)
        return
    mapped, owners = mapped_of(facts), owners_of(facts)
    ran = {stage.runtime for _, stage, _ in ran_stages(case, facts)} | set(texts(facts, "child.opened"))
    if "wgpu" in ran:
        yield from _provider(case, facts, mapped)
    yield from _nvrtc(mapped, owners, wanted="nvrtc" in ran)
    yield from _driver(case, facts, mapped, owners)
    yield from _interpreter(case, mapped, program)
    yield from _unasked(facts, mapped, owners)


def _provider(case: Case, facts: Facts, mapped: Sequence[Mapped]) -> Iterator[Finding]:
    """Yield where another provider was mapped than the one that was selected, hashed and pinned."""
    selected = {
        slashed(path) for path in (text(facts, "provider.path"), text(facts, "provider.real")) if path
    }
    used = slashed(text(facts, "child.runtimes.wgpu.library"))
    found = [each for each in mapped if slashed(each.path) in selected]
    others = [
        each
        for each in mapped
        if each not in found and (_WGPU.fullmatch(each.name) or slashed(each.path) == used)
    ]
    hashed = text(case.facts.get("provider", {}), "sha256")
    pins = {
        pin.sha256
        for pin in case.plan.providers
        if pin.platform is case.platform and pin.interface == WGPU_NATIVE
    }
    for each in found:
        if hashed and each.sha256 != hashed:
            observed = f"{each.shown()} {each.problem}".strip()
            yield finding(
                "CHAIN-PROVIDER-SWAPPED", observed, expected=f"SHA-256 {hashed}", where=(each.path,)
            )
        elif each.sha256 not in pins:
            yield finding("CHAIN-PROVIDER-UNPINNED", each.shown(), where=(each.path,))
    for each in others:
        yield finding("CHAIN-PROVIDER-OTHER", each.shown(), where=(each.path,))
    if not found and not others:
        yield finding(
            "CHAIN-PROVIDER-UNMAPPED", f"{', '.join(sorted(selected)) or 'no provider'} is not mapped"
        )


def _nvrtc(mapped: Sequence[Mapped], owners: Owners, *, wanted: bool) -> Iterator[Finding]:
    """Yield where NVRTC is not one, or where it or another toolkit part is not the selected toolkit's."""
    found = [each for each in mapped if _NVRTC.fullmatch(each.name)]
    paths = tuple(each.path for each in found)
    if len({each.path for each in found}) > 1:
        yield finding("CHAIN-NVRTC-SECOND", f"mapped: {', '.join(paths)}", where=paths)
    for each in found:
        if owners.of(each.path) is not Owner.TOOLKIT:
            yield finding("CHAIN-NVRTC-OUTSIDE", each.shown(), where=(each.path,))
    if wanted and not found:
        yield finding("CHAIN-NVRTC-UNMAPPED", "no NVRTC among the mapped files")
    for each in mapped:
        if _PARTS.fullmatch(each.name) and owners.of(each.path) is not Owner.TOOLKIT:
            yield finding("CHAIN-TOOLKIT-MIXED", each.shown(), where=(each.path,))


def _driver(case: Case, facts: Facts, mapped: Sequence[Mapped], owners: Owners) -> Iterator[Finding]:
    """Yield where libcuda is not the driver's own, of the kernel module's version."""
    found = cuda_libraries(mapped)
    for each in found:
        if owners.of(each.path) in {Owner.TOOLKIT, Owner.SELECTION}:
            yield finding("CHAIN-LIBCUDA-INSIDE", each.shown(), where=(each.path,))
    if case.platform is not Platform.LINUX:
        return  # under WSL and on Windows one driver library loads another, and versions may differ
    paths = tuple(each.path for each in found)
    if len(set(paths)) > 1:
        yield finding("CHAIN-LIBCUDA-SECOND", f"mapped: {', '.join(paths)}", where=paths)
    library, module = text(facts, "libcuda.version"), text(facts, "proc.after.module.version")
    if library and module and library != module:
        yield finding(
            "CHAIN-LIBCUDA-VERSION",
            f"libcuda is {library}, the kernel module {module}",
            expected=f"{module} for both",
            where=(text(facts, "libcuda.path"), "/proc/driver/nvidia/version"),
        )


def _interpreter(case: Case, mapped: Sequence[Mapped], program: str) -> Iterator[Finding]:
    """Yield where the program or libpython are not the bytes that ``environment`` hashed."""
    selected = case.facts.get("environment", {})
    digests = {each.sha256 for each in mapped if each.sha256}
    executable = text(selected, f"selected.{program}.sha256")
    if executable and executable not in digests:
        observed = f"no mapped file has the digest of {program}"
        yield finding("CHAIN-EXECUTABLE-OTHER", observed, expected=f"SHA-256 {executable}")
    libpython = text(selected, "selected.BUN_PYTHON_LIBPYTHON.sha256")
    for each in mapped:
        if libpython and is_libpython(each.path) and each.sha256 != libpython:
            expected = f"SHA-256 {libpython}"
            yield finding("CHAIN-LIBPYTHON-OTHER", each.shown(), expected=expected, where=(each.path,))


def _unasked(facts: Facts, mapped: Sequence[Mapped], owners: Owners) -> Iterator[Finding]:
    """Yield each library that nobody asked for, and each that could not be hashed."""
    preloaded = {slashed(path) for path in texts(facts, "preload")}
    layers = {
        name_of(text(layer, "library")): text(layer, "name")
        for layer in objects(facts, "layers")
        if text(layer, "library") and not flag(layer, "drivers")
    }
    for path in sorted(preloaded):
        yield finding("CHAIN-LIBRARY-PRELOADED", f"{path} is named in /etc/ld.so.preload", where=(path,))
    for each in mapped:
        if each.is_memory:
            continue
        if each.name in layers:
            yield finding("CHAIN-LAYER", f"{layers[each.name]}: {each.shown()}", where=(each.path,))
        elif owners.of(each.path) is Owner.NOBODY and slashed(each.path) not in preloaded:
            yield finding("CHAIN-LIBRARY-UNASKED", each.shown(), where=(each.path,))
        if each.problem or not each.sha256:
            yield finding(
                "CHAIN-LIBRARY-REPLACED", each.problem or f"{each.path} has no digest", where=(each.path,)
            )

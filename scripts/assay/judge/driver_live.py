"""Judges what a running driver says of itself: NVML, CUDA, ``nvidia-smi``, and the device nodes it opens.

Facts; each of ``nvml``, ``cuda_api`` and ``opened`` is {asked, silent, problem, code, reason, facts}::

    nvml      ``assay.chain.nvml`` has its facts; ``code`` is NVML's own
    cuda_api  ``assay.chain.cuda_probe`` has its facts
    opened    {nodes [{path, error}]}     the device nodes, opened to read and write; ``""`` where it worked
    smi       {asked, silent, problem, version, driver}   what ``nvidia-smi --version`` says

A machine that is only recorded, and one without a selected interpreter, was not asked: nothing is judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_gpus import judge_gpus
from assay.judge.reading import flag, items, number, objects, text
from assay.model import Facts, Finding, Platform

NVML: Mapping[int, str] = MappingProxyType(
    {
        9: "DRIVER-NVML-NOT-LOADED",
        12: "DRIVER-NVML-MISSING",
        15: "DRIVER-GPU-LOST",
        16: "DRIVER-GPU-RESET",
        18: "DRIVER-NVML-MISMATCH",
        999: "DRIVER-NVML-UNKNOWN",
    }
)
"""By code of ``nvmlReturn_t`` (nvml.h)."""

CUDA: Mapping[int, str] = MappingProxyType(
    {
        34: "TOOLKIT-STUB",
        100: "DRIVER-CUDA-NO-DEVICE",
        802: "DRIVER-FABRIC",
        803: "DRIVER-CUDA-MISMATCH",
    }
)
"""By code of ``CUresult`` (cuda.h)."""

PACKAGE = "package-missing"
"""Why the selection cannot ask: gate ``environment`` names its missing packages."""

_DENIED = ("EACCES", "EPERM")


def judge_live(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the running driver, as far as it was asked."""
    yield from _nvml(case, facts)
    yield from _cuda(case, facts)
    yield from _opened(case, facts)
    if flag(facts, "smi.silent"):
        yield finding("DRIVER-SMI-SILENT", text(facts, "smi.problem"), where=("smi",), platform=case.platform)
    yield from judge_gpus(case, facts)


def _nvml(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that NVML hangs, or does not start, each code by its cause."""
    problem, code = text(facts, "nvml.problem"), number(facts, "nvml.code")
    if flag(facts, "nvml.silent"):
        yield finding("DRIVER-NVML-SILENT", problem, where=("nvml",), platform=case.platform)
    elif flag(facts, "nvml.asked") and problem and text(facts, "nvml.reason") != PACKAGE:
        entry = NVML.get(code if code is not None else -1, "DRIVER-NVML-FAILED")
        observed = problem if code is None else f"{problem} (code {code})"
        yield finding(entry, observed, where=("nvml",), platform=case.platform)


def _cuda(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that CUDA hangs, does not start, or has no device."""
    problem = text(facts, "cuda_api.problem")
    if flag(facts, "cuda_api.silent"):
        yield finding("DRIVER-CUDA-SILENT", problem, where=("cuda_api",), platform=case.platform)
        return
    if not flag(facts, "cuda_api.asked") or text(facts, "cuda_api.reason") == PACKAGE:
        return
    code = number(facts, "cuda_api.code") if problem else number(facts, "cuda_api.facts.init.code")
    name = problem or f"cuInit returned {code} ({text(facts, 'cuda_api.facts.init.name')})"
    if problem or code:
        entry = CUDA.get(code if code is not None else -1, "DRIVER-CUDA-FAILED")
        yield finding(entry, name, where=("cuda_api",), platform=case.platform)
    elif number(facts, "cuda_api.facts.count") == 0:
        entry = "DRIVER-MIG-EMPTY" if _mig(facts) else "DRIVER-CUDA-NO-DEVICE"
        yield finding(
            entry, "cuInit worked; CUDA counts no device", where=("cuda_api",), platform=case.platform
        )


def _mig(facts: Facts) -> bool:
    """Say whether every GPU that NVML knows is divided by MIG."""
    gpus = objects(facts, "nvml.facts.gpus")
    return bool(gpus) and all(tuple(items(gpu, "mig"))[:1] == (1,) for gpu in gpus)


def _opened(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the device nodes that are there and may not be opened."""
    nodes = objects(facts, "opened.facts.nodes")
    denied = [node for node in nodes if text(node, "error") in _DENIED]
    if denied and case.platform is Platform.LINUX:
        yield finding(
            "DRIVER-NODE-DENIED",
            "; ".join(f"{text(node, 'path')}: {text(node, 'error')}" for node in denied),
            where=tuple(text(node, "path") for node in denied),
            platform=case.platform,
        )

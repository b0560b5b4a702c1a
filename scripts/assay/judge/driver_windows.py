r"""Judges gate ``driver`` on Windows: one version of the display driver, and a model that fits the backend.

Facts (``gates.driver_windows`` writes them)::

    d3d12                        whether System32 has ``d3d12.dll``
    files [file]                 the driver's files in System32
    packages [{folder, files}]   NVIDIA's packages in the driver store; older ones may lie beside the current
        file: {name, path, file_version, version, problem}; ``version`` is NVIDIA's own (616.92)
    nvml, cuda_api, opened, smi      described in ``judge.driver_live``
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.driver_live import judge_live
from assay.judge.reading import MalformedFacts, flag, items, objects, text
from assay.judge.recorded import there, told
from assay.model import Facts, Finding

CUDA = "nvcuda.dll"
"""The library that programs load for CUDA."""

USER_MODE = ("nvwgf2umx.dll", "nvldumdx.dll")
"""The driver's part of Direct3D 11 and 12, and what loads it."""

D3D12 = "D3D12"
WDDM = 0
MODELS: Mapping[int, str] = MappingProxyType({WDDM: "WDDM", 1: "TCC", 2: "MCDM"})
"""``nvmlDriverModel_t`` (nvml.h)."""

_KEYS = ("cuda_api", "d3d12", "files", "nvml", "opened", "packages", "smi")


def judge_windows(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what is wrong with the driver on Windows."""
    files = objects(facts, "files")
    if not any(text(file, "name").lower() == CUDA for file in files):
        yield _absent(case, facts)
        return
    yield from _versions(case, facts)
    if case.plan.backend.get(case.platform) == D3D12:
        yield from _direct3d(case, facts)
    yield from _models(case, facts)
    yield from judge_live(case, facts)


def _absent(case: Case, facts: Facts) -> Finding:
    """Return that there is no driver, or that it is in the driver store alone."""
    packages = [text(package, "folder") for package in objects(facts, "packages")]
    if packages:
        observed = f"System32 has no {CUDA}; the driver store has {', '.join(packages[:3])}"
        return finding("DRIVER-LIBRARY-MISSING", observed, where=tuple(packages[:3]), platform=case.platform)
    observed = f"System32 has no {CUDA}, and the driver store no package of NVIDIA's display driver"
    return finding("DRIVER-NO-GPU", observed, where=("files", "packages"), platform=case.platform)


def version(facts: Facts) -> str:
    """Return NVIDIA's version of the driver by ``nvcuda.dll``, ``""`` where it does not tell."""
    own = (text(file, "version") for file in objects(facts, "files") if text(file, "name").lower() == CUDA)
    return next(own, "")


def _versions(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that the files do not tell their version, or tell several."""
    own = version(facts)
    if not own:
        observed = f"{CUDA} has no version of four numbers"
        yield finding("DRIVER-LIBRARY-UNTOLD", observed, where=("files",), platform=case.platform)
        return
    files = objects(facts, "files")
    other = [file for file in files if text(file, "version") not in {"", own}]
    if other:
        listed = ", ".join(f"{text(file, 'name')} {text(file, 'version')}" for file in other)
        yield _mixed(case, f"{CUDA} {own}; {listed}", own, tuple(text(file, "path") for file in other))
        return
    stored = [_stored(package) for package in objects(facts, "packages")]
    known = [each for each in stored if each]
    if known and not any(own in each for each in known):
        listed = ", ".join(sorted({one for each in known for one in each}))
        where = tuple(text(package, "folder") for package in objects(facts, "packages"))
        yield _mixed(case, f"System32 has {own}; the driver store has {listed}", own, where)


def _stored(package: Facts) -> set[str]:
    """Return the versions of a package's files."""
    return {text(file, "version") for file in objects(package, "files")} - {""}


def _mixed(case: Case, observed: str, expected: str, where: tuple[str, ...]) -> Finding:
    """Return the finding of files of several versions."""
    return finding("DRIVER-WINDOWS-MIXED", observed, expected=expected, where=where, platform=case.platform)


def _direct3d(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield the parts of Direct3D 12 that lack: Windows' own and the driver's."""
    names = {
        text(file, "name").lower()
        for package in objects(facts, "packages")
        for file in objects(package, "files")
    }
    missing = [] if flag(facts, "d3d12") else ["d3d12.dll"]
    if names and not names.intersection(USER_MODE):
        missing.append(" or ".join(USER_MODE))
    if missing:
        observed = f"{' and '.join(missing)} not found"
        yield finding("DRIVER-WINDOWS-D3D12", observed, where=("packages",), platform=case.platform)


def _models(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield GPUs whose driver model has no Direct3D, or changes with the next start."""
    for at, gpu in enumerate(objects(facts, "nvml.facts.gpus")):
        pair = tuple(items(gpu, "driver_model"))
        if len(pair) != len(("current", "pending")):
            continue
        current, pending = (MODELS.get(each if isinstance(each, int) else -1, str(each)) for each in pair)
        name, where = text(gpu, "name") or f"GPU {at}", (f"nvml.facts.gpus.{at}",)
        if pair[0] != WDDM and case.plan.backend.get(case.platform) == D3D12:
            observed = f"{name} runs under {current}"
            yield finding("DRIVER-WINDOWS-MODEL", observed, where=where, platform=case.platform)
        if current != pending:
            observed = f"{name} runs under {current}, and under {pending} after the next start"
            yield finding("DRIVER-WINDOWS-MODEL-PENDING", observed, where=where, platform=case.platform)


def claim_windows(facts: Facts) -> str:
    """Return what a passed gate establishes on Windows: the version, and the model where NVML told it."""
    models = {
        MODELS.get(model, str(model))
        for gpu in objects(facts, "nvml.facts.gpus")
        for model in tuple(items(gpu, "driver_model"))[:1]
        if isinstance(model, int)
    }
    under = f" under {', '.join(sorted(models))}" if models else ""
    names = ", ".join(text(file, "name") for file in objects(facts, "files"))
    return f"{names} are of one display driver, {version(facts)}{under}"


def check_windows(facts: Facts) -> None:
    """Ask for all that the claim names.

    Raises:
        MalformedFacts: it is not recorded.
    """
    there(facts, *_KEYS)
    told(facts, "nvml.asked", "cuda_api.asked", "opened.asked", "smi.asked")
    if not version(facts):
        raise MalformedFacts("files", f"the version of {CUDA}")

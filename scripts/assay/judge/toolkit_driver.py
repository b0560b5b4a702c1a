"""Judges toolkit against driver and device: old drivers, new PTX, devices out of range, stubs.

Facts::

    driver {version, source, cuda, cuda_source}   null on a machine without a driver
    devices [{name, capability}]                  as NVML says; capability such as ``9.0``
    nvml {asked, problem, silent}                 whether NVML was asked, and what came of it
    libcuda {child, shell: {path, stubs, same_as_stub, in_toolkit}}
        the libcuda.so.1 that the children, or a program started from this shell, would load
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.cuda import architectures_of, cuda_of_driver, joined, minimum_driver
from assay.judge.reading import flag, get, mapping, objects, text, texts
from assay.model import Facts, Finding
from assay.plan.versions import release, satisfies


def judge_driver(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield where the driver does not fit toolkit or plan; a machine without one has nothing to judge."""
    if flag(facts, "nvml.silent"):
        yield finding(
            "TOOLKIT-NVML-SILENT", text(facts, "nvml.problem"), where=("nvml",), platform=case.platform
        )
    version, toolkit = text(facts, "driver.version"), text(facts, "version")
    if not version:
        return
    wanted = case.plan.versions.get(case.platform, {}).get("driver")
    if wanted and not satisfies(version, wanted):
        expected = f"driver {wanted}"
        yield finding(
            "TOOLKIT-DRIVER-VERSION", f"driver {version}", expected=expected, platform=case.platform
        )
    least = minimum_driver(toolkit)
    if least is not None and release(version)[:1] < (least,):
        observed, expected = f"driver {version} with toolkit {toolkit}", f"driver {least} or newer"
        yield finding(
            "TOOLKIT-DRIVER-OLD", observed, expected=expected, where=("driver",), platform=case.platform
        )
        return
    yield from _ptx(case, facts, version, toolkit)


def _ptx(case: Case, facts: Facts, version: str, toolkit: str) -> Iterator[Finding]:
    """Yield that the driver's CUDA is older than the toolkit whose PTX it would have to read."""
    speaks = text(facts, "driver.cuda") or cuda_of_driver(version)
    if release(speaks)[:2] and release(toolkit)[:2] > release(speaks)[:2]:
        yield finding(
            "TOOLKIT-PTX-NEW",
            f"driver {version} speaks CUDA {speaks}; the toolkit is {toolkit}",
            expected=f"a toolkit of CUDA {speaks} or older",
            where=("driver", "version"),
            platform=case.platform,
        )


def judge_architectures(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield each device and each architecture of the plan that the toolkit does not build for."""
    toolkit = text(facts, "version")
    built = texts(facts, "nvcc.architectures") or architectures_of(toolkit)
    if not built:
        return
    for device in objects(facts, "devices"):
        capability = release(text(device, "capability"))
        if capability and "".join(map(str, capability[:2])) not in built:
            observed = (
                f"{text(device, 'name')} has compute capability {joined(capability)}; CUDA {toolkit} has not"
            )
            expected = f"one of {', '.join(built)}"
            yield finding("TOOLKIT-DEVICE-ARCHITECTURE", observed, expected=expected, where=("devices",))
    missing = [name for name in case.plan.architectures if name.removeprefix("sm_") not in built]
    if missing:
        observed = f"CUDA {toolkit} does not build for {', '.join(missing)}"
        expected = f"one of {', '.join(built)}"
        yield finding("TOOLKIT-PLAN-ARCHITECTURE", observed, expected=expected, where=("architectures",))


def judge_libcuda(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield that a stub would be loaded in the driver's place, by the children or from this shell.

    A diagnosis is of the machine as this shell has it, so there it is no matter who is kept from the stub.
    """
    child, shell = mapping(facts, "libcuda.child"), mapping(facts, "libcuda.shell")
    from_shell = get(facts, "libcuda.shell") is not None and is_stub(shell)
    if is_stub(child):
        yield finding("TOOLKIT-STUB", f"{text(child, 'path')} would be loaded", where=(text(child, "path"),))
    elif from_shell:
        entry = "TOOLKIT-STUB" if case.diagnosis else "TOOLKIT-STUB-KEPT-OUT"
        yield finding(entry, f"{text(shell, 'path')} would be loaded", where=(text(shell, "path"),))


def is_stub(library: Facts) -> bool:
    """Say whether a libcuda is a stub: it lies among stubs, inside the toolkit, or is a copy of one."""
    return any(flag(library, sign) for sign in ("stubs", "same_as_stub", "in_toolkit"))

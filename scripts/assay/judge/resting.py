"""What a gate must have recorded before its claim may rest on it.

A judge looks for what is wrong, so a fact that is not there would show nothing wrong.  Where a judge found
nothing that fails a gate, these checks ask for every fact that it looked at or that the claim names.  Which
facts nothing rests on, and why, ``tests/judge/test_resting.py`` lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from assay.judge.build import BUILT, GIVEN, planned_cuda_stages
from assay.judge.case import Case
from assay.judge.images import PTX, WGSL, ran_stages
from assay.judge.modules import ARCHIVE
from assay.judge.owner import TOOLKIT, below, slashed
from assay.judge.packages import RUNTIMES, installed, wanted
from assay.judge.reading import MalformedFacts, flag, get, items, mapping, number, objects, text, texts
from assay.judge.recorded import digest, filled, some, there, told
from assay.judge.results import INPUTS
from assay.model import Facts, Json, Platform
from assay.plan.values import Stage

_EMBEDDED = "embedded"
"""``source`` of the selection that a project brings; no other is not explicit (``assay.selection``)."""


def check_environment(case: Case, facts: Facts) -> None:
    """Ask for the selection's source, folders, modules and machine.

    Raises:
        MalformedFacts: one is not recorded.
    """
    there(facts, "hidden", "kept_out", "local", "machine.libc")
    filled(facts, "machine.arch", "source")
    if flag(facts, "explicit") is not (text(facts, "source") != _EMBEDDED):
        raise MalformedFacts("explicit", f"as source {text(facts, 'source')!r} has it")
    if text(facts, "variables.PYTHONPATH.given") and not objects(facts, "site_packages"):
        raise MalformedFacts("site_packages", "the folders that PYTHONPATH names")
    found = installed(facts)
    modules = dict(RUNTIMES.values()) | {"numpy": "numpy"}
    seen = mapping(facts, "modules")
    for name in wanted(case):
        module = modules.get(name, "")
        if module and name in found and flag(seen.get(module), "found") is not True:
            raise MalformedFacts("modules", f"an object that says where {module} is found")


def check_toolkit(case: Case, facts: Facts) -> None:
    """Ask for the parts' real places, the compilers, the driver and its devices.

    Raises:
        MalformedFacts: one is not recorded, or lies elsewhere than its origin.
    """
    there(
        facts,
        "devices",
        "driver",
        "libcuda",
        "nvml",
        "nvcc.architectures",
        "path_nvcc",
        "range",
        "selected_nvcc",
    )
    filled(facts, "arch", "version", "version_full", "nvcc.version", "origin")
    told(facts, "nvml.asked", "pathfinder.asked", "nvcc.asked")
    for name, part in mapping(facts, "parts").items():
        _lies_in(f"parts.{name}", part, text(facts, "origin"))
    _lies_in("loaded.nvrtc", get(facts, "loaded.nvrtc"), text(facts, "origin"))
    if not (text(facts, "builtins.wanted") or texts(facts, "builtins.beside")):
        raise MalformedFacts("builtins", "the builtins that NVRTC needs")
    if items(facts, "devices"):
        filled(facts, "driver.version")
    if text(facts, "driver.version") and case.platform is not Platform.WINDOWS:
        filled(facts, "libcuda.child.path")
    if text(facts, "driver.version") and flag(facts, "nvml.asked") and not text(facts, "nvml.problem"):
        some(facts, "devices")


def check_provider(case: Case, facts: Facts) -> None:
    """Ask for size, processor, machine, Vulkan and the two versions of wgpu-native.

    Raises:
        MalformedFacts: one is not recorded.
    """
    del case  # the pin is compared by the judge
    there(facts, "arch", "machine.libc", "wgpu.expects", "wgpu.package", "wgpu.reported")
    filled(facts, "machine.arch")
    told(facts, "vulkan.driver", "vulkan.wanted")
    if not number(facts, "size") or number(facts, "size") != number(facts, "file.size"):
        raise MalformedFacts("size", "the size of the hashed file")


def check_build(case: Case, facts: Facts) -> None:
    """Ask for the origin and for what compiled the kernels.

    Raises:
        MalformedFacts: one is not recorded.
    """
    if text(facts, "origin") not in {BUILT, GIVEN}:
        raise MalformedFacts("origin", f"{BUILT!r} or {GIVEN!r}")
    runtimes = {stage.runtime for _, stage in planned_cuda_stages(case)}
    if runtimes:
        there(facts, "compile.errors", "compile.problem")
        digest(facts, "compile.child_sha256")
        filled(facts, "compile.compilers.nvcc.version")
    if "nvrtc" in runtimes:
        filled(facts, "compile.compilers.nvrtc.version")


def check_installed(case: Case, facts: Facts) -> None:
    """Ask for the installer and for a digest of every module that was imported.

    Raises:
        MalformedFacts: one is not recorded.
    """
    del case  # the wheel is compared by the judge
    there(facts, "absent")
    filled(facts, "installer.how", "installer.version")
    for at, module in enumerate(objects(facts, "modules")):
        digest(module, "sha256", f"modules.{at}.")


def check_chain(case: Case, facts: Facts) -> None:
    """Ask of each stage for its entry, compiler, images and runs, and for digests of all that was loaded.

    Raises:
        MalformedFacts: one is not recorded, or is not the plan's.
    """
    there(facts, "layers", "preload", "unseen")
    for chain, stage, seen in ran_stages(case, facts):
        _check_stage(stage, seen, f"chains.{chain.name}.{stage.name}")
    for at, module in enumerate(objects(facts, "child.modules")):
        if not below(slashed(text(module, "file")), ARCHIVE):
            digest(module, "sha256", f"child.modules.{at}.")
    _same_device(case, facts)


def _check_stage(stage: Stage, seen: Facts, where: str) -> None:
    """Ask a stage for its entry, compiler and runs.

    Raises:
        MalformedFacts: one is not recorded, or is not the plan's.
    """
    kind = WGSL if stage.runtime == "wgpu" else PTX
    if text(seen, "entry") != stage.entry:
        raise MalformedFacts(f"{where}.entry", f"the plan's entry {stage.entry}")
    if text(seen, "runtime") != stage.runtime:
        raise MalformedFacts(f"{where}.runtime", f"the plan's runtime {stage.runtime}")
    if any(text(each, "kind") != kind for each in objects(seen, "loaded")):
        raise MalformedFacts(f"{where}.loaded", f"of kind {kind}")
    if kind == PTX and not text(seen, "compiler"):
        raise MalformedFacts(f"{where}.compiler", "what compiled the stage")
    if sorted(text(run, "input") for run in objects(seen, "runs")) != sorted(INPUTS):
        raise MalformedFacts(f"{where}.runs", "one run of each input")
    for run, axes in product(objects(seen, "runs"), ("grid", "block")):
        sizes = items(run, axes)
        if len(sizes) != len("xyz") or not all(isinstance(size, int) and size > 0 for size in sizes):
            raise MalformedFacts(f"{where}.runs", f"three sizes of its {axes}")


def _same_device(case: Case, facts: Facts) -> None:
    """Ask gate ``toolkit`` for driver and device that the chain ran on: it judged whether they fit.

    Raises:
        MalformedFacts: it recorded none, or others.
    """
    name = text(facts, "devices.after.name")
    if "toolkit" not in case.plan.gates or "toolkit" not in case.facts or not name:
        return
    toolkit = case.facts["toolkit"]
    driver = text(facts, "nvml.after.driver_version")
    if driver and text(toolkit, "driver.version") != driver:
        raise MalformedFacts("nvml.after.driver_version", "the driver that gate toolkit judged")
    own = (name, text(facts, "devices.after.compute_capability"))
    judged = {(text(each, "name"), text(each, "capability")) for each in objects(toolkit, "devices")}
    if driver and own not in judged:
        raise MalformedFacts("devices.after", "a device that gate toolkit judged")


def _lies_in(path: str, part: Json, own: str) -> None:
    """Check that a part is really in the toolkit that it is said to be of; ``own`` is the selected one's.

    ``CUDA_PATH`` may name a folder inside its origin (``targets/x86_64-linux``), which is then a root.
    """
    if part is None:
        return
    if not isinstance(part, Mapping):
        raise MalformedFacts(path, "an object")
    real, origin = slashed(text(part, "real")), slashed(text(part, "origin"))
    folders = (origin, TOOLKIT) if origin == slashed(own) else (origin,)
    if not any(folder and below(real, folder) for folder in folders):
        raise MalformedFacts(f"{path}.real", f"below its origin {origin}")

"""Judges gate ``build``: what was built or taken, from which revision, and what the kernels became.

Facts (``gates.build`` and ``gates.kernels`` write them)::

    origin                                        ``built``, or ``given`` by --artifact
    revision, clean, reason, changed, changed_count   as in ``gates.revision``; ``clean`` null without git
    packaging {backend, epoch, hatchling, python, problem}   of a build; ``hatchling`` "" where it is missing
    wheel {name, sha256, size, content_sha256, project, version, invalid}
    sdist {name, sha256, size, content_sha256}
    again [{name, sha256, differing[]}]           of the second build, members that differ
    sources, kernels, kernels_again, compile      as in ``gates.kernels``
    shader                                        as in ``gates.shaders``, where the plan has one
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.packages import normal
from assay.judge.reading import flag, mapping, number, objects, text, texts
from assay.model import Facts, Finding
from assay.plan.values import Chain, Stage

RULES = 1

CUDA_RUNTIMES = ("pycuda", "nvrtc")
"""Runtimes whose sources are CUDA; WGSL is compiled by wgpu when it runs."""

BACKEND = "hatchling.build"
BUILT, GIVEN = "built", "given"

_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SHA256 = re.compile(r"[0-9a-f]{64}")
_NAMED = 10
"""Files that a finding names; the rest is counted."""


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with revision, wheel, sdist and kernels."""
    given = text(facts, "origin") == GIVEN
    return (
        *(() if given else _revision(case, facts)),
        *(() if given else _packaging(facts)),
        *_wheel(case, facts),
        *_sources(case, facts),
        *_kernels(case, facts),
        *_shader(case, facts),
    )


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes: of that artifact, whatever the tree was."""
    wheel = f"wheel {text(facts, 'wheel.name')} (SHA-256 {text(facts, 'wheel.sha256')})"
    kernels = (
        f"{len(objects(facts, 'kernels'))} images of its kernels were compiled twice with the same bytes"
    )
    if text(facts, "origin") == GIVEN:
        return f"{wheel} was taken as it is, of whatever revision; {kernels}"
    state = "clean" if flag(facts, "clean") else "not clean"
    revision = text(facts, "revision")
    source = f"revision {revision} ({state})" if _HASH.fullmatch(revision) else "a folder without a revision"
    return f"{wheel} of {case.plan.project} was built twice, bit for bit the same, from {source}; {kernels}"


def planned_cuda_stages(case: Case) -> tuple[tuple[Chain, Stage], ...]:
    """Return the stages of the planned chains whose sources are CUDA."""
    chains = case.plan.planned_chains(case.platform)
    return tuple(
        (chain, stage) for chain in chains for stage in chain.stages if stage.runtime in CUDA_RUNTIMES
    )


def _revision(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find a missing revision or an unclean tree; the plan may allow both, and then it is a warning."""
    allowed = "-ALLOWED" if case.plan.allow_unclean_tree else ""
    revision = text(facts, "revision")
    if not _HASH.fullmatch(revision):
        reason = text(facts, "reason") or "the revision is not recorded"
        yield finding(f"BUILD-NO-REVISION{allowed}", reason, where=("revision",))
    elif flag(facts, "clean") is not True:
        changed = texts(facts, "changed")
        rest = (number(facts, "changed_count") or 0) - len(changed[:_NAMED])
        observed = f"{revision} with {', '.join(changed[:_NAMED]) or 'a state that is not recorded'}"
        more = f" and {rest} more" if rest > 0 else ""
        yield finding(f"BUILD-UNCLEAN{allowed}", observed + more, where=("changed",))


def _packaging(facts: Facts) -> Iterator[Finding]:
    """Find a build that could not be made, or two that differ."""
    backend = text(facts, "packaging.backend")
    problem = text(facts, "packaging.problem")
    if not text(facts, "packaging.hatchling"):
        python = text(facts, "packaging.python")
        yield finding(
            "BUILD-TOOL-MISSING", f"Python {python} has no hatchling", where=("packaging.hatchling",)
        )
    elif backend != BACKEND:
        yield finding("BUILD-BACKEND", f"build-backend is {backend!r}", where=("packaging.backend",))
    elif problem:
        yield finding("BUILD-FAILED", problem, where=("packaging.problem",))
    else:
        yield from _same(facts)


def _same(facts: Facts) -> Iterator[Finding]:
    """Find what the second build made otherwise."""
    again = {text(each, "name"): each for each in objects(facts, "again")}
    for kind in ("wheel", "sdist"):
        name, sha256 = text(facts, f"{kind}.name"), text(facts, f"{kind}.sha256")
        second = again.get(name, {})
        if not _SHA256.fullmatch(sha256) or text(second, "sha256") != sha256:
            differing = texts(second, "differing")
            members = f" in {', '.join(differing[:_NAMED])}" if differing else ""
            observed = (
                f"{kind} {name or '(none)'}: {sha256 or 'none'}, then {text(second, 'sha256') or 'none'}"
            )
            yield finding("BUILD-NOT-REPRODUCIBLE", observed + members, where=(kind, "again"))


def _wheel(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find a wheel that is not one, or not this project's."""
    invalid, project = text(facts, "wheel.invalid"), text(facts, "wheel.project")
    if invalid:
        yield finding("BUILD-WHEEL-INVALID", invalid, where=("wheel.invalid",))
    elif not _SHA256.fullmatch(text(facts, "wheel.sha256")):
        if text(facts, "origin") == GIVEN or _was_built(facts):
            yield finding("BUILD-WHEEL-MISSING", "no wheel is recorded", where=("wheel",))
    elif normal(project) != normal(case.plan.project):
        observed = f"{text(facts, 'wheel.name')} is a wheel of {project!r}"
        yield finding("BUILD-WHEEL-FOREIGN", observed, expected=case.plan.project, where=("wheel.project",))


def _was_built(facts: Facts) -> bool:
    """Say whether nothing already explains a missing wheel."""
    packaging = mapping(facts, "packaging")
    fits = text(packaging, "backend") == BACKEND and bool(text(packaging, "hatchling"))
    return fits and not text(packaging, "problem")


def _sources(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find sources that are not those of the plan."""
    found = {
        (text(each, "chain"), text(each, "stage")): text(each, "sha256") for each in objects(facts, "sources")
    }
    for chain, stage in planned_cuda_stages(case):
        sha256 = found.get((chain.name, stage.name), "")
        if sha256 != stage.sha256:
            where = f"kernels/{chain.name}/{stage.source}"
            observed = f"{where} has SHA-256 {sha256}" if sha256 else f"{where} could not be read"
            yield finding("BUILD-SOURCE-CHANGED", observed, expected=stage.sha256, where=(where,))


def _kernels(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find images that could not be made, are missing, or came out otherwise the second time."""
    wanted = tuple(_images(case))
    if not wanted:
        return
    problem = text(facts, "compile.problem")
    if flag(facts, "compile.selected") is False:
        yield finding("BUILD-NO-INTERPRETER", "BUN_PYTHON_EXECUTABLE is not set", where=("compile.selected",))
    elif problem:
        yield finding("BUILD-COMPILE-BROKE", problem, where=("compile.problem",))
    else:
        refused = tuple(_refused(case, facts))
        yield from refused
        yield from _images_missing(wanted, facts, excused=bool(refused))
        yield from _images_differ(facts)


def _images(case: Case) -> Iterator[tuple[str, str, str, str]]:
    """Yield chain, stage, kind and architecture of every image that the plan wants."""
    for chain, stage in planned_cuda_stages(case):
        yield chain.name, stage.name, "ptx", case.plan.lowest_architecture
        for architecture in case.plan.architectures:
            yield chain.name, stage.name, "cubin", architecture


def _refused(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find what the compilers said."""
    for error in objects(facts, "compile.errors"):
        entry = "BUILD-COMPILER-MISSING" if text(error, "kind") == "unavailable" else "BUILD-KERNEL-REFUSED"
        place = f"{text(error, 'chain')}/{text(error, 'stage')}"
        yield finding(entry, f"{place}: {text(error, 'message')}", where=(place,), platform=case.platform)


def _images_missing(
    wanted: tuple[tuple[str, str, str, str], ...], facts: Facts, *, excused: bool
) -> Iterator[Finding]:
    """Find images that are not there although no compiler complained."""
    found = {
        (text(each, "chain"), text(each, "stage"), text(each, "kind"), text(each, "arch"))
        for each in objects(facts, "kernels")
        if _SHA256.fullmatch(text(each, "sha256"))
    }
    for image in wanted:
        if image not in found and not excused:
            chain, stage, kind, architecture = image
            yield finding(
                "BUILD-KERNEL-MISSING",
                f"{chain}/{stage} has no {kind} for {architecture}",
                where=("kernels",),
            )


def _shader(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find a shader that is not the plan's, was refused, or came out otherwise the second time.

    Where no compiler was found nothing is wrong with what was built: the gates that need the shader say so.
    """
    wanted = case.plan.shared_buffers
    if wanted is None:
        return
    where = f"kernels/{wanted.chain}/{wanted.source}"
    sha256, again = text(facts, "shader.spirv.sha256"), text(facts, "shader.again")
    if text(facts, "shader.sha256") != wanted.sha256:
        observed = f"{where} has SHA-256 {text(facts, 'shader.sha256') or '(none)'}"
        yield finding("BUILD-SOURCE-CHANGED", observed, expected=wanted.sha256, where=(where,))
    elif problem := text(facts, "shader.problem"):
        yield finding("BUILD-KERNEL-REFUSED", f"{where}: {problem}", where=(where,))
    elif sha256 != again:
        observed = f"{where}: {sha256 or 'none'}, then {again or 'none'}"
        yield finding("BUILD-KERNEL-NOT-REPRODUCIBLE", observed, where=(where,))


def _images_differ(facts: Facts) -> Iterator[Finding]:
    """Find images that came out otherwise the second time."""
    again = {text(each, "name"): text(each, "sha256") for each in objects(facts, "kernels_again")}
    for each in objects(facts, "kernels"):
        name, sha256 = text(each, "name"), text(each, "sha256")
        if again.get(name) != sha256:
            observed = f"{name}: {sha256}, then {again.get(name) or 'none'}"
            yield finding("BUILD-KERNEL-NOT-REPRODUCIBLE", observed, where=(name,))

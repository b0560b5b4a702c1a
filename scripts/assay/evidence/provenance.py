"""SLSA provenance v1 of what gate ``build`` made, from its receipt."""

from __future__ import annotations

import re
from datetime import timedelta

from assay import __version__
from assay.evidence.names import TOOLCHAIN
from assay.evidence.statement import Shown
from assay.evidence.times import read_time, write_time
from assay.judge.build import BUILT
from assay.judge.reading import MalformedFacts, mapping, objects, text
from assay.model import Facts, Json, Outcome

BUILD = "build"
BUILD_TYPE = "urn:gpu-assay:build:v1"
"""How it was built: hatchling and the selected CUDA compilers, twice, with the same bytes."""

BUILDER = "urn:gpu-assay:builder:v1"
_GIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def provenance(shown: Shown) -> dict[str, Json] | None:
    """Return the predicate, None where ``build`` did not pass or took a wheel that was made elsewhere."""
    if shown.outcomes.get(BUILD) is not Outcome.PASSED:
        return None
    facts = shown.run.records.receipt(BUILD).facts
    try:
        if text(facts, "origin") != BUILT:
            return None
        return {"buildDefinition": _definition(shown, facts), "runDetails": _details(shown)}
    except MalformedFacts:
        return None


def _definition(shown: Shown, facts: Facts) -> dict[str, Json]:
    """Return what was built, and from what."""
    document = shown.run.document
    return {
        "buildType": BUILD_TYPE,
        "externalParameters": {
            "architectures": list(document.plan.architectures),
            "plan": document.plan_digest,
            "project": document.plan.project,
        },
        "internalParameters": {"packaging": mapping(facts, "packaging")},
        "resolvedDependencies": _dependencies(shown, facts),
    }


def _dependencies(shown: Shown, facts: Facts) -> list[Json]:
    """Return the sources: the revision where there is one, each kernel's file, and the toolchain."""
    revision = text(facts, "revision")
    found: list[Json] = (
        [{"digest": {"gitCommit": revision}, "name": "source"}] if _GIT.fullmatch(revision) else []
    )
    for source in objects(facts, "sources"):
        name = f"kernels/{text(source, 'chain')}/{text(source, 'stage')}"
        found.append({"digest": {"sha256": text(source, "sha256")}, "name": name})
    toolchain = shown.run.document.toolchain_sha256
    return [*found, {"digest": {"sha256": toolchain}, "name": TOOLCHAIN}]


def _details(shown: Shown) -> dict[str, Json]:
    """Return who built it and when."""
    receipt = shown.run.records.receipt(BUILD)
    finished = read_time(receipt.started) + timedelta(microseconds=receipt.duration_ns // 1000)
    return {
        "builder": {"id": BUILDER, "version": {"assay": __version__}},
        "metadata": {
            "finishedOn": write_time(finished),
            "invocationId": shown.run.document.run,
            "startedOn": receipt.started,
        },
    }

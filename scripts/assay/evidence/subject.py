"""The subject digest: what was qualified and what came out, the same on every machine that did the same.

FORMATS, "Subject digest": neither toolchain, GPU, driver, time, nonce nor schema count; archives count by the
names and uncompressed bytes of their members, since compressed bytes differ between builds of zlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from assay import canonical
from assay.archives import archive_members, content_digest
from assay.errors import ArchiveError
from assay.evidence.judging import CHAIN, Conclusion
from assay.evidence.names import artifact_name
from assay.evidence.steps import Run
from assay.judge.case import Case
from assay.judge.packages import installed, locked, wanted
from assay.judge.reading import MalformedFacts, get, objects, text
from assay.model import Json, Outcome
from assay.plan import plan_json

ARCHIVES = (".whl", ".tar.gz", ".zip")
"""How the names of artifacts end that are archives."""


def subject_digest(run: Run, outcomes: Mapping[str, Outcome], conclusion: Conclusion) -> str:
    """Return the subject digest (hex) of a verified run.

    Args:
        run: the bundle's run.
        outcomes: outcome by gate, as judged.
        conclusion: its tier and verdict.

    Raises:
        BundleError: an artifact cannot be read.
    """
    return canonical.digest(subject(run, outcomes, conclusion))


def subject(run: Run, outcomes: Mapping[str, Outcome], conclusion: Conclusion) -> dict[str, Json]:
    """Return what the subject digest is of; a part whose facts no gate writes is null."""
    document = run.document
    facts = run.records.facts(frozenset(outcomes))
    case = Case(document.plan, document.plan_digest, document.platform, document.nonce, "", facts)
    return {
        "archives": _archives(run),
        "outcomes": {gate: outcome.value for gate, outcome in outcomes.items()},
        "plan": plan_json(document.plan),
        "tier": conclusion.tier.value if conclusion.tier else None,
        "verdict": conclusion.verdict.value,
        **{name: _part(read, case) for name, read in _PARTS.items()},
    }


def _part(read: Callable[[Case], Json], case: Case) -> Json:
    """Return one part, null where its facts are malformed."""
    try:
        return read(case)
    except MalformedFacts:
        return None


def _archives(run: Run) -> Json:
    """Return name and content digest of every archive; of one that cannot be unpacked, of its bytes."""
    found = {
        (artifact.name, artifact.sha256)
        for gate in run.records.gates
        for artifact in run.records.receipt(gate).artifacts
        if artifact.name.endswith(ARCHIVES)
    }
    return sorted([name, _content(run, sha256)] for name, sha256 in found)


def _content(run: Run, sha256: str) -> str:
    """Return an archive's content digest (hex)."""
    with run.container.open(artifact_name(sha256)) as stream:
        try:
            return content_digest(archive_members(stream))
        except ArchiveError:
            return sha256


def _images(case: Case) -> Json:
    """Return the digests of the PTX and CUBIN images that ``build`` made."""
    kernels = objects(case.facts.get("build", {}), "kernels")
    names = ("chain", "stage", "kind", "arch", "sha256")
    return sorted([text(each, name) for name in names] for each in kernels)


def _packages(case: Case) -> Json:
    """Return version and lock digest of the packages that plan and chains need."""
    facts = case.facts.get("environment", {})
    versions, locks = installed(facts), locked(facts)
    return {name: [versions.get(name), locks.get(name)] for name in wanted(case)}


def _provider(case: Case) -> Json:
    """Return the provider's digest."""
    return text(case.facts.get("provider", {}), "sha256")


def _toolkit(case: Case) -> Json:
    """Return the toolkit's version."""
    return text(case.facts.get("toolkit", {}), "version_full")


def _results(case: Case) -> Json:
    """Return the canonical results of those stages that are compared by bits."""
    bits = {
        (chain.name, stage.name)
        for chain in case.plan.planned_chains(case.platform)
        for stage in chain.stages
        if stage.ulp is None
    }
    seen = [
        (text(chain, "name"), text(stage, "name"), get(stage, "canonical"))
        for chain in objects(case.facts.get(CHAIN, {}), "chains")
        for stage in objects(chain, "stages")
    ]
    return [[chain, stage, values] for chain, stage, values in seen if (chain, stage) in bits]


_PARTS: Mapping[str, Callable[[Case], Json]] = MappingProxyType(
    {
        "images": _images,
        "packages": _packages,
        "provider": _provider,
        "results": _results,
        "toolkit": _toolkit,
    }
)
"""What is read from the facts of gates."""

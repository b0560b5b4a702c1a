"""A bill of materials in CycloneDX 1.6 (ECMA-424): what was selected, what was built, and from what.

Each component is named by what the bundle's facts say of it, with its SHA-256 where they have one; where it
was found is a property.  Serial number and time derive from the bundle: the same bundle gives the same bytes.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.tool import ToolRepository
from cyclonedx.output.json import JsonV1Dot6
from packageurl import PackageURL

from assay import __version__
from assay.evidence.documents import TOOL
from assay.evidence.names import SHA256
from assay.evidence.plain import plain
from assay.evidence.steps import Run
from assay.evidence.times import read_time
from assay.evidence.verification import Verification
from assay.judge.variables import VARIABLES
from assay.model import Facts
from assay.report.machine import ENVIRONMENT, PROVIDER, TOOLKIT
from assay.report.selection import BUILD
from assay.report.subject import Subject, subject_of
from assay.report.text import mapping_at, objects_at, text_at

_NAMESPACE = uuid.UUID("7b1b6bd4-2b3f-5d0e-9f43-0f5b6f0c4f63")
"""Of this project's serial numbers (RFC 9562, section 5.5)."""

_PREFIX = "gpu-assay:"


def bill_of_materials(verification: Verification, run: Run) -> bytes:
    """Return the bill of materials of a verified run as JSON, the same bytes for the same bundle and copy."""
    subject = subject_of(verification, run)
    found = {str(each.bom_ref): each for each in _components(subject)}
    components = [found[ref] for ref in sorted(found)]
    metadata = _metadata(subject)
    serial = uuid.uuid5(_NAMESPACE, verification.bundle_digest)
    bom = Bom(serial_number=serial, metadata=metadata, components=components)
    if metadata.component is not None:
        bom.register_dependency(metadata.component, components)
    return JsonV1Dot6(bom).output_as_string(indent=2).encode() + b"\n"


def _metadata(subject: Subject) -> BomMetaData:
    """Return what the bill is of, and who made it."""
    verified, build = subject.verification, subject.facts(BUILD)
    wheel = mapping_at(build, "wheel")
    about = (
        ("verdict", verified.verdict.value),
        ("tier", verified.tier.value if verified.tier else "none seen"),
        ("platform", verified.platform),
        ("run", verified.run),
        ("bundle-digest", verified.bundle_digest),
        ("subject-digest", verified.subject_digest),
        ("revision", text_at(build, "revision")),
    )
    project = subject.run.document.plan.project
    tool = Component(name=TOOL, version=__version__, type=ComponentType.APPLICATION)
    return BomMetaData(
        timestamp=read_time(verified.started),
        tools=ToolRepository(components=[tool]),
        component=_component("project", project, text_at(wheel, "version"), kind=ComponentType.APPLICATION),
        properties=_properties(about),
    )


def _components(subject: Subject) -> Iterator[Component]:
    """Yield everything that was selected and built; what facts lack is left out."""
    yield from _selected(subject.facts(ENVIRONMENT))
    yield from _toolkit(subject.facts(TOOLKIT))
    provider = subject.facts(PROVIDER)
    if name := text_at(provider, "pin"):
        version = text_at(provider, "wgpu.reported")
        about = (("path", text_at(provider, "path")), ("interface", text_at(provider, "interface")))
        yield _component("provider", name, version, text_at(provider, "sha256"), about)
    for gate in subject.gates:
        if gate.receipt.gate == BUILD:
            for artifact in gate.receipt.artifacts:
                about = (("built-by-gate", BUILD), ("size", str(artifact.size)))
                yield _component("artifact", artifact.name, "", artifact.sha256, about, ComponentType.FILE)
    for source in objects_at(subject.facts(BUILD), "sources"):
        name = f"{text_at(source, 'chain')}/{text_at(source, 'source')}"
        yield _component("source", name, "", text_at(source, "sha256"), (), ComponentType.FILE)


def _selected(environment: Facts) -> Iterator[Component]:
    """Yield the selected files and the packages of the selected interpreter."""
    for variable in VARIABLES:
        seen = mapping_at(environment, f"selected.{variable.name}")
        if sha256 := text_at(seen, "sha256"):
            about = (("variable", variable.name), ("path", text_at(seen, "path")))
            version = text_at(seen, "reported.version") or text_at(seen, "binary.version")
            yield _component("selected", variable.title, version, sha256, about, ComponentType.FILE)
    for each in objects_at(environment, "distributions"):
        name, version = text_at(each, "name"), text_at(each, "version")
        if name:
            about = (("path", text_at(each, "path")), ("record-sha256", text_at(each, "record_sha256")))
            yield _component(
                "package", name, version, "", about, purl=PackageURL("pypi", None, name, version)
            )


def _toolkit(toolkit: Facts) -> Iterator[Component]:
    """Yield the parts of the CUDA toolkit."""
    parts = mapping_at(toolkit, "parts")
    for name in sorted(parts):
        part = mapping_at(parts, name)
        about = (("path", text_at(part, "real")), ("found-via", text_at(part, "found_via")))
        yield _component("toolkit", f"CUDA {name}", text_at(part, "version"), "", about)


def _component(  # noqa: PLR0913, PLR0917  # a component has so many parts
    role: str,
    name: str,
    version: str,
    sha256: str = "",
    about: tuple[tuple[str, str], ...] = (),
    kind: ComponentType = ComponentType.LIBRARY,
    purl: PackageURL | None = None,
) -> Component:
    """Return a component; its reference tells its role, its name and, where there is one, its digest."""
    hashed = bool(SHA256.fullmatch(sha256))
    shown = plain(name) or "unnamed"
    return Component(
        name=shown,
        version=plain(version) or None,
        type=kind,
        bom_ref=":".join(part for part in (role, shown, plain(version), sha256 if hashed else "") if part),
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=sha256)] if hashed else [],
        properties=_properties((("role", role), *about)),
        purl=purl,
    )


def _properties(about: tuple[tuple[str, str], ...]) -> list[Property]:
    """Return the properties that have a value, under names of this project's own."""
    return [Property(name=f"{_PREFIX}{name}", value=plain(value)) for name, value in about if value]

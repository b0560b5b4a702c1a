"""``plan.json`` and ``manifest.json`` as values (FORMATS, "Run folder" and "Container")."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass

from assay import canonical
from assay.errors import PlanError
from assay.evidence.names import (
    CHALLENGE,
    MANIFEST,
    MANIFEST_BYTES,
    MAX_GATES,
    NONCE,
    PLAN,
    RECEIPT_BYTES,
    RUN_NAME,
    run_name,
)
from assay.evidence.reading import document_errors, sha256_of, time_of
from assay.evidence.ustar import LARGEST
from assay.model import Json, Platform, Tier, Verdict
from assay.plan.parse import parse_plan
from assay.plan.reading import Table
from assay.plan.values import Plan

TOOL = "assay"


@dataclass(frozen=True)
class PlanDocument:
    """``plan.json``, written as the first act of a run.

    Attributes:
        run: the run folder's name.
        nonce: drawn for this run, 32 hex digits.
        challenge: an auditor's value (hex), ``""`` where there was none.
        started: RFC 3339 UTC.
        platform: where the run was made.
        toolchain_sha256: of ``toolchain.zip`` (hex).
        plan: the frozen plan, for all platforms.
        given: the plan as it stands in the document.
    """

    run: str
    nonce: str
    challenge: str
    started: str
    platform: Platform
    toolchain_sha256: str
    plan: Plan
    given: Mapping[str, Json]

    @functools.cached_property
    def plan_digest(self) -> str:
        """Return the plan digest: SHA-256 (hex) of the canonical plan, the same on every machine."""
        return canonical.digest(self.given)

    def data(self) -> bytes:
        """Return the document's bytes.

        Raises:
            CanonicalError: the plan has no canonical form.
        """
        return canonical.dumps(
            {
                "challenge": self.challenge,
                "nonce": self.nonce,
                "plan": self.given,
                "platform": self.platform.value,
                "run": self.run,
                "schema": "assay/plan/1",
                "started": self.started,
                "toolchain_sha256": self.toolchain_sha256,
            }
        )


def parse_plan_document(data: bytes) -> PlanDocument:
    """Read ``plan.json``.

    Raises:
        NewerSchemaError: a newer assay wrote it.
        BundleError: it passes a bound, is not canonical, or a field or the plan is wrong.
    """
    document = canonical.read_object(data, "plan", member=PLAN, limit=RECEIPT_BYTES)
    with document_errors(PLAN):
        table = Table(document, "")
        given = table.table("plan")
        found = PlanDocument(
            run=table.text("run", match=RUN_NAME.pattern),
            nonce=table.text("nonce", match=NONCE.pattern),
            challenge=table.text("challenge", match=CHALLENGE.pattern),
            started=time_of(table, "started"),
            platform=Platform(table.text("platform", match="|".join(Platform))),
            toolchain_sha256=sha256_of(table, "toolchain_sha256"),
            plan=_plan(given),
            given={name: given.raw(name) for name in given.names()},  # type: ignore[misc]  # canonical.loads made them: JSON
        )
        table.finish()
        if (right := run_name(found.started, found.nonce)) != found.run:
            raise PlanError("run", f"is {found.run}", f"{right}, of start and nonce", "")
    return found


def _plan(given: Table) -> Plan:
    """Read the frozen plan."""
    gates = given.raw("gates", ())
    if isinstance(gates, list) and len(gates) > MAX_GATES:
        raise PlanError(given.at("gates"), f"has {len(gates)} entries", f"at most {MAX_GATES}", "")
    return parse_plan({name: given.raw(name) for name in given.names()}, given.path)


@dataclass(frozen=True)
class Listed:
    """One member that a manifest lists: name, size in bytes, SHA-256 (hex)."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Manifest:
    """``manifest.json``: what the bundle says of itself.

    Attributes:
        run: the run's name.
        tool: who wrote the bundle.
        version: and in which version.
        tier: derived from the facts; None where no machine was seen that has one.
        verdict: what the run comes to.
        members: every other member, in order.
    """

    run: str
    tool: str
    version: str
    tier: Tier | None
    verdict: Verdict
    members: tuple[Listed, ...]

    def data(self) -> bytes:
        """Return the document's bytes; their SHA-256 is the bundle digest."""
        return canonical.dumps(
            {
                "members": [{"name": m.name, "sha256": m.sha256, "size": m.size} for m in self.members],
                "run": self.run,
                "schema": "assay/manifest/1",
                "tier": self.tier.value if self.tier else None,
                "tool": {"name": self.tool, "version": self.version},
                "verdict": self.verdict.value,
            }
        )


def parse_manifest(data: bytes) -> Manifest:
    """Read ``manifest.json``.

    Raises:
        NewerSchemaError: a newer assay wrote it.
        BundleError: it passes a bound, is not canonical, or a field is wrong.
    """
    document = canonical.read_object(data, "manifest", member=MANIFEST, limit=MANIFEST_BYTES)
    with document_errors(MANIFEST):
        table = Table(document, "")
        tool = table.table("tool")
        tier = None if table.raw("tier") is None else Tier(table.text("tier", match="|".join(Tier)))
        found = Manifest(
            run=table.text("run", match=RUN_NAME.pattern),
            tool=tool.text("name", match=r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}"),
            version=tool.text("version", match=r"[0-9][A-Za-z0-9._+!-]{0,63}"),
            tier=tier,
            verdict=Verdict(table.text("verdict", match="|".join(Verdict))),
            members=table.each("members", _listed),
        )
        tool.finish()
        table.finish()
    return found


def _listed(value: object, path: str) -> Listed:
    """Read one member."""
    table = Table(value, path)
    listed = Listed(table.text("name"), table.number("size", high=LARGEST), sha256_of(table, "sha256"))
    table.finish()
    return listed

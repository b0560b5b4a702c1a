"""Receipts: what one gate saw, written within bounds, read with every type checked (FORMATS)."""

from __future__ import annotations

from collections.abc import Sequence

from assay import canonical
from assay.errors import BundleError, CanonicalError, GateError, PlanError
from assay.evidence.names import MAX_FINDINGS, RECEIPT_BYTES
from assay.evidence.reading import document_errors, sha256_of, time_of
from assay.evidence.ustar import LARGEST
from assay.model import Artifact, Command, Finding, Json, LogInfo, Outcome, Receipt, Severity
from assay.plan.parse import GATE_NAME
from assay.plan.reading import Table, as_text

TIMEOUT = "timeout"
"""The exit of a command that outlived its deadline."""


def receipt_bytes(receipt: Receipt) -> bytes:
    """Return a receipt's document.

    Raises:
        GateError: a fact has no canonical form, or the receipt passes a bound: the gate has to end as
            ``error`` instead, since facts are never cut.
    """
    try:
        data = canonical.dumps(receipt.to_json())
        parse_receipt(data, "")
    except (CanonicalError, BundleError) as error:
        remedy = "record less, or report this defect of the gate"
        raise GateError(f"the receipt of {receipt.gate}: {error.observed}", error.expected, remedy) from error
    return data


def exit_text(commands: Sequence[Command]) -> str | None:
    """Return what ``<gate>.exit`` holds without its newline: the first exit that is not 0, else ``0``.

    None where the gate ran no command: it has no such file.
    """
    if not commands:
        return None
    return next((str(command.exit) for command in commands if command.exit != 0), "0")


def bounded_findings(findings: Sequence[Finding]) -> tuple[tuple[Finding, ...], int]:
    """Return the findings that a receipt holds, and how many more there were."""
    return tuple(findings[:MAX_FINDINGS]), max(0, len(findings) - MAX_FINDINGS)


def parse_receipt(data: bytes, member: str) -> Receipt:
    """Read a receipt; its facts stay JSON, and only a judge's typed getters look into them.

    Raises:
        NewerSchemaError: a newer assay wrote it.
        BundleError: it passes a bound, is not canonical, or a field is missing, unknown or of a wrong type.
    """
    document = canonical.read_object(data, "receipt", member=member, limit=RECEIPT_BYTES)
    with document_errors(member):
        table = Table(document, "")
        redaction = table.table("redaction")
        receipt = Receipt(
            gate=table.text("gate", match=GATE_NAME),
            outcome=Outcome(table.text("outcome", match="|".join(Outcome))),
            rules=table.number("rules", low=1),
            started=time_of(table, "started"),
            duration_ns=table.number("duration_ns"),
            deadline_ns=table.number("deadline_ns"),
            commands=table.each("commands", _command),
            facts=_facts(table),
            findings=table.each("findings", _finding),
            findings_omitted=table.number("findings_omitted"),
            artifacts=table.each("artifacts", _artifact),
            log=_log(table),
            redaction_rules=redaction.number("rules", low=1),
            redaction_count=redaction.number("count"),
        )
        redaction.finish()
        table.finish()
        _check_findings(receipt)
    return receipt


def _command(value: object, path: str) -> Command:
    """Read one command."""
    table = Table(value, path)
    exit_value = table.raw("exit")
    if exit_value != TIMEOUT:
        exit_value = table.number("exit", low=-canonical.LARGEST)
    command = Command(table.each("argv", as_text), exit_value if isinstance(exit_value, int) else TIMEOUT)
    table.finish()
    return command


def _facts(table: Table) -> dict[str, Json]:
    """Read the facts, an object of any JSON."""
    facts = table.table("facts")
    return {name: facts.raw(name) for name in facts.names()}  # type: ignore[misc]  # canonical.loads made them: JSON


def _finding(value: object, path: str) -> Finding:
    """Read one finding."""
    table = Table(value, path)
    finding = Finding(
        id=table.text("id", match=r"[A-Z][A-Z0-9-]{0,63}"),
        severity=Severity(table.text("severity", match="|".join(Severity))),
        observed=table.text("observed"),
        expected=table.text("expected"),
        remedy=table.text("remedy"),
        where=table.each("where", as_text),
    )
    table.finish()
    return finding


def _artifact(value: object, path: str) -> Artifact:
    """Read one artifact."""
    table = Table(value, path)
    artifact = Artifact(table.text("name"), sha256_of(table, "sha256"), table.number("size", high=LARGEST))
    table.finish()
    return artifact


def _log(table: Table) -> LogInfo | None:
    """Read what is said of the log, None where there is none."""
    if table.raw("log") is None:
        return None
    log = table.table("log")
    kept = None if log.raw("kept") is None else log.each("kept", _bytes)
    if kept is not None and len(kept) != len(("head", "tail")):
        raise PlanError(log.at("kept"), f"has {len(kept)} entries", "head and tail, in bytes", "")
    info = LogInfo(log.number("size"), sha256_of(log, "sha256"), (kept[0], kept[1]) if kept else None)
    log.finish()
    return info


def _bytes(value: object, path: str) -> int:
    """Read a number of bytes."""
    return Table({path: value}, "").number(path)


def _check_findings(receipt: Receipt) -> None:
    """Refuse more findings than a receipt may hold, and counted ones beside room for them."""
    if len(receipt.findings) > MAX_FINDINGS:
        raise PlanError("findings", f"has {len(receipt.findings)} entries", f"at most {MAX_FINDINGS}", "")
    if receipt.findings_omitted and len(receipt.findings) < MAX_FINDINGS:
        raise PlanError("findings_omitted", f"is {receipt.findings_omitted}", f"0 below {MAX_FINDINGS}", "")

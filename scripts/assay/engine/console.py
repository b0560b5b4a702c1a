"""The plain live view of a run: the selection, a line a gate as it ends, findings below it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from assay.judge.row import GateRow
from assay.model import Finding, Outcome, Receipt
from assay.selection import VARIABLES, Selection

Say = Callable[[str], None]


@runtime_checkable
class Watcher(Protocol):
    """What says lines and wants to know besides which gates run; gates begin on threads of their own."""

    def __call__(self, line: str, /) -> None:
        """Say a line."""

    def begun(self, gate: str) -> None:
        """Note that a gate begins."""

    def ended(self, gate: str) -> None:
        """Note that a gate has ended."""


_NAME = 14
_OUTCOME = 15
_SHOWN = 20
"""Findings shown live; the receipt has the rest."""


def selection_lines(selection: Selection) -> Sequence[str]:
    """Return what was selected, a line a variable."""
    kind = "explicit" if selection.explicit else "embedded"
    lines = [f"selection: {kind} ({one_line(selection.source)})"]
    lines += [f"  {name} = {one_line(selection.values[name])}" for name in VARIABLES if selection.get(name)]
    lines += [f"  {name} is set and ignored" for name in selection.ignored]
    return lines


def gate_lines(row: GateRow, receipt: Receipt) -> Sequence[str]:
    """Return the line of an ended gate and its findings."""
    seconds = f"{receipt.duration_ns / 1e9:7.2f} s" if _ran(receipt.outcome) else ""
    head = f"{row.name:<{_NAME}} {receipt.outcome.value:<{_OUTCOME}}{seconds}".rstrip()
    shown = receipt.findings[:_SHOWN]
    rest = len(receipt.findings) - len(shown) + receipt.findings_omitted
    more = [f"    … and {rest} more in the receipt"] if rest else []
    return [head, *(line for finding in shown for line in finding_lines(finding)), *more]


def finding_lines(finding: Finding) -> Sequence[str]:
    """Return one finding, indented."""
    parts = (("expected", finding.expected), ("remedy", finding.remedy), ("where", ", ".join(finding.where)))
    head = f"    {finding.severity.value}: {finding.id}: {one_line(finding.observed)}"
    return [head, *(f"      {name + ':':<10}{one_line(value)}" for name, value in parts if value)]


def _ran(outcome: Outcome) -> bool:
    """Say whether a gate with this outcome took any time."""
    return outcome not in {Outcome.BLOCKED, Outcome.NOT_APPLICABLE}


def one_line(text: str) -> str:
    """Return text that cannot move a terminal's cursor: control characters become spaces or escapes."""
    return "".join(
        char if char.isprintable() else " " if char in "\n\t" else ascii(char)[1:-1] for char in text
    )

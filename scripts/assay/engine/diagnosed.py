"""A diagnosis as lines for people, as the document ``assay/diagnosis/1``, and as an exit code.

The document's JSON Schema is ``diagnosis.schema.json`` beside this module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay import __version__
from assay.engine.console import one_line, selection_lines
from assay.engine.diagnose import Diagnosis, Looked
from assay.judge.catalogue import CATALOGUE
from assay.judge.causes import Cause, Found
from assay.judge.reading import get, objects, text
from assay.model import Facts, Json, Platform, Severity

SCHEMA = "assay/diagnosis/1"

_SYSTEMS: Mapping[Platform, str] = {
    Platform.LINUX: "Linux",
    Platform.WSL: "WSL",
    Platform.WINDOWS: "Windows",
    Platform.MACOS: "macOS",
}
_EMPTY: Facts = {}

_NO_GPU = frozenset({"DRIVER-NO-GPU"})
_NO_DRIVER = frozenset(
    {
        *("DRIVER-NO-GPU", "DRIVER-NOT-BUILT", "DRIVER-NOT-INSTALLED", "DRIVER-NOT-LOADED", "DRIVER-VFIO"),
        "DRIVER-WSL-NOT-PROJECTED",
    }
)
"""Findings that say so; without one of them it is only not known, as of a machine that cannot be asked."""


def exit_code(diagnosis: Diagnosis) -> int:
    """Return 1 for a failure, 3 for nothing worse than an error or a missing capability, else 0."""
    severities = {cause.severity for cause in diagnosis.causes}
    if Severity.FAILURE in severities:
        return 1
    return 3 if severities - {Severity.WARNING} else 0


@dataclass(frozen=True)
class Summary:
    """What machine it is, in words; empty where nothing shows it.

    ``found`` has the ids of what was found, which tell an absence from what is only not known.
    """

    system: str
    arch: str
    driver: str
    cuda: str
    toolkit: str
    gpus: tuple[str, ...]
    found: frozenset[str] = frozenset()

    def to_json(self) -> dict[str, Json]:
        """Return the document's form."""
        return {
            "arch": self.arch,
            "cuda": self.cuda,
            "driver": self.driver,
            "gpus": list(self.gpus),
            "system": self.system,
            "toolkit": self.toolkit,
        }

    def __str__(self) -> str:
        """Return one phrase."""
        gpu = "no NVIDIA GPU" if self.found & _NO_GPU else "a GPU that was not asked"
        driver = "no NVIDIA driver" if self.found & _NO_DRIVER else "a driver that was not asked"
        speaks = f" (CUDA {self.cuda})" if self.cuda else ""
        return ", ".join(
            (
                f"{self.system} {self.arch}".rstrip(),
                " and ".join(self.gpus) or gpu,
                f"driver {self.driver}{speaks}" if self.driver else driver,
                f"CUDA toolkit {self.toolkit}" if self.toolkit else "no CUDA toolkit selected",
            )
        )


def summary(diagnosis: Diagnosis) -> Summary:
    """Return what machine was looked at, as the gates' facts have it."""
    facts = {each.row.name: each.facts for each in diagnosis.looked}
    toolkit, driver = facts.get("toolkit", _EMPTY), facts.get("driver", _EMPTY)
    names = [text(each, "name") for each in objects(toolkit, "devices")]
    names = names or [text(each, "model") for each in objects(driver, "gpus")]
    release = diagnosis.setup.machine.os_release
    system = " ".join(
        part
        for part in (_SYSTEMS[diagnosis.setup.platform], release.get("ID", ""), release.get("VERSION_ID", ""))
        if part
    )
    return Summary(
        system=system,
        arch=diagnosis.setup.machine.arch,
        driver=text(toolkit, "driver.version") or _text(driver, "module.version"),
        cuda=text(toolkit, "driver.cuda"),
        toolkit=text(toolkit, "version"),
        gpus=tuple(name for name in names if name),
        found=frozenset(finding.id for each in diagnosis.looked for finding in each.findings),
    )


def _text(facts: Facts, path: str) -> str:
    """Return a text of one platform's facts, ``""`` where another's are something else."""
    value = get(facts, path)
    return value if isinstance(value, str) else ""


def to_json(diagnosis: Diagnosis) -> dict[str, Json]:
    """Return the document ``assay/diagnosis/1``."""
    return {
        "schema": SCHEMA,
        "assay": __version__,
        "causes": [_cause_json(cause) for cause in diagnosis.causes],
        "exit": exit_code(diagnosis),
        "gates": [_gate_json(each) for each in diagnosis.looked],
        "left_out": list(diagnosis.left_out),
        "machine": summary(diagnosis).to_json(),
        "planned": diagnosis.planned,
        "platform": diagnosis.setup.platform.value,
        "selection": {
            "explicit": diagnosis.setup.selection.explicit,
            "source": diagnosis.setup.redactor.text(diagnosis.setup.selection.source)[0],
        },
    }


def _cause_json(cause: Cause) -> dict[str, Json]:
    """Return a cause with what follows from it."""
    return {
        **_found_json(Found(cause.finding, cause.gates)),
        "again": [_found_json(each) for each in cause.again],
        "blocked": list(cause.blocked),
        "explains": [_found_json(each) for each in cause.consequences],
    }


def _found_json(found: Found) -> dict[str, Json]:
    """Return a finding with what the catalogue knows of it, and its gates."""
    entry = CATALOGUE[found.finding.id]
    more: dict[str, Json] = {"gates": list(found.gates), "reference": entry.reference, "title": entry.title}
    return found.finding.to_json() | more


def _gate_json(looked: Looked) -> dict[str, Json]:
    """Return what one gate came to, with its facts."""
    return {
        "facts": looked.facts,
        "gate": looked.row.name,
        "outcome": looked.outcome.value,
        "rules": looked.row.rules,
    }


def lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield what people read: the machine, the selection, every cause, and what it comes to."""
    yield f"machine: {one_line(str(summary(diagnosis)))}"
    yield from selection_lines(diagnosis.setup.selection)
    if not diagnosis.planned:
        names = (
            f"; without one gate {', '.join(diagnosis.left_out)} has nothing to judge by"
            if diagnosis.left_out
            else ""
        )
        yield f"plan: none here, so versions and digests are held against no pins{names}"
    for number, cause in enumerate(diagnosis.causes, start=1):
        yield ""
        yield from cause_lines(number, cause)
    yield ""
    yield _last_line(diagnosis)


def cause_lines(number: int, cause: Cause) -> Iterator[str]:
    """Yield one cause."""
    finding, entry = cause.finding, CATALOGUE[cause.finding.id]
    yield f"{number}. {finding.severity.value}: {finding.id}: {entry.title}"
    yield from _rows(
        ("observed", (finding.observed,)),
        ("expected", (finding.expected,)),
        ("remedy", (finding.remedy,)),
        ("where", (", ".join(finding.where),)),
        ("reference", (entry.reference,)),
        ("gates", (", ".join(cause.gates),)),
        ("again", tuple(each.finding.observed for each in cause.again)),
        ("explains", tuple(_consequence(each) for each in cause.consequences)),
        ("blocks", (", ".join(cause.blocked),)),
    )


def _rows(*rows: tuple[str, Sequence[str]]) -> Iterator[str]:
    """Yield a line for each text that is there, the first of each name with the name before it."""
    for name, texts in rows:
        for at, each in enumerate(texts):
            if each:
                yield f"   {f'{name}:' if not at else '':<11}{one_line(each)}"


def _consequence(found: Found) -> str:
    """Return one consequence."""
    return f"{found.finding.severity.value}: {found.finding.id}: {found.finding.observed}"


def _last_line(diagnosis: Diagnosis) -> str:
    """Return what the diagnosis comes to, in one sentence."""
    counts = [
        f"{number} {severity.value}{'s' if number > 1 and severity is not Severity.UNAVAILABLE else ''}"
        for severity in Severity
        if (number := sum(cause.severity is severity for cause in diagnosis.causes))
    ]
    if exit_code(diagnosis):
        return f"found: {', '.join(counts)}"
    warned = f", {counts[0]}" if counts else ""
    return f"no fault was found{warned}: {one_line(str(summary(diagnosis)))}"

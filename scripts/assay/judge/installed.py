"""Judges gate ``installed``: the wheel of gate ``build``, installed, is where every project module came from.

Facts (``gates.installed`` writes them)::

    wheel {name, sha256}            of the file that was installed; null where build recorded none
    selected                        false where no interpreter is selected
    absent [module]                 modules of the plan that the wheel does not bring
    overlay {version, problem}
    installer {how, version, problem}   null where there is no pip
    smoke {program, exit, last_words}   ``program`` null where there is none
    reports                         how many processes of the overlay told what they imported
    modules [{name, path, inside, sha256, recorded}]   ``path`` below the overlay's packages where ``inside``;
                                    ``recorded`` is the digest of the wheel's RECORD, "" where it has none
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import flag, get, number, objects, text, texts
from assay.model import Facts, Finding

RULES = 1

_NAMED = 10


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return why the wheel could not be shown to work, or what was imported from elsewhere."""
    stopped = tuple(_stopped(case, facts))
    return stopped or (*_smoke(facts), *_modules(facts))


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    modules = {text(each, "name") for each in objects(facts, "modules")}
    wheel = f"wheel {text(facts, 'wheel.name')} (SHA-256 {text(facts, 'wheel.sha256')})"
    ran = f"installed over the selection and away from its sources, ran `{' '.join(case.plan.smoke)}`"
    return f"{wheel}, {ran}; all {len(modules)} modules of the project that it imported are the wheel's"


def _stopped(case: Case, facts: Facts) -> Iterator[Finding]:
    """Find what kept the smoke command from running with that wheel."""
    if not text(facts, "wheel.sha256"):
        yield finding("INSTALLED-NO-WHEEL", "gate build recorded no wheel", where=("wheel",))
        return
    recorded = text(case.facts.get("build", {}), "wheel.sha256")
    if text(facts, "wheel.sha256") != recorded:
        observed = text(facts, "wheel.sha256")
        yield finding("INSTALLED-OTHER-WHEEL", observed, expected=recorded, where=("wheel.sha256",))
    elif flag(facts, "selected") is not True:
        yield finding("INSTALLED-NO-INTERPRETER", "BUN_PYTHON_EXECUTABLE is not set", where=("selected",))
    elif text(facts, "overlay.problem") or not text(facts, "overlay.version"):
        observed = text(facts, "overlay.problem") or "no overlay is recorded"
        yield finding("INSTALLED-NO-OVERLAY", observed, where=("overlay",))
    elif get(facts, "installer") is None:
        yield finding(
            "INSTALLED-NO-INSTALLER", "neither toolchain nor selection has pip", where=("installer",)
        )
    elif text(facts, "installer.problem"):
        yield finding("INSTALLED-REFUSED", text(facts, "installer.problem"), where=("installer.problem",))
    elif not text(facts, "smoke.program"):
        yield finding("INSTALLED-NO-COMMAND", f"there is no {case.plan.smoke[0]!r}", where=("smoke.program",))


def _smoke(facts: Facts) -> Iterator[Finding]:
    """Find a wheel that lacks a module, a smoke command that failed, and one that showed nothing."""
    absent = texts(facts, "absent")
    if absent:
        yield finding("INSTALLED-MODULE-ABSENT", ", ".join(absent), where=("absent",))
    code = number(facts, "smoke.exit")
    if code != 0:
        observed = f"exit code {code}; its last words:\n{text(facts, 'smoke.last_words')}"
        yield finding("INSTALLED-SMOKE-FAILED", observed, where=("smoke.exit",))
    elif not number(facts, "reports"):
        yield finding("INSTALLED-UNSEEN", "there is no report", where=("reports",))
    elif not objects(facts, "modules"):
        yield finding("INSTALLED-NOTHING-IMPORTED", "no module of the project", where=("modules",))


def _modules(facts: Facts) -> Iterator[Finding]:
    """Find modules that are not the wheel's, or no longer as the wheel had them."""
    foreign, altered = [], []
    for each in objects(facts, "modules"):
        place = f"{text(each, 'name')} from {text(each, 'path') or 'no file'}"
        recorded = text(each, "recorded")
        if flag(each, "inside") is not True or not recorded:
            foreign.append(place)
        elif text(each, "sha256") != recorded:
            altered.append(place)
    for entry, places in (("INSTALLED-FOREIGN-MODULE", foreign), ("INSTALLED-ALTERED-MODULE", altered)):
        if places:
            more = f" and {len(places) - _NAMED} more" if len(places) > _NAMED else ""
            yield finding(entry, ", ".join(places[:_NAMED]) + more, where=("modules",))

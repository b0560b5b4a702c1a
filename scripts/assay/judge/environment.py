"""Judges gate ``environment``: the selection, checked as one set.

Facts (``gates.environment`` writes them)::

    explicit, source, ignored[]      whose selection it is
    variables {VARIABLE: {given, quoted, empty}}
    selected {VARIABLE: record}      of files and folders; records are described in ``judge.selected``
    site_packages [record]
    interpreter, libpython           described in ``judge.interpreter``
    distributions [], modules {}, local []          described in ``judge.packages``
    kept_out [name], hidden {variable, reaches}
    machine {arch, libc, os}
"""

from __future__ import annotations

from collections.abc import Iterator

from assay.judge import interpreter, packages, selected
from assay.judge.case import Case
from assay.judge.catalogue import finding
from assay.judge.reading import flag, get, text, texts
from assay.model import Facts, Finding

RULES = 1

NONE = "none"
"""``source`` where nothing was selected and nothing is embedded."""


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the selection; nothing where it is whole and belongs together."""
    if not flag(facts, "explicit") and text(facts, "source") in {"", NONE}:
        return (
            finding("ENVIRONMENT-SELECTION-NONE", "no variable of a selection is set"),
            *_surroundings(case, facts),
        )
    claim(case, facts)  # raises where a fact that the claim names is malformed
    return (
        *selected.judge_variables(case, facts),
        *selected.judge_files(case, facts),
        *interpreter.judge_interpreter(case, facts),
        *interpreter.judge_libraries(case, facts),
        *packages.judge_packages(case, facts),
        *packages.judge_site(facts),
        *packages.judge_shadows(facts),
        *_surroundings(case, facts),
    )


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    python, arch = text(facts, "interpreter.version"), text(facts, "machine.arch")
    digest = text(facts, f"selected.{selected.EXECUTABLE}.sha256")
    return (
        f"the selection belongs together: CPython {python} (SHA-256 {digest}) for {arch}, "
        f"with {', '.join(_versions(case, facts))}"
    )


def _versions(case: Case, facts: Facts) -> Iterator[str]:
    """Yield each needed package with its version."""
    found = packages.installed(facts)
    for name in packages.wanted(case):
        yield f"{name} {found.get(name, '')}".rstrip()


def _surroundings(case: Case, facts: Facts) -> Iterator[Finding]:
    """Yield what the run's own environment does to the children, or was kept from doing."""
    hides, reaches = get(facts, "hidden") is not None, flag(facts, "hidden.reaches")
    name = text(facts, "hidden.variable")
    kept_out = [each for each in texts(facts, "kept_out") if not hides or each != name]
    if hides and not reaches:
        kept_out.append(f"{name} (it names no device: CUDA programs of this shell see none)")
    if kept_out:
        observed = f"set outside and kept out: {', '.join(kept_out)}"
        yield finding("ENVIRONMENT-KEPT-OUT", observed, where=("kept_out",))
    if hides and reaches:
        yield finding(
            "ENVIRONMENT-DEVICES-HIDDEN",
            f"{name} is set, names no device, and the plan lets it in",
            where=("hidden",),
            platform=case.platform,
        )

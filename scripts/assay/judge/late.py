"""Judges and claims that are imported when they are first called: a reader of one gate waits for no other's.

A judge looks for what is wrong, so a fact that is not there would show nothing wrong.  Where it found nothing
that fails a gate, its check asks for every fact that the claim rests on; a diagnosis claims nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

from assay.judge.case import Case
from assay.judge.row import ClaimText, Judge
from assay.model import Facts, Finding, Outcome, outcome_of


class LateJudges(Mapping[int, Judge]):
    """The judges of a gate by the number of their rules, as their modules say it (``RULES``)."""

    def __init__(self, modules: tuple[str, ...], check: str) -> None:
        """Keep the modules' names and the check's, ``<module>.<function>``, or ``""`` for none."""
        self._modules = modules
        self._check = check

    def __getitem__(self, rules: int) -> Judge:
        """Return the judge of one version of the rules.

        Raises:
            KeyError: no such version was ever released.
        """
        for module in self._modules:
            if _of(module, "RULES") == rules:
                return _judge(module, self._check)
        raise KeyError(rules)

    def __iter__(self) -> Iterator[int]:
        """Yield the numbers of the rules, the oldest first."""
        return (int(_of(module, "RULES")) for module in self._modules)

    def __len__(self) -> int:
        """Return how many versions there are."""
        return len(self._modules)


def judges_of(*modules: str, check: str = "") -> LateJudges:
    """Return the judges of a gate: ``judge`` of each module, one a version of its rules, the newest last.

    Args:
        modules: modules of this package.
        check: ``<module>.<function>``, which asks for what a passed gate's claim rests on.
    """
    return LateJudges(modules, check)


def claim_of(module: str) -> ClaimText:
    """Return what makes a gate's claim: ``claim`` of a module of this package."""

    def claim(case: Case, facts: Facts) -> str:
        made: ClaimText = _of(module, "claim")
        return made(case, facts)

    return claim


def _judge(module: str, check: str) -> Judge:
    """Return a judge that also asks for what a passed gate's claim rests on."""

    def judged(case: Case, facts: Facts) -> tuple[Finding, ...]:
        judge: Judge = _of(module, "judge")
        found = judge(case, facts)
        if check and not case.diagnosis and outcome_of(found) is Outcome.PASSED:
            where, _, name = check.rpartition(".")
            ask: Callable[[Case, Facts], None] = _of(where, name)
            ask(case, facts)
        return found

    return judged


def _of(module: str, name: str) -> Any:  # noqa: ANN401  # narrowed by each caller
    """Return what a module of this package has under a name."""
    return getattr(import_module(f"assay.judge.{module}"), name)

"""Judges gate ``driver``: one NVIDIA driver, on each platform by what a driver is there.

``judge.driver_linux``, ``judge.driver_wsl`` and ``judge.driver_windows`` describe the facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from assay.judge.case import Case
from assay.judge.driver_linux import check_linux, claim_linux, judge_linux
from assay.judge.driver_windows import check_windows, claim_windows, judge_windows
from assay.judge.driver_wsl import check_wsl, claim_wsl, judge_wsl
from assay.model import Facts, Finding, Platform

RULES = 1


@dataclass(frozen=True)
class _Rules:
    """How one platform's driver is judged, what it establishes, and what that rests on."""

    judge: Callable[[Case, Facts], Iterator[Finding]]
    claim: Callable[[Facts], str]
    check: Callable[[Facts], None]


_RULES: Mapping[Platform, _Rules] = MappingProxyType(
    {
        Platform.LINUX: _Rules(judge_linux, claim_linux, check_linux),
        Platform.WINDOWS: _Rules(judge_windows, claim_windows, check_windows),
        Platform.WSL: _Rules(judge_wsl, claim_wsl, check_wsl),
    }
)


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the driver; nothing where it is one and runs."""
    return tuple(_RULES[case.platform].judge(case, facts))


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    return _RULES[case.platform].claim(facts)


def check_driver(case: Case, facts: Facts) -> None:
    """Ask for what the claim rests on.

    Raises:
        MalformedFacts: something is not recorded.
    """
    _RULES[case.platform].check(facts)

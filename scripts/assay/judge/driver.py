"""Judges gate ``driver``: one NVIDIA driver, on each platform by what a driver is there.

``judge.driver_linux``, ``judge.driver_wsl`` and ``judge.driver_windows`` describe the facts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

from assay.judge.case import Case
from assay.model import Facts, Finding, Platform

RULES = 1

_PLATFORMS = {platform: platform.value for platform in (Platform.LINUX, Platform.WINDOWS, Platform.WSL)}
"""By platform, how its module and functions end; imported when the first driver of that kind is judged."""


def judge(case: Case, facts: Facts) -> tuple[Finding, ...]:
    """Return what is wrong with the driver; nothing where it is one and runs."""
    judged: Callable[[Case, Facts], Iterator[Finding]] = _of(case.platform, "judge")
    return tuple(judged(case, facts))


def claim(case: Case, facts: Facts) -> str:
    """Return the sentence that a passed gate establishes."""
    made: Callable[[Facts], str] = _of(case.platform, "claim")
    return made(facts)


def check_driver(case: Case, facts: Facts) -> None:
    """Ask for what the claim rests on.

    Raises:
        MalformedFacts: something is not recorded.
    """
    ask: Callable[[Facts], None] = _of(case.platform, "check")
    ask(facts)


def _of(platform: Platform, what: str) -> Any:  # noqa: ANN401  # narrowed by each caller
    """Return one of a platform's functions."""
    name = _PLATFORMS[platform]
    return getattr(import_module(f"assay.judge.driver_{name}"), f"{what}_{name}")

"""A pytest plugin that counts: what passed, failed, was skipped, was expected to fail, was deselected.

It runs inside the tests' own interpreter: gate ``tests`` copies this one file beside the run and names it in
``PYTEST_PLUGINS``, so it imports nothing of assay.  JUnit's XML is no substitute: it does not know what was
deselected.  Under pytest-xdist the workers count what they deselect (each the same) and the controller sees
every report.

It writes ``assay/pytest-report/1`` to the file that ``ASSAY_PYTEST_REPORT`` names, when the session ends.
What brought it in is taken out of the environment at once, so that a pytest which a test starts is not
counted, and finds the module path as it would be without the gate.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

SCHEMA = "assay/pytest-report/1"
VARIABLE = "ASSAY_PYTEST_REPORT"

LISTED = 1000
"""Tests that are named in each list; all are counted."""

_SHARED = "assay_deselected"
_ID, _REASON = 500, 300


class Counter:
    """Counts the outcome of each test by its node id; the worst phase of a test decides."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.outcomes: dict[str, str] = {}
        self.reasons: dict[str, str] = {}
        self.deselected = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count what ``-m``, ``-k`` and the like took out."""
        self.deselected += len(items)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a file that could not be collected, or that skipped itself as a whole."""
        if report.failed:
            self._note(report.nodeid, "errors", "")
        elif report.skipped:
            self._note(report.nodeid, "skipped", _reason(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note one phase (setup, call, teardown) of one test."""
        if report.failed:
            self._note(report.nodeid, "failed" if report.when == "call" else "errors", "")
        elif report.skipped:
            expected = hasattr(report, "wasxfail")
            self._note(report.nodeid, "xfailed" if expected else "skipped", _reason(report))
        elif report.when == "call":
            self._note(report.nodeid, "xpassed" if hasattr(report, "wasxfail") else "passed", "")

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:  # noqa: ANN401  # pytest-xdist is not typed
        """Take over what a worker deselected; every worker deselects the same."""
        del error
        shared = getattr(node, "workeroutput", {}).get(_SHARED, 0)
        self.deselected = max(self.deselected, int(shared))

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the report, or hand a worker's count to the controller."""
        if hasattr(session.config, "workerinput"):
            session.config.workeroutput[_SHARED] = self.deselected  # type: ignore[attr-defined]  # set by pytest-xdist
        elif self.path:
            Path(self.path).write_text(json.dumps(self.report()), encoding="utf-8")

    def report(self) -> dict[str, object]:
        """Return the document."""
        kinds = ("errors", "failed", "passed", "skipped", "xfailed", "xpassed")
        by_kind = {
            kind: [name for name, outcome in self.outcomes.items() if outcome == kind] for kind in kinds
        }
        named = {kind: [name[:_ID] for name in by_kind[kind][:LISTED]] for kind in ("errors", "failed")}
        excused = {
            kind: [{"id": name[:_ID], "reason": self.reasons[name]} for name in by_kind[kind][:LISTED]]
            for kind in ("skipped", "xfailed")
        }
        counts = {kind: len(names) for kind, names in by_kind.items()}
        return {"counts": {**counts, "deselected": self.deselected}, "schema": SCHEMA, **named, **excused}

    def _note(self, name: str, outcome: str, reason: str) -> None:
        """Note an outcome; a failure stays, whatever comes after it."""
        if self.outcomes.get(name) not in {"failed", "errors"}:
            self.outcomes[name] = outcome
            self.reasons[name] = reason


def _reason(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Return why a test was skipped or expected to fail, short."""
    told = getattr(report, "wasxfail", None)
    if told is None and isinstance(report.longrepr, tuple):
        told = report.longrepr[2]
    return str(told or "")[:_REASON]


def pytest_configure(config: pytest.Config) -> None:
    """Start counting, and leave the environment as it would be without the gate."""
    config.pluginmanager.register(Counter(os.environ.get(VARIABLE, "")), "assay-counter")
    if config.getoption("tx", None) and not hasattr(config, "workerinput"):
        return  # the workers of pytest-xdist, which run the tests, have yet to start in this environment
    os.environ.pop(VARIABLE, None)
    for name, own in (("PYTEST_PLUGINS", __name__), ("PYTHONPATH", str(Path(__file__).parent))):
        if os.environ.get(name) == own:
            del os.environ[name]

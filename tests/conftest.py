"""What every test may rely on: one locale and time zone, no selection, no network, the same examples."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import hypothesis
import pytest

from assay.model import Platform
from assay.selection import VARIABLES, Selection, resolve_selection

PROJECT = Path(__file__).resolve().parent.parent

collect_ignore = ["machines"]
"""Fake computers are data, whatever their files are called."""

_LOCAL = frozenset({"127.0.0.1", "::1", "localhost"})
"""Where a test may connect to."""

# The same examples on every run and machine; `--hypothesis-profile=explore` looks for new ones.
hypothesis.settings.register_profile("assay", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("explore", max_examples=2000, deadline=None, database=None)
hypothesis.settings.load_profile("assay")


def pytest_configure() -> None:
    """Take the caller's locale, time zone and selection out of the environment, and close the network."""
    for name in [
        *VARIABLES,
        "ASSAY_FINDINGS",
        "GITHUB_STEP_SUMMARY",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "LD_PRELOAD",
    ]:
        if name != "PATH":
            os.environ.pop(name, None)
    os.environ.update(LC_ALL="C.UTF-8", TZ="UTC")
    if hasattr(time, "tzset"):
        time.tzset()
    sys.addaudithook(_refuse_the_network)


def _refuse_the_network(event: str, arguments: tuple[object, ...]) -> None:
    """Let a test connect to this computer only."""
    if event != "socket.connect":
        return
    address = arguments[1]
    if isinstance(address, tuple) and address[0] not in _LOCAL:
        raise RuntimeError(f"a test connects to {address[0]}; tests use no network")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a gate test that needs the embedded selection: a machine under qualification may have none."""
    for item in items:
        if item.get_closest_marker("gate") and "selection" in getattr(item, "fixturenames", ()):
            raise pytest.UsageError(f"{item.nodeid} is marked `gate` and uses the embedded selection")


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Turn a run in which nothing passed, everything skipped included, into one that failed."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    nothing_passed = reporter is not None and not reporter.stats.get("passed")
    if exitstatus == pytest.ExitCode.OK and nothing_passed and _ran(session):
        session.exitstatus = pytest.ExitCode.NO_TESTS_COLLECTED


def _ran(session: pytest.Session) -> bool:
    """Return whether this process reports a run: neither a worker nor a mere listing."""
    listing = session.config.getoption("collectonly") or session.config.getoption("setupplan", default=False)
    return not listing and not hasattr(session.config, "workerinput")


@pytest.fixture(scope="session")
def selection() -> Selection:
    """Return the embedded selection; a test that needs it fails without it, for a skip would hide that."""
    platform = Platform.WINDOWS if os.name == "nt" else Platform.LINUX
    found = resolve_selection({}, PROJECT, None, platform)
    if found.executable is None or not Path(found.executable).is_file():
        pytest.fail("this test needs the embedded selection: run `nox -s provision` first", pytrace=False)
    return found

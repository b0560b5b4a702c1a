"""The bodies of the nox sessions, for this project's noxfile and for others that call ``assay``.

nox starts before anything is installed, and a ``PYTHONPATH`` that the caller exports (it may be part of the
selection) is searched before nox's own packages.  So this module imports the standard library and nox alone,
and every command runs in the toolchain's environment, isolated from ``PYTHON*`` (``-I``): ``assay`` still
reads those variables, but nothing is imported from where they point.

No session skips: nox counts a skipped session as a success.  A session that could not run is an error.
"""

from __future__ import annotations

import re
from pathlib import Path

import nox

from assay.errors import AssayError
from assay.toolchain import LOCK, toolchain

_RELEASED = re.compile(r"^\| `([\w.+-]+\.tar)` \| `([0-9a-f]{64})` \|", re.MULTILINE)
"""A row of ``receipts/README.md``: a released bundle and its digest, which anchors it."""

INTERRUPT_S = 30.0
"""Seconds that an interrupted run has to end its children and close its journal before nox ends it."""


def assay(session: nox.Session, *arguments: str) -> None:
    """Run ``assay ARGUMENTS``; the session fails on every exit code but 0."""
    python(session, "-m", "assay.cli", *arguments)


def gate(session: nox.Session) -> None:
    """Run the gate of the session's own name, and those that it needs; arguments go to ``assay gate``."""
    assay(session, "gate", session.name, *session.posargs)


def python(session: nox.Session, *arguments: str, isolated: bool = True) -> None:
    """Run the toolchain's interpreter; the session fails on every exit code but 0.

    Args:
        session: the session.
        arguments: what follows the interpreter.
        isolated: whether it ignores every ``PYTHON*`` variable and the working folder; otherwise it ignores
            ``PYTHONPATH``, and so do its children.
    """
    interpreter = _interpreter(session)
    if not isolated:
        session.env["PYTHONPATH"] = None
    command = [str(interpreter), *(["-I"] if isolated else []), *arguments]
    ran = session.run(*command, external=True, interrupt_timeout=INTERRUPT_S, terminate_timeout=INTERRUPT_S)
    if ran is None:
        session.error("nothing was run (--install-only), so nothing passed")


def _interpreter(session: nox.Session) -> Path:
    """Return the toolchain's interpreter; the session gives up where it cannot be had."""
    try:
        return toolchain(Path.cwd(), session.log)
    except AssayError as error:
        session.error(str(error))


def tests(session: nox.Session) -> None:
    """Run all tests, side by side; arguments go to pytest."""
    side_by_side = ["--numprocesses", "auto", "--dist", "worksteal"]
    python(session, "-m", "pytest", *side_by_side, *session.posargs, isolated=False)


def verify(session: nox.Session) -> None:
    """Verify the bundle that the arguments name, or without any every released bundle of the project."""
    if session.posargs:
        assay(session, "verify", *session.posargs)
        return
    receipts = Path("receipts")
    for name, digest in _named(session, receipts).items():
        assay(session, "verify", str(receipts / name), "--expect-digest", digest)


def _named(session: nox.Session, receipts: Path) -> dict[str, str]:
    """Return the released bundles; without any the session gives up, for it would do nothing."""
    named = released(receipts)
    if not named:
        session.error(
            f"{receipts} names no bundle, so nothing was done; name one: nox -s {session.name} -- FILE"
        )
    return named


def report(session: nox.Session) -> None:
    """Render the bundle that the arguments name, or without any every released bundle of the project."""
    if session.posargs:
        assay(session, "report", *session.posargs)
        return
    receipts = Path("receipts")
    for name, digest in _named(session, receipts).items():
        assay(session, "report", str(receipts / name), "--expect-digest", digest)


def released(receipts: Path) -> dict[str, str]:
    """Return the digest by name of every bundle that the table in ``receipts/README.md`` names."""
    table = receipts / "README.md"
    return dict(_RELEASED.findall(table.read_text("utf-8"))) if table.is_file() else {}


def peers(session: nox.Session) -> None:
    """Install what tests and gate ``typescript`` have from npm and elsewhere, from their locks."""
    python(session, "-m", "tests.evidence.peers.install", *session.posargs, isolated=False)
    python(session, "-m", "tests.hosted.typescript", "--install", isolated=False)
    python(session, "-m", "tests.report.junit_schema", isolated=False)


def browser(session: nox.Session) -> None:
    """Run the tests that look at pages in a real browser; arguments go to pytest."""
    python(session, "-m", "pytest", "tests/browser", *session.posargs, isolated=False)


def servers(session: nox.Session) -> None:
    """Run the tests of archives over real servers; arguments go to pytest."""
    python(session, "-m", "pytest", "tests/servers", *session.posargs, isolated=False)


def fuzz(session: nox.Session) -> None:
    """Fuzz the verification, guided by coverage; arguments go to the fuzzer."""
    python(session, "-m", "tests.fuzz", *session.posargs, isolated=False)


def bench(session: nox.Session) -> None:
    """Run the benchmarks; the session fails if one misses its bound."""
    python(session, "-m", "tests.bench", *session.posargs, isolated=False)


def lock(session: nox.Session) -> None:
    """Resolve the toolchain's packages and the embedded selection's anew; arguments go to both resolvers."""
    session.env["UV_NO_PROGRESS"] = "1"
    resolve = [
        "pip",
        "compile",
        "pyproject.toml",
        "--group",
        "dev",
        "--universal",
        "--python-version",
        "3.11",
    ]
    shape = [
        "--generate-hashes",
        "--no-header",
        "--no-annotate",
        "--no-emit-index-url",
        "--no-emit-find-links",
    ]
    python(session, "-m", "uv", *resolve, *shape, "--quiet", "--output-file", str(LOCK), *session.posargs)
    python(session, "-m", "assay.provision.relock", *session.posargs)

"""Every session; what each does is in ``assay.nox``, and how a gate judges is in ``assay.judge``.

Arguments after ``--`` go to the command.  nox returns 0 or 1; who needs the exit codes calls ``assay``.
"""

from __future__ import annotations

import sys
from pathlib import Path

import nox

if sys.version_info < (3, 11):  # noqa: UP036  # the nox on this machine may run under any Python
    raise SystemExit(
        "nox runs under Python 3.10 or older; install it under 3.11 to 3.14 (pipx install --python)"
    )

PROJECT = Path(__file__).resolve().parent
sys.path.insert(0, str(PROJECT / "scripts"))  # nothing is installed yet

from assay import nox as body  # noqa: E402  # found only now that scripts/ is on the path

nox.options.default_venv_backend = "none"  # one locked environment serves all: assay.toolchain
nox.options.error_on_missing_interpreters = True
nox.options.sessions = ["lint", "format", "types", "tests"]


# ------------------------------------------------------------------------------------------------ main job


@nox.session
def provision(session: nox.Session) -> None:
    """Make the embedded selection once: CUDA toolkit, PyCUDA, cuda-python, wgpu, NumPy and Bun."""
    body.assay(session, "provision", *session.posargs)


@nox.session
def qualify(session: nox.Session) -> None:
    """Run every planned gate on this machine and leave a bundle with the verdict."""
    body.assay(session, "qualify", *session.posargs)


@nox.session
def rehearse(session: nox.Session) -> None:
    """Run the same without a GPU: chain, PyCUDA, cuda-python and NVRTC on a CPU (`-- chain NAME`)."""
    body.assay(session, "rehearse", *session.posargs)


# ------------------------------------------------------------------------------------- one gate, no verdict


@nox.session
def environment(session: nox.Session) -> None:
    """Gate: the selection, checked as one set."""
    body.gate(session)


@nox.session
def toolkit(session: nox.Session) -> None:
    """Gate: one CUDA toolkit that fits driver, device and host compiler."""
    body.gate(session)


@nox.session
def driver(session: nox.Session) -> None:
    """Gate: one NVIDIA driver: module, firmware and userspace of one version."""
    body.gate(session)


@nox.session
def provider(session: nox.Session) -> None:
    """Gate: the pinned provider, loadable on this machine."""
    body.gate(session)


@nox.session
def abi(session: nox.Session) -> None:
    """Gate: the selected binaries and all that they load fit processor and C library."""
    body.gate(session)


@nox.session
def vulkan(session: nox.Session) -> None:
    """Gate: the Vulkan loader takes NVIDIA's driver, which is whole and lists its GPU."""
    body.gate(session)


@nox.session
def build(session: nox.Session) -> None:
    """Gate: wheel, sdist and kernels, made twice with the same bytes."""
    body.gate(session)


@nox.session
def installed(session: nox.Session) -> None:
    """Gate: that wheel, installed away from its sources, is what is imported."""
    body.gate(session)


@nox.session
def chain(session: nox.Session) -> None:
    """Gate: every chain of the plan, value by value, on the GPU."""
    body.gate(session)


@nox.session
def hosted(session: nox.Session) -> None:
    """Gate: the chain in a CPython that lives inside one Bun process."""
    body.gate(session)


@nox.session(name="shared-buffers")
def shared_buffers(session: nox.Session) -> None:
    """Gate: one buffer of Vulkan's on which CUDA computes in place, without a copy."""
    body.gate(session)


@nox.session
def throughput(session: nox.Session) -> None:
    """Gate: the chain's speed and memory, beside floors and a documentation-style script."""
    body.gate(session)


@nox.session
def references(session: nox.Session) -> None:
    """Gate: the documents that the plan cites are there (optional, needs a network)."""
    body.gate(session)


@nox.session
def lint(session: nox.Session) -> None:
    """Gate: the sources keep every lint rule (ruff)."""
    body.gate(session)


@nox.session(name="format")
def formatting(session: nox.Session) -> None:
    """Gate: the sources are formatted (ruff)."""
    body.gate(session)


@nox.session
def types(session: nox.Session) -> None:
    """Gate: the types hold, strictly (mypy)."""
    body.gate(session)


@nox.session
def typescript(session: nox.Session) -> None:
    """Gate: Bun's side keeps types, lint rules and format (tsc, oxlint, Prettier)."""
    body.gate(session)


# ------------------------------------------------------------------------------------------------ evidence


@nox.session
def verify(session: nox.Session) -> None:
    """Verify a bundle, or every released one; nothing in it is believed or run."""
    body.verify(session)


@nox.session
def report(session: nox.Session) -> None:
    """Render a verified bundle as one page, or every released one: what an auditor reads."""
    body.report(session)


@nox.session
def diagnose(session: nox.Session) -> None:
    """Say what is wrong with this machine or a described one, the cause first (`-- --root DIR`)."""
    body.assay(session, "diagnose", *session.posargs)


@nox.session
def bundle(session: nox.Session) -> None:
    """Finish a run that was cut short into a bundle, undecided."""
    body.assay(session, "bundle", *session.posargs)


@nox.session
def compare(session: nox.Session) -> None:
    """Say what changed between two bundles, claims and the bar first."""
    body.assay(session, "compare", *session.posargs)


@nox.session
def release(session: nox.Session) -> None:
    """Check a set of bundles as one release, and sign its index."""
    body.assay(session, "release", *session.posargs)


@nox.session
def archive(session: nox.Session) -> None:
    """Put bundles into an archive with `--to`, or ask one: a folder, HTTP, or an OCI registry."""
    body.assay(session, "archive", *session.posargs)


@nox.session
def pyz(session: nox.Session) -> None:
    """Write the reader's own copy, one file that verifies on any Python: dist/assay.pyz."""
    body.assay(session, "zip", *session.posargs)


@nox.session
def fetch(session: nox.Session) -> None:
    """Bring a pinned provider from the plan's URL."""
    body.assay(session, "fetch", *session.posargs)


# --------------------------------------------------------------------------------------------- development


@nox.session
def tests(session: nox.Session) -> None:
    """Run all tests, side by side."""
    body.tests(session)


@nox.session
def peers(session: nox.Session) -> None:
    """Install what tests and gate `typescript` have from npm (needs Node.js and `nox -s provision`)."""
    body.peers(session)


@nox.session
def cross(session: nox.Session) -> None:
    """Compile the host library for AArch64 and Windows (needs Debian's cross compilers)."""
    body.python(session, "-m", "tests.hosted.cross", isolated=False)


@nox.session
def browser(session: nox.Session) -> None:
    """Look at pages of reports in a real browser (needs Chromium and `nox -s peers`)."""
    body.browser(session)


@nox.session
def servers(session: nox.Session) -> None:
    """Run the tests of archives over real servers (needs nginx with WebDAV and docker-registry)."""
    body.servers(session)


@nox.session
def picture(session: nox.Session) -> None:
    """Take the README's picture of a report anew (needs what `browser` needs)."""
    body.python(session, "-m", "tests.browser.picture", isolated=False)


@nox.session
def fuzz(session: nox.Session) -> None:
    """Fuzz the verification, guided by coverage (optional, needs atheris)."""
    body.fuzz(session)


@nox.session
def bench(session: nox.Session) -> None:
    """Measure what must stay fast, side by side with what it is compared to."""
    body.bench(session)


@nox.session
def lock(session: nox.Session) -> None:
    """Resolve every locked package anew."""
    body.lock(session)


@nox.session
def docs(session: nox.Session) -> None:
    """Write the README's tables anew from what they are made of."""
    body.python(session, "-m", "assay.docs")

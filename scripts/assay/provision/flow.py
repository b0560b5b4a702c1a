"""Provisioning from beginning to end: an interpreter, packages, a toolkit, PyCUDA, and the selection file."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from assay import canonical
from assay.errors import UsageError
from assay.files import write_atomic
from assay.model import Json
from assay.provision import store as storage
from assay.provision.built import RECIPE, BuiltWheel
from assay.provision.children import Children, clean_environment
from assay.provision.compiler import HostCompiler, find_compiler
from assay.provision.environments import Environment, make_environment, make_tools
from assay.provision.estimate import estimate, require_space, sentence
from assay.provision.interpreter import Interpreter, describe
from assay.provision.lockfile import BUILD, PYCUDA, SELECTION, TOOLKIT, Requirement, locks_digest, merged
from assay.provision.pip import Pip
from assay.provision.pycuda_source import Target, Workshop, find_wheel, make_wheel
from assay.provision.pycuda_wheel import PROJECT
from assay.provision.selection_file import selection_text, selection_values
from assay.provision.store import Store
from assay.provision.toolkit import Toolkit, inspect_toolkit, locked_version
from assay.provision.trial import try_selection
from assay.provision.wheelhouse import check_wheelhouse
from assay.selection import PATH

FOLDER = ".assay"

EMBEDDED = Path("nvidia/cu13")
"""Where PyPI's CUDA 13 toolkit lies in site-packages; it serves as ``CUDA_PATH``."""

Say = Callable[[str], None]


@dataclass(frozen=True)
class Request:
    """What is to be provisioned.

    Attributes:
        project: the project's folder; the selection goes into its ``.assay``.
        python: the interpreter to select.
        environ: the caller's environment.
        jobs: compilers at once.
        toolkit: a CUDA toolkit that is already on the machine, or None for the embedded one.
        wheelhouse: a folder of package files to use instead of the network, or None.
    """

    project: Path
    python: str
    environ: Mapping[str, str]
    jobs: int
    toolkit: Path | None = None
    wheelhouse: Path | None = None

    @property
    def store(self) -> Store:
        """Return where selections are kept."""
        return Store(self.project.resolve() / FOLDER)


@dataclass(frozen=True)
class Job:
    """A request after a look at the machine.

    Attributes:
        request: what is wanted.
        children: how children are run.
        interpreter: the interpreter to select.
        compiler: the host compiler.
        toolkit: the machine's toolkit, or None for the embedded one.
        say: tells the user.
    """

    request: Request
    children: Children
    interpreter: Interpreter
    compiler: HostCompiler
    toolkit: Toolkit | None
    say: Say

    @property
    def locks(self) -> tuple[str, ...]:
        """Return the locks whose packages are installed."""
        return (SELECTION, PYCUDA) if self.toolkit else (SELECTION, PYCUDA, TOOLKIT)

    @property
    def requirements(self) -> tuple[Requirement, ...]:
        """Return the packages that are installed from wheels."""
        return merged(self.locks, leave_out=[PROJECT])

    @property
    def target(self) -> Target:
        """Return for whom PyCUDA's wheel is wanted."""
        version = self.toolkit.version if self.toolkit else locked_version()
        return Target(self.interpreter, self.compiler, version)

    @property
    def key(self) -> str:
        """Return SHA-256 (hex) over what decides what a selection is: another key makes a new selection."""
        interpreter, toolkit = self.interpreter, self.toolkit
        return canonical.digest(
            {
                "recipe": RECIPE,
                "locks": locks_digest([*self.locks, BUILD]),
                "interpreter": [interpreter.base, interpreter.version, interpreter.abi, interpreter.machine],
                "toolkit": [str(toolkit.root), toolkit.version] if toolkit else "embedded",
            }
        )


def provision(request: Request, say: Say) -> Path:
    """Make the requested selection, or find that it is there already, and return its selection file.

    Args:
        request: what is wanted.
        say: gets each line for the user.

    Raises:
        UsageError: interpreter, toolkit or wheelhouse cannot serve.
        StorageError: a file is not the locked one, the disk is full, or another process is provisioning.
        FetchError: packages could not be downloaded.
        ProvisionError: something could not be built.
        DeadlineError: a child took too long.
    """
    store = request.store
    with storage.exclusive(store):
        storage.recover(store)
        job = look(request, say)
        if storage.finished(store, job.key):
            say(f"the selection is there: {store.file}")
            return store.file
        _announce(job)
        with storage.making(store):
            _make(job)
    return store.file


def require_linux(platform: str) -> None:
    """Check the platform (``sys.platform``).

    Raises:
        UsageError: it is not Linux: PyCUDA and cuda-python have nothing for macOS, and on Windows the
            toolkit's installer and the MSVC of the plan are selected explicitly.
    """
    if platform != "linux":
        raise UsageError(
            f"provisioning makes selections on Linux (and WSL), not on {platform}",
            "Linux",
            "name an explicit selection with --selection FILE or the BUN_PYTHON_* variables",
        )


def look(request: Request, say: Say) -> Job:
    """Look at interpreter, compiler, toolkit and wheelhouse; nothing is made yet.

    Raises:
        UsageError: one of them cannot serve.
        StorageError: a file of the wheelhouse is not the locked one.
        ProvisionError: there is no compiler.
    """
    store = request.store
    write_atomic(store.log, b"")
    children = Children(clean_environment(request.environ), store.log)
    interpreter = describe(children, request.python)
    toolkit = inspect_toolkit(request.toolkit) if request.toolkit else None
    return Job(request, children, interpreter, find_compiler(children, request.environ), toolkit, say)


def _announce(job: Job) -> None:
    """Say what will be made, what it costs, and what the toolkit lacks; check the wheelhouse and the disk."""
    request, store = job.request, job.request.store
    if request.wheelhouse:
        check_wheelhouse(request.wheelhouse, job.requirements)
    there = find_wheel(job.target, store.wheels, request.wheelhouse)
    expected = estimate(
        toolkit=job.toolkit is None,
        build=there is None,
        cores=request.jobs,
        offline=request.wheelhouse is not None,
    )
    require_space(store.root, expected)
    interpreter = job.interpreter
    job.say(f"selecting CPython {interpreter.version} for {interpreter.machine} into {store.selection}")
    job.say(f"this {sentence(expected, request.jobs)}")
    if job.toolkit and job.toolkit.missing:
        job.say(
            f"note: {job.toolkit.root} has no {', no '.join(job.toolkit.missing)}: gate toolkit will fail"
        )


def _make(job: Job) -> None:
    """Make the selection in its place."""
    request, store, children, began = job.request, job.request.store, job.children, time.monotonic()
    environment = make_environment(children, job.interpreter, store.selection)
    tools = make_tools(children, job.interpreter, store.scratch / "tools")
    pip = Pip(children, tools.python, store.scratch, request.wheelhouse)
    job.say("installing the packages")
    pip.install("the packages", environment.python, job.requirements)
    toolkit = job.toolkit or inspect_toolkit(environment.site_packages / EMBEDDED)
    wheel = _wheel(job, toolkit, Workshop(children, tools, pip, store, request.jobs))
    pip.install_file("PyCUDA", environment.python, wheel.path)
    pip.check(environment.python)
    _finish(job, environment, toolkit, wheel)
    job.say(f"done in {time.monotonic() - began:.0f} s: {store.file}")


def _wheel(job: Job, toolkit: Toolkit, workshop: Workshop) -> BuiltWheel:
    """Return PyCUDA's wheel, built if need be."""
    target = Target(job.interpreter, job.compiler, toolkit.version)
    if built := find_wheel(target, workshop.store.wheels, job.request.wheelhouse):
        job.say(f"taking PyCUDA's wheel {built.path}")
        return built
    job.say(f"building PyCUDA's wheel with {job.compiler.version}")
    return make_wheel(workshop, target, toolkit)


def _finish(job: Job, environment: Environment, toolkit: Toolkit, wheel: BuiltWheel) -> None:
    """Try the selection and declare it whole."""
    values = selection_values(environment, toolkit, job.interpreter, job.compiler)
    tried = try_selection(job.children, environment.python, toolkit, list(values[PATH]))
    mark: dict[str, Json] = {
        "key": job.key,
        "python": job.interpreter.version,
        "toolkit": toolkit.release,
        "packages": {requirement.name: requirement.version for requirement in job.requirements},
        "pycuda": {"sha256": wheel.sha256, **asdict(wheel.provenance)},
        "trial": tried,
    }
    storage.finish(job.request.store, mark, selection_text(values))

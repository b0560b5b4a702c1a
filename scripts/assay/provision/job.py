"""What is asked for, and what a look at the machine makes of it; nothing is made yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from assay import canonical
from assay.errors import UsageError
from assay.files import write_atomic
from assay.provision.built import RECIPE
from assay.provision.children import Children, clean_environment
from assay.provision.compiler import HostCompiler, find_compiler
from assay.provision.interpreter import Interpreter, describe
from assay.provision.lockfile import BUILD, PYCUDA, SELECTION, TOOLKIT, Requirement, locks_digest, merged
from assay.provision.pycuda_source import Target
from assay.provision.pycuda_wheel import PROJECT
from assay.provision.store import Store
from assay.provision.toolkit import Toolkit, inspect_toolkit, locked_version

FOLDER = ".assay"

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


def look(request: Request, say: Say, held: int) -> Job:
    """Look at interpreter, compiler and toolkit; nothing is made yet.

    Args:
        request: what is wanted.
        say: gets each line for the user.
        held: the descriptor that holds the store.

    Raises:
        UsageError: one of them cannot serve.
        ProvisionError: there is no compiler.
    """
    store = request.store
    write_atomic(store.log, b"")
    children = Children(clean_environment(request.environ), store.log, (held,))
    interpreter = describe(children, request.python)
    toolkit = inspect_toolkit(request.toolkit) if request.toolkit else None
    return Job(request, children, interpreter, find_compiler(children, request.environ), toolkit, say)

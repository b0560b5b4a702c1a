"""Where PyCUDA's wheel comes from: the wheelhouse, the cache, or a build from the source distribution."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from assay.provision.built import BuiltWheel, Provenance
from assay.provision.children import Children
from assay.provision.compiler import HostCompiler
from assay.provision.environments import Environment
from assay.provision.interpreter import Interpreter, require_headers
from assay.provision.lockfile import BUILD, PYCUDA, load_lock, locked
from assay.provision.pip import Pip
from assay.provision.pycuda_wheel import PROJECT, BuildTools, build_wheel, cached_wheel
from assay.provision.store import Store
from assay.provision.stub import make_stub
from assay.provision.toolkit import Toolkit
from assay.provision.wheelhouse import find_built, find_sdist


@dataclass(frozen=True)
class Target:
    """For whom a wheel is wanted.

    Attributes:
        interpreter: the selected interpreter.
        compiler: the host compiler.
        toolkit: ``CUDA_VERSION`` of the selected toolkit.
    """

    interpreter: Interpreter
    compiler: HostCompiler
    toolkit: int

    def provenance(self, sdist: str) -> Provenance:
        """Return what a wheel that is built here from a source distribution (SHA-256) comes from."""
        return Provenance(
            sdist=sdist,
            abi=self.interpreter.abi,
            machine=self.interpreter.machine,
            libc=self.interpreter.libc,
            toolkit=self.toolkit,
            compiler=self.compiler.version,
        )


@dataclass(frozen=True)
class Workshop:
    """What a build needs.

    Attributes:
        children: how children are run.
        tools: the environment that builds; the lock ``build`` is installed into it.
        pip: pip of that environment.
        store: where stubs, wheels and scratch lie.
        jobs: compilers at once.
    """

    children: Children
    tools: Environment
    pip: Pip
    store: Store
    jobs: int


def find_wheel(target: Target, wheels: Path, wheelhouse: Path | None) -> BuiltWheel | None:
    """Return a wheel that was built before: one in the wheelhouse that serves, or this very one in the cache.

    Raises:
        StorageError: a record does not hold.
    """
    if wheelhouse and (built := find_built(wheelhouse, target.interpreter, target.toolkit)):
        return built
    for sdist in sorted(locked(PYCUDA, PROJECT).hashes):
        if built := cached_wheel(wheels, target.provenance(sdist)):
            return built
    return None


def make_wheel(workshop: Workshop, target: Target, toolkit: Toolkit) -> BuiltWheel:
    """Build the wheel and keep it in the cache.

    Raises:
        UsageError: the interpreter has no headers.
        StorageError: the source distribution is missing or not the locked one, or the disk is full.
        FetchError: it could not be downloaded.
        ProvisionError: the build failed.
    """
    require_headers(target.interpreter)
    stub = make_stub(workshop.children, target.compiler, workshop.store.stubs)
    workshop.pip.install("the build tools", workshop.tools.python, load_lock(BUILD))
    sdist, digest = _sdist(workshop)
    tools = BuildTools(workshop.children, workshop.tools.python, target.compiler, stub, workshop.jobs)
    folders = (workshop.store.scratch / "pycuda", workshop.store.wheels)
    folders[0].mkdir()
    return build_wheel(tools, sdist, toolkit, target.provenance(digest), folders)


def _sdist(workshop: Workshop) -> tuple[Path, str]:
    """Return the source distribution, checked against the lock, and its SHA-256 (hex)."""
    folder = workshop.pip.wheelhouse
    if folder is None:
        folder = workshop.store.scratch / "sdist"
        download_sdist(workshop.pip, folder)
    return find_sdist(folder)


def download_sdist(pip: Pip, folder: Path) -> None:
    """Download PyCUDA's source distribution: pip checks its hash and asks its ``setup.py`` for metadata.

    The build tools must be installed beside pip: that question is asked without isolation.

    Raises:
        StorageError: it is not the locked one.
        FetchError: it could not be downloaded.
    """
    options = ["--no-binary", PROJECT, "--no-build-isolation"]
    pip.download("PyCUDA's source distribution", folder, [locked(PYCUDA, PROJECT)], options)

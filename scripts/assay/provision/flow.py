"""Provisioning from beginning to end: an interpreter, packages, a toolkit, PyCUDA, and the selection file."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

from assay.machine import Machine
from assay.model import Json
from assay.plan import load_plan
from assay.provision import store as storage
from assay.provision.built import BuiltWheel
from assay.provision.environments import Environment, make_environment, make_tools
from assay.provision.estimate import estimate, require_space, sentence
from assay.provision.host import provide_host
from assay.provision.interpreter import require_headers
from assay.provision.job import Job, Request, Say, look
from assay.provision.lockfile import BUILD, load_lock, lock_sha256
from assay.provision.pip import Pip
from assay.provision.pycuda_source import Target, Workshop, find_wheel, make_wheel
from assay.provision.selection_file import selection_text, selection_values
from assay.provision.shader_compiler import provide_shader_compiler
from assay.provision.toolkit import Toolkit, inspect_toolkit
from assay.provision.trial import try_selection
from assay.provision.wheelhouse import check_wheelhouse, find_sdist
from assay.selection import PATH

EMBEDDED = Path("nvidia/cu13")
"""Where PyPI's CUDA 13 toolkit lies in site-packages; it serves as ``CUDA_PATH``."""


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
    with storage.exclusive(store) as held:
        storage.recover(store)
        job = look(request, say, held)
        if storage.finished(store, job.key):
            say(f"the selection is there: {store.file}")
        else:
            _announce(job)
            with storage.making(store):
                _make(job)
        provide_host(job)
        _shader_compiler(job)
    return store.file


def _shader_compiler(job: Job) -> None:
    """Provide the compiler of the planned shader, where the network may be used."""
    request = job.request
    if request.wheelhouse or not (request.project / "pyproject.toml").is_file():
        return
    if load_plan(request.project).shared_buffers is not None:
        provide_shader_compiler(job.children, Machine.real(), request.project.resolve(), job.say)


def _announce(job: Job) -> None:
    """Check what can be checked before anything is made, and say what will be made and what it costs."""
    request, store, interpreter = job.request, job.request.store, job.interpreter
    built = find_wheel(job.target, store.wheels, request.wheelhouse)
    if built is None:
        require_headers(interpreter)
    if request.wheelhouse:
        _check_wheelhouse(job, request.wheelhouse, build=built is None)
    expected = estimate(
        toolkit=job.toolkit is None,
        build=built is None,
        cores=request.jobs,
        offline=request.wheelhouse is not None,
    )
    require_space(store.root, expected)
    job.say(f"selecting CPython {interpreter.version} for {interpreter.machine} into {store.selection}")
    job.say(f"this {sentence(expected, request.jobs)}")
    if job.toolkit and job.toolkit.missing:
        lacking = ", no ".join(job.toolkit.missing)
        job.say(f"note: {job.toolkit.root} has no {lacking}: gate toolkit will say so")


def _check_wheelhouse(job: Job, folder: Path, *, build: bool) -> None:
    """Check that a wheelhouse has what is installed and, where PyCUDA is built, what builds it."""
    check_wheelhouse(folder, job.requirements)
    if build:
        check_wheelhouse(folder, load_lock(BUILD))
        find_sdist(folder)


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
        "locked": {requirement.name: lock_sha256(requirement) for requirement in job.requirements},
        "packages": {requirement.name: requirement.version for requirement in job.requirements},
        "pycuda": {"sha256": wheel.sha256, **asdict(wheel.provenance)},
        "trial": tried,
    }
    storage.finish(job.request.store, mark, selection_text(values))

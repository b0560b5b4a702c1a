"""Compiles the plan's shader to SPIR-V, twice, with glslang: the machine's, or one unpacked for the project.

Facts (``build`` records them as ``shader``)::

    compiler {path, sha256, version}     null where there is none; ``looked`` says where
    looked [text]
    problem                              what the compiler said when it refused, or ``""``
    sha256                               of the source as it was read, ``""`` where it could not be
    spirv {name, sha256, size}           kept as an artifact
    again                                the digest of the second compilation
"""

from __future__ import annotations

import platform
from pathlib import Path

from assay.errors import GateError, StorageError
from assay.files import read_bounded, sha256_file, storage_errors, write_atomic
from assay.gates.context import Context
from assay.gates.finished import ended, last_words
from assay.model import Facts, Json
from assay.plan.values import SharedBuffers

PROGRAM = "glslangValidator"
"""The name that glslang's own package and Debian's ``glslang-tools`` give it."""

UNPACKED = Path(".assay/shaders")
"""Where ``provision`` unpacks the compiler, below a folder for the processor, relative to the project."""

TARGET = "vulkan1.2"
"""The version whose timeline semaphores hand the buffer over."""

_SOURCE_LIMIT = 1 << 20
_DEADLINE_S = 30.0


def compile_shader(context: Context, wanted: SharedBuffers) -> Facts:
    """Return the facts of both compilations; the SPIR-V of the first is kept.

    Raises:
        DeadlineError: the compiler does not end.
        StorageError: a file cannot be written.
    """
    try:
        source = read_bounded(context.project / "kernels" / wanted.chain / wanted.source, _SOURCE_LIMIT)
    except StorageError as error:
        context.log(f"{error}\n")
        return {"compiler": None, "looked": [], "problem": error.observed, "sha256": ""}
    found = _compiler(context)
    if found is None:
        looked: list[Json] = [f"{PROGRAM} on PATH", str(unpacked_compiler(context.project))]
        return {"compiler": None, "looked": looked, "problem": "", "sha256": wanted.sha256}
    outputs = [_compiled(context, found, wanted, source, name) for name in ("shader-first", "shader-second")]
    digest = sha256_file(context.scratch / "shader-first" / wanted.source)[0]
    facts: dict[str, Json] = {"compiler": _described(context, found), "looked": [], "sha256": digest}
    if problem := next((each for each in outputs if isinstance(each, str)), ""):
        return {**facts, "problem": problem}
    first, second = (each for each in outputs if isinstance(each, Path))
    kept = context.keep(first, f"{wanted.chain}.{wanted.shader}.spv")
    spirv: Json = {"name": kept.name, "sha256": kept.sha256, "size": kept.size}
    return {**facts, "again": sha256_file(second)[0], "problem": "", "spirv": spirv}


def unpacked_compiler(project: Path) -> Path:
    """Return where a compiler that was unpacked for a project lies, there or not."""
    return project / UNPACKED / platform.machine() / "root/usr/bin" / PROGRAM


def _compiler(context: Context) -> str | None:
    """Return the machine's compiler, else the unpacked one."""
    if found := context.machine.which(PROGRAM):
        return found
    unpacked = unpacked_compiler(context.project)
    return str(unpacked) if unpacked.is_file() else None


def _compiled(context: Context, compiler: str, wanted: SharedBuffers, source: bytes, name: str) -> Path | str:
    """Return the SPIR-V of one compilation in a folder of its own, or what the compiler said."""
    folder = context.scratch / name
    with storage_errors("make", folder):
        folder.mkdir()
    given, made = folder / wanted.source, folder / "out.spv"
    write_atomic(given, source)
    entry = ("--source-entrypoint", "main", "-e", wanted.entry)
    argv = (compiler, "-V", "--target-env", TARGET, *entry, "-o", made.name, given.name)
    try:
        finished = context.execute(argv, cwd=folder, deadline_s=_DEADLINE_S)
    except GateError as error:
        return error.observed
    if ended(finished, PROGRAM).exit != 0 or not made.is_file():
        return f"{PROGRAM} ended with {finished.exit}: {last_words(finished)}"
    return made


def _described(context: Context, compiler: str) -> dict[str, Json]:
    """Return path, digest and version of the compiler."""
    digest = sha256_file(Path(compiler).resolve())[0]
    try:
        said = context.execute((compiler, "--version"), deadline_s=_DEADLINE_S)
    except GateError:
        return {"path": compiler, "sha256": digest, "version": ""}
    lines = ended(said, PROGRAM).stdout.decode("utf-8", "replace").splitlines()
    version = next((line.partition(":")[2].strip() for line in lines if "Version" in line), "")
    return {"path": compiler, "sha256": digest, "version": version}

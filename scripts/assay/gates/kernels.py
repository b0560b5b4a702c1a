"""Compiles every CUDA source of the planned chains, twice, in the selected interpreter.

The chain package's entry ``compile`` does it, in a child like the one that runs the chain; each of the two
children has folders of its own, so that bytes which depend on a folder differ.  What lies in the folders is
hashed here: the digests that the child states are not read.

Facts::

    sources [{chain, stage, source, sha256}]                             as they were read; "": unreadable
    kernels [{name, chain, stage, kind, arch, compiler, sha256, size}]   of the first child, all kept
    kernels_again [{name, sha256}]                                       of the second
    compile {selected, problem, child_sha256, compilers, errors [{chain, stage, kind, reason, message}]}

``selected`` is false where no interpreter is selected.  ``problem`` says why a child gave no result at all.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, GateError, StorageError
from assay.files import read_bounded, sha256_file, storage_errors, write_atomic
from assay.gates.childenv import ChildSetup, prepare_child
from assay.gates.context import Context
from assay.gates.finished import ended, last_words
from assay.judge.build import CUDA_RUNTIMES
from assay.judge.reading import MalformedFacts, mapping, objects, text
from assay.model import Facts, Json
from assay.plan.values import Chain, Stage
from assay.process import Finished

NVCC = "nvcc"
"""Looked up on the child's ``PATH``, where the selected toolkit comes first."""

_FIRST, _SECOND = "compile-first", "compile-second"
_REQUEST = "assay/chain-compile/1"
_RESULT = "result.json"
_SOURCE_LIMIT = 1 << 20
_RESULT_LIMIT = 4 << 20
_TEXT_LIMIT = 4000
_MADE_A_RESULT = (0, 1)
"""Exit codes of the child: 0, all was made; 1, some images could not be made, and the result says which."""


@dataclass(frozen=True)
class Source:
    """A CUDA source as it was read; ``data`` is None where it could not be."""

    chain: Chain
    stage: Stage
    data: bytes | None

    def to_json(self) -> dict[str, Json]:
        """Return the fact."""
        sha256 = "" if self.data is None else hashlib.sha256(self.data).hexdigest()
        return {
            "chain": self.chain.name,
            "sha256": sha256,
            "source": self.stage.source,
            "stage": self.stage.name,
        }


def compile_kernels(context: Context) -> dict[str, Json]:
    """Return the facts of both compilations; images of the first are kept.

    Raises:
        DeadlineError: a compilation does not end.
        StorageError: a file cannot be written.
    """
    sources = tuple(_sources(context))
    facts: dict[str, Json] = {"sources": [source.to_json() for source in sources]}
    readable = tuple(source for source in sources if source.data is not None)
    if not readable:
        return facts
    if context.selection.executable is None:
        return {**facts, "compile": {"selected": False}}
    first, second = (_compiled(context, name, readable) for name in (_FIRST, _SECOND))
    for image in first.images:
        context.keep(_output(context, _FIRST) / str(image["name"]), str(image["name"]))
    again = [{"name": image["name"], "sha256": image["sha256"]} for image in second.images]
    problem = first.problem or second.problem
    compile_facts: Json = {**first.facts, "errors": list(first.errors or second.errors), "problem": problem}
    return {**facts, "compile": compile_facts, "kernels": list(first.images), "kernels_again": again}


def read_source(project: Path, chain: Chain, stage: Stage) -> bytes:
    """Return a stage's source as it lies in the project.

    Raises:
        StorageError: it cannot be read or is larger than a MiB.
    """
    return read_bounded(project / "kernels" / chain.name / stage.source, _SOURCE_LIMIT)


def _sources(context: Context) -> Iterator[Source]:
    """Yield each CUDA source of the planned chains."""
    for chain in context.plan.planned_chains(context.platform):
        for stage in chain.stages:
            if stage.runtime in CUDA_RUNTIMES:
                try:
                    yield Source(chain, stage, read_source(context.project, chain, stage))
                except StorageError as error:
                    context.log(f"{error}\n")
                    yield Source(chain, stage, None)


@dataclass(frozen=True)
class _Compiled:
    """What one child made."""

    images: Sequence[Mapping[str, Json]] = ()
    errors: Sequence[Mapping[str, Json]] = ()
    problem: str = ""
    facts: Mapping[str, Json] = field(default_factory=dict)


def _compiled(context: Context, name: str, sources: Sequence[Source]) -> _Compiled:
    """Compile all sources in one child."""
    child = prepare_child(context, name=name, interface="")
    output = _output(context, name)
    with storage_errors("make", output):
        output.mkdir()
    request = output.parent / "request.json"
    write_atomic(request, canonical.dumps(_request(context, sources)))
    words = ("compile", "--request", str(request), "--output", str(output))
    try:
        finished = context.execute([*child.argv, *words], env=child.env, cwd=child.cwd)
    except GateError as error:
        return _Compiled(problem=error.observed)
    return _read(child, output, ended(finished, "the compilation of the kernels"))


def _output(context: Context, name: str) -> Path:
    """Return where a child leaves its images."""
    return context.scratch / name / "images"


def _request(context: Context, sources: Sequence[Source]) -> Json:
    """Return the child's request."""
    chains = {
        source.chain.name: [_stage(each) for each in sources if each.chain is source.chain]
        for source in sources
    }
    return {
        "architectures": list(context.plan.architectures),
        "chains": [{"name": name, "stages": stages} for name, stages in chains.items()],
        "nvcc": NVCC,
        "schema": _REQUEST,
    }


def _stage(source: Source) -> dict[str, Json]:
    """Return a stage of the request; to be compiled it needs nothing of the stage before."""
    stage = source.stage
    return {
        "each": stage.each,
        "entry": stage.entry,
        "input": "values",
        "name": stage.name,
        "runtime": stage.runtime,
        "source": stage.source,
        "text": (source.data or b"").decode("utf-8", "replace"),
    }


def _read(child: ChildSetup, output: Path, finished: Finished) -> _Compiled:
    """Return what a child left."""
    facts = {"child_sha256": child.zip.sha256}
    ended_so, words = f"the compiling child ended with {finished.exit}", last_words(finished)
    if finished.exit not in _MADE_A_RESULT:
        return _Compiled(facts=facts, problem=f"{ended_so}: {words}")
    try:
        result = canonical.parse(read_bounded(output / _RESULT, _RESULT_LIMIT), member=_RESULT)
        images = [_image(output, entry) for entry in objects(result, "outputs")]
        errors = [_error(entry) for entry in objects(result, "errors")]
        compilers = mapping(result, "compilers")
    except (BundleError, MalformedFacts, StorageError) as error:
        return _Compiled(facts=facts, problem=f"{ended_so} and left no result ({error}): {words}")
    unique = list({tuple(error.items()): error for error in errors}.values())
    return _Compiled(images, unique, "", {**facts, "compilers": compilers})


def _image(output: Path, entry: Facts) -> dict[str, Json]:
    """Return the fact of an image; its digest is of the file."""
    path = output / Path(text(entry, "name")).name
    sha256, size = sha256_file(path)
    named = {
        "chain": "chain",
        "compiler": "compiler",
        "kind": "kind",
        "stage": "stage",
        "arch": "architecture",
    }
    told = {fact: text(entry, key) for fact, key in named.items()}
    return {**told, "name": path.name, "sha256": sha256, "size": size}


def _error(entry: Facts) -> dict[str, Json]:
    """Return the fact of an image that could not be made; the same for every architecture is one fact."""
    told: dict[str, Json] = {key: text(entry, key) for key in ("chain", "kind", "reason", "stage")}
    return {**told, "message": text(entry, "message")[:_TEXT_LIMIT]}

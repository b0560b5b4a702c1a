"""Measures from the start of a process to the chain's first exact result: ours beside a plain script.

Both run the chain once over its canonical values, in turn, in processes of their own that share the caches
of a private folder: the first turn of each fills them (bytecode, PyCUDA's and the driver's), the others find
them full.  Ours is given the images that gate build made; the script compiles as its packages' documentation
does.

Facts (gate ``throughput`` records them as ``cold``)::

    images [{stage, kind, arch, sha256}]            what ours was given
    plain_sha256                                    of the script
    turns [{style, exit, adapter, end, parts [{name, begin, end}], values [words]}]
        ``style`` is ``chain`` or ``script``; nanoseconds since the process was started; ``end`` is when the
        values were there, null where there are none
"""

from __future__ import annotations

import hashlib
import time
import zipfile
from dataclasses import dataclass
from pathlib import Path

from assay import canonical
from assay.errors import BundleError, GateError, StorageError
from assay.files import read_bounded, storage_errors, write_atomic
from assay.gates.chain_request import case_of, chain_json, read_sources, wanted_adapter
from assay.gates.childenv import ChildSetup
from assay.gates.childzip import SOURCES
from assay.gates.context import Context
from assay.judge.cold import CHAIN, SCRIPT, TURNS
from assay.judge.images import CUBIN, PTX, WGSL
from assay.judge.reading import objects, text
from assay.model import Facts, Json
from assay.plan.values import Chain

REQUEST = "assay/chain-cold/1"

PLAIN = SOURCES / "speed" / "plain.py"

_DEADLINE_S = 60.0
_LIMIT = 1 << 20


@dataclass(frozen=True)
class _Image:
    """An image that gate build kept."""

    stage: str
    kind: str
    arch: str
    sha256: str

    def fact(self) -> dict[str, Json]:
        """Return what is recorded of it."""
        return dict(vars(self))


def observe_cold(context: Context, setup: ChildSetup, chain: Chain) -> Facts:
    """Return the facts of every turn.

    Args:
        context: the gate's view of the run.
        setup: the folders and the environment that both get.
        chain: the chain.

    Raises:
        GateError: a source cannot be read.
        StorageError: a file cannot be read or written.
        DeadlineError: a process does not end.
    """
    images = _images(context, chain)
    folder = context.scratch / "cold"
    with storage_errors("make", folder):
        folder.mkdir()
    request, plain = folder / "request.json", folder / PLAIN.name
    write_atomic(request, _request(context, chain, images))
    source = read_bounded(PLAIN, _LIMIT)
    write_atomic(plain, source)
    unpacked = _unpacked(setup, folder / "chain")
    python = setup.argv[0]
    result = folder / "result.json"
    ours = (python, "-s", str(unpacked), "cold", "--request", str(request), "--result", str(result))
    commands = {CHAIN: (*ours, "--began"), SCRIPT: (python, "-s", str(plain), str(request), str(result))}
    turns = [
        _turn(context, setup, style, commands[style], result)
        for _ in range(TURNS)
        for style in (SCRIPT, CHAIN)
    ]
    return {
        "images": [image.fact() for image in images],
        "plain_sha256": hashlib.sha256(source).hexdigest(),
        "turns": list[Json](turns),
    }


def _turn(
    context: Context, setup: ChildSetup, style: str, argv: tuple[str, ...], result: Path
) -> dict[str, Json]:
    """Run one process and return what it wrote."""
    result.unlink(missing_ok=True)
    began = time.monotonic_ns()
    try:
        finished = context.execute((*argv, str(began)), env=setup.env, cwd=setup.cwd, deadline_s=_DEADLINE_S)
        code: Json = finished.exit
    except GateError as error:
        context.log(f"{error}\n")
        code = error.observed
    told: Json = None
    if code == 0:
        try:
            told = canonical.parse(read_bounded(result, _LIMIT), member=result.name)
        except (BundleError, StorageError) as error:
            context.log(f"{error}\n")
    kept = told if isinstance(told, dict) else {}
    facts = {name: kept.get(name) for name in ("adapter", "end", "parts", "values")}
    return {**facts, "exit": code, "style": style}


def _unpacked(setup: ChildSetup, folder: Path) -> Path:
    """Return a folder with the zip's files: from a zip Python compiles every module each time."""
    with storage_errors("write", folder), zipfile.ZipFile(setup.zip.path) as archive:
        archive.extractall(folder, members=setup.zip.members)
    return folder


def _images(context: Context, chain: Chain) -> tuple[_Image, ...]:
    """Return the image that ours loads for each CUDA stage: the device's own CUBIN, else the PTX."""
    device = context.facts.get("chain", {})
    own = "sm_" + text(device, "devices.after.compute_capability").replace(".", "")
    lowest = context.plan.lowest_architecture
    kernels = objects(context.facts.get("build", {}), "kernels")
    found: dict[str, _Image] = {}
    for kernel in kernels:
        kind, arch, stage = text(kernel, "kind"), text(kernel, "arch"), text(kernel, "stage")
        fits = (kind, arch) in {(CUBIN, own), (PTX, lowest)}
        if text(kernel, "chain") == chain.name and fits and (kind == CUBIN or stage not in found):
            found[stage] = _Image(stage, kind, arch, text(kernel, "sha256"))
    return tuple(found[stage.name] for stage in chain.stages if stage.name in found)


def _request(context: Context, chain: Chain, images: tuple[_Image, ...]) -> bytes:
    """Return the request that both read."""
    sources = read_sources(context, (chain,))
    described = chain_json(case_of(context), chain, sources)
    made: list[Json] = [
        {
            "data": read_bounded(context.artifact_path(image.sha256), _LIMIT).hex(),
            "kind": image.kind,
            "stage": image.stage,
        }
        for image in images
    ]
    made += [
        {"data": sources[chain.name, stage.name].hex(), "kind": WGSL, "stage": stage.name}
        for stage in chain.stages
        if stage.runtime == "wgpu"
    ]
    document: Json = {
        "adapter": wanted_adapter(context),
        "chain": described,
        "images": made,
        "ordinal": 0,
        "schema": REQUEST,
    }
    return canonical.dumps(document)

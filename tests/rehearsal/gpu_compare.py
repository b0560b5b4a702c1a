"""The interpreter against a real GPU: the same PTX, the same random inputs, bit for bit.

A script for a machine with an NVIDIA GPU, its driver, Python with NumPy and cuda.bindings, and nvcc:

    python tests/rehearsal/gpu_compare.py --out receipt.json [--nvcc PATH] [--seed N] [--programs N]

It compiles the samples with nvcc, makes random kernels, runs both on the GPU and in the interpreter, and
writes
a JSON receipt.  Exit code 0: everything agrees; 1: something differs.

What is compared how:
``bits``      every byte, where PTX defines every bit.  A NaN agrees with any NaN: its bits are not defined.
``unordered`` sorted elements, where atomics hand out values in no fixed order.
``error``     approximate functions: both sides within the bound that the PTX ISA states, against double
precision.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "scripts")]

import numpy as np  # noqa: E402  # the paths come first

from assay.rehearsal import LaunchError, Limits, Memory, launch, load_module, parse  # noqa: E402  # as above
from tests.rehearsal import programs  # noqa: E402  # as above
from tests.rehearsal.gpu_approximate import FUNCTIONS, approximate_ptx, judged  # noqa: E402  # as above
from tests.rehearsal.gpu_cases import Array, Case, Step, cases  # noqa: E402  # as above
from tests.rehearsal.gpu_device import Gpu  # noqa: E402  # as above

SAMPLES = Path(__file__).resolve().parent / "samples"
THREADS = 4096


class Interpreter:
    """The other side of ``Gpu``: modules and buffers in the interpreter."""

    def __init__(self) -> None:
        self._memory = Memory(2 << 30)

    def load(self, text: str) -> Any:  # noqa: ANN401  # a loaded module
        """Return a loaded module."""
        return load_module(parse(text), self._memory)

    def run(self, module: Any, steps: tuple[Step, ...], buffers: dict[str, Array]) -> dict[str, bytes]:  # noqa: ANN401  # as above
        """Run launches on copies of buffers and return what the buffers hold then."""
        places = {}
        for name, values in buffers.items():
            data = np.ascontiguousarray(values).tobytes()
            places[name] = (self._memory.allocate(len(data)), len(data))
            self._memory.write(places[name][0], data)
        try:
            for step in steps:
                parameters = packed([places[a][0] if isinstance(a, str) else a for a in step.arguments])
                limits = Limits(seconds=300)
                launch(
                    module, step.kernel, step.grid, step.block, parameters, step.shared, self._memory, limits
                )
            return {name: self._memory.read(*place) for name, place in places.items()}
        finally:
            for address, _ in places.values():
                self._memory.free(address)


def packed(arguments: list[Any]) -> bytes:
    """Return arguments as a parameter buffer, each aligned to its size."""
    buffer = bytearray()
    for argument in arguments:
        data = np.uint64(argument).tobytes() if isinstance(argument, int) else argument.tobytes()
        buffer += bytes(-len(buffer) % len(data)) + data
    return bytes(buffer)


def same_bits(ours: bytes, theirs: bytes, kind: np.dtype[Any]) -> int:
    """Return how many elements differ; NaN is like NaN."""
    a, b = np.frombuffer(ours, kind), np.frombuffer(theirs, kind)
    raw = np.dtype(f"u{kind.itemsize}")
    different = a.view(raw) != b.view(raw)
    if kind.kind == "f":
        different &= ~(np.isnan(a) & np.isnan(b))
    return int(different.sum())


def compare_case(case: Case, gpu: Gpu, ours: Interpreter, modules: tuple[Any, Any]) -> dict[str, Any]:
    """Return the receipt's entry for a sample's case."""
    theirs_out = gpu.run(modules[0], case.steps, case.buffers)
    ours_out = ours.run(modules[1], case.steps, case.buffers)
    differing = 0
    for name, values in case.buffers.items():
        if name in case.unordered:
            kind = case.unordered[name]
            a, b = (np.sort(np.frombuffer(out[name], kind)) for out in (ours_out, theirs_out))
            differing += int((a != b).sum())
        else:
            differing += same_bits(ours_out[name], theirs_out[name], values.dtype)
    how = "unordered" if case.unordered else "bits"
    return entry(f"{case.sample}: {case.name}", how, sum(len(out) for out in ours_out.values()), differing)


def entry(name: str, how: str, size: int, differing: int, **more: Any) -> dict[str, Any]:  # noqa: ANN401  # JSON
    """Return a receipt's entry."""
    if differing:
        print(f"DIFFERS {name}: {differing} {more}", flush=True)  # noqa: T201  # a script speaks to its terminal
    return {"name": name, "compared": how, "bytes": size, "differing": differing, **more}


def compare_samples(gpu: Gpu, ours: Interpreter, nvcc: str, seed: int) -> tuple[list[Any], dict[str, str]]:
    """Compare every sample; return the entries and the digests of the PTX."""
    entries, digests = [], {}
    loaded: dict[str, tuple[Any, Any]] = {}
    for case in cases(seed):
        if case.sample not in loaded:
            text = compiled(nvcc, case.sample)
            digests[case.sample] = hashlib.sha256(text.encode()).hexdigest()
            loaded[case.sample] = (gpu.load(text), ours.load(text))
        entries.append(compare_case(case, gpu, ours, loaded[case.sample]))
    return entries, digests


def compiled(nvcc: str, sample: str) -> str:
    """Return the PTX of a sample."""
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "out.ptx"
        command = [nvcc, "-ptx", "-lineinfo", "-arch=sm_75", "-o", str(target), str(SAMPLES / f"{sample}.cu")]
        subprocess.run(command, check=True, timeout=300)  # noqa: S603  # the given compiler
        return target.read_text()


def compare_programs(gpu: Gpu, ours: Interpreter, count: int, seed: int) -> tuple[list[Any], dict[str, str]]:
    """Compare every operation by itself, and random programs."""
    choose = random.Random(seed).randrange  # noqa: S311  # data, no secret
    sets = {
        "operation": programs.every_operation(),
        "program": [programs.program(choose, most=16) for _ in range(count)],
    }
    records = programs.records(choose, THREADS)
    entries, digests = [], {}
    for kind, made in sets.items():
        text = programs.ptx(made)
        digests[f"random {kind}s"] = hashlib.sha256(text.encode()).hexdigest()
        theirs_module, ours_module = gpu.load(text), ours.load(text)
        for number, statements in enumerate(made):
            step = Step(f"k{number}", (THREADS // 128, 1, 1), (128, 1, 1), ("records", np.uint32(THREADS)))
            buffers = {"records": np.frombuffer(records, np.uint8)}
            theirs = gpu.run(theirs_module, (step,), buffers)["records"]
            mine = ours.run(ours_module, (step,), buffers)["records"]
            first = statements[0]
            shown = first.operation.ptx if kind == "operation" and isinstance(first, programs.Assign) else ""
            differing, example = variables_differ(mine, theirs, records)
            more = {"ptx": shown, "example": example} if differing else {}
            entries.append(entry(f"{kind} {number}", "bits", len(records), differing, **more))
    return entries, digests


def variables_differ(ours: bytes, theirs: bytes, before: bytes) -> tuple[int, str]:
    """Return how many variables of all threads differ, and the first one in words."""
    count, example = 0, ""
    tables = [np.frombuffer(data, np.uint8).reshape(-1, programs.RECORD) for data in (ours, theirs, before)]
    for kind, number, offset in programs.places():
        size = programs.SIZES[kind]
        element = np.dtype({"u": "u4", "w": "u8", "f": "f4", "g": "f8"}[kind])
        mine, their, old = (np.ascontiguousarray(t[:, offset : offset + size]) for t in tables)
        different = same_bits(mine.tobytes(), their.tobytes(), element)
        if different and not example:
            row = int(np.flatnonzero((mine != their).any(axis=1))[0])
            values = (mine[row].tobytes()[::-1].hex(), their[row].tobytes()[::-1].hex())
            example = f"{kind}{number} of thread {row}: {values[0]} here, {values[1]} there"
            example += f", inputs {tables[2][row].tobytes().hex()}"
            del old
        count += different
    return count, example


def compare_approximate(gpu: Gpu, ours: Interpreter, seed: int) -> tuple[list[Any], dict[str, str]]:
    """Compare the approximate functions with double precision, on both sides."""
    text = approximate_ptx()
    modules = (gpu.load(text), ours.load(text))
    entries = []
    for name, function in FUNCTIONS.items():
        values = function.inputs(np.random.default_rng(seed), 1 << 14)
        buffers = {"in": values, "out": np.zeros(values.size, values.dtype)}
        step = Step(f"f_{name}", (values.size // 128, 1, 1), (128, 1, 1), ("in", "out"))
        outs = [
            np.frombuffer(side.run(module, (step,), buffers)["out"], values.dtype)
            for side, module in ((gpu, modules[0]), (ours, modules[1]))
        ]
        theirs_bad, theirs_worst = judged(function, values, outs[0])
        ours_bad, ours_worst = judged(function, values, outs[1])
        entries.append(
            entry(
                f"approximate {name}",
                "error",
                values.nbytes,
                theirs_bad + ours_bad,
                bound=function.bound,
                worst_here=f"{ours_worst:.3g}",
                worst_there=f"{theirs_worst:.3g}",
                differing_here=ours_bad,
                differing_there=theirs_bad,
            )
        )
    return entries, {"approximate": hashlib.sha256(text.encode()).hexdigest()}


def find_nvcc() -> str:
    """Return an nvcc: of ``PATH``, or of the toolkit that the environment names."""
    folders = [os.environ.get(name, "") for name in ("CUDA_PATH", "CUDA_HOME")]
    folders += ["/usr/local/cuda-13.0", "/usr/local/cuda"]
    for folder in folders:
        if folder and (Path(folder) / "bin" / "nvcc").is_file():
            return str(Path(folder) / "bin" / "nvcc")
    return shutil.which("nvcc") or "nvcc"


def version_of(nvcc: str) -> str:
    """Return the last line of ``nvcc --version``."""
    told = subprocess.run([nvcc, "--version"], check=True, capture_output=True, text=True, timeout=60)  # noqa: S603  # as above
    return told.stdout.strip().splitlines()[-1]


def receipt(options: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the receipt."""
    started = time.monotonic()
    gpu, ours = Gpu(), Interpreter()
    entries: list[Any] = []
    digests: dict[str, str] = {}
    for found, named in (
        compare_samples(gpu, ours, options.nvcc, options.seed),
        compare_approximate(gpu, ours, options.seed),
        compare_programs(gpu, ours, options.programs, options.seed),
    ):
        entries += found
        digests |= named
    return {
        "schema": "assay/rehearsal-comparison/1",
        "device": gpu.facts(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "nvcc": version_of(options.nvcc),
        "seed": options.seed,
        "ptx_sha256": digests,
        "interpreter_sha256": interpreter_digest(),
        "comparisons": entries,
        "compared": len(entries),
        "differing": sum(1 for e in entries if e["differing"]),
        "seconds": round(time.monotonic() - started),
    }


def interpreter_digest() -> str:
    """Return one digest of the interpreter's files, names and contents in order."""
    digest = hashlib.sha256()
    folder = ROOT / "scripts" / "assay" / "rehearsal"
    parts = [
        folder / name
        for name in ("arrays.py", "device.py", "errors.py", "findings.py", "memory.py", "written.py")
    ]
    for path in sorted([*parts, *folder.glob("ptx/*.py"), *folder.glob("simt/*.py")]):
        digest.update(f"{path.relative_to(folder).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def main() -> int:
    """Write the receipt and return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="the receipt to write")
    parser.add_argument("--nvcc", default=find_nvcc(), help="the compiler of the samples")
    parser.add_argument("--seed", type=int, default=20261130)
    parser.add_argument("--programs", type=int, default=200, help="how many random programs")
    options = parser.parse_args()
    try:
        told = receipt(options)
    except LaunchError as error:
        print(f"the interpreter stopped: {error}", file=sys.stderr)  # noqa: T201  # as above
        return 1
    beside = options.out.with_name(options.out.name + ".part")
    beside.write_text(json.dumps(told, indent=1, sort_keys=True) + "\n")
    beside.replace(options.out)
    print(f"{told['compared']} comparisons, {told['differing']} differ: {options.out}")  # noqa: T201  # as above
    return 1 if told["differing"] else 0


if __name__ == "__main__":
    sys.exit(main())

"""``GpuRuntime`` in real Bun, on the tests' CUDA driver; every rehearsal of gate ``hosted`` runs WGSL so."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay.gates.childzip import make_child_zip
from assay.selection import TOOLKIT, Selection
from tests.chain.support import KERNELS, compile_driver
from tests.hosted.scripts import bun

SOURCE = (KERNELS / "consolidation" / "double.cu").read_text()


def said(selection: Selection, folder: Path, script: str) -> Any:  # noqa: ANN401  # JSON of any form
    """Return what a script printed that has CUDA open as ``gpu``."""
    archive = make_child_zip(folder).path
    driver = compile_driver(selection, folder).parent
    toolkit = selection.values[TOOLKIT]
    opened = f"""
    const options = {json.dumps({"adapter": None, "chain": str(archive)})};
    const source = {json.dumps(SOURCE)};
    const python = new Python({{ flags: ["-s", "-B"] }});
    {script}
    python.close();
    """
    changed = {"CUDA_PATH": toolkit, "LD_LIBRARY_PATH": f"{driver}:{toolkit}/lib:{toolkit}/lib64"}
    told, ended = bun(selection, folder, opened, changed)
    assert ended.returncode == 0, ended.stderr
    return told


def test_a_cuda_kernel_is_compiled_dispatched_and_read_back_exactly(
    selection: Selection, tmp_path: Path
) -> None:
    script = """
    const before = python.evaluate("sorted(name for name in __import__('sys').modules if 'cuda' in name)");
    const gpu = GpuRuntime.load(python, options);
    const made = gpu.cuda(source, "twice", Float32Array.from({ length: 37 }, (_, at) => at + 1));
    const facts = Object.keys(gpu.facts());
    gpu.close();
    gpu.close();
    console.log(JSON.stringify([before, [...made], facts, caught(() => gpu.facts())]));
    """
    before, made, facts, after = said(selection, tmp_path, script)
    assert (before, facts) == ([], ["nvrtc"])
    assert made == [2 * value for value in range(1, 38)]
    assert after["type"] == "NameError"


def test_a_kernel_that_the_compiler_refuses_is_an_exception_and_the_next_one_runs(
    selection: Selection, tmp_path: Path
) -> None:
    script = """
    using gpu = GpuRuntime.load(python, options);
    const refused = caught(() => gpu.cuda("no kernel", "twice", new Float32Array([1])));
    const wgsl = caught(() => gpu.wgsl("", "main", new Float32Array([1])));
    console.log(JSON.stringify([refused, wgsl, [...gpu.cuda(source, "twice", new Float32Array([0.5]))]]));
    gpu.close();
    """
    refused, wgsl, made = said(selection, tmp_path, script)
    assert refused["type"] == "CompileError"
    assert wgsl["type"] == "KeyError"
    assert made == [1.0]


@pytest.mark.parametrize("words", ["7fc00001ffc00001", "7f8000017f800000", "80000000", "00000001", ""])
def test_every_bit_passes_through(selection: Selection, tmp_path: Path, words: str) -> None:
    script = f"""
    const {{ fromWords, toWords }} = await import(process.env.GPU);
    console.log(JSON.stringify([toWords(fromWords("{words}")), fromWords("{words}").length]));
    """
    told, _ = bun(selection, tmp_path, script)
    assert told == [words, len(words) // 8]

"""Kernels to PTX and CUBIN: the real compilers, the same bytes whatever folder, time and working folder."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.chain.compile import jobs
from assay.chain.spec import parse_compile
from assay.selection import Selection
from tests.chain.support import (
    CHAINS,
    Child,
    Document,
    child_of,
    compile_request,
    compiled_chain,
    nvcc_of,
)
from tests.chain.test_spec import encoded

ARCHITECTURES = ("sm_90", "sm_75")


@dataclasses.dataclass(frozen=True)
class Built:
    """One result with its folder."""

    folder: Path
    result: Document

    def outputs(self) -> Iterator[tuple[Document, bytes]]:
        """Yield each output with its bytes."""
        for output in self.result["outputs"]:
            yield output, (self.folder / output["name"]).read_bytes()


def build(selection: Selection, scratch: Path, name: str) -> Built:
    """Compile every kernel of the project in folders that differ in every way."""
    place = scratch / name
    (place / "tmp").mkdir(parents=True)
    child = child_of(selection, place)
    request = compile_request([compiled_chain(one) for one in CHAINS], nvcc_of(selection), ARCHITECTURES)
    return Built(place / "out", child.compile(request, place / "out", cwd=place))


@pytest.fixture(scope="module")
def built(selection: Selection, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(selection, tmp_path_factory.mktemp("first"), "a")


def test_ptx_is_made_for_the_lowest_architecture_and_cubin_for_each() -> None:
    request = parse_compile(encoded(compile_request([compiled_chain("pipeline")], "nvcc", ARCHITECTURES)))
    made = [(job.stage.name, job.kind, job.architecture) for job in jobs(request)]
    each = [("ptx", "sm_75"), ("cubin", "sm_90"), ("cubin", "sm_75")]
    assert made == [(stage, *kind) for stage in ("double", "double-again") for kind in each]


def test_every_cuda_source_is_made_and_recorded(built: Built) -> None:
    assert (built.result["exit"], built.result["errors"]) == (0, [])
    assert len(built.result["outputs"]) == 5 * 3  # five CUDA stages; PTX once, CUBIN twice
    for output, data in built.outputs():
        assert (output["size"], output["sha256"]) == (len(data), hashlib.sha256(data).hexdigest())
        expected = "{chain}.{stage}.{architecture}.{kind}".format(**output)
        assert output["name"] == expected
        if output["kind"] == "ptx":
            assert b"\n.target sm_75\n" in data
            assert data.endswith(b"\n")
        else:
            assert data.startswith(b"\x7fELF")
    names = {path.name for path in built.folder.iterdir()}
    assert names == {output["name"] for output in built.result["outputs"]} | {"result.json"}


def test_the_compilers_are_named(built: Built) -> None:
    compilers = built.result["compilers"]
    assert Path(compilers["nvcc"]["path"]).name == "nvcc"
    assert Path(compilers["nvrtc"]["path"]).is_file()
    told = {output["compiler"] for output in built.result["outputs"]}
    assert told == {f"{name} {facts['version']}" for name, facts in compilers.items()}


def test_the_bytes_depend_on_no_folder(built: Built, selection: Selection, tmp_path: Path) -> None:
    again = build(selection, tmp_path / "some where else", "another, longer name")
    assert {output["name"]: data for output, data in again.outputs()} == {
        output["name"]: data for output, data in built.outputs()
    }


def test_a_kernel_is_known_by_its_fixed_name(built: Built) -> None:
    for output, data in built.outputs():
        if output["kind"] == "ptx":
            source = "add_one.cu" if output["stage"] == "add-one" else "double.cu"
            assert f'"/kernels/{output["chain"]}/{source}"'.encode() in data
        assert str(built.folder.parent).encode() not in data


def refused(selection: Selection, scratch: Path, *, runtime: str, nvcc: str | None = None) -> Document:
    """Compile a kernel with a mistake on its third line and return the first error."""
    one = compiled_chain("cuda-only")
    (stage,) = (stage for stage in one["stages"] if stage["runtime"] == runtime)
    stage["text"] = f"// comment\n// comment\nint {stage['entry']} = undefined_name;\n"
    one["stages"] = [stage | {"input": "values"}]
    result = child_of(selection, scratch).compile(
        compile_request([one], nvcc or nvcc_of(selection)), scratch / "out"
    )
    assert result["exit"] == 1
    assert result["outputs"] == []
    error: Document = result["errors"][0]
    return error


@pytest.mark.parametrize(("runtime", "source"), [("pycuda", "double.cu"), ("nvrtc", "add_one.cu")])
def test_a_refused_kernel_is_told_with_the_compilers_words(
    selection: Selection, tmp_path: Path, runtime: str, source: str
) -> None:
    error = refused(selection, tmp_path, runtime=runtime)
    assert (error["kind"], error["type"], error["step"]) == ("failed", "CompileError", "compile")
    assert f"/kernels/cuda-only/{source}(3)" in error["message"]
    assert "undefined_name" in error["message"]


def test_a_compiler_that_is_not_there_is_unavailable(selection: Selection, tmp_path: Path) -> None:
    error = refused(selection, tmp_path, runtime="pycuda", nvcc="/no/such/nvcc")
    assert (error["kind"], error["reason"]) == ("unavailable", "compiler-missing")


def test_an_interpreter_without_packages_says_which_is_missing(tmp_path: Path, selection: Selection) -> None:
    assert selection.executable is not None
    bare = Child(selection.executable, tmp_path, {})
    isolated = dataclasses.replace(bare, program=("-S", str(Path(bare.argv()[-1]))))
    result = isolated.compile(compile_request([compiled_chain("pipeline")], "nvcc"), tmp_path / "out")
    assert {(error["kind"], error["reason"]) for error in result["errors"]} == {
        ("unavailable", "package-missing")
    }
    assert {name: facts["error"]["reason"] for name, facts in result["compilers"].items()} == {
        "nvcc": "package-missing",
        "nvrtc": "package-missing",
    }

"""Kernels compiled twice: with the embedded selection for real, and with scripted children that misbehave."""

from __future__ import annotations

import hashlib
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from assay.errors import DeadlineError
from assay.gates.kernels import compile_kernels
from assay.judge import build
from assay.judge.reading import objects, text
from assay.model import Facts
from assay.selection import Selection
from tests.gates.running import Bench, bench, ids
from tests.plan.support import plan_table

KERNEL = """\
extern "C" __global__ void double_it(const float *in, float *out, unsigned int count)
{
    unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = 2.0f * in[i];
}
"""

CHILD = """\
#!{python}
import json, os, pathlib, sys, time

words = sys.argv[sys.argv.index("compile"):]
request = json.loads(pathlib.Path(words[words.index("--request") + 1]).read_text())
output = pathlib.Path(words[words.index("--output") + 1])

def image(kind, arch, data=b"image"):
    name = f"pipeline.double.{{arch}}.{{kind}}"
    (output / name).write_bytes(data)
    told = {{"chain": "pipeline", "stage": "double", "kind": kind, "architecture": arch}}
    return {{**told, "compiler": "fake 1", "name": name, "sha256": "not read", "size": 0}}

def result(outputs, errors=(), compilers=()):
    document = {{"outputs": list(outputs), "errors": list(errors), "compilers": dict(compilers)}}
    (output / "result.json").write_text(json.dumps({{**document, "schema": "assay/chain-compiled/1"}}))

ERROR = {{"chain": "pipeline", "stage": "double", "message": "said"}}

def everything(data=b"image"):
    return [image("ptx", "sm_75", data), image("cubin", "sm_75", data), image("cubin", "sm_90", data)]

{body}
"""


def plan_for(kernel: str) -> dict[str, Any]:
    """Return a plan with one CUDA stage whose source is ``kernel``."""
    plan = plan_table()
    plan["kernels"]["pipeline"]["stage"] = [plan["kernels"]["pipeline"]["stage"][0]]
    plan["kernels"]["pipeline"]["stage"][0]["sha256"] = hashlib.sha256(kernel.encode()).hexdigest()
    return plan


def write_kernel(run: Bench, kernel: str) -> None:
    folder = run.context.project / "kernels" / "pipeline"
    folder.mkdir(parents=True)
    (folder / "double.cu").write_text(kernel)


def scripted(tmp_path: Path, body: str) -> Mapping[str, str]:
    """Return a selection whose interpreter is a script that plays the compiling child."""
    child = tmp_path / "python"
    child.write_text(CHILD.format(python=sys.executable, body=textwrap.dedent(body)))
    child.chmod(0o755)
    return {"BUN_PYTHON_EXECUTABLE": str(child)}


def observed(
    tmp_path: Path, body: str, kernel: str = KERNEL, deadline_s: int = 60
) -> tuple[Facts, list[str], Bench]:
    """Return facts and the kernels' findings of a scripted child."""
    selection = scripted(tmp_path, body)
    with bench(tmp_path, plan=plan_for(KERNEL), selection=selection, deadline_s=deadline_s) as run:
        write_kernel(run, kernel)
        facts = run.observe(compile_kernels)
        return facts, kernel_findings(run, facts), run


def kernel_findings(run: Bench, facts: Facts) -> list[str]:
    """Return what the judge of build finds in the kernels' facts alone."""
    kinds = ("BUILD-KERNEL", "BUILD-COMPILE", "BUILD-SOURCE", "BUILD-NO-INTERPRETER")
    return [found for found in ids(build.judge(run.case(), facts)) if found.startswith(kinds)]


def test_images_are_hashed_here_and_those_of_the_first_child_are_kept(tmp_path: Path) -> None:
    facts, findings, run = observed(tmp_path, "result(everything())")
    assert findings == []
    sha256 = hashlib.sha256(b"image").hexdigest()
    assert {text(image, "sha256") for image in objects(facts, "kernels")} == {sha256}
    assert [artifact.name for artifact in run.context.artifacts] == [
        "pipeline.double.sm_75.ptx",
        "pipeline.double.sm_75.cubin",
        "pipeline.double.sm_90.cubin",
    ]
    assert run.context.artifact_path(sha256).read_bytes() == b"image"


def test_the_two_children_have_folders_of_their_own_and_the_same_request(tmp_path: Path) -> None:
    body = """
    pathlib.Path(sys.argv[0]).with_name(f"seen-{output.parent.name}").write_text(
        json.dumps([os.getcwd(), request, sorted(os.environ.items())]))
    result(everything())
    """
    observed(tmp_path, body)
    first, second = (tmp_path / f"seen-compile-{name}" for name in ("first", "second"))
    ours, theirs = first.read_text(), second.read_text()
    assert ours != theirs
    assert ours.replace("compile-first", "compile-second") == theirs


@pytest.mark.parametrize(
    ("body", "findings"),
    [
        ("result(everything(str(output).encode()))", ["BUILD-KERNEL-NOT-REPRODUCIBLE"] * 3),
        ("result(everything()[1:])", ["BUILD-KERNEL-MISSING"]),
        ("result([])", ["BUILD-KERNEL-MISSING"] * 3),
        ("sys.exit(2)", ["BUILD-COMPILE-BROKE"]),
        ("sys.exit(0)", ["BUILD-COMPILE-BROKE"]),
        ("os.kill(os.getpid(), 11)", ["BUILD-COMPILE-BROKE"]),
        ("result(everything()); (output / 'pipeline.double.sm_75.ptx').unlink()", ["BUILD-COMPILE-BROKE"]),
        ("(output / 'result.json').write_text('{')", ["BUILD-COMPILE-BROKE"]),
        ("(output / 'result.json').write_text('[1.5]')", ["BUILD-COMPILE-BROKE"]),
        ("(output / 'result.json').write_text('[]')", ["BUILD-COMPILE-BROKE"]),
        ("(output / 'result.json').mkdir()", ["BUILD-COMPILE-BROKE"]),
        ("result([{'name': 7}])", ["BUILD-COMPILE-BROKE"]),
        ("result([{'name': '../../../../etc/passwd'}])", ["BUILD-COMPILE-BROKE"]),
        ("result(['x'])", ["BUILD-COMPILE-BROKE"]),
        ("result([], errors=[{**ERROR, 'kind': 'failed'}] * 3)", ["BUILD-KERNEL-REFUSED"]),
        ("result([], errors=[{**ERROR, 'kind': 'unavailable'}])", ["BUILD-COMPILER-MISSING"]),
    ],
)
def test_a_child_that_does_not_do_its_work_is_named(tmp_path: Path, body: str, findings: list[str]) -> None:
    assert observed(tmp_path, body)[1] == findings


@pytest.mark.parametrize("code", [1, 2])
def test_what_a_dying_child_said_is_told(tmp_path: Path, code: int) -> None:
    body = f"print('to the log'); print('no such architecture', file=sys.stderr); sys.exit({code})"
    problem = text(observed(tmp_path, body)[0], "compile.problem")
    assert problem.startswith(f"the compiling child ended with {code}")
    assert "no such architecture" in problem


def test_a_child_that_hangs_meets_the_gates_deadline(tmp_path: Path) -> None:
    with pytest.raises(DeadlineError):
        observed(tmp_path, "time.sleep(60)", deadline_s=1)


def test_a_source_that_changed_since_the_plan_was_frozen_is_named(tmp_path: Path) -> None:
    _, findings, _ = observed(tmp_path, "result(everything())", kernel=KERNEL + "// another line\n")
    assert findings == ["BUILD-SOURCE-CHANGED"]


def test_a_source_that_is_gone_is_named(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_for(KERNEL), selection=scripted(tmp_path, "result([])")) as run:
        facts = run.observe(compile_kernels)
        assert facts["sources"] == [
            {"chain": "pipeline", "stage": "double", "source": "double.cu", "sha256": ""},
        ]
        assert kernel_findings(run, facts) == ["BUILD-SOURCE-CHANGED", *["BUILD-KERNEL-MISSING"] * 3]
        assert run.context.commands == []


def test_without_a_selection_nothing_is_compiled(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_for(KERNEL)) as run:
        write_kernel(run, KERNEL)
        assert kernel_findings(run, run.observe(compile_kernels)) == ["BUILD-NO-INTERPRETER"]


def test_an_interpreter_that_does_not_exist_is_named(tmp_path: Path) -> None:
    selection = {"BUN_PYTHON_EXECUTABLE": str(tmp_path / "nowhere")}
    with bench(tmp_path, plan=plan_for(KERNEL), selection=selection) as run:
        write_kernel(run, KERNEL)
        assert kernel_findings(run, run.observe(compile_kernels)) == ["BUILD-COMPILE-BROKE"]


@pytest.fixture
def real(tmp_path: Path, selection: Selection) -> Iterator[Bench]:
    """Return a context over the embedded selection, with a CUDA stage for each compiler."""
    plan = plan_for(KERNEL)
    stage = plan["kernels"]["pipeline"]["stage"][0]
    plan["kernels"]["pipeline"]["stage"] = [stage, {**stage, "name": "again", "runtime": "nvrtc"}]
    with bench(tmp_path, plan=plan, selection=selection.values, deadline_s=300) as run:
        yield run


def test_the_embedded_selection_compiles_ptx_and_cubin_with_the_same_bytes_twice(real: Bench) -> None:
    write_kernel(real, KERNEL)
    facts = real.observe(compile_kernels)
    assert kernel_findings(real, facts) == []
    images = {
        text(image, "name"): real.context.artifact_path(text(image, "sha256"))
        for image in objects(facts, "kernels")
    }
    assert len(images) == 6
    ptx = images["pipeline.double.sm_75.ptx"].read_text()
    assert ".target sm_75" in ptx
    assert '.file\t1 "/kernels/pipeline/double.cu"' in ptx
    assert str(real.context.scratch) not in ptx
    for name in ("double", "again"):
        data = images[f"pipeline.{name}.sm_90.cubin"].read_bytes()
        assert data[:4] == b"\x7fELF"
        assert int.from_bytes(data[18:20], "little") == 190  # EM_CUDA


def test_a_broken_kernel_is_refused_with_its_line(real: Bench) -> None:
    write_kernel(real, KERNEL.replace("2.0f * in[i]", "2.0f * nothing[i]"))
    facts = real.observe(compile_kernels)
    findings = [found for found in build.judge(real.case(), facts) if found.id == "BUILD-KERNEL-REFUSED"]
    assert {found.observed.partition(":")[0] for found in findings} == {"pipeline/double", "pipeline/again"}
    for found in findings:
        assert "/kernels/pipeline/double.cu(4): error" in found.observed
        assert "nothing" in found.observed
        assert len(found.observed) < 5000

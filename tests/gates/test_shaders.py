"""The shader compiled twice: by glslang for real, and by scripted compilers that misbehave."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assay.errors import DeadlineError
from assay.gates import shaders
from assay.gates.shaders import PROGRAM, compile_shader, unpacked_compiler
from assay.judge import build
from assay.judge.reading import text
from assay.model import Facts
from assay.plan.values import SharedBuffers
from tests.conftest import PROJECT
from tests.gates.running import Bench, bench
from tests.judge.measurefacts import measuring_plan

SOURCE = PROJECT / "kernels" / "pipeline" / "add_one.comp"
MAGIC = bytes.fromhex("03022307")
"""The first word of SPIR-V, little-endian (SPIR-V 1.6, 3.1)."""


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextmanager
def on(folder: Path, source: bytes, compiler: str = "") -> Iterator[tuple[Bench, SharedBuffers]]:
    """Yield a bench whose project has this shader, and a compiler on PATH: a script of Python."""
    plan = measuring_plan()
    plan["shared-buffers"]["sha256"] = sha(source)
    kernel = folder / "project" / "kernels" / "pipeline" / "add_one.comp"
    kernel.parent.mkdir(parents=True)
    kernel.write_bytes(source)
    programs = folder / "programs"
    programs.mkdir()
    if compiler:
        script = programs / PROGRAM
        script.write_text(f"#!{sys.executable}\nimport pathlib, sys, time\n{textwrap.dedent(compiler)}")
        script.chmod(0o755)
    with bench(folder, plan=plan, environ={"PATH": str(programs)}) as made:
        shared = made.setup.plan.shared_buffers
        assert shared is not None
        yield made, shared


def found(made: Bench, facts: Facts) -> set[str]:
    """Return what gate build finds of the shader."""
    return {
        each.id for each in build.judge(made.case(), {"shader": facts}) if "add_one.comp" in each.observed
    }


def use_the_project_s(folder: Path) -> str:
    """Let a project use the compiler that this one has; return the folder of its tools."""
    own = unpacked_compiler(PROJECT)
    if not own.is_file():
        pytest.fail("this test needs glslang: run `nox -s provision` first", pytrace=False)
    place = unpacked_compiler(folder / "project")
    place.parent.parent.parent.mkdir(parents=True)
    place.parent.parent.symlink_to(own.parent.parent)
    return str(own.parent)


def test_the_project_s_shader_compiles_to_the_same_valid_spirv_twice(tmp_path: Path) -> None:
    with on(tmp_path, SOURCE.read_bytes()) as (made, wanted):
        tools = use_the_project_s(tmp_path)
        facts = compile_shader(made.context, wanted)
        spirv = made.context.artifact_path(text(facts, "spirv.sha256")).read_bytes()
        assert found(made, facts) == set()
    assert (spirv[:4], sha(spirv)) == (MAGIC, text(facts, "again"))
    assert re.fullmatch(r"\d+:\d+\.\d+\.\d+.*", text(facts, "compiler.version"))
    kept = tmp_path / "kept.spv"
    kept.write_bytes(spirv)
    checked = subprocess.run(  # noqa: S603  # the validator of the same package
        [f"{tools}/spirv-val", "--target-env", "vulkan1.2", str(kept)], capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


def test_the_spirv_has_the_arithmetic_of_the_chain_s_stage(tmp_path: Path) -> None:
    with on(tmp_path, SOURCE.read_bytes()) as (made, wanted):
        tools = use_the_project_s(tmp_path)
        facts = compile_shader(made.context, wanted)
        spirv = made.context.artifact_path(text(facts, "spirv.sha256"))
        shown = subprocess.run(  # noqa: S603  # the disassembler of the same package
            [f"{tools}/spirv-dis", "--raw-id", str(spirv)], capture_output=True, check=True, text=True
        ).stdout
    (one,) = re.findall(r"(%\d+) = OpConstant %\d+ 1\n", "\n".join(_float_constants(shown)) + "\n")
    sums = re.findall(r"= OpFAdd %\d+ %\d+ (%\d+)", shown)
    assert sums == [one] * 5  # four at once, and one in the loop over the rest
    assert not re.findall(r"OpF(?:Sub|Mul|Div|Rem|Mod|Negate)", shown)
    assert re.search(r'OpEntryPoint GLCompute %\d+ "main"', shown)
    assert re.search(r"OpExecutionMode %\d+ LocalSize 256 1 1", shown)


def _float_constants(shown: str) -> list[str]:
    """Return the constants of type float32."""
    (kind,) = re.findall(r"(%\d+) = OpTypeFloat 32", shown)
    return [line.strip() for line in shown.splitlines() if f"OpConstant {kind} " in line]


def test_a_refused_shader_is_told_in_the_compiler_s_words(tmp_path: Path) -> None:
    with on(tmp_path, b"#version 450\nvoid main() { nonsense = 1; }\n") as (made, wanted):
        use_the_project_s(tmp_path)
        facts = compile_shader(made.context, wanted)
        assert found(made, facts) == {"BUILD-KERNEL-REFUSED"}
    assert "nonsense" in text(facts, "problem")
    assert "spirv" not in facts


def test_without_a_compiler_it_is_said_where_one_was_looked_for(tmp_path: Path) -> None:
    with on(tmp_path, SOURCE.read_bytes()) as (made, wanted):
        facts = compile_shader(made.context, wanted)
        assert found(made, facts) == set()
    assert facts == {
        "compiler": None,
        "looked": ["glslangValidator on PATH", str(unpacked_compiler(tmp_path / "project"))],
        "problem": "",
        "sha256": sha(SOURCE.read_bytes()),
    }


def test_a_shader_that_is_not_the_plan_s_or_not_there_is_named(tmp_path: Path) -> None:
    with on(tmp_path, SOURCE.read_bytes(), WRITES) as (made, wanted):
        kernel = tmp_path / "project" / "kernels" / "pipeline" / "add_one.comp"
        kernel.write_bytes(b"// another\n")
        changed = compile_shader(made.context, wanted)
        assert found(made, changed) == {"BUILD-SOURCE-CHANGED"}
        kernel.unlink()
        gone = compile_shader(made.context, wanted)
        assert found(made, gone) == {"BUILD-SOURCE-CHANGED"}


WRITES = """
if "--version" in sys.argv:
    print("Glslang Version: 9:1.2.3")
else:
    pathlib.Path("out.spv").write_bytes(b"same")
"""


def test_a_compiler_on_path_comes_first_and_runs_in_two_folders(tmp_path: Path) -> None:
    with on(tmp_path, SOURCE.read_bytes(), WRITES) as (made, wanted):
        facts = compile_shader(made.context, wanted)
    script = tmp_path / "programs" / PROGRAM
    assert text(facts, "compiler.path") == str(script)
    assert text(facts, "compiler.sha256") == sha(script.read_bytes())
    assert text(facts, "compiler.version") == "9:1.2.3"
    assert text(facts, "spirv.sha256") == text(facts, "again") == sha(b"same")


@pytest.mark.parametrize(
    ("script", "entry"),
    [
        ("pathlib.Path('out.spv').write_text(str(pathlib.Path.cwd()))", "BUILD-KERNEL-NOT-REPRODUCIBLE"),
        ("sys.exit(7)", "BUILD-KERNEL-REFUSED"),
        ("pass", "BUILD-KERNEL-REFUSED"),
        ("pathlib.Path('out.spv').mkdir()", "BUILD-KERNEL-REFUSED"),
        ("import os; os.kill(os.getpid(), 9)", "BUILD-KERNEL-REFUSED"),
        (
            "p = pathlib.Path('out.spv').resolve(); p.touch() if 'first' in str(p) else sys.exit(1)",
            "BUILD-KERNEL-REFUSED",
        ),
    ],
)
def test_a_compiler_that_misbehaves_is_a_finding(tmp_path: Path, script: str, entry: str) -> None:
    with on(tmp_path, SOURCE.read_bytes(), script) as (made, wanted):
        assert found(made, compile_shader(made.context, wanted)) == {entry}


@pytest.mark.parametrize("when", ["True", "'--version' in sys.argv"])
def test_a_compiler_that_does_not_end_is_a_deadline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(shaders, "_DEADLINE_S", 0.5)
    hangs = f"if {when}:\n    time.sleep(60)\npathlib.Path('out.spv').write_bytes(b'x')\n"
    with on(tmp_path, SOURCE.read_bytes(), hangs) as (made, wanted), pytest.raises(DeadlineError):
        compile_shader(made.context, wanted)

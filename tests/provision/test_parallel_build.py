from __future__ import annotations

import threading
import zipfile
from pathlib import Path

import pytest

from assay.provision import parallel_build
from assay.provision.children import Children
from assay.provision.environments import Environment
from assay.provision.parallel_build import in_parallel

HOOKS = """
import os, sys, types, zipfile
class CCompiler:
    def compile(self, sources, **options):
        return [source + ".o" for source in sources]
compilers = types.ModuleType("distutils.ccompiler"); compilers.CCompiler = CCompiler
sys.modules["distutils"] = types.ModuleType("distutils"); sys.modules["distutils.ccompiler"] = compilers
class __legacy__:
    @staticmethod
    def build_wheel(out):
        made = CCompiler().compile(["one.cpp", "two.cpp"], debug=False)
        with zipfile.ZipFile(os.path.join(out, "x.whl"), "w") as archive:
            archive.writestr("objects", " ".join(made) + " " + str(os.getcwd() in sys.path))
"""


def test_objects_come_in_the_order_of_their_sources_with_the_options_of_all() -> None:
    def compile_(_compiler: object, sources: list[str], *, debug: bool) -> list[str]:
        return [f"{source}-{debug}.o" for source in sources]

    assert in_parallel(compile_, 4)(None, ["a", "b", "c"], debug=True) == ["a-True.o", "b-True.o", "c-True.o"]


def test_as_many_compile_at_once_as_there_are_jobs() -> None:
    meeting = threading.Barrier(3, timeout=30)

    def compile_(_compiler: object, sources: list[str]) -> list[str]:
        meeting.wait()  # comes back only when three are here at once
        return sources

    assert in_parallel(compile_, 3)(None, ["a", "b", "c"]) == ["a", "b", "c"]


def test_the_first_failure_is_raised() -> None:
    def compile_(_compiler: object, sources: list[str]) -> list[str]:
        raise ValueError(sources[0])

    with pytest.raises(ValueError, match="a"):
        in_parallel(compile_, 2)(None, ["a", "b"])


def test_the_builder_uses_setuptools_own_hook(tools: Environment, children: Children, tmp_path: Path) -> None:
    modules = tmp_path / "setuptools"
    modules.mkdir()
    (modules / "__init__.py").write_text("")
    (modules / "build_meta.py").write_text(HOOKS)
    argv = [str(tools.python), "-B", str(Path(parallel_build.__file__)), str(tmp_path), "2"]
    extra = {"PYTHONPATH": str(tmp_path)}
    ended = children.run("a wheel", argv, deadline_s=60, cwd=tmp_path, extra=extra)
    assert ended.exit == 0, children.last_words(ended)
    assert zipfile.ZipFile(tmp_path / "x.whl").read("objects") == b"one.cpp.o two.cpp.o True"

"""The interpreter about itself."""

from __future__ import annotations

import importlib.machinery
import os
import sys
import sysconfig
from pathlib import Path
from types import ModuleType

import pytest

from assay.chain import interpreter
from tests.chain.support import Child


def test_a_build_is_told_by_its_variables() -> None:
    told = interpreter.facts()
    build = told["build"]
    assert isinstance(build, dict)
    assert build["EXT_SUFFIX"] == importlib.machinery.EXTENSION_SUFFIXES[0]
    assert build["SOABI"] == sysconfig.get_config_var("SOABI")
    assert told["version"] == sys.version.split()[0]
    assert told["pointer_bits"] == 64
    assert told["prefix"] == sys.prefix


def test_hello_names_variables_without_their_values(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_TEST_TOKEN", "a-secret-of-some-length")
    told = interpreter.hello()
    assert "ASSAY_TEST_TOKEN" in told["environment"]  # type: ignore[operator]  # a list of names
    assert "a-secret-of-some-length" not in str(told)
    assert told["pid"] == os.getpid()


def test_flags_are_those_that_the_child_was_started_with(tmp_path: Path) -> None:
    told = Child(sys.executable, tmp_path).probe("interpreter")["interpreter"]["facts"]
    assert (told["flags"]["no_user_site"], told["flags"]["dont_write_bytecode"]) == (1, 1)
    assert told["flags"]["optimize"] == 0
    assert told["executable"] == sys.executable
    assert told["path"][0] == str(tmp_path / "chain.zip")


def test_loaded_modules_are_told_with_file_and_loader() -> None:
    modules = {module["name"]: module for module in interpreter.loaded()["modules"]}  # type: ignore[attr-defined]  # a list
    told = modules["assay.chain.interpreter"]
    assert told["file"] == interpreter.__file__
    assert told["loader"] == "SourceFileLoader"
    assert str(told["cached"]).endswith(".pyc")
    assert "sys" not in modules


def test_a_module_that_lies_about_its_file_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    liar = ModuleType("assay_liar")
    vars(liar)["__file__"] = 7
    monkeypatch.setitem(sys.modules, "assay_liar", liar)
    monkeypatch.setitem(sys.modules, "assay_none", None)  # as a blocked import leaves it
    names = [module["name"] for module in interpreter.loaded()["modules"]]  # type: ignore[attr-defined]  # a list
    assert "assay_liar" not in names
    assert "assay_none" not in names
    assert names == sorted(names)

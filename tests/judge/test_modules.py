"""Modules of selection, standard library and zip; no start-up hook; no bytecode without its source."""

from __future__ import annotations

import pytest

from tests.judge.chainfacts import facts_with, findings, ids, with_module

pytestmark = pytest.mark.gate

SITE = "$SELECTION/lib/python3.12/site-packages"


@pytest.mark.parametrize("name", ["sitecustomize", "usercustomize", "sitecustomize.more"])
def test_a_start_up_module_in_the_selection_is_injected(name: str) -> None:
    assert ids(with_module(name, f"{SITE}/{name}.py")) == ["CHAIN-MODULE-INJECTED"]


def test_one_that_comes_from_elsewhere_is_both() -> None:
    found = ids(with_module("sitecustomize", "/opt/spy/sitecustomize.py"))
    assert found == ["CHAIN-MODULE-INJECTED", "CHAIN-MODULE-OUTSIDE"]


def test_the_distributions_own_start_up_module_of_its_own_interpreter_is_not() -> None:
    assert ids(with_module("sitecustomize", "/usr/lib/python3.12/sitecustomize.py")) == []
    facts = with_module("sitecustomize", "$HOME/python/lib/python3.12/sitecustomize.py")
    facts["child"]["hello"]["base_prefix"] = "$HOME/python"
    assert "CHAIN-MODULE-INJECTED" in ids(facts)


@pytest.mark.parametrize(
    "line",
    [
        "import _virtualenv",
        (
            "import os; var = 'SETUPTOOLS_USE_DISTUTILS'; enabled = os.environ.get(var, 'local') == 'local'; "
            "enabled and __import__('_distutils_hack').add_shim(); "
        ),
    ],
)
def test_lines_that_setuptools_and_virtualenv_write_are_known(line: str) -> None:
    assert ids(facts_with(child__pth=[{"line": line, "path": f"{SITE}/x.pth"}])) == []


@pytest.mark.parametrize("line", ["import spy", "import _virtualenv; import spy", "import _virtualenv_spy"])
def test_any_other_importing_line_is_named_with_its_file(line: str) -> None:
    (found,) = findings(facts_with(child__pth=[{"line": line, "path": f"{SITE}/spy.pth"}]))
    assert found.id == "CHAIN-MODULE-INJECTED"
    assert f"{SITE}/spy.pth" in found.observed
    assert line in found.observed


@pytest.mark.parametrize(
    "file",
    ["/opt/x/spy.py", "$PROJECT/spy.py", "$HOME/spy.py", "/usr/lib/x86_64-linux-gnu/spy.py", "spy.py", ""],
)
def test_a_module_from_outside_is_named(file: str) -> None:
    assert "CHAIN-MODULE-OUTSIDE" in ids(with_module("spy", file))


def test_a_zip_of_the_same_name_elsewhere_is_not_the_chains() -> None:
    assert "CHAIN-MODULE-OUTSIDE" in ids(with_module("spy", "/opt/chain.zip/spy.py"))
    assert "CHAIN-MODULE-OUTSIDE" in ids(with_module("spy", "chain.zip/../spy.py"))


@pytest.mark.parametrize(
    "more", [{"bytecode": "elsewhere"}, {"loader": "SourcelessFileLoader"}, {"file": f"{SITE}/old.pyc"}]
)
def test_bytecode_that_may_not_be_of_its_source_is_named(more: dict[str, str]) -> None:
    module = {"file": f"{SITE}/old.py", "name": "old", **more}
    assert ids(with_module(**module)) == ["CHAIN-MODULE-BYTECODE"]


def test_a_module_that_could_not_be_hashed_is_named() -> None:
    assert ids(with_module("numpy.gone", f"{SITE}/numpy/gone.py", sha256="")) == ["CHAIN-LIBRARY-REPLACED"]


def test_a_child_without_modules_was_not_seen() -> None:
    assert ids(facts_with(child__modules=[])) == ["CHAIN-UNSEEN"]

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from assay.errors import ProvisionError
from assay.provision.children import Children
from assay.provision.environments import make_environment
from assay.provision.interpreter import describe
from tests.provision.world import script

RELATIVE = """
case " $* " in *" --copies "*) how=exit\\ 127 ;; *) how=exit\\ 0 ;; esac
for last; do :; done
mkdir -p "$last/bin"
printf '#!/bin/sh\\n%s\\n' "$how" > "$last/bin/{name}"
chmod +x "$last/bin/{name}"
"""


def test_the_interpreter_is_a_copy_and_there_is_no_pip(children: Children, tmp_path: Path) -> None:
    made = make_environment(children, describe(children, sys.executable), tmp_path / "venv")
    assert not made.python.is_symlink()
    assert made.site_packages.is_dir()
    assert list(made.site_packages.iterdir()) == []


def test_an_interpreter_whose_copy_does_not_start_is_linked(children: Children, tmp_path: Path) -> None:
    here = describe(children, sys.executable)
    relative = script(tmp_path / "python", RELATIVE.format(name=f"python{here.minor}"))
    made = make_environment(children, replace(here, executable=str(relative)), tmp_path / "venv")
    assert "exit 0" in made.python.read_text()
    assert "--symlinks" in children.log.read_text()


def test_an_environment_that_cannot_be_made_is_an_error(children: Children, tmp_path: Path) -> None:
    here = describe(children, sys.executable)
    broken = replace(here, executable=str(script(tmp_path / "python", "echo no ensurepip >&2; exit 1")))
    with pytest.raises(ProvisionError, match="no ensurepip") as caught:
        make_environment(children, broken, tmp_path / "venv")
    assert f"python{here.minor}-venv" in caught.value.remedy

"""Fixtures of the provisioning tests."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.provision import flow, lockfile
from assay.provision.children import Children, clean_environment
from assay.provision.environments import Environment, make_tools
from assay.provision.flow import provision
from assay.provision.interpreter import describe
from tests.provision.world import World, make_world


@pytest.fixture(scope="session")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Environment:
    """Return an environment with pip; making one takes longer than everything else."""
    folder = tmp_path_factory.mktemp("tools")
    children = Children(clean_environment(os.environ), folder / "log")
    return make_tools(children, describe(children, sys.executable), folder / "tools")


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, tools: Environment) -> Iterator[World]:
    """Return a small world, which provisions with an environment with pip that was made once."""
    monkeypatch.setattr(flow, "make_tools", lambda *_arguments: tools)
    yield make_world(tmp_path, monkeypatch)
    lockfile.load_lock.cache_clear()


@pytest.fixture(scope="module")
def provisioned_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, tuple[str, ...]]]:
    """Return a small world that has been provisioned with all of it, PyCUDA's build too, and what was said.

    It is for reading only.
    """
    with pytest.MonkeyPatch.context() as patch:
        world, said = make_world(tmp_path_factory.mktemp("world"), patch), list[str]()
        for path in world.wheelhouse.glob("pycuda-*.whl*"):
            path.unlink()
        provision(world.request(), said.append)
        yield world, tuple(said)
    lockfile.load_lock.cache_clear()


@pytest.fixture
def children(tmp_path: Path) -> Children:
    """Return a way to run children."""
    return Children({"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, tmp_path / "children.log")

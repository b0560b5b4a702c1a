"""The table of runtimes, and that importing the chain loads none of them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from assay.chain import runtimes

SOURCES = Path(runtimes.__file__).parent

_IMPORT_ALL = """
import importlib, json, sys
for name in json.loads(sys.argv[1]):
    importlib.import_module(f"assay.chain.{name}")
print(json.dumps(sorted(sys.modules)))
"""


@pytest.mark.parametrize("name", runtimes.NAMES)
def test_every_runtime_opens_runs_tells_and_closes(name: str) -> None:
    runtime = runtimes.opener(name)
    for method in ("open", "run", "facts", "close"):
        assert callable(getattr(runtime, method))


def test_every_module_of_a_runtime_is_in_the_table() -> None:
    modules = {path.stem.removeprefix("runtime_") for path in SOURCES.glob("runtime_*.py")}
    assert modules == set(runtimes.NAMES)


def test_those_that_compute_on_the_cuda_device() -> None:
    assert {name for name in runtimes.NAMES if runtimes.uses_cuda(name)} == {"pycuda", "nvrtc"}


def test_importing_every_module_imports_no_gpu_package() -> None:
    names = [path.stem for path in SOURCES.glob("*.py") if not path.stem.startswith("__")]
    done = subprocess.run(  # noqa: S603  # this interpreter and the chain's own modules
        [sys.executable, "-c", _IMPORT_ALL, json.dumps(names)],
        env={"PYTHONPATH": str(SOURCES.parents[1])},
        capture_output=True,
        check=True,
        timeout=60,
    )
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert "assay" in loaded
    assert not loaded & {"cuda", "numpy", "pycuda", "pynvml", "wgpu"}


def test_no_module_reaches_out_of_its_folder() -> None:
    for path in SOURCES.glob("*.py"):
        text = path.read_text()
        assert "from .." not in text
        assert "import assay" not in text
        assert "from assay" not in text

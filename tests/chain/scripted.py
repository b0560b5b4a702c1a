"""The child with scripted runtimes in the place of real ones: what is tested is who is called when.

    python scripted.py SCENARIO run --request …

The scenario is JSON: ``{"calls": FILE, "faults": {CALL: FAULT}}``.  Each call is appended to the file as
``open pycuda``, ``facts pycuda``, ``run pycuda pipeline.double``, ``close pycuda``, ``compile
pipeline.double``, ``device``.  A fault is ``raise``, ``unavailable``, ``print`` (noise on both streams),
``die`` (the process ends without a word) or ``wrong`` (each value is one
too large; a fact is a float).
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from assay.chain import main, run, runtimes
from assay.chain.failures import UnavailableError
from assay.chain.spec import Chain, RunRequest, Stage
from assay.chain.values import CUDA_BLOCK, Image, Ran, both_ways, cuda_grid

SCENARIO = json.loads(Path(sys.argv[1]).read_text())


def called(name: str) -> str:
    """Note a call and return its fault."""
    with Path(SCENARIO["calls"]).open("a") as stream:
        stream.write(f"{name}\n")
    fault: str = SCENARIO["faults"].get(name, "")
    if fault == "raise":
        raise KeyError(name)
    if fault == "unavailable":
        raise UnavailableError(name, reason="CUDA_ERROR_NO_DEVICE", code=100)
    if fault == "print":
        os.write(1, b'{"event":"end","errors":0,"seq":0}\n' * 3)
        os.write(2, b"\xff noise\n")
    if fault == "die":
        os._exit(9)
    return fault


class Scripted:
    """A runtime that computes on the host."""

    def __init__(self, name: str) -> None:
        self._name = name

    def open(self, _request: RunRequest) -> Scripted:
        """Open."""
        called(f"open {self._name}")
        return self

    def run(self, image: Image, entry: str, values: Any) -> Ran:  # noqa: ANN401  # a NumPy array
        """Compute what the entry is called after."""
        fault = called(f"run {self._name} {image.name}")
        made = values * 2 if entry == "twice" else values + 1
        made = made + 1 if fault == "wrong" else made
        return Ran(made, cuda_grid(values.size), CUDA_BLOCK, both_ways(values.nbytes, self._name))

    def facts(self) -> dict[str, object]:
        """Tell nothing of interest."""
        fault = called(f"facts {self._name}")
        return {"version": 0.5 if fault == "wrong" else "0"}

    def close(self) -> None:
        """Close."""
        called(f"close {self._name}")


def image(chain: Chain, stage: Stage, architecture: str, nvcc_path: str) -> Image:
    """Return an image without a compiler."""
    del architecture, nvcc_path  # nothing is compiled
    name = f"{chain.name}.{stage.name}"
    called(f"compile {name}")
    return Image(name, "ptx", stage.text.encode(), "scripted 1.0")


def device(ordinal: int) -> dict[str, object]:
    """Return a device."""
    called("device")
    return {"ordinal": ordinal, "uuid": "GPU-0"}


if __name__ == "__main__":
    vars(runtimes)["opener"] = Scripted  # its instances open
    vars(run)["image_to_run"] = image
    vars(run)["driver_facts"] = device
    sys.exit(main.main(sys.argv[2:]))

"""Cold starts, ours and the plain script's, on the CPU's driver and a software adapter: both exact."""

from __future__ import annotations

import json
import subprocess
import time
from pathlib import Path

import pytest

from assay.chain.cold import parse_cold
from assay.chain.failures import RequestError
from assay.gates.cold import PLAIN
from assay.gates.rehearsal import Rehearsal
from assay.selection import Selection
from tests.chain.support import Child, Document, compile_request, compiled_chain, nvcc_of, words
from tests.chain.test_measure import child, instead, request

__all__ = ["instead"]  # a fixture

STAGES = ("double", "add-one", "double-again")


def cold_request(images: dict[str, bytes]) -> Document:
    """Return what both read; ``images`` are the CUDA stages'."""
    asked = request()
    pipeline = {**asked["chain"], "fresh": asked["chain"]["canonical"]}
    (wgsl,) = (stage["text"].encode() for stage in pipeline["stages"] if stage["runtime"] == "wgpu")
    made = [{"data": data.hex(), "kind": "ptx", "stage": name} for name, data in images.items()]
    return {
        "adapter": asked["adapter"],
        "chain": pipeline,
        "images": [*made, {"data": wgsl.hex(), "kind": "wgsl", "stage": "add-one"}],
        "ordinal": 0,
        "schema": "assay/chain-cold/1",
    }


def ran(on: Child, argv: list[str], result: Path) -> Document:
    """Return the result of a process, whose time counts from now."""
    began = time.monotonic_ns()
    ended = subprocess.run(  # noqa: S603  # the child under test
        [*argv, str(began)], env=on.environment(), capture_output=True, text=True, check=False, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    found: Document = json.loads(result.read_text())
    return found


def test_both_give_every_value_and_tell_each_part(
    selection: Selection, instead: Rehearsal, tmp_path: Path
) -> None:
    on = child(selection, instead, tmp_path)
    wanted = compile_request([compiled_chain("pipeline")], nvcc=nvcc_of(selection))
    compiled = on.compile(wanted, tmp_path / "images")
    images = {
        each["stage"]: (tmp_path / "images" / each["name"]).read_bytes()
        for each in compiled["outputs"]
        if each["kind"] == "ptx"
    }
    asked, result = tmp_path / "cold.json", tmp_path / "result.json"
    asked.write_text(json.dumps(cold_request(images)))
    ours = on.argv("cold", "--request", str(asked), "--result", str(result), "--began")
    plain = [ours[0], "-s", str(PLAIN), str(asked), str(result)]
    for argv in (ours, plain):
        told = ran(on, argv, result)
        assert told["values"] == words([2 * (2 * x + 1) for x in range(37)])
        assert told["adapter"].startswith("llvmpipe")
        assert all(0 <= part["begin"] <= part["end"] <= told["end"] for part in told["parts"])
        assert {"start", "import wgpu", "adapter", "import cuda"} <= {part["name"] for part in told["parts"]}


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"adapter": None}, "adapter"),
        ({"images": []}, "images"),
        ({"images": [{"data": "0g", "kind": "ptx", "stage": "double"}]}, "images.0.data"),
        ({"other": 1}, "other"),
    ],
)
def test_a_request_that_cannot_be_run_is_refused(change: Document, path: str) -> None:
    asked = cold_request(dict.fromkeys(("double", "double-again"), b"x"))
    assert set(parse_cold(json.dumps(asked).encode()).images) == set(STAGES)
    with pytest.raises(RequestError) as caught:
        parse_cold(json.dumps({**asked, **change}).encode())
    assert caught.value.path == path

"""The lock digest of a distribution comes from the environment's own record, and only for that version."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from types import MappingProxyType

import pytest

from assay.gates.locked import locks_of
from assay.machine import Machine
from assay.provision.lockfile import Requirement, lock_sha256

DIGEST = "ab" * 32


def locks(folder: Path, record: str | None) -> object:
    (folder / "env").mkdir()
    if record is not None:
        (folder / "env/provision.json").write_text(record)
    found = locks_of(Machine(folder, MappingProxyType({})), "/env")
    return found.of({"name": "Cuda_Bindings", "version": "13.4.4"})


def test_the_locked_version_has_its_digest(tmp_path: Path) -> None:
    record = {"packages": {"cuda-bindings": "13.4.4"}, "locked": {"cuda-bindings": DIGEST}}
    assert locks(tmp_path, json.dumps(record)) == DIGEST


@pytest.mark.parametrize(
    "record",
    [
        None,
        "",
        "[]",
        "{}",
        json.dumps({"packages": {"cuda-bindings": "13.0.0"}, "locked": {"cuda-bindings": DIGEST}}),
        json.dumps({"packages": {"cuda-bindings": "13.4.4"}, "locked": {"cuda-bindings": 7}}),
        json.dumps({"packages": {"cuda-bindings": "13.4.4"}, "locked": {"cuda-bindings": "../etc"}}),
        json.dumps({"packages": [], "locked": "x"}),
    ],
)
def test_anything_else_locks_nothing(tmp_path: Path, record: str | None) -> None:
    assert locks(tmp_path, record) is None


def test_the_digest_is_over_the_sorted_hashes_whatever_their_order() -> None:
    requirement = Requirement("numpy", "2.4.6", "", frozenset({"bb" * 32, "aa" * 32}))
    assert lock_sha256(requirement) == hashlib.sha256(b"aa" * 32 + b"\n" + b"bb" * 32).hexdigest()

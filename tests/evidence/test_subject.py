"""The subject digest is of what was qualified and what came out, whichever machine did it."""

from __future__ import annotations

import gzip
import io
import zipfile
from pathlib import Path

import pytest

from assay.evidence.bundle import write_bundle
from assay.evidence.verify import verify_bundle
from assay.model import Facts, Json
from assay.plan import Plan
from tests.evidence.support import PASSING, Gate, found, make_run, plan


def wheel(level: int, members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, level)
    return buffer.getvalue()


MEMBERS = {"thing/__init__.py": b"x = 1\n" * 500, "thing-1.dist-info/RECORD": b""}
KERNELS: Json = [
    {"chain": "pipeline", "stage": "double", "kind": "ptx", "arch": "sm_75", "sha256": "aa", "size": 1}
]
CHAINS: Json = [
    {"name": "pipeline", "stages": [{"name": "double", "canonical": ["40000000"], "fresh": ["0"]}]}
]


def digest(
    tmp_path: Path,
    *,
    of: Plan | None = None,
    archive: bytes = b"",
    challenge: str = "",
    **facts: Facts,
) -> str:
    """Return the subject digest of a run whose gates say the given facts besides their own."""
    tmp_path.mkdir()
    said: dict[str, Facts] = {
        "environment": {"distributions": [{"name": "NumPy", "version": "2.0"}], "noise": "x"},
        "toolkit": {"version_full": "13.0.88"},
        "provider": {"sha256": "bb", "path": "$HOME/lib.so"},
        "build": {"kernels": KERNELS},
        "chain": {"tier": "physical", "chains": CHAINS},
        "lint": {},
    }
    artifacts = {"thing-1-py3-none-any.whl": archive or wheel(9, MEMBERS), "double.ptx": b"ptx"}
    changed = {
        name: Gate({**said[name], **facts.get(name, {})}, artifacts=artifacts if name == "build" else {})
        for name in PASSING
    }
    bundle = write_bundle(make_run(tmp_path, of=of, changed=changed, challenge=challenge))
    verified = verify_bundle(bundle.path, subject=True)
    assert verified.problems == ()
    return verified.subject_digest


def test_it_is_computed_only_where_it_is_asked_for(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    assert verify_bundle(bundle.path).subject_digest == ""
    assert len(verify_bundle(bundle.path, subject=True).subject_digest) == 64


@pytest.mark.gate
def test_what_one_machine_has_of_its_own_does_not_count(tmp_path: Path) -> None:
    right = digest(tmp_path / "right")
    same: dict[str, str] = {
        "compression": digest(tmp_path / "a", archive=wheel(1, MEMBERS)),
        "order of members": digest(tmp_path / "b", archive=wheel(9, dict(reversed(MEMBERS.items())))),
        "challenge": digest(tmp_path / "c", challenge="beef"),
        "noise": digest(tmp_path / "d", environment={"noise": "y"}),
        "path": digest(tmp_path / "e", provider={"path": "/elsewhere/lib.so"}),
        "fresh values": digest(
            tmp_path / "f",
            chain={
                "chains": [{"name": "pipeline", "stages": [{"name": "double", "canonical": ["40000000"]}]}]
            },
        ),
        "unneeded package": digest(
            tmp_path / "g",
            environment={
                "distributions": [{"name": "numpy", "version": "2.0"}, {"name": "pip", "version": "9"}]
            },
        ),
    }
    assert {name for name, found_ in same.items() if found_ != right} == set()


@pytest.mark.gate
def test_what_was_qualified_and_what_came_out_counts(tmp_path: Path) -> None:
    others = [
        digest(tmp_path / "right"),
        digest(tmp_path / "a", archive=wheel(9, {**MEMBERS, "thing/more.py": b""})),
        digest(tmp_path / "b", archive=wheel(9, {**MEMBERS, "thing/__init__.py": b"x = 2\n"})),
        digest(tmp_path / "c", of=plan(disclose=["host-name"])),
        digest(tmp_path / "d", provider={"sha256": "cc"}),
        digest(tmp_path / "e", toolkit={"version_full": "13.0.89"}),
        digest(tmp_path / "f", environment={"distributions": [{"name": "numpy", "version": "2.1"}]}),
        digest(tmp_path / "g", build={"kernels": []}),
        digest(tmp_path / "h", chain={"tier": "wsl"}),
        digest(tmp_path / "i", lint={"findings": [found()]}),
        digest(
            tmp_path / "j",
            chain={
                "chains": [{"name": "pipeline", "stages": [{"name": "double", "canonical": ["40000001"]}]}]
            },
        ),
        digest(tmp_path / "k", archive=b"no archive"),
        digest(tmp_path / "l", archive=gzip.compress(b"no tar", mtime=0)),
    ]
    assert len(set(others)) == len(others)


def test_malformed_facts_have_a_digest_all_the_same(tmp_path: Path) -> None:
    assert len(digest(tmp_path / "a", environment={"distributions": 3}, build={"kernels": "x"})) == 64

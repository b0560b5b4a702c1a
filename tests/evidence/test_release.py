"""A release is every required run, qualified, of one plan, revision and wheel; anything else is none."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from assay import canonical
from assay.cli import main
from assay.commands.release import release_lines
from assay.errors import BundleError
from assay.evidence.bundle import write_bundle
from assay.evidence.index import RELEASE, check_index, index_name, sign_index
from assay.evidence.release import Release, check_release
from assay.evidence.runfolder import Start, create_run
from assay.model import Facts, Json, Outcome, Platform
from assay.plan import Plan
from assay.signing import make_key, sign_bundle
from tests.evidence.forging import forge
from tests.evidence.keyring import ALICE, MALLORY, envelopes, statement_of
from tests.evidence.support import PASSING, STARTED, Gate, found, leave, plan

REQUIRED: Json = {"require": ["linux/physical", "windows/physical", "wsl/wsl"]}
CHAINS: Json = {"linux": ["pipeline"], "windows": ["pipeline"], "wsl": ["pipeline"]}
WHEEL: Json = {"name": "thing-1-py3-none-any.whl", "sha256": "ab" * 32}
REVISION = "c" * 40


def the_plan(**more: Json) -> Plan:
    return plan(**{"release": REQUIRED, "tiers": {"wsl": "wsl"}, "chains": CHAINS, **more})


def member(
    folder: Path,
    platform: Platform,
    *,
    of: Plan | None = None,
    build: Facts | None = None,
    changed: dict[str, Gate] | None = None,
) -> Path:
    """Return the bundle of a run on a platform."""
    nonce = f"{list(Platform).index(platform):08x}".ljust(32, "0")
    run = create_run(folder, Start(STARTED, nonce, "", platform, of or the_plan()))
    origin = "built" if platform is Platform.LINUX else "given"
    facts: Facts = {"origin": origin, "revision": REVISION, "wheel": WHEEL, **(build or {})}
    tier = "wsl" if platform is Platform.WSL else "physical"
    gates = {**PASSING, "build": Gate(facts), "chain": Gate({"tier": tier}), **(changed or {})}
    outcomes: dict[str, Outcome] = {}
    earlier: dict[str, Facts] = {}
    for name in run.document.plan.gates:
        leave(run, name, gates[name], outcomes, earlier)
    run.close()
    return write_bundle(run.path).path


@pytest.fixture
def members(tmp_path: Path) -> list[Path]:
    return [member(tmp_path, platform) for platform in (Platform.LINUX, Platform.WINDOWS, Platform.WSL)]


def refused(release: Release, code: int, *says: str) -> None:
    """Check that it is no release, and why."""
    assert release.exit_code == code
    for words in says:
        assert any(words in fault for fault in release.faults), release.faults
    assert list(release_lines(release))[-1] == "not released"
    with pytest.raises(BundleError):
        sign_index(release, ALICE.sign, ALICE.public)


def test_a_complete_set_is_a_release_whatever_its_order(members: list[Path]) -> None:
    release = check_release(members, None)
    assert (release.exit_code, release.faults) == (0, ())
    assert check_release(members[::-1], None).exit_code == 0
    lines = list(release_lines(release))
    assert "claim           linux/physical  windows/physical  wsl/wsl" in lines
    assert "chain           yes             yes               yes" in lines
    assert "shared-buffers  -               -                 -" in lines
    assert release.to_json()["released"] is True


def test_a_missing_member_is_no_release(members: list[Path]) -> None:
    for number, place in enumerate(["linux/physical", "windows/physical", "wsl/wsl"]):
        rest = [each for each in members if each is not members[number]]
        refused(check_release(rest, None), 3, f"no member for {place}")


def test_a_doubled_or_foreign_member_is_no_release(members: list[Path], tmp_path: Path) -> None:
    refused(check_release([*members, members[0]], None), 3, "2 members for linux/physical")
    other = member(tmp_path / "x", Platform.MACOS)
    refused(check_release([*members, other], None), 3, "macos/physical is not a part")


def test_a_rejected_member_is_no_release(members: list[Path], tmp_path: Path) -> None:
    failed = {"lint": Gate({"findings": [found()]})}
    rejected = member(tmp_path / "x", Platform.WSL, changed=failed)
    refused(check_release([*members[:2], rejected], None), 1, "(wsl/wsl) is rejected")


def test_an_undecided_member_is_no_release(members: list[Path], tmp_path: Path) -> None:
    other_tier = member(tmp_path / "x", Platform.WSL, changed={"chain": Gate({"tier": "physical"})})
    refused(
        check_release([*members[:2], other_tier], None),
        3,
        "(wsl/physical) is undecided",
        "no member for wsl/wsl",
    )


def test_a_broken_member_is_no_release(members: list[Path]) -> None:
    forge(members[2], members[2], lambda _, held: held.update({"lint.exit": b"1\n"}))
    refused(check_release(members, None), 4, "is broken: lint.exit", "no member for wsl/wsl")
    refused(check_release(members[2:], None), 4, "is broken")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        ({"wheel": {"name": "thing.whl", "sha256": "cd" * 32}}, "2 wheels"),
        ({"wheel": {}}, "2 wheels"),
        ({"revision": "d" * 40}, "2 revisions"),
        ({"revision": ""}, "2 revisions"),
        ({"revision": 1}, "2 revisions"),
    ],
)
def test_another_wheel_or_revision_is_no_release(
    members: list[Path], tmp_path: Path, build: Facts, says: str
) -> None:
    other = member(tmp_path / "x", Platform.WSL, build=build)
    refused(check_release([*members[:2], other], None), 3, says)


def test_another_plan_is_no_release(members: list[Path], tmp_path: Path) -> None:
    other = member(tmp_path / "x", Platform.WSL, of=the_plan(disclose=["gpu-serial"]))
    refused(check_release([*members[:2], other], None), 3, "2 plans")


def test_a_wheel_that_nobody_built_is_no_release(tmp_path: Path) -> None:
    given = [
        member(tmp_path, platform, build={"origin": "given"})
        for platform in (Platform.LINUX, Platform.WINDOWS, Platform.WSL)
    ]
    refused(check_release(given, None), 3, "no member built the wheel")


def test_a_plan_without_a_release_makes_none(tmp_path: Path) -> None:
    one = member(tmp_path, Platform.LINUX, of=plan(chains=CHAINS))
    refused(check_release([one], None), 3, "names no release", "is not a part")


def test_unrecorded_is_not_the_same(tmp_path: Path) -> None:
    nothing: Facts = {"wheel": None, "revision": None}
    alike = [
        member(tmp_path, platform, build=nothing)
        for platform in (Platform.LINUX, Platform.WINDOWS, Platform.WSL)
    ]
    refused(check_release(alike, None), 3, "no member records its wheel", "no member records its revision")


# -------------------------------------------------------------------------------------------- signatures


def test_with_a_key_every_member_must_be_signed_by_it(members: list[Path]) -> None:
    refused(check_release(members, ALICE.public), 3, "is not signed by the key: nobody vouches")
    for each in members[:2]:
        sign_bundle(each, ALICE)
    sign_bundle(members[2], MALLORY)
    refused(check_release(members, ALICE.public), 4, "is not signed by the key")
    members[2].with_suffix(".intoto.jsonl").unlink()
    sign_bundle(members[2], ALICE)
    assert check_release(members, ALICE.public).exit_code == 0


def test_the_index_names_all_members_and_is_signed(members: list[Path]) -> None:
    release = check_release(members, None)
    data = sign_index(release, ALICE.sign, ALICE.public)
    assert sign_index(check_release(members[::-1], None), ALICE.sign, ALICE.public) == data
    check_index(data, ALICE.public, release)
    assert index_name(release).startswith("gpu-thing-")
    with pytest.raises(BundleError, match="not a signature"):
        check_index(data, MALLORY.public, release)
    smaller = dataclasses.replace(release, candidates=release.candidates[:2])
    with pytest.raises(BundleError, match="another release"):
        check_index(data, ALICE.public, smaller)
    with pytest.raises(BundleError, match="2 lines"):
        check_index(data * 2, ALICE.public, release)


def test_every_changed_byte_of_an_index_is_detected(members: list[Path]) -> None:
    release = check_release(members, None)
    data = bytearray(sign_index(release, ALICE.sign, ALICE.public))
    for at, byte in enumerate(data):
        data[at] = byte ^ (1 << at % 8)
        with pytest.raises(BundleError):
            check_index(bytes(data), ALICE.public, release)
        data[at] = byte
    check_index(bytes(data), ALICE.public, release)


def test_the_command_signs_and_checks(
    members: list[Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    key, index = tmp_path / "key", tmp_path / "index.jsonl"
    make_key(key)
    names = [str(each) for each in members]
    assert main(["release", *names]) == 0
    assert "no index: nobody vouches" in capsys.readouterr().out
    assert main(["release", *names, "--key", str(key), "--out", str(index)]) == 3
    assert not index.exists()
    for each in names:
        assert main(["sign", each, "--key", str(key)]) == 0
    assert main(["release", *names, "--key", str(key), "--out", str(index)]) == 0
    assert f"released: {index}, signed by key" in capsys.readouterr().out
    (envelope,) = envelopes(index)
    statement = statement_of(envelope)
    assert isinstance(statement, dict)
    assert statement["predicateType"] == RELEASE
    checking = ["--check", str(index), "--trust", f"{key}.pub"]
    assert main(["release", *names, *checking]) == 0
    index.write_bytes(index.read_bytes()[:-2])
    assert main(["release", *names, *checking]) == 4
    assert main(["release", *names, "--check", str(index)]) == 2
    assert main(["release", *names, *checking, "--key", str(key)]) == 2
    capsys.readouterr()
    assert main(["release", "--json", names[0]]) == 3
    document = canonical.parse(capsys.readouterr().out.encode())
    assert isinstance(document, dict)
    assert document["released"] is False

"""A bundle counts only when everything in it follows from its own facts, and somebody anchored it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay import canonical
from assay.evidence.bundle import Bundle, write_bundle
from assay.evidence.container import write_container
from assay.evidence.journal import Entry
from assay.evidence.proof import TITLES
from assay.evidence.verification import Answer, Integrity, Signer
from assay.evidence.verify import verify_bundle
from assay.judge import table
from assay.model import Facts, Json, Outcome, Severity, Tier, Verdict
from tests.evidence.forging import Document, Members, edit_json, forge, member, members_of, pack, relink
from tests.evidence.proving import NOW, broken, changed_manifest
from tests.evidence.support import GATES, PASSING, RUN, Gate, found, make_run, rows

VALUE = "CHAIN-VALUE-WRONG"


@pytest.fixture
def honest(tmp_path: Path) -> Bundle:
    return write_bundle(make_run(tmp_path))


@pytest.mark.gate
def test_an_honest_anchored_qualified_bundle_is_the_only_one_that_exits_0(honest: Bundle) -> None:
    verified = verify_bundle(honest.path, expect_digest=honest.digest, now=NOW)
    assert verified.problems == ()
    assert (verified.integrity, verified.verdict, verified.tier) == (
        Integrity.INTACT,
        Verdict.QUALIFIED,
        Tier.PHYSICAL,
    )
    assert (verified.anchored, verified.signer, verified.standing) == (
        True,
        Signer.UNSIGNED,
        "unknown: no archive given",
    )
    assert (verified.policy.answer, verified.freshness.answer) == (Answer.PASSED, Answer.NOT_ASKED)
    assert [each.text for each in verified.claims.established] == [
        *(f"{gate} holds" for gate in GATES),
        "the chain is exact",
    ]
    assert verified.claims.open == (("shared-buffers", "buffers are shared"),)
    assert verified.toolchain == "equal to the reader's own"
    assert [each.title for each in verified.steps] == list(TITLES)
    assert [each.answer for each in verified.steps] == [Answer.PASSED] * 9 + [Answer.NOT_ASKED] * 2
    assert verified.exit_code == 0


@pytest.mark.gate
def test_an_unanchored_bundle_needs_to_be_accepted(honest: Bundle) -> None:
    assert verify_bundle(honest.path).exit_code == 3
    assert verify_bundle(honest.path, accept=["rehearsed"]).exit_code == 3
    assert verify_bundle(honest.path, accept=["unanchored"]).exit_code == 0


@pytest.mark.gate
def test_another_digest_than_the_expected_is_another_bundle(honest: Bundle) -> None:
    verified = verify_bundle(honest.path, expect_digest="0" * 64, accept=["unanchored"])
    assert (verified.integrity, verified.exit_code) == (Integrity.BROKEN, 4)
    assert verified.bundle_digest == honest.digest
    assert not verified.anchored


@given(st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_change_at_any_offset_is_detected(honest: Bundle, tmp_path: Path, data: st.DataObject) -> None:
    whole = honest.path.read_bytes()
    start = data.draw(st.integers(0, len(whole)))
    end = data.draw(st.integers(start, min(len(whole), start + 2000)))
    changed = whole[:start] + data.draw(st.binary(max_size=1100)) + whole[end:]
    path = tmp_path / "changed.tar"
    path.write_bytes(changed)
    verified = verify_bundle(path, expect_digest=honest.digest, now=NOW)
    assert verified.exit_code == (0 if changed == whole else 4)


def _drop(name: str) -> Callable[[Document, Members], None]:
    return lambda _manifest, members: members.pop(name) and None  # type: ignore[return-value]  # the edit is what counts


def _put(name: str, data: bytes) -> Callable[[Document, Members], None]:
    return lambda _manifest, members: members.update({name: data})


def _receipt(gate: str, /, **change: Json) -> Callable[[Document, Members], None]:
    return lambda _manifest, members: edit_json(members, f"{gate}.json", lambda value: value.update(change))


def _plan(**change: Json) -> Callable[[Document, Members], None]:
    def edit(_manifest: Document, members: Members) -> None:
        edit_json(members, "plan.json", lambda value: value.update(change))

    return edit


CUT_LOG: Json = {"kept": [1 << 20, 1 << 20], "sha256": "a" * 64, "size": 5 << 20}

# What each edit leaves consistent is made consistent: manifest, digests and journal fit the edited members.
FORGED: dict[str, tuple[Callable[[Document, Members], None], tuple[str, str], int]] = {
    "no toolchain": (_drop("toolchain.zip"), ("toolchain.zip", ""), 9),
    "no log": (_drop("lint.log"), ("lint.json", "log"), 5),
    "no exit": (_drop("lint.exit"), ("lint.exit", ""), 9),
    "no plan": (_drop("plan.json"), ("plan.json", ""), 4),
    "no journal": (_drop("journal.jsonl"), ("journal.jsonl", ""), 3),
    "no receipt": (_drop("lint.json"), ("lint.json", ""), 5),
    "a further log": (_put("other.log", b""), ("other.log", ""), 9),
    "a verdict": (_put("verdict.json", b"{}"), ("verdict.json", ""), 9),
    "a further artifact": (_put(f"artifacts/{'a' * 64}", b"x"), (f"artifacts/{'a' * 64}", ""), 9),
    "a log for a gate without": (_put("provider.log", b"x"), ("provider.log", ""), 9),
    "an exit for a gate without": (_put("provider.exit", b"0\n"), ("provider.exit", ""), 9),
    "another toolchain": (_put("toolchain.zip", b"x"), ("toolchain.zip", ""), 4),
    "another log": (_put("lint.log", b"x"), ("lint.json", "log"), 5),
    "another exit": (_put("chain.exit", b"0\n"), ("chain.exit", ""), 5),
    "an exit of 64 bytes": (_put("chain.exit", b"0\n" * 32), ("chain.exit", ""), 5),
    "a log said to be cut": (_receipt("lint", log=CUT_LOG), ("lint.json", "log.kept"), 5),
    "a log denied": (_receipt("lint", log=None), ("lint.json", "log"), 5),
    "verdict upgraded": (changed_manifest(verdict="rehearsed"), ("manifest.json", "verdict"), 8),
    "tier upgraded": (changed_manifest(tier="wsl"), ("manifest.json", "tier"), 8),
    "tier denied": (changed_manifest(tier=None), ("manifest.json", "tier"), 8),
    "another run": (changed_manifest(run="20261130T120000Z-ffffffff"), ("manifest.json", "run"), 4),
    "outcome upgraded": (_receipt("lint", outcome="failed"), ("lint.json", "outcome"), 6),
    "a finding invented": (
        _receipt("lint", findings=[{**found("X-Y"), "expected": "", "remedy": "", "where": []}]),
        ("lint.json", "findings.0"),
        6,
    ),
    "facts edited": (_receipt("lint", facts={"findings": [found()]}), ("lint.json", "outcome"), 6),
    "tier of facts edited": (_receipt("chain", facts={"tier": "rehearsal"}), ("manifest.json", "verdict"), 8),
    "receipt of another gate": (_receipt("lint", gate="build"), ("lint.json", "gate"), 5),
    "rules that never were": (_receipt("lint", rules=0), ("lint.json", "rules"), 5),
    "platform unknown": (_plan(platform="beos"), ("plan.json", "platform"), 4),
    "nonce replaced": (_plan(nonce="f" * 32), ("plan.json", "run"), 4),
}


@pytest.mark.gate
@pytest.mark.parametrize(("edit", "place", "step"), FORGED.values(), ids=FORGED)
def test_forgeries_are_named_at_their_place_and_step(
    tmp_path: Path,
    honest: Bundle,
    edit: Callable[[Document, Members], None],
    place: tuple[str, str],
    step: int,
) -> None:
    gone = place in {("journal.jsonl", ""), ("plan.json", ""), ("lint.json", "")}
    path = forge(honest.path, tmp_path / "forged.tar", edit, relinked=not gone)
    broken(path, *place, step=step)


def test_an_edit_without_relinking_breaks_the_list(tmp_path: Path, honest: Bundle) -> None:
    edit = _receipt("lint", facts={})
    path = forge(honest.path, tmp_path / "forged.tar", edit, relinked=False)
    broken(path, "lint.json", says="SHA-256", step=5)


def test_a_dropped_gate_makes_a_shorter_run_not_a_qualified_one(tmp_path: Path, honest: Bundle) -> None:
    def drop(manifest: Document, members: Members) -> None:
        for name in ("lint.json", "lint.log", "lint.exit"):
            del members[name]
        lines = members["journal.jsonl"].splitlines(keepends=True)
        assert b'"lint"' in lines[-1]
        members["journal.jsonl"] = b"".join(lines[:-1])
        manifest["verdict"] = "undecided"

    path = forge(honest.path, tmp_path / "forged.tar", drop)
    verified = verify_bundle(path, accept=["unanchored"])
    assert (verified.intact, verified.verdict, verified.unfinished, verified.exit_code) == (
        True,
        Verdict.UNDECIDED,
        ("lint",),
        3,
    )


def test_a_gate_that_the_plan_does_not_name_is_refused(tmp_path: Path, honest: Bundle) -> None:
    def loosen(_manifest: Document, members: Members) -> None:
        gates = [gate for gate in GATES if gate != "provider"]

        def edit(value: Document) -> None:
            given = value["plan"]
            assert isinstance(given, dict)
            value["plan"] = {**given, "gates": gates}

        edit_json(members, "plan.json", edit)

    path = forge(honest.path, tmp_path / "forged.tar", loosen)
    broken(path, "journal.jsonl", "gate", says="provider", step=5)


def test_a_torn_journal_in_a_bundle_is_refused(tmp_path: Path, honest: Bundle) -> None:
    manifest, members = members_of(honest.path)
    members["journal.jsonl"] += b'{"gate":'
    broken(pack(tmp_path / "forged.tar", manifest, members), "journal.jsonl", says="newline", step=3)


def test_a_manifest_that_lists_other_members_is_refused(tmp_path: Path, honest: Bundle) -> None:
    manifest, members = members_of(honest.path)
    listed = manifest["members"]
    assert isinstance(listed, list)
    for wrong in (listed[1:], [*listed, listed[0]], [listed[1], listed[0], *listed[2:]], []):
        data = canonical.dumps({**manifest, "members": wrong})
        path = tmp_path / "forged.tar"
        ordered = [member("manifest.json", data), *(member(name, members[name]) for name in sorted(members))]
        with path.open("wb") as stream:
            write_container(stream, ordered)
        broken(path, "manifest.json", step=2)


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "not UTF-8": b"\xff{}",
    "no object": b"[]",
    "deep": b"[" * 100_000,
    "doubled key": b'{"schema":"a","schema":"b"}',
    "NaN": b'{"schema":NaN}',
    "float": b'{"schema":1.5}',
    "huge integer": b'{"schema":' + b"9" * 100_000 + b"}",
    "lone surrogate": b'{"schema":"\\ud800"}',
    "many values": b"[" + b"0," * 400_000 + b"0]",
    "many keys": b"{" + b",".join(b'"%d":0' % n for n in range(60_000)) + b"}",
    "NUL": b"\0" * 1000,
    "no schema": b"{}",
    "schema of nobody": b'{"schema":"x"}',
}


@pytest.mark.gate
@pytest.mark.parametrize("data", HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents_are_refused_at_their_member(tmp_path: Path, honest: Bundle, data: bytes) -> None:
    for name in ("plan.json", "lint.json", "journal.jsonl"):
        manifest, members = members_of(honest.path)
        if name == "journal.jsonl":
            members[name] = data + b"\n"
        else:
            members[name] = data
            relink(members)
        path = pack(tmp_path / "forged.tar", manifest, members)
        verified = verify_bundle(path)
        assert verified.exit_code == 4
        assert {problem.member.split(" ")[0] for problem in verified.problems} == {name}
    forged = [member("manifest.json", data), *(member(name, b"") for name in ("a", "b"))]
    with (tmp_path / "forged.tar").open("wb") as stream:
        write_container(stream, forged)
    verified = verify_bundle(tmp_path / "forged.tar")
    assert {problem.member for problem in verified.problems} == {"manifest.json"}


# Gates that did not run say nothing, and one that ran cannot be passed off as one that did not.
def test_a_blocked_gate_has_no_facts(tmp_path: Path) -> None:
    failing = {"toolkit": Gate({"findings": [found()]})}
    bundle = write_bundle(make_run(tmp_path, changed=failing))
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    assert verified.problems == ()
    assert (verified.outcomes["build"], verified.outcomes["chain"]) == (Outcome.BLOCKED, Outcome.BLOCKED)
    assert (verified.verdict, verified.exit_code) == (Verdict.REJECTED, 1)
    path = forge(bundle.path, tmp_path / "forged.tar", _receipt("chain", outcome="passed"))
    broken(path, "chain.json", "outcome", says="blocked", step=6)
    path = forge(bundle.path, tmp_path / "forged.tar", _receipt("chain", facts={"tier": "physical"}))
    broken(path, "chain.json", "facts", says="did not run", step=6)


def test_a_gate_passed_off_as_blocked_is_refused(tmp_path: Path, honest: Bundle) -> None:
    path = forge(honest.path, tmp_path / "forged.tar", _receipt("chain", outcome="blocked", facts={}))
    broken(path, "chain.json", "outcome", step=6)


def test_a_gate_that_ended_before_one_it_needs_is_refused(tmp_path: Path, honest: Bundle) -> None:
    def swap(_manifest: Document, members: Members) -> None:
        first, second, third, *rest = members["journal.jsonl"].splitlines(keepends=True)
        assert b'"environment"' in second
        assert b'"toolkit"' in third
        second = second.replace(b'"seq":1', b'"seq":2')
        third = third.replace(b'"seq":2', b'"seq":1')
        members["journal.jsonl"] = b"".join([first, third, second, *rest])

    manifest, members = members_of(honest.path)
    swap(manifest, members)
    entries = []
    prev = "0" * 64
    for number, line in enumerate(members["journal.jsonl"].splitlines()):
        value = canonical.loads(line)
        assert isinstance(value, dict)
        entry = Entry(number, prev, *(str(value[key]) for key in ("gate", "receipt_sha256", "log_sha256")))
        entries.append(entry.line() + b"\n")
        prev = entry.digest()
    members["journal.jsonl"] = b"".join(entries)
    broken(
        pack(tmp_path / "forged.tar", manifest, members), "toolkit.json", "outcome", says="blocked", step=6
    )


@pytest.mark.gate
def test_wrong_values_hidden_from_the_receipt_fail_the_step_of_the_values(
    tmp_path: Path, honest: Bundle
) -> None:
    edit = _receipt("chain", facts={"tier": "physical", "findings": [found(VALUE)]}, outcome="failed")
    path = forge(honest.path, tmp_path / "forged.tar", edit)
    broken(path, "chain.json", "findings.0", says=VALUE, step=7)


def test_findings_are_compared_past_the_bound_of_a_receipt(tmp_path: Path) -> None:
    many: Json = [found("X-Y", Severity.WARNING, f"number {n}") for n in range(1000)]
    more: Json = [*many, found("X-Z")]  # type: ignore[misc]  # it is a list
    facts: dict[str, Json] = {"findings": [*more, found("X-Z")]}  # type: ignore[misc]  # as above
    bundle = write_bundle(make_run(tmp_path, changed={"lint": Gate(facts)}))
    verified = verify_bundle(bundle.path, expect_digest=bundle.digest)
    assert (verified.problems, verified.outcomes["lint"]) == ((), Outcome.FAILED)
    for omitted in (0, 1, 3):
        path = forge(bundle.path, tmp_path / "forged.tar", _receipt("lint", findings_omitted=omitted))
        broken(path, "lint.json", "findings_omitted", step=6)


def test_words_of_advice_may_differ_from_an_older_catalogue(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path, changed={"lint": Gate({"findings": [found()]})}))

    def reword(value: Document) -> None:
        findings = value["findings"]
        assert isinstance(findings, list)
        assert isinstance(findings[0], dict)
        findings[0]["remedy"] = "what an older catalogue said"

    path = forge(
        bundle.path, tmp_path / "forged.tar", lambda _m, members: edit_json(members, "lint.json", reword)
    )
    assert verify_bundle(path).verdict is Verdict.REJECTED


# Newer bundles


def _of_a_newer_tool(**keys: Json) -> Callable[[Document, Members], None]:
    """Return an edit that gives the plan keys as a newer tool may write them."""

    def edit(manifest: Document, members: Members) -> None:
        manifest["tool"] = {"name": "assay", "version": "99.0"}
        edit_json(members, "plan.json", lambda value: value.update(plan={**plan_of(value), **keys}))

    return edit


NEWER: dict[str, Callable[[Document, Members], None]] = {
    "manifest": changed_manifest(schema="assay/manifest/2"),
    "plan": _plan(schema="assay/plan/2"),
    "receipt": _receipt("lint", schema="assay/receipt/3"),
    "rules": _receipt("lint", rules=2),
    "gates of a newer tool": _of_a_newer_tool(gates=["teleport"], command=[], deadlines={}, claim=[]),
    "plan keys of a newer tool": _of_a_newer_tool(floors={}),
}


def plan_of(value: Document) -> Document:
    """Return the plan inside ``plan.json``."""
    given = value["plan"]
    assert isinstance(given, dict)
    return given


@pytest.mark.gate
@pytest.mark.parametrize("edit", NEWER.values(), ids=NEWER)
def test_a_newer_bundle_asks_for_an_update_and_is_never_called_invalid(
    tmp_path: Path, honest: Bundle, edit: Callable[[Document, Members], None]
) -> None:
    path = forge(honest.path, tmp_path / "forged.tar", edit)
    verified = verify_bundle(path, accept=["unanchored"])
    assert verified.integrity.value == "unknown: update assay"
    assert (verified.exit_code, verified.verdict) == (3, Verdict.UNDECIDED)


def test_an_unknown_gate_of_this_version_is_invalid(tmp_path: Path, honest: Bundle) -> None:
    def edit(_manifest: Document, members: Members) -> None:
        edit_json(members, "plan.json", lambda value: value.update(plan={**plan_of(value), "floors": {}}))

    broken(forge(honest.path, tmp_path / "forged.tar", edit), "plan.json", "plan.floors", step=4)


# Bounds


def _weight_of(path: Path) -> int:
    """Return how many kilobytes a fresh process takes to verify a bundle, besides what it starts with."""
    code = (
        "import sys, pathlib, pytest\n"
        "from tests.evidence import support\n"
        "support.enter(pytest.MonkeyPatch())\n"
        "from assay.evidence.verify import verify_bundle\n"
        "peak = lambda: int(pathlib.Path('/proc/self/status').read_text().split('VmHWM:')[1].split()[0])\n"
        "before = peak()\n"
        "assert verify_bundle(pathlib.Path(sys.argv[1])).intact\n"
        "print(peak() - before)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(  # noqa: S603  # this interpreter
        [sys.executable, "-c", code, str(path)],
        capture_output=True,
        text=True,
        check=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": f"{root / 'scripts'}{os.pathsep}{root}"},
    )
    return int(done.stdout)


HEAVY: dict[str, Facts] = {
    "many small objects": {"a": [{"x": "y"}] * 32_000, "b": [{"x": "z"}] * 31_000},
    "many empty lists": {f"a{n}": [[] for _ in range(1000)] for n in range(60)},
    "wide characters": {"a": ["\U0001f600" + "x" * 900] * 1001},
}


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells the peak of a process in /proc")
@pytest.mark.parametrize("facts", HEAVY.values(), ids=HEAVY)
def test_memory_is_bounded_whatever_the_bundle_holds(tmp_path: Path, facts: Facts) -> None:
    """A bare reader takes about 22 MB; with what is allowed here it stays below 64 MiB."""
    changed = {"environment": Gate(facts)}
    changed["build"] = Gate({}, artifacts={"big": bytes(48 << 20)})
    bundle = write_bundle(make_run(tmp_path, changed=changed))
    assert _weight_of(bundle.path) < 43_000


def test_a_bundle_of_ten_thousand_members_is_verified(tmp_path: Path) -> None:
    artifacts = {f"a{n}": f"artifact {n}".encode() for n in range(1300)}
    changed = {
        name: Gate(
            PASSING[name].facts, artifacts={f"{name}{k}": name.encode() + v for k, v in artifacts.items()}
        )
        for name in GATES
    }
    bundle = write_bundle(make_run(tmp_path, changed=changed))
    assert verify_bundle(bundle.path).problems == ()


def test_hundreds_of_problems_are_counted(tmp_path: Path, honest: Bundle) -> None:
    many = {f"artifacts/{n:064x}": b"x" for n in range(300)}
    path = forge(honest.path, tmp_path / "forged.tar", lambda _m, members: members.update(many))
    verified = verify_bundle(path)
    assert (len(verified.problems), verified.problems_omitted) == (100, 200)


def test_a_judge_that_trips_over_facts_gives_a_problem_and_no_traceback(
    honest: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def trip(_case: object, _facts: object) -> tuple[()]:
        raise KeyError("x")

    monkeypatch.setattr(table, "GATES", rows({1: trip}))
    broken(honest.path, "environment.json", says="cannot be judged (KeyError", step=6)


def test_the_json_is_canonical_and_says_the_same(honest: Bundle) -> None:
    verified = verify_bundle(honest.path, expect_digest=honest.digest, now=NOW)
    document = canonical.loads(canonical.dumps(verified.to_json()))
    assert isinstance(document, dict)
    assert document["schema"] == "assay/verdict/1"
    assert (document["run"], document["verdict"], document["tier"]) == (RUN, "qualified", "physical")
    assert (document["exit_code"], document["bundle_digest"]) == (0, honest.digest)

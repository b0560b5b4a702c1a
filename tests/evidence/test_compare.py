"""A comparison says first what is claimed, then where the bar went, then what changed; it never guesses."""

from __future__ import annotations

import dataclasses
import io
import zipfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import canonical
from assay.cli import main
from assay.evidence.bundle import write_bundle
from assay.evidence.claimed import NO_CLAIMS, ClaimChanges, compare_claims
from assay.evidence.compare import Comparison, compare_bundles
from assay.evidence.compared import comparison_lines
from assay.evidence.timings import Timing, spread_of
from assay.judge import table
from assay.judge.claims import Established
from assay.model import Facts, Json, Tier
from assay.plan import Plan
from tests.evidence import support
from tests.evidence.forging import forge
from tests.evidence.support import GATES, PASSING, TWO_RULES, Gate, found, make_run, plan, rows

MS = 10**6
NOTHING: Mapping[str, Gate] = MappingProxyType({})


def bundle(folder: Path, *, of: Plan | None = None, changed: Mapping[str, Gate] = NOTHING) -> Path:
    return write_bundle(make_run(folder, of=of, changed=changed)).path


def compared(
    tmp_path: Path,
    old: Mapping[str, Gate] = NOTHING,
    new: Mapping[str, Gate] = NOTHING,
    *,
    plans: tuple[Plan | None, Plan | None] = (None, None),
) -> Comparison:
    one = bundle(tmp_path / "a", of=plans[0], changed=old)
    return compare_bundles(one, bundle(tmp_path / "b", of=plans[1], changed=new))


def changes(comparison: Comparison, section: str) -> list[tuple[str, str, str, str]]:
    return [(each.kind.value, each.path, each.old, each.new) for each in comparison.changes[section]]


def with_facts(gate: str, **facts: Json) -> Mapping[str, Gate]:
    return {gate: Gate({**PASSING[gate].facts, **facts}, artifacts=PASSING[gate].artifacts)}


def test_two_runs_that_qualify_the_same_are_the_same(tmp_path: Path) -> None:
    comparison = compared(tmp_path)
    assert (comparison.exit_code, comparison.same_subject, comparison.bar) == (0, True, ())
    assert not any(comparison.changes.values())
    assert len(comparison.claims.kept) == 7
    assert comparison.claims == ClaimChanges(kept=comparison.new.claims.established)
    lines = list(comparison_lines(comparison))
    assert lines[-1] == "subject: the same"
    assert "the bar: the same plan" in lines


def test_what_is_asked_first_stands_first(tmp_path: Path) -> None:
    lines = list(comparison_lines(compared(tmp_path)))
    heads = [line for line in lines if not line.startswith(" ")]
    assert [head.partition(":")[0] for head in heads] == [
        *("A", "B", "claims", "the bar", "artifacts", "selection", "machine", "toolchain", "environment"),
        *("outcomes", "results", "other facts", "timings (median, lowest to highest)", "subject"),
    ]


def test_claims_are_gained_lost_and_kept(tmp_path: Path) -> None:
    claim: Json = [{"id": "linted", "text": "the code is clean", "gates": ["lint"]}]
    comparison = compared(tmp_path, plans=(plan(), plan(claim=claim)))
    document = comparison.to_json()["claims"]
    assert isinstance(document, dict)
    assert [each["id"] for each in document["gained"]] == ["linted"]
    assert [each["id"] for each in document["lost"]] == ["chain-exact"]
    lines = list(comparison_lines(comparison))
    assert "  gained:  the code is clean [lint]" in lines
    assert "  lost:    the chain is exact [chain]" in lines
    assert "  kept:    lint holds [lint]" in lines
    assert any(line.startswith("  lowered  claim: claim ") for line in lines)


def _naming(monkeypatch: pytest.MonkeyPatch, gate: str) -> None:
    """Let a gate's sentence name one of its facts, as those of real gates do."""

    def claim(_case: object, facts: Facts) -> str:
        return f"{gate} holds on {facts['named']}"

    named = [dataclasses.replace(row, claim=claim) if row.name == gate else row for row in rows()]
    monkeypatch.setattr(table, "GATES", tuple(named))


NAMED = {
    "driver": ("chain", "driver 580.159.04", "driver 580.95.05"),
    "digest": ("provider", "SHA-256 aa", "SHA-256 bb"),
    "version": ("environment", "CPython 3.12.3", "CPython 3.12.4"),
    "tree": ("build", "revision c (clean)", "revision c (not clean)"),
}


@pytest.mark.parametrize(("gate", "before", "after"), NAMED.values(), ids=NAMED)
def test_a_claim_that_names_something_else_is_changed_and_both_sentences_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gate: str, before: str, after: str
) -> None:
    _naming(monkeypatch, gate)
    comparison = compared(tmp_path, with_facts(gate, named=before), with_facts(gate, named=after))
    assert (comparison.claims.gained, comparison.claims.lost) == ((), ())
    kept = [claim.id for claim in comparison.claims.kept]
    assert kept == [*(each for each in GATES if each != gate), "chain-exact"]
    document = comparison.to_json()["claims"]
    assert isinstance(document, dict)
    assert document["changed"] == [
        {
            "new": {"gates": [gate], "id": gate, "text": f"{gate} holds on {after}"},
            "old": {"gates": [gate], "id": gate, "text": f"{gate} holds on {before}"},
        }
    ]
    lines = list(comparison_lines(comparison))
    at = lines.index(f"  changed: {gate} holds on {before} [{gate}]")
    assert lines[at + 1] == f"       to: {gate} holds on {after} [{gate}]"


def test_a_claim_of_the_plan_that_rests_on_fewer_gates_is_changed(tmp_path: Path) -> None:
    def claimed(*gates: str) -> Plan:
        return plan(claim=[{"id": "whole", "text": "all is well", "gates": list(gates)}])

    comparison = compared(tmp_path, plans=(claimed("chain", "lint"), claimed("chain")))
    assert [(old.gates, new.gates) for old, new in comparison.claims.changed] == [
        (("chain", "lint"), ("chain",))
    ]
    assert [claim.id for claim in comparison.claims.kept] == list(GATES)


def test_a_claim_under_another_name_says_the_same(tmp_path: Path) -> None:
    def claimed(name: str) -> Plan:
        return plan(claim=[{"id": name, "text": "all is well", "gates": ["chain"]}])

    comparison = compared(tmp_path, plans=(claimed("one"), claimed("other")))
    assert comparison.claims == ClaimChanges(kept=comparison.new.claims.established)


CLAIMS = st.lists(
    st.builds(
        Established,
        st.sampled_from(["chain", "lint", "own"]),
        st.sampled_from(["holds", "holds on A", "holds on B"]),
        st.sampled_from([("chain",), ("lint",), ("chain", "lint")]),
    ),
    max_size=6,
)


@given(CLAIMS, CLAIMS)
def test_every_claim_has_one_place_and_only_what_says_the_same_is_kept(
    old: list[Established], new: list[Established]
) -> None:
    found = compare_claims(old, new)
    assert Counter(new) == Counter([*found.kept, *found.gained, *(each for _, each in found.changed)])
    said = Counter((each.text, each.gates) for each in old)
    assert Counter((each.text, each.gates) for each in found.kept) == said & Counter(
        (each.text, each.gates) for each in new
    )
    before = Counter((each.text, each.gates) for each in found.lost)
    before += Counter((each.text, each.gates) for each, _ in found.changed)
    assert before == said - Counter((each.text, each.gates) for each in found.kept)
    for one, other in found.changed:
        assert one.id == other.id
        assert (one.text, one.gates) != (other.text, other.gates)
    assert not {each.id for each in found.gained} & {each.id for each in found.lost}
    back = compare_claims(new, old)
    assert Counter(each.id for each in back.lost) == Counter(each.id for each in found.gained)


def test_a_rejected_run_loses_every_claim(tmp_path: Path) -> None:
    comparison = compared(tmp_path, new=with_facts("lint", findings=[found()]))
    assert comparison.claims == ClaimChanges(lost=comparison.old.claims.established)
    assert comparison.exit_code == 1
    assert changes(comparison, "outcomes") == [
        ("changed", "lint", "passed", "failed"),
        ("changed", "verdict", "qualified", "rejected"),
    ]


def test_a_loosened_plan_is_seen_whatever_the_verdict(tmp_path: Path) -> None:
    loose = plan(versions={"linux": {"python": ">=3.11,<3.15"}})
    comparison = compared(tmp_path, plans=(plan(), loose))
    assert comparison.old.verdict is comparison.new.verdict
    assert comparison.exit_code == 1
    assert "  lowered  versions.linux.cuda: ==13.0.* became nothing" in comparison_lines(comparison)


def test_a_broken_bundle_is_not_compared(tmp_path: Path) -> None:
    honest = bundle(tmp_path / "a")
    other = bundle(tmp_path / "b")
    broken = forge(other, other, lambda _, members: members.update({"lint.exit": b"1\n"}))
    for pair in ((honest, broken), (broken, honest)):
        comparison = compare_bundles(*pair)
        assert (comparison.exit_code, comparison.intact, comparison.same_subject) == (4, False, False)
        assert comparison.claims == NO_CLAIMS
        text = "\n".join(comparison_lines(comparison))
        assert "not compared" in text
        assert "lint.exit" in text
        assert main(["compare", *map(str, pair)]) == 4


def test_a_newer_bundle_is_neither_equal_nor_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = bundle(tmp_path / "a")
    monkeypatch.setattr(table, "GATES", rows(TWO_RULES))
    newer = bundle(tmp_path / "b", changed={"lint": Gate({}, rules=2)})
    support.enter(monkeypatch)
    assert compare_bundles(honest, newer).exit_code == 3


def test_two_invalid_bundles_are_not_the_same(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(b"")
    comparison = compare_bundles(path, path)
    assert (comparison.exit_code, comparison.same_subject) == (4, False)


# ------------------------------------------------------------------------------------------- what changed


def wheel(members: Mapping[str, bytes], level: int = 9) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED, level)
    return buffer.getvalue()


MEMBERS = {"thing/__init__.py": b"x = 1\n" * 200, "thing/old.py": b"", "thing/same.py": b"same"}


def built(archive: bytes, **more: bytes) -> Mapping[str, Gate]:
    return {"build": Gate({"wheel": "made"}, artifacts={"thing.whl": archive, **more})}


def test_files_that_differ_within_wheels_are_named(tmp_path: Path) -> None:
    new = {"thing/__init__.py": b"x = 2\n", "thing/new.py": b"", "thing/same.py": b"same"}
    comparison = compared(tmp_path, built(wheel(MEMBERS)), built(wheel(new), extra=b"more"))
    assert [(kind, path) for kind, path, _, _ in changes(comparison, "artifacts")] == [
        ("added", "build/extra"),
        ("changed", "build/thing.whl"),
        ("changed", "build/thing.whl!thing/__init__.py"),
        ("added", "build/thing.whl!thing/new.py"),
        ("removed", "build/thing.whl!thing/old.py"),
    ]


def test_a_wheel_that_is_only_packed_otherwise_is_said_to_be(tmp_path: Path) -> None:
    comparison = compared(tmp_path, built(wheel(MEMBERS)), built(wheel(MEMBERS, level=0)))
    assert changes(comparison, "artifacts")[1][2:] == ("the same files", "the same files, packed otherwise")
    assert comparison.exit_code == 0


def test_a_wheel_that_is_none_cannot_be_compared(tmp_path: Path) -> None:
    comparison = compared(tmp_path, built(b"no wheel"), built(wheel(MEMBERS)))
    assert [kind for kind, *_ in changes(comparison, "artifacts")] == ["changed", "not comparable"]


def test_each_fact_stands_in_its_section_with_its_path(tmp_path: Path) -> None:
    old: Mapping[str, Facts] = {
        "environment": {
            "machine": {"arch": "x86_64"},
            "distributions": [{"name": "numpy", "version": "2.1"}, {"name": "pip", "version": "1"}],
            "selected": {"PATH": {"sha256": "aa"}},
        },
        "toolkit": {"version_full": "13.0.48"},
        "chain": {"tier": "physical", "nvml": {"driver": "580.1"}, "chains": [], "child": {"pid": 1}},
        "lint": {"findings": [], "lines": 3},
    }
    new: Mapping[str, Facts] = {
        "environment": {
            "machine": {"arch": "aarch64"},
            "distributions": [{"name": "wgpu", "version": "0.32"}, {"name": "numpy", "version": "2.2"}],
            "selected": {"PATH": {"sha256": "bb"}},
        },
        "toolkit": {"version_full": "13.0.88"},
        "chain": {"tier": "physical", "nvml": {"driver": "580.2"}, "chains": [1], "child": {"pid": 2}},
        "lint": {"findings": [], "lines": True},
    }
    comparison = compared(
        tmp_path, *({name: Gate(facts) for name, facts in each.items()} for each in (old, new))
    )
    assert changes(comparison, "machine") == [
        ("changed", "chain.nvml.driver", "580.1", "580.2"),
        ("changed", "environment.machine.arch", "x86_64", "aarch64"),
    ]
    assert changes(comparison, "environment") == [
        ("changed", "environment.distributions[numpy].version", "2.1", "2.2"),
        ("removed", "environment.distributions[pip]", '{"name":"pip","version":"1"}', ""),
        ("added", "environment.distributions[wgpu]", "", '{"name":"wgpu","version":"0.32"}'),
    ]
    assert changes(comparison, "selection") == [
        ("changed", "environment.selected.PATH.sha256", "aa", "bb"),
        ("changed", "toolkit.version_full", "13.0.48", "13.0.88"),
    ]
    assert changes(comparison, "results") == [("changed", "chain.chains", "[]", "[1]")]
    assert changes(comparison, "other facts") == [("changed", "lint.lines", "3", "true")]


# The other run may have had it: neither "equal" nor "added" would be true.
def test_across_rules_an_unknown_field_is_not_comparable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "GATES", rows(TWO_RULES))
    new = {"lint": Gate({"clean": True, "lines": 3, "deep": {"b": 1}}, rules=2)}
    comparison = compared(tmp_path, {"lint": Gate({"clean": True, "deep": {"a": 1}})}, new)
    assert [(kind, path) for kind, path, _, _ in changes(comparison, "other facts")] == [
        ("not comparable", "lint.deep.a"),
        ("not comparable", "lint.deep.b"),
        ("not comparable", "lint.lines"),
    ]
    assert ("changed", "rules of lint", "1", "2") in changes(comparison, "toolchain")


def test_within_one_form_a_field_was_added_or_removed(tmp_path: Path) -> None:
    comparison = compared(tmp_path, with_facts("lint", a=1), with_facts("lint", b=2))
    assert changes(comparison, "other facts") == [
        ("removed", "lint.a", "1", ""),
        ("added", "lint.b", "", "2"),
    ]


def test_another_version_of_the_tool_is_another_form(tmp_path: Path) -> None:
    old = bundle(tmp_path / "a", changed=with_facts("lint", a=1))
    forge(old, old, lambda manifest, _: manifest.update(tool={"name": "assay", "version": "0.0.9"}))
    comparison = compare_bundles(old, bundle(tmp_path / "b"))
    assert changes(comparison, "other facts") == [("not comparable", "lint.a", "recorded", "not recorded")]
    assert changes(comparison, "toolchain")[0][:2] == ("changed", "tool")


def test_a_gate_that_did_not_run_is_not_comparable(tmp_path: Path) -> None:
    comparison = compared(tmp_path, new=with_facts("toolkit", findings=[found()]))
    assert ("not comparable", "build", "recorded", "not recorded") in changes(comparison, "other facts")
    assert ("changed", "tier", "physical", "none seen") in changes(comparison, "outcomes")


def test_a_gate_that_was_not_planned_is_none_that_did_not_end(tmp_path: Path) -> None:
    less = plan(gates=[gate for gate in GATES if gate != "lint"], command=[], deadlines={})
    one = write_bundle(make_run(tmp_path / "a", gates=GATES[:-1])).path
    other = bundle(tmp_path / "b", of=less)
    whole = bundle(tmp_path / "c")
    assert ("changed", "lint", "did not end", "not planned") in changes(
        compare_bundles(one, other), "outcomes"
    )
    assert ("changed", "lint", "passed", "not planned") in changes(compare_bundles(whole, other), "outcomes")
    assert ("changed", "lint", "passed", "did not end") in changes(compare_bundles(whole, one), "outcomes")


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, True), (0, False), ([1], [True]), ([[0]], [[False]]), (1, "1"), ([], {}), (None, "null")],
)
def test_values_of_two_types_are_never_equal(tmp_path: Path, one: Json, other: Json) -> None:
    comparison = compared(tmp_path, with_facts("lint", a=one), with_facts("lint", a=other))
    assert [(kind, path) for kind, path, _, _ in changes(comparison, "other facts")] == [
        ("changed", "lint.a")
    ]


def test_long_lists_of_changes_are_cut_on_a_terminal_and_whole_in_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    many = {f"fact-{number:03}": number for number in range(60)}
    old, new = bundle(tmp_path / "a"), bundle(tmp_path / "b", changed=with_facts("lint", **many))
    assert main(["compare", str(old), str(new)]) == 0
    assert "  and 20 more (--json lists them)" in capsys.readouterr().out
    assert main(["compare", "--json", str(old), str(new)]) == 0
    document = canonical.parse(capsys.readouterr().out.encode())
    assert isinstance(document, dict)
    assert document["schema"] == "assay/comparison/1"
    assert len(document["changes"]["other facts"]) == 60


def test_hostile_facts_cannot_steer_a_terminal(tmp_path: Path) -> None:
    comparison = compared(tmp_path, new=with_facts("lint", **{"\x1b[2J": "\u202e" + "x" * 5000}))
    text = "\n".join(comparison_lines(comparison))
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "\\u001b[2J" in text


# ------------------------------------------------------------------------------------------------ timings


def test_stages_are_timed_as_often_as_they_ran(tmp_path: Path) -> None:
    def ran(*durations: int) -> Mapping[str, Gate]:
        runs: Json = [{"input": "canonical", "duration_ns": each} for each in durations]
        chains: Json = [{"name": "pipeline", "stages": [{"name": "double", "runs": runs}]}]
        return {"chain": Gate({"tier": Tier.PHYSICAL.value, "chains": chains})}

    comparison = compared(tmp_path, ran(3 * MS, MS, 2 * MS), ran(MS))
    timing = next(each for each in comparison.timings if each.path == "chain/pipeline/double")
    assert (timing.old, timing.new, timing.percent) == ((MS, 2 * MS, 3 * MS), (MS,), 50)
    text = "\n".join(comparison_lines(comparison))
    assert "chain/pipeline/double: 0.002000 s (0.001000 to 0.003000, 3 times) -> 0.001000 s (50 %)" in text
    assert comparison.exit_code == 0  # time is nothing that was qualified


@pytest.mark.parametrize(
    ("old", "new", "moved"),
    [
        ((10, 11, 12), (13, 14, 15), "slower"),
        ((10, 11, 12), (7, 8, 9), "faster"),
        ((10, 11, 12), (12, 14, 15), ""),
        ((10, 11, 12), (1, 20, 30), ""),
        ((10,), (100,), ""),
        ((10, 11, 12), (100, 101), ""),
    ],
)
def test_only_what_lies_beyond_both_spreads_has_moved(
    old: tuple[int, ...], new: tuple[int, ...], moved: str
) -> None:
    assert Timing("x", old, new).moved == moved


def test_what_was_not_measured_is_not_comparable() -> None:
    assert Timing("x", (), (1,)).percent is None
    assert Timing("x", (0,), (1,)).percent is None
    assert spread_of((Timing("x", (), (1,)),)) is None
    assert spread_of((Timing("x", (10,), (20,)), Timing("y", (10,), (5,)), Timing("z", (1,), (1,)))) == (
        50,
        100,
        200,
    )
    assert Timing("x", (10, 20, 40), ()).to_json() == {
        "moved": "",
        "new": None,
        "old": {"highest_ns": 40, "lowest_ns": 10, "median_ns": 20, "times": 3},
        "path": "x",
        "percent": None,
    }

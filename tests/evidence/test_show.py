"""What is shown was verified, and no string of a bundle can steer the terminal that shows it."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.evidence.bundle import write_bundle
from assay.evidence.plain import plain
from assay.evidence.show import show_bundle, step_lines, verification_lines
from assay.evidence.verify import verify_bundle
from assay.model import Facts, Severity
from tests.evidence.support import PASSING, RUN, Gate, found, make_run

STAGES: Facts = {
    "tier": "physical",
    "chains": [
        {
            "name": "pipeline",
            "stages": [
                {
                    "name": "double",
                    "canonical": [f"{word:08x}" for word in (0x40000000, 0xC0C00000, 0x41200000)],
                },
                {"name": "long", "canonical": ["3f800000"] * 4096},
                {"name": "far", "canonical": {"count": 5000, "sha256": "ab" * 32}},
            ],
        }
    ],
}


@pytest.mark.gate
@given(st.text())
def test_nothing_that_steers_or_reorders_gets_through(hostile: str) -> None:
    shown = plain(hostile)
    bad = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not [letter for letter in shown if unicodedata.category(letter) in bad]
    if hostile.isprintable():
        assert shown == hostile


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred\x07", "\\u001b[31mred\\u0007"),
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("\u2066x\u2069\u200f", "\\u2066x\\u2069\\u200f"),
        ("line\r\nline", "line\\u000d\\u000aline"),
        ("\x9b2J", "\\u009b2J"),
        ("\U000e0001", "\\U000e0001"),
        ("Gerät 中文 ✓", "Gerät 中文 ✓"),
    ],
)
def test_escapes_bidirectional_marks_and_controls_are_written_out(hostile: str, shown: str) -> None:
    assert plain(hostile) == shown


def test_a_long_string_is_cut() -> None:
    assert plain("x" * 5000) == "x" * 2000 + "… (5000 characters)"


@pytest.mark.gate
def test_a_qualified_bundle_is_shown_with_verdict_tier_claims_gates_and_values(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path, changed={"chain": Gate(STAGES)}))
    lines, verification = show_bundle(bundle.path, subject=True)
    assert verification.intact
    assert lines[0] == "verdict: qualified (tier: physical)"
    text = "\n".join(lines)
    for part in (
        "integrity: intact",
        "anchor: none",
        "signer: unsigned",
        f"run: {RUN}",
        f"bundle digest: {bundle.digest}",
        f"subject digest: {verification.subject_digest}",
        "established: the chain is exact [chain]",
        "not established: buffers are shared",
        "environment      passed",
        "pipeline/double: 2, -6, 10 (3 values)",
        "pipeline/long: 1, 1, 1, …, 1, 1, 1 (4096 values)",
        "pipeline/far: values given by their digest",
    ):
        assert part in text


def test_findings_are_shown_with_their_remedies_and_made_harmless(tmp_path: Path) -> None:
    facts: Facts = {"findings": [found("X-Y", Severity.WARNING, "a \x1b[2J name")]}
    bundle = write_bundle(make_run(tmp_path, changed={"lint": Gate({**facts, **PASSING["lint"].facts})}))
    text = "\n".join(show_bundle(bundle.path)[0])
    assert "X-Y (warning): a \\u001b[2J name" in text
    assert "remedy: look at the plan of gpu-thing" in text
    assert "\x1b" not in text


@pytest.mark.gate
def test_a_broken_bundle_shows_its_problems_and_nothing_that_it_says(tmp_path: Path) -> None:
    bundle = write_bundle(make_run(tmp_path))
    data = bytearray(bundle.path.read_bytes())
    data[-2000] ^= 1
    bundle.path.write_bytes(data)
    lines, verification = show_bundle(bundle.path)
    text = "\n".join(lines)
    assert verification.exit_code == 4
    assert "integrity: broken" in text
    assert "expected: " in text
    for word in ("verdict:", "established", "qualified", "gates:"):
        assert word not in text


def test_malformed_values_are_said_to_be_unreadable(tmp_path: Path) -> None:
    for chains in (3, [3], [{"name": "x", "stages": [{"name": "y", "canonical": ["zz"]}]}]):
        facts: Facts = {"tier": "physical", "chains": chains}  # type: ignore[dict-item]  # hostile on purpose
        bundle = write_bundle(make_run(tmp_path / repr(chains)[:9], changed={"chain": Gate(facts)}))
        assert "cannot be read" in "\n".join(show_bundle(bundle.path)[0])


def test_the_steps_are_listed_in_order(tmp_path: Path) -> None:
    verified = verify_bundle(write_bundle(make_run(tmp_path)).path)
    lines = list(step_lines(verified))
    assert [line.split(".")[0].strip() for line in lines] == [str(number) for number in range(1, 12)]
    assert next(iter(verification_lines(verified))).startswith("verdict: ")

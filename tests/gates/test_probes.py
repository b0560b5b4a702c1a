"""Asking programs: live ones that answer, fail, hang or talk nonsense, and recorded answers."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.chain.probe import NAMES
from assay.gates.probes import ALONE, LiveProbes, RecordedProbes, probes_of
from tests.gates.running import Bench, bench
from tests.plan.support import plan_table


@pytest.fixture
def live(tmp_path: Path) -> Iterator[Bench]:
    with bench(tmp_path, plan=plan_table(), selection={"BUN_PYTHON_EXECUTABLE": sys.executable}) as made:
        yield made


def test_the_selected_interpreter_answers_for_itself(live: Bench) -> None:
    said = LiveProbes(live.context).chain(("interpreter", "shadow"))
    assert said["interpreter"].problem == ""
    assert said["interpreter"].facts["version"] == platform.python_version()
    assert said["shadow"].asked


def test_the_real_machine_is_asked_live(live: Bench) -> None:
    assert isinstance(probes_of(live.context), LiveProbes)


def test_a_programs_answer_is_its_whole_output(live: Bench) -> None:
    code = "import sys; print('one'); print('two', file=sys.stderr)"
    said = LiveProbes(live.context).program("any", (sys.executable, "-c", code))
    assert (said.asked, said.problem) == (True, "")
    assert sorted(said.text.split()) == ["one", "two"]
    assert live.context.commands[0].exit == 0


def test_a_program_that_fails_hangs_or_is_not_there_is_a_problem_and_no_exception(live: Bench) -> None:
    probes = LiveProbes(live.context)
    failed = probes.program("any", (sys.executable, "-c", "import sys; sys.exit('no such luck')"))
    assert failed.problem == "it ended with 1: no such luck"
    hung = probes.program("any", (sys.executable, "-c", "import threading; threading.Event().wait()"), 0.3)
    assert (hung.silent, hung.problem) == (True, "any did not answer within its deadline")
    missing = probes.program("any", ("/nowhere/nvcc", "--version"))
    assert missing.asked
    assert missing.problem


def asker(folder: Path, body: str) -> Path:
    """Return an interpreter that runs ``body`` (a shell's) with ``$parts`` and ``$result`` set."""
    made = folder / "python"
    made.write_text(
        f'#!/bin/sh\nwhile [ "$1" != --result ]; do shift; done\nresult="$2"; shift 2; parts="$*"\n{body}\n'
    )
    made.chmod(0o755)
    return made


ANSWERS = 'echo "{\\"parts\\": {\\"$parts\\": {\\"facts\\": {\\"told\\": \\"$parts\\"}}}}" > "$result"'


def test_a_part_that_hangs_or_crashes_takes_no_others_answer(tmp_path: Path) -> None:
    body = f"case $parts in nvml) exec sleep 600;; cuda) kill -SEGV $$;; esac\n{ANSWERS}"
    chosen = {"BUN_PYTHON_EXECUTABLE": str(asker(tmp_path, body))}
    with bench(tmp_path, plan=plan_table(), selection=chosen) as made:
        said = LiveProbes(made.context).chain(("nvml", "cuda", "adapters", "packages"), 1.0)
        commands = [command.exit for command in made.context.commands]
    assert said["nvml"].problem == "the selected interpreter did not answer within its deadline"
    assert said["nvml"].silent
    assert said["cuda"].problem == "it was ended by signal 11"
    assert {name: said[name].facts for name in ("adapters", "packages")} == {
        "adapters": {"told": "adapters"},
        "packages": {"told": "packages"},
    }
    assert commands == [0, "timeout", -11, 0]  # recorded in the order of asking, whatever ended first


def test_questions_are_answered_side_by_side(tmp_path: Path) -> None:
    """The interpreter ends only when the program has begun, and the program only when it has."""
    ways = [tmp_path / "to", tmp_path / "back"]
    for way in ways:
        os.mkfifo(way)
    body = f'echo 1 > "{ways[0]}"; read x < "{ways[1]}"; {ANSWERS}'
    chosen = {"BUN_PYTHON_EXECUTABLE": str(asker(tmp_path, body))}
    with bench(tmp_path, plan=plan_table(), selection=chosen) as made:
        probes = LiveProbes(made.context)
        one = probes.begin(("shadow",), 20.0)
        two = probes.start("any", ("/bin/sh", "-c", f'read x < "{ways[0]}"; echo $x > "{ways[1]}"'), 20.0)
        assert (one.result()["shadow"].facts, two.result().problem) == ({"told": "shadow"}, "")


def test_a_gate_that_asks_and_never_listens_leaves_nothing_running(tmp_path: Path) -> None:
    ended = tmp_path / "ended"
    with bench(tmp_path, plan=plan_table()) as made:
        LiveProbes(made.context).start("any", ("/bin/sh", "-c", f'echo 1 > "{ended}"'), 20.0)
        LiveProbes(made.context).start("missing", ("/nowhere/nvidia-smi",), 20.0)
        made.context.settle()
    assert ended.read_text() == "1\n"


def test_every_part_that_stands_alone_is_one_of_the_probes() -> None:
    assert set(NAMES) >= ALONE


def test_bytes_that_are_no_text_are_no_trouble(live: Bench) -> None:
    code = "import sys; sys.stdout.buffer.write(bytes(range(128, 256)))"
    said = LiveProbes(live.context).program("any", (sys.executable, "-c", code))
    assert said.problem == ""
    assert "\ufffd" in said.text


def test_an_interpreter_that_ends_without_a_word_is_a_problem_of_each_part(tmp_path: Path) -> None:
    false = tmp_path / "python"
    false.write_text("#!/bin/sh\necho broken >&2\nexit 3\n")
    false.chmod(0o755)
    with bench(tmp_path, plan=plan_table(), selection={"BUN_PYTHON_EXECUTABLE": str(false)}) as made:
        said = LiveProbes(made.context).chain(("interpreter", "shadow"))
    assert {part: each.problem for part, each in said.items()} == {
        "interpreter": "it ended with 3: broken",
        "shadow": "it ended with 3: broken",
    }


def test_an_interpreter_that_writes_nonsense_is_a_problem(tmp_path: Path) -> None:
    false = tmp_path / "python"
    false.write_text(
        '#!/bin/sh\nfor last; do :; done\nwhile [ "$1" != --result ]; do shift; done\necho "{" > "$2"\n'
    )
    false.chmod(0o755)
    with bench(tmp_path, plan=plan_table(), selection={"BUN_PYTHON_EXECUTABLE": str(false)}) as made:
        said = LiveProbes(made.context).chain(("interpreter",))["interpreter"]
    assert said.problem.startswith("its answer is not JSON")


def test_without_an_interpreter_nobody_is_asked(tmp_path: Path) -> None:
    with bench(tmp_path, plan=plan_table()) as made:
        said = LiveProbes(made.context).chain(("interpreter",))["interpreter"]
    assert (said.asked, said.problem) == (False, "no interpreter is selected")


def test_recorded_answers_are_those_of_the_file() -> None:
    probes = RecordedProbes(
        {
            "chain": {
                "interpreter": {"facts": {"version": "3.12.3"}},
                "nvml": "timeout",
                "shadow": {"error": {}},
            },
            "nvcc-version": {"exit": 0, "output": "release 13.0"},
        }
    )
    said = probes.chain(("interpreter", "nvml", "shadow", "packages"))
    assert said["interpreter"].facts == {"version": "3.12.3"}
    assert said["nvml"].silent
    assert said["shadow"].problem == "it told nothing"
    assert not said["packages"].asked
    assert probes.program("nvcc-version", ()).text == "release 13.0"
    assert not probes.program("vswhere", ()).asked


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["facts", "error", "exit"]), inner)
    ),
    max_leaves=5,
)


@given(VALUES, VALUES)
def test_no_recorded_answer_is_too_odd(part: Any, answer: Any) -> None:  # noqa: ANN401  # JSON of any form
    probes = RecordedProbes({"chain": {"interpreter": part}, "nvcc-version": answer})
    assert probes.chain(("interpreter",))["interpreter"].asked
    assert probes.program("nvcc-version", ()).asked
    assert not RecordedProbes({"chain": part}).chain(("nvml",))["nvml"].facts

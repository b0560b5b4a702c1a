"""The README's tables: found, filled, and made from what they are about."""

from __future__ import annotations

import pytest

from assay.docs import gates, readme, sessions, variables
from assay.errors import StorageError
from assay.plan import load_plan
from tests.project.files import PROJECT

NOXFILE = '''
import nox

def helper(session):
    """No session."""

@nox.session
def lint(session):
    """Check the sources.

    More words.
    """

@nox.session(name="format", tags=["quick"])
def formatting(session):
    """Check the format."""
'''


@pytest.mark.gate
def test_a_section_is_filled_and_the_rest_is_kept() -> None:
    text = "before\n<!-- gates -->\nold\nlines\n<!-- /gates -->\nafter\n"
    assert readme(text, {"gates": "new\n"}) == "before\n<!-- gates -->\nnew\n<!-- /gates -->\nafter\n"


def test_filling_twice_changes_nothing() -> None:
    text = "<!-- gates -->\n<!-- /gates -->\n"
    once = readme(text, {"gates": "a \\1 backslash\n"})
    assert readme(once, {"gates": "a \\1 backslash\n"}) == once
    assert r"a \1 backslash" in once


@pytest.mark.parametrize("text", ["", "<!-- gates -->\nno end", "<!-- gates -->\n<!-- /gates -->\n" * 2])
def test_a_section_without_its_one_place_is_an_error(text: str) -> None:
    with pytest.raises(StorageError, match="'gates'"):
        readme(text, {"gates": "new\n"})


@pytest.mark.gate
def test_sessions_are_read_without_running_the_noxfile() -> None:
    assert list(sessions(NOXFILE)) == [
        ("`nox -s lint`", "Check the sources."),
        ("`nox -s format`", "Check the format."),
    ]


@pytest.mark.gate
def test_every_planned_gate_is_listed_and_the_optional_ones_say_so() -> None:
    plan = load_plan(PROJECT)
    listed = [name for name, *_ in gates(plan)]
    assert listed[: len(plan.gates)] == [f"`{name}`" for name in plan.gates]
    assert all(name.endswith("(optional)") for name in listed[len(plan.gates) :])


def test_every_variable_says_which_gates_need_it() -> None:
    needed = {name: gates for name, _, gates in variables()}
    assert needed["`BUN_PYTHON_HOST_LIBRARY`"] == "`hosted`"
    assert "`chain`" in needed["`BUV_RUNTIME_LIB`"]

"""Paths are rooted, secrets vanish, logs stay readable; chunk borders hide nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.model import Json
from assay.redaction import RedactingStream, Redactor, make_redactor

pytestmark = pytest.mark.gate

ROOTS = (
    ("$TOOLKIT", "/srv/env/lib/nvidia/cu13"),
    ("$SELECTION", "/srv/env"),
    ("$HOME", "/home/someone"),
    ("$PROJECT", "/home/someone/project"),
)

SECRET = {"MY_TOKEN": "sesame"}


def redactor(**environ: str) -> Redactor:
    return make_redactor(environ, ROOTS)


def text(given: str, **environ: str) -> str:
    return redactor(**environ).text(given)[0]


@pytest.mark.parametrize(
    ("given_text", "rooted"),
    [
        ("/srv/env/bin/python", "$SELECTION/bin/python"),
        ("/srv/env/lib/nvidia/cu13/bin/nvcc", "$TOOLKIT/bin/nvcc"),
        ("/srv/env", "$SELECTION"),
        ("/srv/env.", "$SELECTION."),
        ("/srv/environment/x", "/srv/environment/x"),
        ("/srv/env.old/x", "/srv/env.old/x"),
        ("/mnt/srv/env/x", "/mnt/srv/env/x"),
        ("-I/srv/env/include -L/srv/env/lib", "-I$SELECTION/include -L$SELECTION/lib"),
        ("a:/srv/env/a:/home/someone/b", "a:$SELECTION/a:$HOME/b"),
        ("/home/someone/project/x", "$PROJECT/x"),
        ("/usr/lib/x86_64-linux-gnu/libcuda.so.1", "/usr/lib/x86_64-linux-gnu/libcuda.so.1"),
    ],
)
def test_paths_are_rooted_as_whole_parts_longest_root_first(given_text: str, rooted: str) -> None:
    assert text(given_text) == rooted


def test_a_system_prefix_is_never_a_root() -> None:
    made = make_redactor({}, [("$SELECTION", "/usr"), ("$TOOLKIT", "/")])
    assert made.text("/usr/lib/libcuda.so.1")[0] == "/usr/lib/libcuda.so.1"
    assert made.roots == ()


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("GITHUB_TOKEN", "hunter", False),
        ("DB_PASSWORD", "correct horse", False),
        ("AWS_SECRET_ACCESS_KEY", "abcdef", False),
        ("NOX_CURRENT_SESSION", "qualify", True),
        ("SESSION_ID", "abcdef", False),
        ("API_KEY", "12345", True),  # under six characters: replacing it would destroy logs
        ("NOISE", "yes", True),
        ("BUILD_LABEL", "internal-codename-7", False),
        ("BUILD_LABEL", "/var/lib/something/long", True),
        ("BUILD_LABEL", "C:\\Program Files\\thing", True),
        ("LANG", "en_US.UTF-8-long-name", True),
        ("CUDA_VISIBLE_DEVICES", "GPU-5e8153a0-041a-19a0", True),
        ("USER", "a-very-long-user-name", True),
    ],
)
def test_which_values_are_hidden(name: str, value: str, shown: bool) -> None:  # noqa: FBT001  # a table's column
    assert (value in text(f"before {value} after", **{name: value})) is shown


def test_a_plan_may_allow_a_value() -> None:
    made = make_redactor({"BUILD_LABEL": "internal-codename-7"}, (), ["BUILD_LABEL"])
    assert made.text("internal-codename-7") == ("internal-codename-7", 0)


def test_redactions_are_counted_and_rootings_are_not() -> None:
    _, count = redactor(**SECRET).text("sesame /srv/env sesame")
    assert count == 2


def test_facts_are_redacted_in_values_and_keys_at_any_depth() -> None:
    facts: Json = {"a": [{"/srv/env/x": "sesame"}], "n": 3, "t": True, "z": None}
    assert redactor(**SECRET).json(facts) == (
        {"a": [{"$SELECTION/x": "[redacted]"}], "n": 3, "t": True, "z": None},
        1,
    )


PIECES = st.sampled_from(
    [
        b"/srv/env",
        b"/srv/env/lib/nvidia/cu13",
        b"sesame",
        b"ses",
        b" ",
        b"\n",
        b"x",
        b"/",
        b".",
        b"-I",
        b"\xff",
        b"$",
    ]
)


@given(st.lists(PIECES, max_size=20), st.lists(st.integers(1, 7), max_size=60))
def test_a_stream_equals_the_whole_wherever_it_is_cut(pieces: list[bytes], sizes: list[int]) -> None:
    made, whole = redactor(**SECRET), b"".join(pieces)
    stream, out, rest = RedactingStream(made), b"", whole
    for size in sizes:
        out, rest = out + stream.feed(rest[:size]), rest[size:]
    out += stream.feed(rest) + stream.finish()
    assert (out, stream.count) == made.data(whole)

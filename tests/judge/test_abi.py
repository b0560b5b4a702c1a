"""Gate ``abi`` over facts: what ends a load, what is not this gate's, and facts that are no facts."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.judge.abi import check, claim, judge
from assay.judge.reading import MalformedFacts
from assay.model import Facts, Platform
from tests.judge.cases import ids, judged, make_case, with_fact

BINARY: dict[str, Any] = {
    "arch": "x86_64",
    "bits": 64,
    "format": "elf",
    "glibc_needed": "2.28",
    "interpreter": "",
    "needed": ["libstdc++.so.6", "libc.so.6"],
    "problem": "",
}
LIBRARIES = [
    {"name": "libstdc++.so.6", "needed_by": "/lib/x.so", "path": "/usr/lib/libstdc++.so.6", "problem": ""},
    {"name": "libc.so.6", "needed_by": "/lib/x.so", "path": "/usr/lib/libc.so.6", "problem": ""},
]


def file(what: str, **more: object) -> dict[str, Any]:
    made = {"binary": dict(BINARY), "libraries": [dict(each) for each in LIBRARIES], "loader": None}
    return {**made, "needs": ["GLIBC_2.28"], "path": "/lib/x.so", "unmet": [], "what": what, **more}


FACTS: dict[str, Any] = {
    "arch": "x86_64",
    "driver": None,
    "files": [file("interpreter", loader=True), file("provider")],
    "machine": {
        "arch": "x86_64",
        "libc": {"kind": "glibc", "provides": "2.36", "version": "2.36"},
        "os": {"id": "debian", "version": "12"},
    },
}


def found(path: str, value: object) -> list[str]:
    return ids(judged(make_case(), "abi", with_fact(FACTS, path, value)))


@pytest.mark.gate
def test_what_fits_passes_and_is_claimed_with_the_machine() -> None:
    assert found("arch", "x86_64") == []
    assert claim(make_case(), FACTS) == (
        "interpreter, provider and every library that they need are there and fit this machine: "
        "x86_64 with glibc 2.36"
    )


@pytest.mark.parametrize(
    ("path", "value", "expected"),
    [
        ("files.1.binary.arch", "aarch64", ["ABI-ARCHITECTURE"]),
        ("files.1.binary.glibc_needed", "2.37", ["ABI-LIBC"]),
        ("files.1.binary.glibc_needed", "2.36", []),
        ("files.0.loader", False, ["ABI-LOADER-MISSING"]),
        ("files.1.libraries.0.path", None, ["ABI-LIBRARIES"]),
        ("files.1.libraries.0.problem", "it is for x86", []),  # told of a hit that was passed over
        ("machine.libc", {"kind": "musl", "version": "1.2.5"}, ["ABI-LIBC", "ABI-LIBC"]),
        ("files.1.binary.problem", "it is cut off", []),  # gate provider says so
        ("files.1.libraries", [], ["FACTS-MALFORMED"]),
    ],
)
def test_each_thing_that_ends_a_load_is_named(path: str, value: object, expected: list[str]) -> None:
    assert found(path, value) == expected


def test_of_another_c_library_nothing_more_is_said() -> None:
    facts = with_fact(FACTS, "machine.libc", {"kind": "musl", "version": "1.2.5"})
    facts["files"][1]["libraries"][0]["path"] = None
    assert set(ids(judge(make_case(), facts))) == {"ABI-LIBC"}


@pytest.mark.parametrize("name", ["libcuda.so.1", "libnvidia-ml.so.1"])
def test_a_drivers_own_library_is_the_drivers_matter(name: str) -> None:
    facts = with_fact(FACTS, "files.1.binary.needed", [name])
    facts["files"][1]["libraries"] = [{"name": name, "needed_by": "/lib/x.so", "path": None, "problem": ""}]
    assert judge(make_case(), facts) == ()


@pytest.mark.parametrize("name", ["python312.dll", "Python3.dll", "python313t.dll"])
def test_cpythons_own_library_is_in_the_process_before_an_extension_module(name: str) -> None:
    made = file("extension module", libraries=[{"name": name, "path": None}])
    made["binary"] |= {"format": "pe", "needed": [name]}
    facts = {**FACTS, "files": [file("interpreter", loader=True), made]}
    case = make_case(platform=Platform.WINDOWS)
    assert judge(case, facts) == ()
    assert ids(judge(case, with_fact(facts, "files.1.what", "provider"))) == ["ABI-LIBRARIES"]


@pytest.mark.parametrize(
    "path",
    ["machine.libc", "machine.arch", "files.0.unmet", "files.0.binary.needed", "files.0.loader", "driver"],
)
def test_a_claim_rests_on_every_file_and_on_the_machine(path: str) -> None:
    with pytest.raises(MalformedFacts):
        check(make_case(), with_fact(FACTS, path, ...))


def test_a_claim_needs_the_interpreter() -> None:
    with pytest.raises(MalformedFacts):
        check(make_case(), {**FACTS, "files": [file("provider")]})


VERSION = st.from_regex(r"GLIBCXX_3\.4(\.[0-9]{1,2})?", fullmatch=True)


@given(version=VERSION, highest=VERSION | st.just(""))
def test_an_unmet_version_is_told_with_both(version: str, highest: str) -> None:
    unmet: Facts = {
        "highest": highest,
        "library": "libstdc++.so.6",
        "needed_by": "/lib/x.so",
        "path": "/usr/lib/libstdc++.so.6",
        "version": version,
    }
    (finding,) = judge(make_case(), with_fact(FACTS, "files.1.unmet", [unmet]))
    assert finding.id == "ABI-SYMBOL-VERSION"
    assert f"needs {version} of libstdc++.so.6" in finding.observed
    assert (highest or "none of that family") in finding.observed
    assert finding.expected == version

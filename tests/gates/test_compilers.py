"""The nvcc that would be started, and the host compiler that it would start and accept."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.gates.compilers import (
    ask_nvcc,
    first_nvcc,
    parse_compiler,
    parse_range,
    parse_started,
    script_target,
    with_origin,
)
from assay.gates.probes import RecordedProbes
from assay.machine import Machine
from assay.model import Facts, Json
from tests.machines.build_elf import elf_bytes
from tests.machines.building import Builder

CUDA_13 = """\
#if defined(__GNUC__)
#if __GNUC__ > 15
#error -- unsupported GNU version! gcc versions later than 15 are not supported! The nvcc flag can override.
#endif /* __GNUC__ > 15 */
#if defined(__clang__) && !defined(__ibmxl_vrm__) && !defined(__ICC)
#if (__clang_major__ >= 21) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- unsupported clang version! clang version must be less than 21 and greater than 3.2 .
#endif
#endif
#endif
#if defined(_WIN32)
#if _MSC_VER < 1920 || _MSC_VER >= 1950
#error -- unsupported Microsoft Visual Studio version! Only the versions between 2019 and 2022 are supported!
#endif
#endif
"""
CUDA_11 = """\
#if defined(__GNUC__)
#if __GNUC__ > 11
#error -- unsupported GNU version! gcc versions later than 11 are not supported!
#endif
#if (__clang_major__ >= 15) || (__clang_major__ < 3) || ((__clang_major__ == 3) &&  (__clang_minor__ < 3))
#error -- unsupported clang version! clang version must be less than 15 and greater than 3.2 .
#endif
#endif
#if _MSC_VER < 1910 || _MSC_VER >= 1940
#error -- unsupported Microsoft Visual Studio version! Only the versions between 2017 and 2022 are supported!
#endif
"""


@pytest.fixture
def builder(tmp_path: Path) -> Builder:
    return Builder(tmp_path / "machine")


def machine_of(builder: Builder) -> Machine:
    return builder.machine(stated={"os": "linux", "arch": "x86_64"})


@pytest.mark.parametrize(
    ("text", "family", "version"),
    [
        (
            "gcc (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free Software Foundation, Inc.",
            "gcc",
            "12.2.0",
        ),
        ("gcc (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0\nFree Software Foundation", "gcc", "13.3.0"),
        ("gcc (GCC) 8.5.0 20210514 (Red Hat 8.5.0-28)\nFree Software Foundation", "gcc", "8.5.0"),
        ("gcc-12 (SUSE Linux) 12.3.0 [revision 3fa6]\nFree Software Foundation", "gcc", "12.3.0"),
        (
            "x86_64-conda-linux-gnu-cc (conda-forge gcc 14.3.0-5) 14.3.0\nFree Software Foundation",
            "gcc",
            "14.3.0",
        ),
        ("gcc (GCC) 16.0.0 20250601 (experimental)\nFree Software Foundation", "gcc", "16.0.0"),
        ("Ubuntu clang version 18.1.3 (1ubuntu1)\nTarget: x86_64-pc-linux-gnu", "clang", "18.1.3"),
        ("clang version 21.1.0 (https://example.org 1.2.3)", "clang", "21.1.0"),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", "clang", "15.0.0"),
        ("icpx: Intel(R) compiler", "", ""),
        ("", "", ""),
    ],
)
def test_a_compiler_says_its_family_and_version(text: str, family: str, version: str) -> None:
    assert parse_compiler(text) == (family, version)


@given(st.text(max_size=200))
def test_no_output_is_too_odd(text: str) -> None:
    assert len(parse_compiler(text)) == len(("family", "version"))
    assert isinstance(parse_started(text), str)
    assert isinstance(parse_range(text), dict)


@pytest.mark.parametrize(
    ("text", "gcc", "clang", "msvc"),
    [(CUDA_13, (None, 16), (3, 21), (1920, 1950)), (CUDA_11, (None, 12), (3, 15), (1910, 1940))],
)
def test_the_toolkits_own_bounds_are_read(text: str, gcc: object, clang: object, msvc: object) -> None:
    found = parse_range(text)
    assert [_pair(found, family) for family in ("gcc", "clang", "msvc")] == [gcc, clang, msvc]


def _pair(found: Facts, family: str) -> tuple[int | None, int | None]:
    """Return the bounds of a family."""
    bounds = found[family]
    assert isinstance(bounds, dict)
    low, below = bounds["low"], bounds["below"]
    return low, below


@given(
    st.lists(st.tuples(st.sampled_from(["<", "<=", ">", ">="]), st.integers(1, 60)), min_size=1, max_size=3),
    st.booleans(),
)
def test_a_version_is_accepted_exactly_where_no_condition_refuses_it(
    clauses: list[tuple[str, int]],
    continued: bool,  # noqa: FBT001  # drawn
) -> None:
    joint = " || \\\n  " if continued else " || "
    condition = joint.join(f"(__GNUC__ {sign} {number})" for sign, number in clauses)
    text = f"#if defined(X)\n#if {condition}\n#error -- unsupported GNU version! no\n#endif\n"
    low, below = _pair(parse_range(text), "gcc")
    for version in range(70):
        refused = any(_holds(version, sign, number) for sign, number in clauses)
        accepted = (low is None or version >= low) and (below is None or version < below)
        assert accepted is not refused


def _holds(version: int, sign: str, number: int) -> bool:
    """Say whether a comparison holds."""
    results = {"<": version < number, "<=": version <= number, ">": version > number, ">=": version >= number}
    return results[sign]


def test_a_header_without_bounds_accepts_everything() -> None:
    assert parse_range("#define NOTHING\n") == {}
    assert parse_range("#error -- unsupported GNU version! without a condition\n") == {}


@pytest.mark.parametrize(
    ("line", "program"),
    [
        ('#$ gcc -D__CUDA_ARCH__=750 -E -x c++  -D__CUDACC__ -D__NVCC__ "x.cu"', "gcc"),
        ('#$ "/usr/bin"/clang-21 -E -x c++ -D__CUDACC__ "x.cu"', "/usr/bin/clang-21"),
        ('#$ /opt/my\\ gcc/bin/gcc -E -D__CUDACC__ "x.cu"', "/opt/my gcc/bin/gcc"),
        ('#$ cl.exe -E -TP -D__CUDACC__ "C:\\x.cu" > "x.ii"', "cl.exe"),
        ('#$ "C:\\VC Tools\\cl.exe" -E -D__CUDACC__ "C:\\x.cu"', "C:\\VC Tools\\cl.exe"),
    ],
)
def test_a_dry_run_names_the_host_compiler(line: str, program: str) -> None:
    before = "#$ _HERE_=/usr/local/cuda-13.0/bin\n#$ TOP=/usr/local/cuda-13.0/bin/..\n#$ CUDAFE_FLAGS=\n"
    assert parse_started(f'{before}{line}\n#$ "$CICC_PATH/cicc" --c++17 "x.ii"\n') == program


def test_a_dry_run_that_failed_names_none() -> None:
    assert (
        parse_started("#$ _HERE_=/x\nnvcc fatal   : Failed to preprocess host compiler properties.\n") == ""
    )


@pytest.mark.parametrize(
    "script",
    [
        '#!/bin/sh\nexec /t/bin/nvcc "$@"\n',
        '#!/bin/sh\nexec "/t/bin/nvcc" "$@"\n',
        "#!/bin/bash\nexport X=1\n/t/bin/nvcc $*\n",
        "#!/usr/bin/env python3\nimport os, sys\nos.execv('/t/bin/nvcc', sys.argv)\n",
    ],
)
def test_a_wrapper_scripts_target_is_read(builder: Builder, script: str) -> None:
    builder.program("/t/bin/nvcc", elf_bytes(kind="executable"))
    builder.program("/usr/local/bin/nvcc", script)
    machine = machine_of(builder)
    assert script_target(machine, "/usr/local/bin/nvcc") == "/t/bin/nvcc"
    first = first_nvcc(machine, ("/usr/local/bin",))
    assert (first["kind"], first["origin"], first["profile"]) == ("script", "/t", True)


def test_a_script_that_does_not_say_what_it_starts_has_nvccs_own_word(builder: Builder) -> None:
    builder.program("/t/bin/nvcc", elf_bytes(kind="executable"))
    builder.program("/usr/local/bin/nvcc", '#!/bin/sh\nexec "$TOP/bin/nvcc" "$@"\n')
    machine = machine_of(builder)
    first = first_nvcc(machine, ("/usr/local/bin",))
    assert (first["origin"], first["target"]) == ("", "")
    told = with_origin(machine, first, "#$ _SPACE_= \n#$ _HERE_=/t/bin\n#$ TOP=/t/bin/..\n")
    assert (told["origin"], told["target"]) == ("/t", "/t/bin/nvcc")
    assert with_origin(machine, first, "nvcc fatal") == first


def test_a_link_is_told_from_a_file_and_from_a_folder_behind_a_link(builder: Builder) -> None:
    builder.program("/t/bin/nvcc", elf_bytes(kind="executable"))
    builder.file("/t/bin/nvcc.profile")
    builder.link("/usr/local/bin/nvcc", "/t/bin/nvcc")
    builder.link("/usr/local/cuda", "/t")
    machine = machine_of(builder)
    linked = first_nvcc(machine, ("/usr/local/bin",))
    assert (linked["kind"], linked["profile"], linked["target"]) == ("link", False, "/t/bin/nvcc")
    through = first_nvcc(machine, ("/usr/local/cuda/bin",))
    assert (through["kind"], through["profile"], through["origin"]) == ("file", True, "/t")


def test_without_nvcc_there_is_no_first_one(builder: Builder) -> None:
    builder.file("/x/nvcc", "not a program")
    assert first_nvcc(machine_of(builder), ("/x", "/nowhere")) == {"path": ""}


def test_nvccs_own_word_is_its_version_and_each_architecture_once() -> None:
    answers: dict[str, Json] = {
        "nvcc-version": {"exit": 0, "output": "Cuda compilation tools, release 13.0, V13.0.88\n"},
        "nvcc-architectures": {"exit": 0, "output": "compute_75\ncompute_90\ncompute_90\n"},
    }
    said = ask_nvcc(RecordedProbes(answers), "/t/bin/nvcc")
    assert said == {"architectures": ["75", "90"], "asked": True, "problem": "", "version": "13.0.88"}


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        ({"exit": 1, "output": "Segmentation fault\n"}, "it ended with 1: Segmentation fault"),
        ({"exit": 0, "output": "hello"}, "its answer names no release"),
        ("timeout", "nvcc-version did not answer within its deadline"),
        (7, "the recorded answer of nvcc-version has another form"),
    ],
)
def test_an_nvcc_that_does_not_answer_has_a_problem(answer: object, problem: str) -> None:
    said = ask_nvcc(RecordedProbes({"nvcc-version": answer}), "/t/bin/nvcc")  # type: ignore[dict-item]  # any JSON
    assert (said["problem"], said["version"], said["architectures"]) == (problem, "", [])


def test_the_bounds_hold_for_every_pair_of_releases_in_the_headers() -> None:
    for text, version in itertools.product((CUDA_13, CUDA_11), range(3, 30)):
        stated = re.search(r"__GNUC__ > (\d+)", text)
        _, below = _pair(parse_range(text), "gcc")
        assert stated is not None
        assert below is not None
        assert (version < below) is (version <= int(stated[1]))

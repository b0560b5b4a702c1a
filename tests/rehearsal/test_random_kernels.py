"""Random kernels against C++ that was compiled for the host: every bit agrees."""

from __future__ import annotations

import ctypes
import random
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.rehearsal import Limits
from tests.rehearsal import programs
from tests.rehearsal.operations import OPERATIONS
from tests.rehearsal.support import Device

COUNT = 500
HERE = Path(__file__).resolve().parent
FLAGS = (
    "-std=c++17 -O1 -ffp-contract=off -frounding-math -fno-strict-aliasing -shared -fPIC -w".split()  # noqa: SIM905  # as on a command line
)


class Reference:
    """Programs compiled for the host."""

    def __init__(self, made: Sequence[Sequence[programs.Statement]], folder: Path, name: str) -> None:
        source, library = folder / f"{name}.cpp", folder / f"{name}.so"
        source.write_text(programs.cpp(made))
        command = ["g++", *FLAGS, "-I", str(HERE), "-o", str(library), str(source)]
        subprocess.run(command, check=True, capture_output=True, timeout=300)  # noqa: S603  # the host's compiler
        self._library = ctypes.CDLL(str(library))

    def run(self, number: int, records: bytes) -> bytes:
        """Return the records after a program."""
        buffer = ctypes.create_string_buffer(records, len(records))
        self._library.run(number, buffer, COUNT)
        return buffer.raw


def compare(made: Sequence[Sequence[programs.Statement]], folder: Path, name: str, seed: int) -> None:
    """Run programs on the host and in the interpreter, and compare all variables of all threads."""
    reference = Reference(made, folder, name)
    device = Device(programs.ptx(made))
    records = programs.records(random.Random(seed).randrange, COUNT)  # noqa: S311  # data, no secret
    for number, statements in enumerate(made):
        place = device.memory.allocate(len(records))
        device.memory.write(place, records)
        report = device.run(f"k{number}", 4, 128, "QI", place, COUNT, limits=Limits(seconds=60))
        got, expected = device.memory.read(place, len(records)), reference.run(number, records)
        assert report.findings == ()
        if got != expected:
            pytest.fail(differing(got, expected, records, statements))


def differing(got: bytes, expected: bytes, before: bytes, statements: object) -> str:
    """Describe the first variable that differs."""
    size = programs.RECORD
    for thread in range(COUNT):
        for kind, number, offset in programs.places():
            place = slice(thread * size + offset, thread * size + offset + programs.SIZES[kind])
            if got[place] != expected[place]:
                values = (data[place][::-1].hex() for data in (got, expected, before))
                told = "{} instead of {}, before {}".format(*values)
                return f"thread {thread} {kind}{number}: {told}\n{statements}"
    return "nothing differs"


def test_every_operation_does_what_the_isa_says(tmp_path: Path) -> None:
    assert len(OPERATIONS) > 250
    compare(programs.every_operation(), tmp_path, "every", seed=1)


@settings(max_examples=4)
@given(choices=st.data())
def test_straight_and_branching_kernels(
    tmp_path_factory: pytest.TempPathFactory, choices: st.DataObject
) -> None:
    """Programs come from Hypothesis's own choices, many to a compilation."""

    def choose(below: int) -> int:
        return choices.draw(st.integers(0, below - 1))

    made = [programs.program(choose, most=6) for _ in range(8)]
    folder = tmp_path_factory.mktemp("kernels")
    compare(made, folder, "drawn", choose(1 << 16))


@pytest.mark.parametrize("seed", range(3))
def test_longer_kernels(tmp_path: Path, seed: int) -> None:
    choose = random.Random(seed).randrange  # noqa: S311  # data, no secret
    made = [programs.program(choose, most=20) for _ in range(25)]
    compare(made, tmp_path, "longer", seed)


def struct_size() -> int:
    """Return the bytes of a record, by way of ``struct``."""
    return struct.calcsize(
        "<" + "".join({"w": "Q", "g": "d", "u": "I", "f": "f"}[k] for k, _, _ in programs.places()) + "4x"
    )


def test_records_have_no_gaps() -> None:
    assert struct_size() == programs.RECORD
    assert programs.RECORD % 8 == 0

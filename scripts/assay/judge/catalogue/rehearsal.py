"""Findings of a rehearsal: mistakes that a GPU would not tell, and a rehearsal that is not whole."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_SANITIZER = "CUDA Compute Sanitizer: Memcheck, Initcheck, Racecheck and Synccheck Tools"
_LINE = "correct the kernel at the line that is named"
_REPORT = "read the gate's log, and rehearse again; if it stays so, report the log as a defect of assay"

ENTRIES = (
    Entry(
        "REHEARSAL-OUT-OF-BOUNDS",
        "a kernel reached memory outside what is allocated",
        Severity.FAILURE,
        "every access inside an allocation",
        f"{_LINE}: guard the index, or allocate as much as the kernel reaches",
        _SANITIZER,
    ),
    Entry(
        "REHEARSAL-MISALIGNED",
        "a kernel reached memory at an address that is no multiple of the access's size",
        Severity.FAILURE,
        "every access at a multiple of its size",
        f"{_LINE}: align the pointer or read in smaller pieces",
        "PTX ISA: Addresses as Operands",
    ),
    Entry(
        "REHEARSAL-USE-AFTER-FREE",
        "memory was reached, or freed again, that was freed",
        Severity.FAILURE,
        "memory that is alive until the kernel has ended",
        "at the line that is named: free the memory later, and once",
        _SANITIZER,
    ),
    Entry(
        "REHEARSAL-UNINITIALISED",
        "a value that nothing had written was used",
        Severity.FAILURE,
        "every byte written before something depends on it",
        "at the line that is named: write the memory first, or read less of it",
        _SANITIZER,
    ),
    Entry(
        "REHEARSAL-BARRIER",
        "a barrier stands in divergent code",
        Severity.FAILURE,
        "every thread of the block at the same barrier",
        f"{_LINE}: move the barrier out of the branch",
        "PTX ISA: bar, barrier",
    ),
    Entry(
        "REHEARSAL-RACE",
        "threads of a block reached the same shared memory unordered, and one wrote",
        Severity.FAILURE,
        "a barrier between the write and the other access",
        f"{_LINE}: put a barrier between them, or use an atomic operation",
        _SANITIZER,
    ),
    Entry(
        "REHEARSAL-ASSERTION",
        "an assertion failed in a kernel",
        Severity.FAILURE,
        "every assertion holds",
        _LINE,
        "CUDA C++ Programming Guide: Assertion",
    ),
    Entry(
        "REHEARSAL-ENDLESS",
        "a kernel ran for so long that it was stopped",
        Severity.FAILURE,
        "a kernel that ends, within the seconds that a rehearsal has for it",
        f"{_LINE}: let the loop end; a kernel that is only slow needs fewer values to rehearse",
        "DESIGN: Laws, 1",
    ),
    Entry(
        "REHEARSAL-LEAK",
        "memory was still allocated when its context ended",
        Severity.FAILURE,
        "everything freed before its context ends",
        "free what is named, also where a stage fails",
        _SANITIZER,
    ),
    Entry(
        "REHEARSAL-OTHER",
        "the CPU's driver has a finding of a kind that is not known here, or more than it lists",
        Severity.FAILURE,
        "findings of known kinds, all listed",
        "correct the other findings first; read the gate's log for the rest",
        "DESIGN: Laws, 1",
    ),
    Entry(
        "REHEARSAL-REFUSED",
        "the CPU's driver was asked for what it does not have",
        Severity.WARNING,
        "calls and instructions that the CPU's driver has",
        "nothing has to be done where the chain passed without it; else run on a GPU, or ask for less",
        "DESIGN: Platforms",
    ),
    Entry(
        "REHEARSAL-REPORT",
        "what the CPU's driver told is missing, cut short or of another process",
        Severity.ERROR,
        "a whole report of this child's driver",
        _REPORT,
        "DESIGN: Laws, 3",
    ),
    Entry(
        "REHEARSAL-IMAGE",
        "a stage says that it loaded PTX which its driver never saw",
        Severity.ERROR,
        "every image among those that the driver loaded",
        _REPORT,
        "DESIGN: Laws, 3 and 4",
    ),
    Entry(
        "REHEARSAL-MISPLACED",
        "the CPU's driver took a GPU's place in a run that is no rehearsal",
        Severity.FAILURE,
        "the driver of a GPU",
        "qualify on a machine with a GPU; to rehearse: nox -s rehearse",
        "DESIGN: Laws, 2",
    ),
)

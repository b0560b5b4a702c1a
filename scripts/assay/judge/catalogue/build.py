"""Findings of gate ``build``: the revision, wheel and sdist, and the compiled kernels."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Platform, Severity

_REVISION = "plan: allow-unclean-tree; DESIGN: law 1"
_BYTES = "DESIGN: law 4, the bytes that ship are the bytes that run"
_WHEEL = "Python packaging specifications: Binary distribution format"
_PTX = "DESIGN: PTX"
_SELECTION = "DESIGN: Selection"

ENTRIES = (
    Entry(
        "BUILD-NO-REVISION",
        "what was built has no revision",
        Severity.FAILURE,
        "a commit of a git repository that tracks the project",
        "commit the project, or take a finished wheel with --artifact, or set allow-unclean-tree in the plan",
        _REVISION,
    ),
    Entry(
        "BUILD-NO-REVISION-ALLOWED",
        "what was built has no revision, which the plan allows",
        Severity.WARNING,
        "a commit of a git repository that tracks the project",
        "commit the project, so that the evidence names what was built",
        _REVISION,
    ),
    Entry(
        "BUILD-UNCLEAN",
        "the tree is not exactly its revision",
        Severity.FAILURE,
        "no changed, untracked or hidden file; ignored ones do not count",
        "commit, remove or ignore these files, or take a finished wheel with --artifact, "
        "or set allow-unclean-tree in the plan",
        _REVISION,
    ),
    Entry(
        "BUILD-UNCLEAN-ALLOWED",
        "the tree is not exactly its revision, which the plan allows",
        Severity.WARNING,
        "no changed, untracked or hidden file; ignored ones do not count",
        "commit, remove or ignore these files, so that the evidence names what was built",
        _REVISION,
    ),
    Entry(
        "BUILD-TOOL-MISSING",
        "the toolchain has no Hatchling",
        Severity.UNAVAILABLE,
        "hatchling in the interpreter that runs assay",
        "install assay with its dependencies, or take a finished wheel with --artifact",
        _BYTES,
    ),
    Entry(
        "BUILD-BACKEND",
        "the project is built by another backend than Hatchling",
        Severity.ERROR,
        "hatchling.build as build-system.build-backend",
        "build the wheel with the project's own backend and take it with --artifact",
        "PEP 517: build-system.build-backend",
    ),
    Entry(
        "BUILD-FAILED",
        "wheel and sdist could not be built",
        Severity.FAILURE,
        "a build that ends with 0 and leaves one wheel and one sdist",
        "run `hatch build` in a fresh clone and correct what it names",
        _BYTES,
    ),
    Entry(
        "BUILD-NOT-REPRODUCIBLE",
        "two builds of the same tree differ",
        Severity.FAILURE,
        "the same bytes in every folder, with SOURCE_DATE_EPOCH fixed",
        "take times, folders and unordered listings out of what these members are made from",
        _BYTES,
    ),
    Entry(
        "BUILD-WHEEL-MISSING",
        "there is no wheel",
        Severity.ERROR,
        "a wheel with its digest",
        "read the gate's log",
        _BYTES,
    ),
    Entry(
        "BUILD-WHEEL-INVALID",
        "the wheel is not one",
        Severity.FAILURE,
        "a wheel whose RECORD names every file with its digest",
        "build it again with a current backend; do not edit a wheel",
        _WHEEL,
    ),
    Entry(
        "BUILD-WHEEL-FOREIGN",
        "the wheel is another project's",
        Severity.FAILURE,
        "a wheel of the plan's project",
        "name the right file with --artifact, or qualify in the folder of that project",
        _WHEEL,
    ),
    Entry(
        "BUILD-SOURCE-CHANGED",
        "a kernel's source is not the one that the plan froze",
        Severity.FAILURE,
        "the digest in plan.json",
        "leave kernels/ alone while a run is on, and run again",
        "DESIGN: a plan is frozen as the first act of a run",
    ),
    Entry(
        "BUILD-NO-INTERPRETER",
        "no interpreter is selected, so no kernel was compiled",
        Severity.UNAVAILABLE,
        "the interpreter whose packages compile the kernels",
        "set BUN_PYTHON_EXECUTABLE, or make the embedded selection with `nox -s provision`",
        _SELECTION,
    ),
    Entry(
        "BUILD-COMPILER-MISSING",
        "a compiler of the kernels is missing",
        Severity.UNAVAILABLE,
        "nvcc of the selected toolkit, PyCUDA and NVRTC through cuda-python",
        "complete the toolkit and the selection's packages, or make them with `nox -s provision`",
        _SELECTION,
        {Platform.WINDOWS: "complete toolkit and the selection's packages; nvcc also needs cl.exe on PATH"},
    ),
    Entry(
        "BUILD-KERNEL-REFUSED",
        "a compiler refused a kernel",
        Severity.FAILURE,
        "PTX for the lowest architecture and a CUBIN for each",
        "correct the kernel at the line that is named",
        _PTX,
    ),
    Entry(
        "BUILD-COMPILE-BROKE",
        "the compilation of the kernels gave no result",
        Severity.ERROR,
        "a child that leaves every image or says why not",
        "read the gate's log; a crash in a compiler is for its vendor, anything else a defect of assay",
        _PTX,
    ),
    Entry(
        "BUILD-KERNEL-MISSING",
        "an image of a kernel is missing, and nothing says why",
        Severity.ERROR,
        "PTX for the lowest architecture and a CUBIN for each",
        "read the gate's log",
        _PTX,
    ),
    Entry(
        "BUILD-KERNEL-NOT-REPRODUCIBLE",
        "two compilations of the same kernel differ",
        Severity.FAILURE,
        "the same bytes in every folder",
        "take __FILE__, __TIME__ and the like out of the kernel, and keep one toolkit",
        _PTX,
    ),
)

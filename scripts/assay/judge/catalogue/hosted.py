"""Findings of gate ``hosted``: CPython inside Bun."""

from __future__ import annotations

from assay.judge.catalogue.entry import Entry
from assay.model import Severity

_PROVISION = "provision again, or select a host library that was built from this release's hosted/host.c"
_ABI = "assay_host.h"
_PEP = "PEP 587; Python/C API: Initialization, Finalization, and Threads"
_NOTHING_CAME = ("CHAIN-CHILD-EXITED", "CHAIN-RESULT-MISSING", "CHAIN-ISOLATION")
"""What follows where Python never ran."""

ENTRIES = (
    Entry(
        "HOSTED-NOT-RUN",
        "nothing could be started with this selection",
        Severity.UNAVAILABLE,
        "a selection with Bun, host library and libpython, whose chain can run",
        "provision again, or name BUN_EXECUTABLE, BUN_PYTHON_HOST_LIBRARY and BUN_PYTHON_LIBPYTHON",
        "DESIGN: Selection",
    ),
    Entry(
        "HOSTED-LIBRARY-LOAD",
        "Bun cannot load the host library",
        Severity.FAILURE,
        "a shared library for this processor and C library",
        _PROVISION,
        "Bun: bun:ffi",
        explains=_NOTHING_CAME,
    ),
    Entry(
        "HOSTED-LIBRARY-ABI",
        "the host library has another ABI",
        Severity.FAILURE,
        "assay_host_abi() of 1 and the four functions of that ABI",
        _PROVISION,
        _ABI,
        explains=_NOTHING_CAME,
    ),
    Entry(
        "HOSTED-LIBPYTHON",
        "libpython cannot be the one that is hosted",
        Severity.FAILURE,
        "the selected interpreter's own shared library, of CPython 3.10 or newer",
        "name the selected interpreter's own in BUN_PYTHON_LIBPYTHON (sysconfig: LIBDIR, INSTSONAME)",
        _ABI,
        explains=_NOTHING_CAME,
    ),
    Entry(
        "HOSTED-START",
        "CPython did not start inside Bun",
        Severity.FAILURE,
        "a CPython that starts once in the process",
        "see the reason: an environment whose standard library is missing or of another version, mostly",
        _PEP,
        explains=_NOTHING_CAME,
    ),
    Entry(
        "HOSTED-EXCEPTION",
        "Python raised an exception inside Bun, outside the chain",
        Severity.FAILURE,
        "no exception",
        "read the traceback in the gate's log and correct what it names",
        _ABI,
        explains=("CHAIN-CHILD-EXITED",),
    ),
    Entry(
        "HOSTED-UNRAISABLE",
        "a destructor or thread of Python's failed without anybody to tell",
        Severity.FAILURE,
        "no exception that could not be raised",
        "correct the class or thread that its traceback names",
        "Python library reference: sys.unraisablehook, threading.excepthook",
    ),
    Entry(
        "HOSTED-CONSTRUCTOR",
        "the two modules are not one",
        Severity.FAILURE,
        "the same constructor from buv:python and pyjs:python",
        "run Bun with the plugin of this release alone",
        "hosted/plugin.ts",
    ),
    Entry(
        "HOSTED-PROCESS",
        "CPython does not live in Bun's process",
        Severity.FAILURE,
        "one process number",
        "select a host library that opens CPython in the process that loads it",
        "field notes: CPython's PID",
    ),
    Entry(
        "HOSTED-SECOND",
        "a second host in one process was not refused",
        Severity.FAILURE,
        "a refusal, already-open",
        _PROVISION,
        _ABI,
    ),
    Entry(
        "HOSTED-PYTHON-OTHER",
        "the hosted CPython is not the selected one",
        Severity.FAILURE,
        "prefix, version and site-packages of the selected interpreter",
        "select interpreter, libpython and site-packages of one environment",
        "DESIGN: Selection",
    ),
    Entry(
        "HOSTED-NUMPY",
        "NumPy is not that of the selection",
        Severity.FAILURE,
        "NumPy from the selected site-packages",
        "remove what comes before it on the path",
        "DESIGN: Selection",
    ),
    Entry(
        "HOSTED-GPU-VALUE",
        "a single kernel through GpuRuntime gave other values than it must",
        Severity.FAILURE,
        "the stage's exact values",
        "see gate chain: where it passed, values were changed between Bun and Python",
        "hosted/gpu.ts",
    ),
    Entry(
        "HOSTED-JSON",
        "JSON between Bun and Python was changed",
        Severity.FAILURE,
        "the very text that was sent",
        "report Bun's version with the gate's log as a defect",
        "RFC 8259",
    ),
    Entry(
        "HOSTED-MAPPED",
        "Bun, libpython or the host library were not the selected files",
        Severity.FAILURE,
        "the digests that gate environment recorded",
        "qualify again, and find out what changed the file meanwhile",
        "DESIGN, law 3",
    ),
    Entry(
        "HOSTED-CLOSE",
        "CPython was opened and not ended",
        Severity.ERROR,
        "an end before Bun's own",
        "read the gate's log: a thread that never ends, a crash, or a kill",
        _PEP,
    ),
    Entry(
        "HOSTED-REPORT",
        "Bun's report is not whole",
        Severity.ERROR,
        "every step, one JSON object a line",
        "read the gate's log",
        "hosted/main.ts",
    ),
)

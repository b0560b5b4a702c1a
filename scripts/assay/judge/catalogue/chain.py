"""Findings of gate ``chain``: what the machine lacks, how the child ended, what came out.

What the child had loaded, and on which device it ran, is in ``chain_loaded``.
"""

from __future__ import annotations

from assay.judge.catalogue import chain_loaded
from assay.judge.catalogue.entry import Entry
from assay.model import Platform, Severity

_REHEARSE = "`nox -s rehearse` runs the same chain on the CPU, without qualifying anything"
_HANG = "read the gate's log for what it last did; a hang of the driver needs a reset of the GPU or a reboot"
_PROTOCOL = "DESIGN: The chain child"
_RESULTS = "DESIGN: chain.toml is data"
_REQUALIFY = "qualify again; if it stays so, report the gate's log as a defect of assay"

AVAILABILITY = (
    Entry(
        "CHAIN-UNAVAILABLE",
        "the machine or the selection lacks a capability that the chain needs",
        Severity.UNAVAILABLE,
        "an NVIDIA GPU under its own driver, and the selection's packages",
        f"run on a machine with an NVIDIA GPU and its driver, or add what is named; {_REHEARSE}",
        "DESIGN: Laws, 2",
        {
            Platform.WSL: "install the NVIDIA driver on the Windows host (never a Linux display driver in "
            f"WSL), or add what is named; {_REHEARSE}",
            Platform.MACOS: "use Linux, WSL or Windows: PyCUDA and cuda-python have no macOS form; "
            f"{_REHEARSE}",
        },
    ),
    Entry(
        "CHAIN-NONE",
        "the plan has no chain for this platform",
        Severity.UNAVAILABLE,
        "at least one chain in tool.assay.chains for this platform",
        f"qualify on a platform that the plan has chains for; {_REHEARSE}",
        "DESIGN: Laws, 1",
    ),
    Entry(
        "CHAIN-SELECTION",
        "the selection has nothing to run the chain with",
        Severity.UNAVAILABLE,
        "an interpreter, its site-packages, a provider and a toolkit",
        "make the embedded selection with `nox -s provision`, or set the variables that are named",
        "DESIGN: Selection",
    ),
    Entry(
        "PROVIDER-INTERFACE",
        "the provider's calls are not public, so no chain can run through it",
        Severity.UNAVAILABLE,
        "a provider with the interface wgpu-native",
        "select a build of wgpu's native library to run the chain; `provider` still checks this one's bytes",
        "DESIGN: Provider interfaces",
    ),
)

CHILD = (
    Entry(
        "CHAIN-CHILD-START",
        "the chain child could not be started",
        Severity.ERROR,
        "an interpreter that starts",
        "start BUN_PYTHON_EXECUTABLE by hand; gate `environment` says what is wrong with it",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-DEADLINE",
        "the chain child hung and was ended at its deadline",
        Severity.ERROR,
        "each event within its deadline",
        f"{_HANG}, or raise deadlines.chain in the plan",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-FLOOD",
        "the chain child flooded its event descriptor and was ended",
        Severity.ERROR,
        "events within their limits",
        "something in the selection writes to descriptors that it does not own: look at its packages",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-MALFORMED",
        "the chain child wrote something that is no event",
        Severity.ERROR,
        "one JSON object a line",
        "something in the selection writes to descriptors that it does not own: look at its packages",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-EXITED",
        "the chain child ended before its last event",
        Severity.ERROR,
        "the event `end`, then the end of the process",
        "the end of the gate's log shows what it said, and where a crash happened",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-CLOSED",
        "the chain child closed its event descriptor and ran on",
        Severity.ERROR,
        "an event descriptor that stays open to the end",
        "something in the selection closes descriptors that it does not own: look at its packages",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-FORKED",
        "a process that the chain child started outlived it",
        Severity.ERROR,
        "one process, all of it ended",
        "find what in the selection starts a process of its own, and remove it",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-ABANDONED",
        "the chain child could not be killed",
        Severity.ERROR,
        "a process that ends when it is killed",
        "it waits inside the kernel, usually for the GPU's driver: reset the GPU or reboot",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-ORDER",
        "the chain child's events are not in the order of its protocol",
        Severity.ERROR,
        "hello, openings, results, holding, closings, end",
        _REQUALIFY,
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-EXIT",
        "the chain child said that it was done and then ended wrongly",
        Severity.ERROR,
        "exit 0, or 1 where it reported errors",
        "the end of the gate's log shows what crashed while the process ended",
        _PROTOCOL,
    ),
    Entry(
        "CHAIN-CHILD-PRINTED",
        "something in the chain child printed",
        Severity.WARNING,
        "nothing on standard output and error",
        "read it in the gate's log; it is log, and changes no result",
        _PROTOCOL,
    ),
)

RESULTS = (
    Entry(
        "CHAIN-STAGE-FAILED",
        "a stage of the chain failed",
        Severity.FAILURE,
        "every stage runs to its end",
        "the observed error is the runtime's own; its traceback is in the gate's log",
        _RESULTS,
    ),
    Entry(
        "CHAIN-CLOSE-FAILED",
        "a runtime could not be closed",
        Severity.FAILURE,
        "every runtime releases what it made",
        "the observed error is the runtime's own; its traceback is in the gate's log",
        "DESIGN: Laws, 8",
    ),
    Entry(
        "CHAIN-CLOSE-ORDER",
        "the runtimes were not closed in the reverse order of their opening",
        Severity.FAILURE,
        "the last that was opened is closed first, each once",
        "the selection's packages close what they do not own, or the receipt was edited: qualify again",
        "DESIGN: Laws, 8",
    ),
    Entry(
        "CHAIN-CONTEXT-SHARED",
        "PyCUDA and cuda-python did not have a context each",
        Severity.FAILURE,
        "a context of PyCUDA's own beside the primary one, both alive",
        "look for something in the selection that replaces PyCUDA's context (pycuda.autoprimaryctx)",
        "DESIGN: Laws, 8",
    ),
    Entry(
        "CHAIN-VALUE-WRONG",
        "a stage gave a wrong value",
        Severity.FAILURE,
        "every value as the plan's `expect` says",
        "correct the kernel, or what the plan expects of it, where either was changed; where neither was, "
        "this combination of GPU, driver, toolkit and provider computes wrongly: do not release it",
        _RESULTS,
    ),
    Entry(
        "CHAIN-RESULT-MISSING",
        "a planned result is missing",
        Severity.ERROR,
        "canonical and fresh values of every stage of every planned chain",
        _REQUALIFY,
        _RESULTS,
    ),
    Entry(
        "CHAIN-RESULT-DOUBLED",
        "a result stands more than once",
        Severity.ERROR,
        "each result once",
        _REQUALIFY,
        _RESULTS,
    ),
    Entry(
        "CHAIN-RESULT-UNPLANNED",
        "there is a result that the plan does not know",
        Severity.ERROR,
        "results of the planned chains only",
        _REQUALIFY,
        _RESULTS,
    ),
    Entry(
        "CHAIN-RESULT-ORDER",
        "chains or stages ran in another order than the plan's",
        Severity.ERROR,
        "the plan's order",
        _REQUALIFY,
        _RESULTS,
    ),
    Entry(
        "CHAIN-TRANSFER-UNRECORDED",
        "a stage's copies between host and device are not recorded",
        Severity.ERROR,
        "one copy to the device and one back, of the values' size",
        _REQUALIFY,
        "DESIGN: The words, chain",
    ),
    Entry(
        "CHAIN-SOURCE-CHANGED",
        "a kernel's source is another one than the plan froze",
        Severity.FAILURE,
        "the source whose digest stands in plan.json",
        "do not edit kernels while a run is under way: qualify again",
        "FORMATS: Run folder",
    ),
    Entry(
        "CHAIN-IMAGE-DIFFERS",
        "a stage loaded other bytes than gate `build` made for it",
        Severity.FAILURE,
        "the PTX that `build` recorded for this stage",
        "compare the compilers in both receipts: one was changed in between, or depends on its surroundings",
        "DESIGN: Laws, 4",
    ),
)

ENTRIES = (*AVAILABILITY, *CHILD, *RESULTS, *chain_loaded.ENTRIES)

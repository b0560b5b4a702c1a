"""Runs in the *selected* interpreter (CPython 3.10 to 3.14), from a zip that holds this folder alone.

It imports nothing of the rest of ``assay``, and it alone imports PyCUDA, wgpu, cuda-python and NVML.
Importing any module here loads no driver: runtimes are opened by name, explicitly.

Entry points::

    python -s -B chain.zip run     --request FILE|- --events FD --control FD
    python -s -B chain.zip measure --request FILE|- --events FD --control FD
    python -s    FOLDER    cold    --request FILE|- --result FILE --began NANOSECONDS
    python -s -B chain.zip compile --request FILE|- --output FOLDER
    python -s -B chain.zip probe   --result FILE [--serial] PART...

``-`` reads the request from standard input.  ``FD`` is an inherited descriptor (on Windows a handle), never
0, 1 or 2: standard output and error are log, so that a library that prints disturbs nothing.  Documents are
JSON in UTF-8 without floats, integers below 2**53, keys sorted; a float32 is 8 hex digits, big-endian bits.
Requests are parsed strictly (``spec``): unknown keys, doubled keys and floats are refused.

Exit status: 0 all was done, 1 something is missing or failed (events or result say what), 2 the command
line or the request is wrong, 3 the events could not be written.

run
    Request ``assay/chain-run/1``::

        {"schema": "assay/chain-run/1", "architecture": "sm_75", "nvcc": "nvcc", "ordinal": 0,
         "adapter": {"backend": "Vulkan", "vendor": 4318, "software": []},
         "chains": [{"name": "pipeline", "canonical": ["00000000", …], "fresh": ["45000000", …],
                     "stages": [{"name": "double", "runtime": "pycuda", "source": "double.cu",
                                 "text": "…", "entry": "twice", "input": "values"}]}]}

    ``architecture`` is the plan's lowest; ``nvcc`` a path or a name on ``PATH``; ``ordinal`` CUDA's number of
    the device; ``adapter`` is null where no stage uses wgpu; ``software`` names (parts of adapter names) that
    may be taken although they are not of ``vendor``; none are taken otherwise.

    Events, one line each, all with ``event`` and a ``seq`` from 0:

    ``hello``     schema, pid, executable, version, implementation, prefix, base_prefix, path, flags,
                  pycache_prefix, environment (names only)
    ``opening``   runtime: sent before, so that a crash or a hang has a name
    ``opened``    runtime, facts (per runtime, see its module)
    ``device``    when (``before``, ``after``), device (see ``driver``)
    ``compiling`` chain, stage
    ``compiled``  chain, stage, image {name, kind, sha256, size}, compiler, duration_ns
    ``running``   chain, stage, input (``canonical``, ``fresh``)
    ``result``    chain, stage, runtime, input, entry, count, values (None over 4,096), sha256 (of the
                  big-endian words in order), image {…}, grid, block, transfers [{direction
                  (``host-to-device``, ``device-to-host``), bytes, runtime}], duration_ns
    ``chain``     chain, state (``complete``, ``incomplete``, ``not-run``), missing (runtimes)
    ``holding``   pid, runtimes, modules [{name, file, loader, cached}]: contexts are alive until a byte or
                  the end arrives on the control descriptor
    ``closed``    runtime, in the reverse order of ``opened``
    ``error``     kind (``unavailable``, ``failed``), step (``open``, ``device``, ``compile``, ``run``,
                  ``close``), runtime, chain, stage, input, reason, code, type, message, traceback
    ``end``       errors: how many ``error`` events there were

    Reasons of ``unavailable`` are ``package-missing``, ``library-missing``, ``adapter-missing``,
    ``adapter-limit``, ``compiler-missing``, or the CUDA driver's name of the code, such as
    ``CUDA_ERROR_NO_DEVICE`` with ``code`` 100.

measure
    Request ``assay/chain-measure/1`` (``measure_spec``); events as in ``run``, with ``measuring``
    {task, size} and ``measured`` {task, size, facts} in place of a chain's.

cold
    Request and result are described in ``cold``; it runs from the zip's unpacked files, and beside it
    ``speed/plain.py``, a program of its own that reads the same request.

compile
    Request ``assay/chain-compile/1``: ``{"schema", "architectures": ["sm_75", …], "nvcc", "chains": [{"name",
    "stages": […]}]}`` with stages as above.  Each CUDA source becomes PTX for the lowest architecture and a
    CUBIN for each; the bytes depend on source, names, architecture and compiler alone, and ``run`` makes its
    PTX by the same function.  ``FOLDER/result.json`` is ``assay/chain-compiled/1``::

        {"schema", "outputs": [{"name", "chain", "stage", "kind", "architecture", "sha256", "size",
         "compiler"}], "compilers": {"nvcc": {…}, "nvrtc": {…}}, "errors": [{…as the event's}]}

    and the outputs lie beside it as ``<chain>.<stage>.<architecture>.ptx`` or ``.cubin``.

probe
    Parts: ``interpreter``, ``packages``, ``shadow``, ``pathfinder``, ``nvml``, ``adapters``.  Those that can
    hang (``nvml``, ``adapters``) are best asked in a child of their own.  The result ``assay/chain-probe/1``
    is ``{"schema", "parts": {PART: {"facts": {…}} or {"error": {…}}}}``.
"""

from __future__ import annotations

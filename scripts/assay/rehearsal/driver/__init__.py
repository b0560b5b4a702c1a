"""The driver's calls: a C library that exports their names, and the handlers that it hands each call to.

``libcuda.c`` is built with the host compiler into a folder that holds::

    libcuda.so.1        with the real driver's SONAME: found through LD_LIBRARY_PATH
    start.py            run by the library's first call, in the CPython of the process
    assay_rehearsal/    this package and the PTX half, whole
    bin/nvcc            makes PTX under the name of a CUBIN, for PyCUDA's SourceModule

``table`` fills the library's table from the ``CALLS`` of ``devices``, ``contexts``, ``allocations``,
``copies``, ``fills``, ``streams``, ``events``, ``modules``, ``functions``, ``launches``, ``pools``,
``pointers`` and of ``lookup``.  A call that has no handler is answered with ``CUDA_ERROR_NOT_SUPPORTED`` and
named on standard error.

Every call ends before it returns: asynchronous ones in the order in which they were made, which is an order
that a GPU may choose too.  As on a GPU, a kernel's fault is told by the next call, and ends its context.

``ASSAY_REHEARSAL_REPORT`` names a file that the driver appends what it saw to, one JSON document a line; see
``report``.  ``ASSAY_REHEARSAL_SECONDS`` says how many seconds a kernel may run before it is stopped.
"""

from __future__ import annotations

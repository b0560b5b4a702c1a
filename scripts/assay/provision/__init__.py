"""Provisioning: the embedded selection, made from hash-locked packages into the project's ``.assay`` folder.

- ``lockfile``, ``locks/``: exact versions with hashes, without any address; ``relock`` writes them anew.
- ``interpreter``, ``toolkit``, ``compiler``: what the machine has.
- ``children``, ``environments``, ``pip``: how it is driven.
- ``driver_names``, ``stub``: the names that libcuda exports, and a stand-in to link against.
- ``pycuda_wheel``, ``parallel_build``, ``built``, ``pycuda_source``: PyCUDA's wheel: built, recorded, cached.
- ``wheelhouse``, ``download``: a folder of files for a machine without network.
- ``estimate``, ``trial``, ``selection_file``, ``store``: costs, proof, result, wholeness.
- ``job``, ``flow``, ``options``, ``command``: what is asked for; all of it in order; the command line.
"""

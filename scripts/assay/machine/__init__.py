"""A read-only view of a computer: files, links, binaries and what they say, under any root folder."""

from __future__ import annotations

from assay.machine.machine import Machine

__all__ = ["Machine"]

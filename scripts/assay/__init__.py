"""Assay qualifies a GPU release on real hardware and leaves evidence that anybody can verify."""

from __future__ import annotations

__version__ = "0.1.0"

"""``assay provision``."""

from __future__ import annotations

from assay.provision.command import run

__all__ = ["run"]

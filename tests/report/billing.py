"""Bills of materials as their own library's strict validator takes them."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from assay.evidence.asking import Wanted
from assay.report.materials import bill_of_materials
from assay.report.writing import write_rendering

WANTED = Wanted(datetime(2026, 12, 1, tzinfo=UTC))


def billed(bundle: Path, target: Path) -> Any:  # noqa: ANN401  # JSON
    """Return a bundle's bill of materials, valid by the strict schema."""
    assert write_rendering(bundle, WANTED, target, bill_of_materials)[1]
    text = target.read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    return json.loads(text)

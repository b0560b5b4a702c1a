"""Names of GPU architectures."""

from __future__ import annotations

from assay.chain.architecture import lowest, virtual_architecture


def test_ptx_is_made_for_the_virtual_counterpart() -> None:
    assert virtual_architecture("sm_90") == "compute_90"


def test_the_lowest_is_by_number_not_by_text() -> None:
    assert lowest(("sm_120", "sm_90", "sm_75")) == "sm_75"
    assert lowest(("sm_120", "sm_90")) == "sm_90"

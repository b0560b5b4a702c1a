"""What of the Windows part can be checked on any system: the structure and numbers of its C interface."""

from __future__ import annotations

import ctypes

from assay.process.windows import EXTENDED_LIMITS, KILL_ON_CLOSE, JobLimits


def test_the_structure_is_laid_out_as_winnt_h_has_it() -> None:
    """JOBOBJECT_EXTENDED_LIMIT_INFORMATION has 144 bytes on 64-bit Windows, and these offsets."""
    assert ctypes.sizeof(JobLimits) == 144
    offsets = {
        "LimitFlags": 16,
        "ActiveProcessLimit": 40,
        "Affinity": 48,
        "IoInfo": 64,
        "PeakJobMemoryUsed": 136,
    }
    assert {name: getattr(JobLimits, name).offset for name in offsets} == offsets


def test_the_numbers_are_those_of_winnt_h() -> None:
    assert (EXTENDED_LIMITS, KILL_ON_CLOSE) == (9, 0x2000)
    assert JobLimits(LimitFlags=KILL_ON_CLOSE).LimitFlags == 8192

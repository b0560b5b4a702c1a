"""Memory sets: 8, 16 and 32 bits wide, in one and two dimensions.

CUDA driver API 13.0: "Memory Management".
"""

from __future__ import annotations

from .call import Calls, Handler
from .codes import DriverError
from .state import Driver


def _fill(width: int) -> Handler:
    """Return ``cuMemsetD<8·width>``."""

    def fill(driver: Driver, address: int, value: int, count: int) -> None:
        driver.usable()
        if address % width:
            raise DriverError("INVALID_VALUE", f"{address:#x} is no multiple of {width}")
        driver.memory.fill(address, value.to_bytes(width, "little"), count)

    return fill


def _fill_async(width: int) -> Handler:
    """Return ``cuMemsetD<8·width>Async``."""
    plain = _fill(width)

    def fill(driver: Driver, address: int, value: int, count: int, stream: int) -> None:
        driver.require_stream(stream)
        plain(driver, address, value, count)

    return fill


def _fill_rows(width: int) -> Handler:
    """Return ``cuMemsetD2D<8·width>``."""

    def fill(  # noqa: PLR0913, PLR0917  # the call's own parameters
        driver: Driver, address: int, pitch: int, value: int, across: int, down: int
    ) -> None:
        driver.usable()
        if address % width or (down > 1 and (pitch % width or pitch < across * width)):
            raise DriverError("INVALID_VALUE", f"{address:#x}, pitch {pitch}")
        for row in range(down):
            driver.memory.fill(address + row * pitch, value.to_bytes(width, "little"), across)

    return fill


def _fill_rows_async(width: int) -> Handler:
    """Return ``cuMemsetD2D<8·width>Async``."""
    plain = _fill_rows(width)

    def fill(driver: Driver, *arguments: int) -> None:
        driver.require_stream(arguments[-1])
        plain(driver, *arguments[:-1])

    return fill


_WIDTHS = ((8, "b"), (16, "h"), (32, "u"))

CALLS: Calls = {
    **{f"cuMemsetD{bits}_v2": (_fill(bits // 8), f"p{letter}p") for bits, letter in _WIDTHS},
    **{f"cuMemsetD{bits}Async": (_fill_async(bits // 8), f"p{letter}pp") for bits, letter in _WIDTHS},
    **{f"cuMemsetD2D{bits}_v2": (_fill_rows(bits // 8), f"pp{letter}pp") for bits, letter in _WIDTHS},
    **{
        f"cuMemsetD2D{bits}Async": (_fill_rows_async(bits // 8), f"pp{letter}ppp") for bits, letter in _WIDTHS
    },
}

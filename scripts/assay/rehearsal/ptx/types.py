"""The fundamental types of PTX (PTX ISA 9.0, section 5.2 "Types")."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Type:
    """A fundamental type.

    Attributes:
        name: as in PTX, without its dot.
        kind: ``b`` untyped bits, ``u`` unsigned, ``s`` signed, ``f`` floating point, ``p`` predicate.
        size: bytes; 1 for a predicate.
        lanes: numbers packed into one value: 2 for ``f16x2``.
    """

    name: str
    kind: str
    size: int
    lanes: int = 1

    @property
    def bits(self) -> int:
        """Width in bits."""
        return 8 * self.size


_SIZES = {"b": (8, 16, 32, 64, 128), "u": (8, 16, 32, 64), "s": (8, 16, 32, 64), "f": (16, 32, 64)}

TYPES: dict[str, Type] = {
    **{
        f"{kind}{bits}": Type(f"{kind}{bits}", kind, bits // 8)
        for kind, sizes in _SIZES.items()
        for bits in sizes
    },
    "pred": Type("pred", "p", 1),
    "bf16": Type("bf16", "f", 2),
    "f16x2": Type("f16x2", "f", 4, 2),
    "bf16x2": Type("bf16x2", "f", 4, 2),
    "u16x2": Type("u16x2", "u", 4, 2),
    "s16x2": Type("s16x2", "s", 4, 2),
}
"""By name.  Those that are missing (``f32x2``, ``e4m3`` and its kin, textures) are refused by name."""

"""Verifies Ed25519 signatures (RFC 8032, section 5.1) with the standard library alone, in a few milliseconds.

Strict, so that every signature has one form and every key one meaning: S below the group order and points in
their canonical encoding (RFC 8032, sections 5.1.3 and 5.1.7), no key of small order, and the equation without
cofactor, which compares the bytes of R.  Nothing here is secret, so nothing has to take constant time.
"""

from __future__ import annotations

import hashlib
from typing import NamedTuple

KEY_BYTES = 32
SIGNATURE_BYTES = 64

_P = 2**255 - 19
_ORDER = 2**252 + 27742317777372353535851937790883648493
"""The order of the base point (RFC 8032, section 5.1)."""

_D = -121665 * pow(121666, -1, _P) % _P
_ROOT_OF_MINUS_ONE = pow(2, (_P - 1) // 4, _P)
_BITS = 253
"""Bits of a number below the order."""


class _Point(NamedTuple):
    """A point in extended homogeneous coordinates (RFC 8032, section 5.1.4): x = X/Z, y = Y/Z, T = XY/Z."""

    x: int
    y: int
    z: int
    t: int


_NEUTRAL = _Point(0, 1, 1, 0)


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    """Say whether ``signature`` (64 bytes) is the key's over ``message``.

    Args:
        key: the public key, 32 bytes.
        message: what was signed.
        signature: R and S.
    """
    public = _decoded(key)
    if public is None or _is_small(public) or len(signature) != SIGNATURE_BYTES:
        return False
    scalar = int.from_bytes(signature[KEY_BYTES:], "little")
    if scalar >= _ORDER:
        return False
    hashed = hashlib.sha512(signature[:KEY_BYTES] + key + message).digest()
    challenge = int.from_bytes(hashed, "little") % _ORDER
    return _encoded(_combined(scalar, _BASE, challenge, _negative(public))) == signature[:KEY_BYTES]


def is_key(key: bytes) -> bool:
    """Say whether 32 bytes are a public key that can vouch: on the curve, canonical, not of small order."""
    public = _decoded(key)
    return public is not None and not _is_small(public)


def _decoded(data: bytes) -> _Point | None:
    """Return the point of a canonical encoding (RFC 8032, section 5.1.3), None where it is none."""
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if len(data) != KEY_BYTES or y >= _P:
        return None
    x = _recovered(y)
    if x is None or (x == 0 and sign):
        return None
    x = x if x & 1 == sign else _P - x
    return _Point(x, y, 1, x * y % _P)


def _recovered(y: int) -> int | None:
    """Return an x with -x² + y² = 1 + dx²y², None where there is none."""
    u, v = (y * y - 1) % _P, (_D * y * y + 1) % _P
    x = u * pow(v, 3, _P) * pow(u * pow(v, 7, _P), (_P - 5) // 8, _P) % _P
    square = v * x * x % _P
    if square == u:
        return x
    return x * _ROOT_OF_MINUS_ONE % _P if square == -u % _P else None


def _encoded(point: _Point) -> bytes:
    """Return a point's encoding (RFC 8032, section 5.1.2)."""
    inverse = pow(point.z, -1, _P)
    x, y = point.x * inverse % _P, point.y * inverse % _P
    return (y | (x & 1) << 255).to_bytes(KEY_BYTES, "little")


def _added(one: _Point, other: _Point) -> _Point:
    """Return the sum of two points, equal ones included (RFC 8032, section 5.1.4)."""
    a = (one.y - one.x) * (other.y - other.x) % _P
    b = (one.y + one.x) * (other.y + other.x) % _P
    c = 2 * _D * one.t * other.t % _P
    d = 2 * one.z * other.z % _P
    e, f, g, h = b - a, d - c, d + c, b + a
    return _Point(e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _doubled(point: _Point) -> _Point:
    """Return twice a point (RFC 8032, section 5.1.4)."""
    a, b = point.x * point.x % _P, point.y * point.y % _P
    c = 2 * point.z * point.z
    h = a + b
    e = h - (point.x + point.y) ** 2
    g = a - b
    f = c + g
    return _Point(e * f % _P, g * h % _P, f * g % _P, e * h % _P)


def _combined(scalar: int, point: _Point, other_scalar: int, other: _Point) -> _Point:
    """Return ``scalar * point + other_scalar * other``, both bit by bit at once."""
    sums = (None, point, other, _added(point, other))
    total = _NEUTRAL
    for bit in range(_BITS - 1, -1, -1):
        total = _doubled(total)
        chosen = sums[scalar >> bit & 1 | (other_scalar >> bit & 1) << 1]
        if chosen is not None:
            total = _added(total, chosen)
    return total


def _negative(point: _Point) -> _Point:
    """Return a point's negative."""
    return _Point(_P - point.x, point.y, point.z, _P - point.t)


def _is_small(point: _Point) -> bool:
    """Say whether a point's order divides the cofactor, 8: such a key fits signatures that nobody made."""
    eightfold = _doubled(_doubled(_doubled(point)))
    return eightfold.x == 0 and (eightfold.y - eightfold.z) % _P == 0


_BASE = _decoded((4 * pow(5, -1, _P) % _P).to_bytes(KEY_BYTES, "little")) or _NEUTRAL
"""The point with y = 4/5 and an even x (RFC 8032, section 5.1)."""

"""The approximate functions of PTX, with the errors that the ISA allows (PTX ISA 9.0, section 9.7.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Function:
    """An approximate function of one float32.

    Attributes:
        instruction: as in PTX, ``{d}`` and ``{a}`` for the operands.
        exact: the same in double precision.
        low, high: inputs are drawn between these, evenly.
        bound: largest error; ``relative`` tells of which kind.
        relative: whether the error is counted relative to the result.
    """

    instruction: str
    exact: Callable[[Array], Array]
    low: float
    high: float
    bound: float
    relative: bool = True

    def inputs(self, random: np.random.Generator, count: int) -> Array:
        """Return so many inputs."""
        return random.uniform(self.low, self.high, count).astype(np.float32)


_ULP = 2.0**-23

FUNCTIONS = {
    "ex2": Function("ex2.approx.f32 {d}, {a};", np.exp2, -125.0, 127.0, 2.0**-22),
    "ex2_ftz": Function("ex2.approx.ftz.f32 {d}, {a};", np.exp2, -125.0, 127.0, 2.0**-22),
    "lg2_near_1": Function("lg2.approx.f32 {d}, {a};", np.log2, 0.5, 2.0, 2.0**-22, relative=False),
    "lg2": Function("lg2.approx.f32 {d}, {a};", np.log2, 2.0, 1e30, 2.0**-22),
    "sin": Function("sin.approx.f32 {d}, {a};", np.sin, -np.pi, np.pi, 2.0**-20.5, relative=False),
    "cos": Function("cos.approx.f32 {d}, {a};", np.cos, -np.pi, np.pi, 2.0**-20.5, relative=False),
    "rcp": Function("rcp.approx.f32 {d}, {a};", np.reciprocal, 1e-30, 1e30, 1.01 * _ULP),
    "rcp_small": Function("rcp.approx.f32 {d}, {a};", np.reciprocal, -4.0, -0.25, 1.01 * _ULP),
    "sqrt": Function("sqrt.approx.f32 {d}, {a};", np.sqrt, 1e-30, 1e6, 2.0**-23 * 1.01),
    "rsqrt": Function("rsqrt.approx.f32 {d}, {a};", lambda a: 1 / np.sqrt(a), 1e-30, 1e6, 2.0**-22.9),
    "tanh": Function("tanh.approx.f32 {d}, {a};", np.tanh, -9.0, 9.0, 2.0**-11),
    "div_approx": Function("div.approx.f32 {d}, 0f3FC00000, {a};", lambda a: 1.5 / a, 1e-9, 1e9, 2.01 * _ULP),
    "div_full": Function("div.full.f32 {d}, 0f3FC00000, {a};", lambda a: 1.5 / a, 1e-9, 1e9, 2.01 * _ULP),
}
"""By name."""


def approximate_ptx() -> str:
    """Return a module with a kernel ``f_NAME`` (ptr in, ptr out) for each function."""
    return ".version 9.0\n.target sm_75\n.address_size 64\n" + "".join(
        f"""
.visible .entry f_{name}(.param .u64 in, .param .u64 out)
{{
    .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<3>;
    ld.param.u64 %d1, [in]; ld.param.u64 %d2, [out];
    cvta.to.global.u64 %d1, %d1; cvta.to.global.u64 %d2, %d2;
    mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mov.u32 %r3, %tid.x;
    mad.lo.u32 %r1, %r1, %r2, %r3;
    mad.wide.u32 %d3, %r1, 4, %d1; mad.wide.u32 %d4, %r1, 4, %d2;
    ld.global.f32 %f1, [%d3];
    {function.instruction.format(d="%f2", a="%f1")}
    st.global.f32 [%d4], %f2;
    ret;
}}
"""
        for name, function in FUNCTIONS.items()
    )


def judged(function: Function, values: Array, results: Array) -> tuple[int, float]:
    """Return how many results are further from the exact ones than allowed, and the largest error."""
    exact = function.exact(values.astype(np.float64))
    error = np.abs(results.astype(np.float64) - exact)
    if function.relative:
        error = error / np.abs(exact)
    return int((error > function.bound).sum()), float(error.max())

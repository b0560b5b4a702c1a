"""PTX text to immutable values."""

from __future__ import annotations

from .parser import parse
from .values import Function, Instruction, Location, Module, Parameter, Variable

__all__ = ["Function", "Instruction", "Location", "Module", "Parameter", "Variable", "parse"]

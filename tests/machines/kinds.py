"""The kinds of machines that go wrong, with neighbours: other versions and systems, several at once."""

from __future__ import annotations

from tests.machines.kinds_driver import DRIVER, WSL
from tests.machines.kinds_toolkit import ELSE, TOOLKIT, VULKAN

KINDS = (*DRIVER, *WSL, *VULKAN, *TOOLKIT, *ELSE)
PLANNED = {"the plan's toolset"}
"""Machines that only a plan finds fault with."""

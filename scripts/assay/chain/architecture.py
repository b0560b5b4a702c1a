"""Names of GPU architectures (CUDA compiler driver manual, "GPU Feature List")."""

from __future__ import annotations


def virtual_architecture(architecture: str) -> str:
    """Return the architecture of PTX for a real one: ``compute_90`` for ``sm_90``."""
    return architecture.replace("sm_", "compute_", 1)


def lowest(architectures: tuple[str, ...]) -> str:
    """Return the lowest of real architectures such as ``sm_75``; PTX is made for it (DESIGN, "PTX")."""
    return min(architectures, key=lambda name: int(name.removeprefix("sm_")))

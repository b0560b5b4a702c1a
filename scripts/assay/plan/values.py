"""A plan as immutable values; ``parse`` makes them, nothing else does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from assay.model import Platform, Tier
from assay.plan.expression import Expression

WGPU_NATIVE = "wgpu-native"
APHRODY_FFI = "aphrody-ffi"
INTERFACES = (WGPU_NATIVE, APHRODY_FFI)
RUNTIMES = ("pycuda", "wgpu", "nvrtc")
BACKENDS = ("Vulkan", "D3D12", "Metal", "OpenGL")


@dataclass(frozen=True)
class ProviderPin:
    """One provider library that may be selected.

    Attributes:
        name: the provider's name.
        platform: where it runs.
        interface: how it is called, one of ``INTERFACES``.
        sha256: the only digest that is accepted.
        symbols: names that it must export.
        url: where ``assay fetch`` brings it from, or None.
    """

    name: str
    platform: Platform
    interface: str
    sha256: str
    symbols: tuple[str, ...]
    url: str | None


@dataclass(frozen=True)
class Stage:
    """One step of a chain.

    Attributes:
        name: unique within the chain.
        runtime: one of ``RUNTIMES``.
        source: file name of the kernel inside the chain's folder.
        sha256: digest of that file.
        entry: the kernel's entry point.
        input: ``previous`` or ``values``.
        expect: the exact value at each index.
        ulp: allowed distance in units in the last place; None compares bits.
        each: values that one thread computes.
    """

    name: str
    runtime: str
    source: str
    sha256: str
    entry: str
    input: str
    expect: Expression
    ulp: int | None
    each: int = 1


@dataclass(frozen=True)
class Chain:
    """Ordered stages over one vector of float32; ``values`` are the canonical integers, shape (n,)."""

    name: str
    sha256: str
    values: tuple[int, ...]
    stages: tuple[Stage, ...]


@dataclass(frozen=True)
class CommandGate:
    """A gate that only runs a command.

    Attributes:
        name: the gate's name.
        argv: the command; ``python`` as first word is the toolchain's own interpreter.
        deadline_s: seconds until it is killed.
        report: ``pytest`` where the gate reads counts of tests, else ``""``.
        allowed_skips: test ids that may be skipped.
    """

    name: str
    argv: tuple[str, ...]
    deadline_s: int
    report: str
    allowed_skips: tuple[str, ...]


@dataclass(frozen=True)
class Claim:
    """A sentence that holds when all of ``gates`` passed; without gates it is not established yet.

    Attributes:
        id: its id.
        text: the sentence.
        gates: gates that have to pass.
        platforms: where these gates show it; empty for everywhere.
    """

    id: str
    text: str
    gates: tuple[str, ...]
    platforms: tuple[Platform, ...] = ()


@dataclass(frozen=True)
class Citation:
    """Earlier evidence by bundle digest, with the reason; it never counts towards a verdict."""

    digest: str
    reason: str


@dataclass(frozen=True)
class Reference:
    """A document that the plan relies on."""

    title: str
    url: str


@dataclass(frozen=True)
class Member:
    """One run that a release must have: where, and of which tier."""

    platform: Platform
    tier: Tier

    def __str__(self) -> str:
        """Return it as the plan writes it."""
        return f"{self.platform.value}/{self.tier.value}"


@dataclass(frozen=True)
class SharedBuffers:
    """What runs on one buffer: a Vulkan shader, a CUDA kernel of a chain in place, the shader again.

    Attributes:
        chain: the chain whose stages say what is computed.
        shader: the stage whose arithmetic the shader repeats.
        kernel: the stage whose CUDA kernel runs in place.
        source: file name of the shader (GLSL) inside the chain's folder.
        sha256: digest of that file.
        entry: the shader's entry point.
        each: values that one of its threads computes.
    """

    chain: str
    shader: str
    kernel: str
    source: str
    sha256: str
    entry: str
    each: int


@dataclass(frozen=True)
class Throughput:
    """What is measured of a chain.

    Attributes:
        chain: the chain; its stages run on PyCUDA, wgpu and NVRTC, in this order.
        sizes: numbers of values.
        turns: how often each part is measured.
        floor_size: the size at which ``floors`` hold.
        floors: bounds by name (``judge.speed`` has what each bounds), in percent; empty where none is set.
    """

    chain: str
    sizes: tuple[int, ...]
    turns: int
    floor_size: int
    floors: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Plan:
    """What must be shown, for all platforms; see ``parse`` for the keys."""

    project: str
    modules: tuple[str, ...]
    tier: Tier
    allow_unclean_tree: bool
    architectures: tuple[str, ...]
    gates: tuple[str, ...]
    commands: tuple[CommandGate, ...]
    deadlines: Mapping[str, int]
    versions: Mapping[Platform, Mapping[str, str]]
    providers: tuple[ProviderPin, ...]
    backend: Mapping[Platform, str]
    software_adapters: Mapping[Platform, tuple[str, ...]]
    msvc_toolset: str | None
    chains: Mapping[Platform, tuple[str, ...]]
    kernels: Mapping[str, Chain]
    smoke: tuple[str, ...]
    allow_environment: tuple[str, ...]
    disclose: tuple[str, ...]
    built_by: Mapping[str, str]
    cites: tuple[Citation, ...]
    references: tuple[Reference, ...]
    claims: tuple[Claim, ...]
    tiers: Mapping[Platform, Tier] = field(default_factory=dict)
    release: tuple[Member, ...] = ()
    shared_buffers: SharedBuffers | None = None
    throughput: Throughput | None = None

    def tier_on(self, platform: Platform) -> Tier:
        """Return the tier that a run on a platform must show; a plan of a rehearsal is one everywhere."""
        return self.tier if self.tier is Tier.REHEARSAL else self.tiers.get(platform, self.tier)

    def planned_chains(self, platform: Platform) -> tuple[Chain, ...]:
        """Return the chains of a platform, in the plan's order."""
        return tuple(self.kernels[name] for name in self.chains.get(platform, ()))

    def command(self, name: str) -> CommandGate | None:
        """Return the command gate of that name, or None."""
        return next((command for command in self.commands if command.name == name), None)

    @property
    def lowest_architecture(self) -> str:
        """Return the lowest architecture, for which PTX is compiled."""
        return min(self.architectures, key=lambda name: int(name.removeprefix("sm_")))

"""NVIDIA's CUDA samples, compiled as they are, against NumPy and what the samples say of themselves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from assay.selection import Selection
from tests.rehearsal.support import Array, Device, Size, nvcc_ptx

FOLDER = Path(__file__).resolve().parents[1] / "data" / "cuda-samples"

DIGESTS = {
    "Common/exception.h": "ad043023a652bf3610671aad88237383c7bf2e17c66f8da5830d1d668fe7bbe7",
    "Common/helper_cuda.h": "997f9ac1f8e5f8e5f45f8b11eebab5b89305dee7430b90654bafe62283cffee1",
    "Common/helper_functions.h": "3fdcd18e41ffc2a9c88ade3595384e9cd05a2d84f80b86a2d5982035ca79c426",
    "Common/helper_image.h": "bc1fe7921bafad278ffa2e4bc8a99c18825208b9f5f47842a7cf7e86cae8b3f1",
    "Common/helper_string.h": "616ac8b2588a6e73aed207f85faf0da5e617404390df1790f6637b1042dbcc94",
    "Common/helper_timer.h": "c48552a7c7b7a5840fcfbc176bfb5a19b501fdc56796b64a63e78e39ab547078",
    "LICENSE": "b3e40c5bfed1fca5c62d2c1f2208bf51f8d2c910219f94c443f657ace9001be3",
    "Samples/0_Introduction/matrixMul/matrixMul.cu": (
        "71872f21264d67faf4d71301d6bf088579060d0ea9dea2a85caafc1b28870809"
    ),
    "Samples/0_Introduction/vectorAdd/vectorAdd.cu": (
        "38c186374058ad214541aa06bf0595df61c94b2579a3ac35d21ce32016f9f369"
    ),
    "Samples/2_Concepts_and_Techniques/histogram/histogram256.cu": (
        "c09a3e29dd44dfa7f6238fc5d4803266325ef9123c9c2ed1cd44367aefdbf490"
    ),
    "Samples/2_Concepts_and_Techniques/histogram/histogram64.cu": (
        "11bb063dff833bc3612608bc694e85699813a353d7bb6987593397a3f05f455e"
    ),
    "Samples/2_Concepts_and_Techniques/histogram/histogram_common.h": (
        "3b2cc12f357bd80135cab0eb19b404fd3f6ba1a0ee29890602aa4f2e905c76a8"
    ),
    "Samples/2_Concepts_and_Techniques/reduction/reduction_kernel.cu": (
        "c9ac9a9a424726522dd616fa24d58e6f0919ac95dd746a233d5fb857bffffde9"
    ),
    "Samples/2_Concepts_and_Techniques/scan/scan.cu": (
        "253d0b7c92d459cddee73d7b85aada42f820c07a89956407dba0b49487dc8f43"
    ),
    "Samples/2_Concepts_and_Techniques/scan/scan_common.h": (
        "669fa278d71bbbee6a009f5f71b40a21544c435f9b77d127bc7182f8f9217acc"
    ),
    "Samples/6_Performance/transpose/transpose.cu": (
        "14b15f234a54fbe3d31185e397caab40532cd76a347691af4ce840cae8f30682"
    ),
}
"""SHA-256 of every file as NVIDIA published it."""

RANDOM = np.random.default_rng(20261201)


class Sample:
    """One file of the samples for one architecture: its kernels by their C++ names."""

    def __init__(self, text: str) -> None:
        self._entries = re.findall(r"\.entry (\w+)\(", text)
        self.device = Device(text)

    def run(self, name: str, grid: Size, block: Size, kinds: str, *values: float, shared: int = 0) -> None:
        """Launch the one kernel of a C++ name (as the Itanium ABI mangles it), and see no finding."""
        (entry,) = (entry for entry in self._entries if re.match(rf"_Z\d+{name}(?:E?v?P|EEv)", entry))
        report = self.device.run(entry, grid, block, kinds, *values, shared=shared)
        assert report.findings == ()


Load = Callable[[str], Sample]


@pytest.fixture(scope="session", params=["sm_75", "sm_90"])
def load(
    selection: Selection, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Load:
    """Return how a file becomes its kernels; the second architecture has cooperative groups' newer paths."""
    folder, made = tmp_path_factory.mktemp(request.param), dict[str, str]()

    def sample(name: str) -> Sample:
        if name not in made:
            (source,) = FOLDER.glob(f"Samples/*/*/{name}.cu")
            flags = (f"-arch={request.param}", f"-I{FOLDER / 'Common'}")
            made[name] = nvcc_ptx(selection, source, folder / f"{name}.ptx", *flags)
        return Sample(made[name])

    return sample


@pytest.fixture(scope="session")
def reductions(load: Load) -> Sample:
    """Return the reductions, which are parsed once: there are 213 of them."""
    return load("reduction_kernel")


def test_the_files_are_as_nvidia_published_them() -> None:
    told = {
        path.relative_to(FOLDER).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in FOLDER.rglob("*")
        if path.is_file() and path.name != "README.md"
    }
    assert told == DIGESTS


def test_vectors_are_added(load: Load) -> None:
    sample, count = load("vectorAdd"), 50_000
    a, b = (RANDOM.random(count, dtype=np.float32) for _ in range(2))
    device = sample.device
    out = device.empty(4 * count)
    sample.run("vectorAdd", 196, 256, "QQQi", device.upload(a), device.upload(b), out, count)
    assert (device.download(out, np.float32, count) == a + b).all()


@pytest.mark.parametrize("tile", [16, 32])
def test_matrices_are_multiplied(load: Load, tile: int) -> None:
    sample, (height, inner, width) = load("matrixMul"), (64, 160, 96)
    a = RANDOM.random((height, inner), dtype=np.float32)
    b = RANDOM.random((inner, width), dtype=np.float32)
    device = sample.device
    out = device.empty(4 * height * width)
    places = out, device.upload(a), device.upload(b)
    grid = width // tile, height // tile
    sample.run(f"MatrixMulCUDAILi{tile}E", grid, (tile, tile), "QQQii", *places, inner, width)
    expected = np.zeros((height, width), np.float32)
    for k in range(inner):
        term = a[:, k : k + 1].astype(np.float64) * b[k].astype(np.float64)
        expected = (term + expected).astype(np.float32)
    assert (device.download(out, np.float32, expected.size).reshape(expected.shape) == expected).all()


TILE = 32


def _tiles(values: Array, turned: Array) -> Array:
    """Return each tile of a square matrix as ``turned`` numbers its elements."""
    side = values.shape[0] // TILE
    tiles = values.reshape(side, TILE, side, TILE).transpose(0, 2, 1, 3).reshape(side, side, -1)
    return tiles[:, :, turned.reshape(-1)].reshape(side, side, TILE, TILE)


def _joined(tiles: Array) -> Array:
    return tiles.transpose(0, 2, 1, 3).reshape(tiles.shape[0] * TILE, -1)


PLACES = np.arange(TILE * TILE).reshape(TILE, TILE)

MOVES: dict[str, Callable[[Array], Array]] = {
    "copy": lambda values: values,
    "copySharedMem": lambda values: values,
    "transposeNaive": lambda values: values.T,
    "transposeCoalesced": lambda values: values.T,
    "transposeNoBankConflicts": lambda values: values.T,
    "transposeDiagonal": lambda values: values.T,
    # The sample calls these two partial and checks neither against its reference: the fine one turns the
    # elements of every tile where it is, the coarse one carries every tile over as it is.
    "transposeFineGrained": lambda values: _joined(_tiles(values, PLACES.T)),
    "transposeCoarseGrained": lambda values: _joined(_tiles(values, PLACES).transpose(1, 0, 2, 3)),
}


@pytest.mark.parametrize("name", MOVES)
def test_matrices_are_transposed(load: Load, name: str) -> None:
    sample, side = load("transpose"), 128
    values = np.arange(side * side, dtype=np.float32).reshape(side, side)
    device = sample.device
    given, out = device.upload(values), device.empty(values.nbytes)
    sample.run(name, (side // TILE, side // TILE), (TILE, 16), "QQii", out, given, side, side)
    expected = MOVES[name](values)
    assert (device.download(out, np.float32, values.size).reshape(side, side) == expected).all()


def test_the_partial_transposes_make_a_whole_one() -> None:
    values = RANDOM.random((128, 128), dtype=np.float32)
    fine, coarse = MOVES["transposeFineGrained"], MOVES["transposeCoarseGrained"]
    assert (fine(coarse(values)) == values.T).all()
    assert (coarse(fine(values)) == values.T).all()
    assert not (fine(values) == values.T).all()
    assert not (coarse(values) == values.T).all()


def exclusive(values: Array) -> Array:
    """Return the sum of what is before each element, along the last axis, as wrapping uint32."""
    sums: Array = np.cumsum(values, axis=-1, dtype=np.uint32) - values
    return sums


@pytest.mark.parametrize("length", [4, 16, 128, 1024])
def test_short_arrays_are_scanned(load: Load, length: int) -> None:
    sample, count = load("scan"), 8192
    values = RANDOM.integers(0, 2**32, (count // length, length), dtype=np.uint32)
    device = sample.device
    given, out = device.upload(values), device.empty(values.nbytes)
    sample.run("scanExclusiveShared", count // 1024, 256, "QQI", out, given, length)
    assert (device.download(out, np.uint32, count).reshape(values.shape) == exclusive(values)).all()


@pytest.mark.parametrize(("batch", "length"), [(4, 2048), (3, 16_384), (1, 262_144)])
def test_large_arrays_are_scanned(load: Load, batch: int, length: int) -> None:
    sample, tops = load("scan"), batch * length // 1024
    values = RANDOM.integers(0, 2**32, (batch, length), dtype=np.uint32)
    device = sample.device
    given, out, buffer = device.upload(values), device.empty(values.nbytes), device.empty(4 * tops)
    sample.run("scanExclusiveShared", tops, 256, "QQI", out, given, 1024)
    second = -(-tops // 256)
    sample.run("scanExclusiveShared2", second, 256, "QQQII", buffer, out, given, tops, length // 1024)
    sample.run("uniformUpdate", tops, 256, "QQ", out, buffer)
    assert (device.download(out, np.uint32, values.size).reshape(values.shape) == exclusive(values)).all()


@pytest.mark.parametrize(
    ("bins", "block", "word", "partial"),
    # Partial histograms as the hosts of the samples count them: by what a byte counts to, or always 240.
    [(64, 64, 16, -(-120_016 // (64 * (255 - 255 % 16)))), (256, 192, 4, 240)],
)
def test_bytes_are_counted(load: Load, bins: int, block: int, word: int, partial: int) -> None:
    sample, values = load(f"histogram{bins}"), RANDOM.integers(0, 256, 120_016).astype(np.uint8)
    device = sample.device
    parts, out = device.empty(4 * bins * partial), device.empty(4 * bins)
    given = device.upload(values)
    sample.run(f"histogram{bins}Kernel", partial, block, "QQI", parts, given, values.size // word)
    sample.run(f"mergeHistogram{bins}Kernel", bins, 256, "QQI", out, parts, partial)
    expected = np.bincount(values // (256 // bins), minlength=bins)
    assert (device.download(out, np.uint32, bins) == expected).all()


KINDS = {"i": np.int32, "f": np.float32, "d": np.float64}
"""The types that the sample makes reductions for, as the Itanium ABI mangles them."""


def sizes(kernel: int, count: int, most: int) -> tuple[int, int]:
    """Return blocks and threads as the sample's ``getNumBlocksAndThreads`` does, for 64 blocks at most."""
    each = 1 if kernel < 3 else 2
    threads = most if count >= each * most else 1 << (-(-count // each) - 1).bit_length()
    blocks = -(-count // (each * threads))
    return (blocks if kernel < 6 else min(64, blocks)), threads


def reduction(kernel: int, kind: str, count: int, threads: int) -> tuple[str, int]:
    """Return the C++ name and bytes of shared memory as the sample's ``reduce`` chooses them."""
    power, size = int(count & (count - 1) == 0), np.dtype(KINDS[kind]).itemsize
    if kernel == 9:
        return f"multi_warp_cg_reduceI{kind}Lm{threads}ELm{threads // 2}E", 2 * size
    if kernel == 8:
        name = f"cg_reduceI{kind}"
    else:
        form = "" if kernel < 4 else f"Lj{threads}E" if kernel < 6 else f"Lj{threads}ELb{power}E"
        name = f"reduce{kernel}I{kind}{form}"
    if kernel == 7:
        return name, (threads // 32 + 1) * size
    return name, (2 * threads if threads <= 32 else threads) * size


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("kernel", range(10))
@pytest.mark.parametrize("most", [64, 256, 512])
@pytest.mark.parametrize("count", [1 << 15, 20_011, 200])
def test_values_are_added_up(reductions: Sample, count: int, most: int, kernel: int, kind: str) -> None:
    values = RANDOM.integers(0, 256, count).astype(KINDS[kind])
    blocks, threads = sizes(kernel, count, most)
    name, shared = reduction(kernel, kind, count, threads)
    device = reductions.device
    given, out = device.upload(values), device.empty(values.itemsize * blocks)
    reductions.run(name, blocks, threads, "QQI", given, out, count, shared=shared)
    assert device.download(out, KINDS[kind], blocks).sum() == values.sum()


@pytest.mark.parametrize("kernel", [6, 7, 8, 9])
def test_as_many_values_are_added_up_as_the_sample_does(reductions: Sample, kernel: int) -> None:
    values = RANDOM.integers(0, 256, 1 << 24).astype(np.int32)
    blocks, threads = sizes(kernel, values.size, 256)
    assert (blocks, threads) == (64, 256)
    name, shared = reduction(kernel, "i", values.size, threads)
    device = reductions.device
    given, out = device.upload(values), device.empty(4 * blocks)
    reductions.run(name, blocks, threads, "QQI", given, out, values.size, shared=shared)
    device.memory.free(given)
    assert device.download(out, np.int32, blocks).sum() == values.sum(dtype=np.int64)

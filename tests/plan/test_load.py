"""A project's plan comes from its pyproject.toml and its kernels; what is wrong is named by its key."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from assay.errors import PlanError
from assay.model import Platform
from assay.plan import load_plan, plan_json

pytestmark = pytest.mark.gate

PROJECT = Path(__file__).resolve().parents[2]

PYPROJECT = """
[project]
name = "gpu-thing"
[tool.assay]
modules = ["thing"]
architectures = ["sm_90"]
gates = ["environment"]
smoke = ["python", "-m", "thing"]
chains.linux = ["one"]
"""

CHAIN = """
[values]
count = 3
[[stage]]
name = "double"
runtime = "nvrtc"
source = "double.cu"
entry = "twice"
input = "values"
expect = "2*x"
compare = "bits"
"""


def project(
    folder: Path, pyproject: str = PYPROJECT, chain: str = CHAIN, source: bytes = b"// kernel\n"
) -> Path:
    (folder / "kernels/one").mkdir(parents=True)
    (folder / "pyproject.toml").write_text(pyproject)
    (folder / "kernels/one/chain.toml").write_text(chain)
    (folder / "kernels/one/double.cu").write_bytes(source)
    return folder


def test_kernels_arrive_with_the_digests_of_their_files(tmp_path: Path) -> None:
    plan = load_plan(project(tmp_path))
    chain = plan.kernels["one"]
    assert chain.values == (0, 1, 2)
    assert chain.sha256 == hashlib.sha256(CHAIN.encode()).hexdigest()
    assert chain.stages[0].sha256 == hashlib.sha256(b"// kernel\n").hexdigest()


def test_the_same_project_has_the_same_plan_anywhere(tmp_path: Path) -> None:
    first, second = project(tmp_path / "a"), project(tmp_path / "b/c")
    assert plan_json(load_plan(first)) == plan_json(load_plan(second))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"pyproject": "[tool"}, "pyproject.toml"),
        ({"pyproject": "[project]\nname = 'x'\n"}, "tool.assay"),
        ({"pyproject": "[tool.assay]\ntier = 'wsl'\n"}, "project.name"),
        ({"pyproject": PYPROJECT + "project = 'x'\n"}, "tool.assay.project"),
        ({"pyproject": PYPROJECT + "[tool.assay.kernels]\n"}, "tool.assay.kernels"),
        ({"chain": "[[stage"}, "kernels.one.chain.toml"),
        ({"chain": "[values]\ncount = 1\n"}, "kernels.one.stage"),
        ({"chain": CHAIN.replace("double.cu", "absent.cu")}, "kernels.one.stage.0.source"),
        ({"chain": CHAIN.replace("double.cu", "../../pyproject.toml")}, "kernels.one.stage.0.source"),
        ({"chain": CHAIN + f"sha256 = '{'ab' * 32}'\n"}, "kernels.one.stage.0.sha256"),
        ({"chain": CHAIN.replace("2*x", "x/2")}, "tool.assay.kernels.one.stage.0.expect"),
        ({"source": "// größer\n".encode()}, "kernels.one.stage.0.source"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, change: dict[str, str], named: str) -> None:
    with pytest.raises(PlanError) as caught:
        load_plan(project(tmp_path, **change))  # type: ignore[arg-type]  # one of the texts is bytes
    assert caught.value.path == named


def test_a_folder_without_a_project_is_named(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match=r"pyproject\.toml"):
        load_plan(tmp_path)


def test_this_project_plans_what_the_field_notes_qualify() -> None:
    plan = load_plan(PROJECT)
    assert {chain.name for chain in plan.planned_chains(Platform.LINUX)} == {"pipeline", "consolidation"}
    assert [chain.name for chain in plan.planned_chains(Platform.WSL)] == ["cuda-only"]
    pins = {
        pin.name: (pin.platform, pin.sha256[:8]) for pin in plan.providers if pin.platform != Platform.WSL
    }
    assert pins == {
        "wgpu-native": (Platform.LINUX, "be0d8270"),
        "aphrody_ffi": (Platform.WINDOWS, "351e930b"),
    }
    assert plan.msvc_toolset == "14.44"
    assert plan.backend[Platform.WINDOWS] == "D3D12"
    assert {claim.id for claim in plan.claims if not claim.gates} == {
        *("shared-buffers-wgpu", "alpine-abi", "display-boot"),
        *("virtualised-as-physical", "wsl-from-windows", "release-activation"),
    }

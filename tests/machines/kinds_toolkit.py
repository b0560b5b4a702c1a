"""Kinds 10 to 25: what goes wrong with Vulkan, the toolkit, the selection and the shell."""

from __future__ import annotations

from tests.machines.kindparts import GL, UBUNTU, Kind, chain, driver, icd, machine

_CONDA_SITE = "/home/user/miniconda3/envs/gpu/lib/python3.12/site-packages"
_TOOLKIT_LIB = "/usr/local/cuda-13.0/targets/x86_64-linux/lib"
_ICD = "/usr/share/vulkan/icd.d"
_BUILTINS = [f"{_TOOLKIT_LIB}/libnvrtc-builtins.so.13.0", f"{_TOOLKIT_LIB}/libnvrtc-builtins.so.13.0.88"]

_INTEL = {
    f"{_ICD}/intel_icd.x86_64.json": icd("libvulkan_intel.so"),
    f"{_ICD}/radeon_icd.x86_64.json": icd("libvulkan_radeon.so"),
}
_MESA = {f"{GL}/libvulkan_{name}.so": {"needed": ["libc.so.6"]} for name in ("intel", "radeon", "lvp")}

VULKAN = (
    Kind(
        10,
        "the driver's Vulkan part is not whole",
        "VULKAN-ICD-MISSING",
        {
            "no manifest": driver(icd=""),
            "no manifest, 550": driver(on="healthy/debian-driver", version="550.163.01", icd=""),
            "fedora": driver(on="healthy/fedora", icd=""),
            "container": {
                **driver(icd=""),
                "files": {"/.dockerenv": ""},
                "env": {"NVIDIA_DRIVER_CAPABILITIES": "compute,utility"},
            },
            "no SPIR-V compiler": {**driver(), "remove": [f"{GL}/libnvidia-glvkspirv.so.580.159.04"]},
        },
        roots={"no SPIR-V compiler": "VULKAN-DRIVER-INCOMPLETE"},
    ),
    Kind(
        11,
        "a variable hides the GPU from the Vulkan loader",
        "VULKAN-OVERRIDE",
        {
            "intel": machine(
                UBUNTU, files=_INTEL, elf=_MESA, env={"VK_ICD_FILENAMES": f"{_ICD}/intel_icd.x86_64.json"}
            ),
            "radeon, new name": machine(
                UBUNTU, files=_INTEL, elf=_MESA, env={"VK_DRIVER_FILES": f"{_ICD}/radeon_icd.x86_64.json"}
            ),
            "both": machine(
                "healthy/debian-driver",
                files=_INTEL,
                elf=_MESA,
                env={"VK_DRIVER_FILES": f"{_ICD}/intel_icd.x86_64.json:{_ICD}/radeon_icd.x86_64.json"},
            ),
            "a file that is gone": machine(UBUNTU, env={"VK_ICD_FILENAMES": "/opt/gone/icd.json"}),
        },
    ),
    Kind(
        12,
        "there is no Vulkan loader",
        "VULKAN-LOADER-MISSING",
        {
            "ubuntu": machine("faults/no-vulkan-loader"),
            "debian": machine("healthy/debian-driver", remove=[f"{GL}/libvulkan.so.1"]),
            "fedora": machine("healthy/fedora", remove=["/usr/lib64/libvulkan.so.1"]),
            "container": machine("healthy/container", remove=[f"{GL}/libvulkan.so.1"]),
        },
    ),
)

_STUB = {
    "links": {f"{_TOOLKIT_LIB}/stubs/libcuda.so.1": "libcuda.so"},
    "env": {"LD_LIBRARY_PATH": "/usr/local/cuda-13.0/lib64/stubs:/usr/local/cuda-13.0/lib64"},
}

TOOLKIT = (
    Kind(
        13,
        "a binary is built for another C library",
        "ABI-LIBC",
        {
            "glibc 2.27": machine("faults/provider-glibc"),
            "glibc 2.17": machine("faults/abi-glibc-217"),
            "glibc on musl": machine("faults/provider-on-musl"),
            "an extension": machine("faults/abi-glibc-extension"),
            "musl on glibc": machine("faults/abi-musl-build"),
            "alpine's driver": machine("faults/abi-alpine-driver"),
            "alpine with a GPU": {
                **driver(on="healthy/alpine", libraries="/usr/lib64", firmware=""),
                "files": {"/.dockerenv": ""},
            },
        },
        roots={"alpine's driver": "ABI-DRIVER-GLIBC", "alpine with a GPU": "ABI-DRIVER-GLIBC"},
        follows={
            "glibc on musl": ("ENVIRONMENT-LIBC",),
            "glibc 2.17": ("ENVIRONMENT-LIBC",),
            "alpine with a GPU": ("DRIVER-LIBRARY-MISSING",),
        },
        also={
            "glibc on musl": ("DRIVER-NO-GPU",),
            "alpine's driver": ("DRIVER-NO-GPU",),
            "alpine with a GPU": ("VULKAN-LOADER-MISSING",),
        },
    ),
    Kind(
        14,
        "the libcuda that would load is a stub",
        "TOOLKIT-STUB",
        {
            "variable": machine(UBUNTU, **_STUB),
            "configuration": machine("faults/stub"),
            "conda": machine(
                "healthy/conda",
                elf={"/opt/cuda/lib64/stubs/libcuda.so.1": {"soname": "libcuda.so.1"}},
                env={"LD_LIBRARY_PATH": "/opt/cuda/lib64/stubs"},
            ),
            "with old firmware": {**driver("faults/stub", firmware="580.95.05", running="N/A")},
        },
        follows={"configuration": ("DRIVER-LIBRARY-SHADOWED",)},
        also={"with old firmware": ("DRIVER-FIRMWARE-MISSING",)},
    ),
    Kind(
        15,
        "the driver cannot read the toolkit's PTX",
        "TOOLKIT-PTX-NEW",
        {
            "13.2 under 13.0": machine("faults/ptx-new"),
            "nobody asked": machine("faults/ptx-new-unasked"),
            "another 580": driver("faults/ptx-new", version="580.65.06"),
        },
    ),
    Kind(
        16,
        "NVRTC's builtins are missing",
        "TOOLKIT-BUILTINS",
        {
            "both": machine("faults/builtins-missing"),
            "fedora": machine("healthy/fedora", remove=_BUILTINS),
            "bare": machine("healthy/bare", remove=_BUILTINS),
            "another version's": machine("faults/builtins-other"),
        },
        roots={"another version's": "TOOLKIT-MIXED"},
        follows={"another version's": ("TOOLKIT-BUILTINS",)},
        also={"bare": ("DRIVER-NO-GPU",)},
    ),
    Kind(
        17,
        "parts of two toolkits are mixed",
        "TOOLKIT-MIXED",
        {
            "site-packages and system": machine("faults/toolkit-mixed"),
            "headers": machine("faults/toolkit-mixed-headers"),
            "found first": machine("faults/toolkit-shadowed"),
            "nobody asked": machine("faults/toolkit-shadowed-unasked"),
        },
        roots={"found first": "TOOLKIT-SHADOWED", "nobody asked": "TOOLKIT-SHADOWED"},
    ),
    Kind(
        18,
        "the toolkit no longer builds for this device",
        "TOOLKIT-DEVICE-ARCHITECTURE",
        {
            "volta": machine("faults/volta"),
            "volta by the table": machine("faults/volta-table"),
            "pascal": machine(
                UBUNTU,
                probes=chain(
                    nvml={
                        "facts": {
                            "gpus": [{"compute_capability": "6.1", "index": 0, "name": "GeForce GTX 1080"}]
                        }
                    }
                ),
            ),
        },
    ),
    Kind(
        19,
        "layouts of toolkits that are healthy",
        "",
        {
            name: machine(f"healthy/{name}")
            for name in (
                "conda",
                "targets",
                "links",
                "wrapper",
                "link-behind-toolkit",
                "ubuntu",
                "fedora",
                "conda-static",
            )
        },
    ),
    Kind(
        20,
        "a path is written in an odd way",
        "",
        {
            "spaces and a separator": machine("healthy/spaces"),
            "windows' own spaces": machine("healthy/windows"),
            "a leading colon": machine("faults/empty-entry"),
            "quoted": machine("faults/toolkit-quoted"),
            "quoted on Windows": machine("faults/windows-quoted"),
            "a quoted entry": machine("faults/path-quoted"),
            "single marks": machine("healthy/fedora", env={"CUDA_PATH": "'/usr/local/cuda-13.0'"}),
        },
        roots={
            "quoted": "TOOLKIT-QUOTED",
            "quoted on Windows": "TOOLKIT-QUOTED",
            "a quoted entry": "ENVIRONMENT-QUOTED",
            "single marks": "TOOLKIT-QUOTED",
        },
    ),
)

ELSE = (
    Kind(
        21,
        "a variable hides every device",
        "ENVIRONMENT-DEVICES-HIDDEN",
        {
            "empty": machine(UBUNTU, env={"CUDA_VISIBLE_DEVICES": ""}),
            "minus one": machine("healthy/fedora", env={"CUDA_VISIBLE_DEVICES": "-1"}),
            "wsl": machine("healthy/wsl", env={"CUDA_VISIBLE_DEVICES": ""}),
            "windows": machine("healthy/windows", env={"CUDA_VISIBLE_DEVICES": ""}),
        },
    ),
    Kind(
        22,
        "NVML, nvidia-smi, CUDA or Vulkan hangs",
        "DRIVER-NVML-SILENT",
        {
            "nvml": machine("faults/nvml-silent"),
            "nvml under wsl": machine("faults/driver-wsl-silent"),
            "nvidia-smi": machine(UBUNTU, probes={"nvidia-smi": "timeout"}),
            "cuda": machine("healthy/fedora", probes=chain(cuda="timeout")),
            "vulkan": machine(UBUNTU, probes=chain(vulkan="timeout")),
        },
        roots={
            "nvidia-smi": "DRIVER-SMI-SILENT",
            "cuda": "DRIVER-CUDA-SILENT",
            "vulkan": "VULKAN-SILENT",
        },
        follows={"nvml": ("TOOLKIT-NVML-SILENT",)},
    ),
    Kind(
        23,
        "a file of the user's hides a package",
        "ENVIRONMENT-SHADOWED",
        {
            "cuda.py": machine("faults/shadowed"),
            "wgpu.py": machine(
                "healthy/conda",
                files={"/home/user/work/wgpu.py": ""},
                env={"PYTHONPATH": f"/home/user/work:{_CONDA_SITE}"},
                probes=chain(
                    shadow={
                        "facts": {
                            "wgpu": {
                                "file": "/home/user/work/wgpu.py",
                                "folders": [],
                                "loader": "SourceFileLoader",
                            }
                        }
                    }
                ),
            ),
            "a folder": machine(
                UBUNTU,
                files={"/srv/job/pycuda/__init__.py": ""},
                env={"PYTHONPATH": "/srv/job:/opt/app/lib/python3.12/site-packages"},
                probes=chain(
                    shadow={
                        "facts": {
                            "pycuda": {
                                "file": "/srv/job/pycuda/__init__.py",
                                "folders": [],
                                "loader": "SourceFileLoader",
                            }
                        }
                    }
                ),
            ),
        },
    ),
    Kind(
        24,
        "libpython does not belong to the interpreter",
        "ENVIRONMENT-LIBPYTHON-VERSION",
        {
            "another minor": machine("faults/libpython-minor"),
            "another patch": machine("faults/libpython-patch"),
            "static": machine("faults/libpython-static"),
            "debug": machine("faults/libpython-debug"),
            "archive": machine("faults/libpython-archive"),
        },
        roots={
            "static": "ENVIRONMENT-LIBPYTHON-STATIC",
            "debug": "ENVIRONMENT-LIBPYTHON-ABI",
            "archive": "ENVIRONMENT-NOT-BINARY",
        },
    ),
    Kind(
        25,
        "nvcc does not take the host compiler",
        "TOOLKIT-COMPILER-RANGE",
        {
            "gcc 16": machine("faults/compiler-new"),
            "gcc 16, nobody asked": machine("faults/compiler-new-unasked"),
            "clang 21": machine("faults/compiler-clang"),
            "msvc 14.50": machine("faults/msvc-new"),
            "no cl.exe": machine("faults/msvc-missing"),
            "no gcc": machine("faults/compiler-missing"),
            "the plan's toolset": machine("faults/msvc-toolset"),
        },
        roots={
            "no cl.exe": "TOOLKIT-COMPILER-MISSING",
            "no gcc": "TOOLKIT-COMPILER-MISSING",
            "the plan's toolset": "TOOLKIT-MSVC-TOOLSET",
        },
    ),
)

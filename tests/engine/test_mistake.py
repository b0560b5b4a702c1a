"""The inner loop's answer: the first wrong value, and the line of the kernel that wrote it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.engine.mistake import last_words, writing_lines
from tests.conftest import PROJECT

pytestmark = pytest.mark.gate

CUDA = """
__device__ void helper(float *out) { out[0] = 1.0f; }
extern "C" __global__ void twice(const float *in, float *out, unsigned int count)
{
    unsigned int i = threadIdx.x;
    if (in[i] == 3.0f && i < count) {
        out[i] = 2.0f * in[i];
        out[i + 1] += in[i];
    }
}
""".splitlines()


def test_the_lines_of_the_entry_that_assign_to_an_element_are_named() -> None:
    assert writing_lines(CUDA, "twice") == (7, 8)


def test_a_kernel_without_one_is_named_itself_and_a_missing_one_not_at_all() -> None:
    assert writing_lines(["__global__ void twice(float *out)", "{ *out = 1; }"], "twice") == (1,)
    assert writing_lines(["nothing here"], "twice") == ()


@pytest.mark.parametrize(
    ("name", "entry", "written"),
    [
        ("double.cu", "twice", (10, 11, 12, 13, 17)),
        ("add_one.wgsl", "add_one", (21, 22, 23, 24, 28, 31, 34)),
    ],
)
def test_the_project_s_own_kernels_write_at_these_lines(
    name: str, entry: str, written: tuple[int, ...]
) -> None:
    lines = (PROJECT / "kernels" / "pipeline" / name).read_text().splitlines()
    assert writing_lines(lines, entry) == written


@given(st.lists(st.text(max_size=30), max_size=8), st.text(max_size=6))
def test_any_text_gives_lines_of_it(lines: list[str], entry: str) -> None:
    assert all(1 <= number <= len(lines) for number in writing_lines(lines, entry))


LOG = """$ python chain.zip run
noise
Traceback (most recent call last):
  File "chain.zip/nvcc.py", line 70, in _compile
pycuda.driver.CompileError: nvcc failed
[stderr: none]

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "chain.zip/events.py", line 55, in attempt
    return action()
           ^^^^^^^^
assay_chain.failures.CompileError: /kernels/pipeline/double.cu(10): error: identifier "q" is undefined
          out[i] = 2.0f * q;
                          ^

1 error detected.
"""


def test_the_last_exception_is_told_in_its_own_words_without_the_frames_that_passed_it_on() -> None:
    assert last_words(LOG) == (
        'kernels/pipeline/double.cu(10): error: identifier "q" is undefined',
        "          out[i] = 2.0f * q;",
        "                          ^",
        "1 error detected.",
    )


@given(st.text())
def test_a_log_without_an_exception_has_no_last_words(text: str) -> None:
    assert last_words(text.replace("Traceback", "")) == ()

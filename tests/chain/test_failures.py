"""Errors as they travel: kind, reason and code; bounded."""

from __future__ import annotations

import pytest

from assay.chain.failures import (
    LIBCUDA_UNAVAILABLE,
    MESSAGE_LIMIT,
    CompileError,
    CudaError,
    RequestError,
    UnavailableError,
    cuda_error,
    describe,
)


@pytest.mark.parametrize("code", sorted(LIBCUDA_UNAVAILABLE))
def test_a_code_of_a_machine_that_cannot_compute_is_unavailable(code: int) -> None:
    error = cuda_error("cuInit", code, "")
    assert isinstance(error, UnavailableError)
    assert (error.reason, error.code) == (LIBCUDA_UNAVAILABLE[code], code)


@pytest.mark.parametrize(("code", "name"), [(719, "CUDA_ERROR_LAUNCH_FAILED"), (999, "CUDA_ERROR_UNKNOWN")])
def test_any_other_code_is_a_failure(code: int, name: str) -> None:
    error = cuda_error("cuLaunchKernel", code, name)
    assert isinstance(error, CudaError)
    assert (error.reason, error.code) == (name, code)


def test_whatever_keeps_the_driver_from_starting_is_unavailable() -> None:
    error = cuda_error("cuInit", 999, "CUDA_ERROR_UNKNOWN", starting=True)
    assert isinstance(error, UnavailableError)


def test_a_code_without_a_name_still_has_a_reason() -> None:
    assert cuda_error("cuInit", 12345, "").reason == "CUDA_ERROR_12345"


def test_foreign_errors_are_failures() -> None:
    told = describe(KeyError("x"))
    assert (told["kind"], told["type"], told["reason"], told["code"]) == ("failed", "KeyError", "", None)


def test_own_errors_keep_their_kind() -> None:
    assert describe(UnavailableError("no"))["kind"] == "unavailable"
    assert describe(CompileError("no"))["kind"] == "failed"
    assert describe(RequestError("chains.0", "is empty"))["message"] == "chains.0: is empty"


def test_messages_and_traces_are_bounded() -> None:
    told = describe(ValueError("x" * 100_000))
    assert len(str(told["message"])) == len(str(told["traceback"])) == MESSAGE_LIMIT

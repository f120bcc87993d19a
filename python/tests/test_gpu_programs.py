# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The programs of test_native_programs.py as PTX on act's emulator of a GPU."""

import pytest
import test_native_programs
from gpu_kernels import has_emulator
from native_runner import run_native
from test_native_programs import (  # noqa: F401
    test_arguments_and_results_that_are_the_same,
    test_branches,
    test_checkpoint,
    test_counted_loops,
    test_embedding_and_its_gradient,
    test_loop_over_several_rows_and_back,
    test_loop_with_a_condition,
    test_nested_loops,
    test_pooling_and_its_gradient,
    test_random_numbers,
    test_scans_of_sums_and_products,
    test_sort,
    test_statistics,
    test_top_k,
    test_updates_at_indices,
)

pytestmark = pytest.mark.skipif(
    not has_emulator(), reason="the emulator has not been built"
)


@pytest.fixture(autouse=True)
def _on_the_emulator(monkeypatch):
    monkeypatch.setenv("ACT_GPU_EMULATOR", "check=1")

    def run(text, arguments, *options):
        return run_native(text, arguments, "--target=emulator", *options)

    monkeypatch.setattr(test_native_programs, "run_native", run)

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The benchmark of kernels for GPUs: how instructions are counted."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

import sass

LISTING = """
	.text.kernel:
.text.kernel:
        /*0000*/                   LDG.E.128.CONSTANT R4, desc[UR4][R2.64] ;
.L_x_1:
        /*0010*/                   FFMA R0, R1, R2, R3 ;
        /*0020*/              @!P0 BRA `(.L_x_0) ;
        /*0030*/                   MUFU.RCP R0, R0 ;
.L_x_0:
        /*0040*/                   IMAD.HI.U32 R1, R2, R3, RZ ;
        /*0050*/                   LOP3.LUT R1, R2, R3, RZ, 0x3c, !PT ;
        /*0060*/               @P1 BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
.L_x_2:
        /*0080*/                   BRA `(.L_x_2);
        /*0090*/                   NOP;
$__internal_0_$slowpath:
        /*00a0*/                   FADD R0, R1, R2 ;
"""


def test_what_only_fills_up_and_what_is_called_do_not_count() -> None:
    instructions = sass.parse(LISTING)
    assert [i.mnemonic for i in instructions][-1] == "EXIT"
    assert len(instructions) == 8
    assert instructions[2].target == 0x40 and instructions[2].predicated
    assert instructions[6].target == 0x10


def test_loops_count_as_often_as_they_run() -> None:
    counts = sass.count(sass.parse(LISTING), trips=[5])
    assert counts["float"] == 5 and counts["special"] == 5
    assert counts["memory128"] == 1 and counts["wide"] == 5 and counts["integer"] == 5


def test_what_branches_skip_does_not_count() -> None:
    counts = sass.count(sass.parse(LISTING), skips=True)
    assert counts["special"] == 0 and counts["float"] == 1


def test_the_busiest_pipe_bounds_the_rate() -> None:
    counts = {"integer": 10, "float": 4}
    assert sass.cycles(counts, sass.H200) == 20
    assert sass.cycles({"integer": 4, "float": 20}, sass.H200) == 24
    assert sass.cycles({"integer": 4, "float": 20}, sass.A100) == 40


def test_wide_accesses_and_bank_conflicts_take_longer() -> None:
    assert sass.cycles({"memory128": 2}, sass.A100) == 32
    assert sass.cycles({"memory": 2}, sass.A100) == 8
    assert sass.cycles({"memory": 2}, sass.A100, bank_conflicts=3) == 20


@pytest.mark.parametrize(
    ("mnemonic", "pipe"),
    [
        ("HMMA.16816.F32.BF16", "matrix"),
        ("HMMA.1688.F32.TF32", "matrix"),
        ("HMMA.1688.F32.BF16", "half_matrix"),
        ("HMMA.1684.F32.TF32", "half_matrix"),
        ("LDSM.16.MT88.4", "memory128"),
        ("LDGSTS.E.BYPASS.128", "memory128"),
        ("STS.64", "memory64"),
        ("LDG.E.CONSTANT", "memory"),
        ("LDC.64", "other"),
        ("LDGDEPBAR", "other"),
    ],
)
def test_pipes(mnemonic: str, pipe: str) -> None:
    assert sass.pipe(mnemonic) == pipe


def nested_loops() -> list[sass.Instruction]:
    """A loop with products, one of products within, and one that only stores."""
    return [
        sass.Instruction(0x00, "LDG.E"),
        sass.Instruction(0x10, "HMMA.16816.F32.BF16"),
        sass.Instruction(0x20, "HMMA.16816.F32.BF16"),
        sass.Instruction(0x30, "BRA", target=0x20, predicated=True),
        sass.Instruction(0x40, "BRA", target=0x10, predicated=True),
        sass.Instruction(0x50, "STG.E"),
        sass.Instruction(0x60, "BRA", target=0x50, predicated=True),
    ]


def test_loops_run_as_often_as_their_instructions() -> None:
    executed = [("HMMA", 10 * (1 + 3)), ("LDG|STG", 1 + 7)]
    trips = sass.find_trips(nested_loops(), [3], executed)
    assert trips == pytest.approx([3, 10, 7], rel=0.01)


def test_loops_without_counts_run_once() -> None:
    assert sass.find_trips(nested_loops(), [], []) == [1, 1, 1]


def test_what_comes_back_into_a_loop_belongs_to_it() -> None:
    instructions = [
        sass.Instruction(0x00, "FADD"),
        sass.Instruction(0x10, "BRA", target=0x40, predicated=True),
        sass.Instruction(0x20, "BRA", target=0x00, predicated=True),
        sass.Instruction(0x30, "EXIT"),
        sass.Instruction(0x40, "MUFU.RCP"),
        sass.Instruction(0x50, "BRA", target=0x20),
    ]
    assert sass.find_loops(instructions) == [(0x00, 0x50)]


def test_memory_bound_kernels_wait_for_memory() -> None:
    work = sass.Work(threads=32, blocks=1000, bytes=1e6)
    seconds = sass.predicted_seconds({"integer": 1}, work, sass.A100)
    assert max(seconds.values()) == seconds["memory"]
    assert seconds["memory"] == sass.least_seconds(sass.A100, moved=1e6) == 5e-7


def test_instructions_of_all_warps_share_the_device() -> None:
    work = sass.Work(threads=32 * sass.A100.quarters, blocks=1000, bytes=1)
    seconds = sass.predicted_seconds({"integer": 1000}, work, sass.A100)
    assert seconds["instructions"] == pytest.approx(2 * 1000 / sass.A100.clock)


def test_few_blocks_use_few_multiprocessors() -> None:
    counts = {"integer": 1000}
    many = sass.Work(threads=1 << 20, blocks=108, bytes=1, sectors=1e6)
    few = sass.Work(threads=1 << 20, blocks=27, bytes=1, sectors=1e6)
    fast = sass.predicted_seconds(counts, many, sass.A100)
    slow = sass.predicted_seconds(counts, few, sass.A100)
    for part in ("instructions", "cache"):
        assert slow[part] == pytest.approx(4 * fast[part])


def test_what_no_thread_executes_is_no_access() -> None:
    line = "        /*0000*/              @!PT LDS RZ, [RZ] ;\n"
    line += "        /*0010*/                   EXIT ;\n"
    instructions = sass.parse(line)
    assert len(instructions) == 2
    assert sass.count(instructions)["memory"] == 0


def test_accesses_count_as_often_as_their_loops_run() -> None:
    instructions = nested_loops()
    assert sass.count_matches(instructions, [3, 10, 7], "LDG|STG") == 1 + 7
    assert sass.count_matches(instructions, [3, 10, 7], "HMMA") == 10 * (1 + 3)


def test_products_are_bound_by_the_arithmetic_of_their_type() -> None:
    seconds = sass.least_seconds(sass.A100, 0, flops=312e12, arithmetic="bf16")
    assert seconds == pytest.approx(1)
    seconds = sass.least_seconds(sass.A100, 0, flops=312e12, arithmetic="tf32")
    assert seconds == pytest.approx(2)

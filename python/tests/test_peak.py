# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reader of XLA's memory dump and `python -m act.peak`."""

import json
import shutil
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest

import act
from act import hlo, peak, xla
from act.dump import read_dump

#: Dump of `jax.jit(jax.value_and_grad(loss))`, two layers tanh(x @ w), x 64x32.
DUMP = Path(__file__).parent / "data" / "mlp_dump"


def test_recorded_dump():
    dump = read_dump(DUMP)
    assert dump.module == "module_0001.jit_loss.cpu_after_optimizations"
    assert dump.temp_bytes == 3 * 64 * 32 * 4
    assert dump.length == 18
    assert dump.peak() == 8
    assert dump.schedule[8] == "wrapped_multiply"
    assert dump.timeline().max() == dump.temp_bytes
    temporaries = [v for v in dump.alive(dump.peak()) if v.kind == "temp"]
    assert [v.bytes for v in temporaries] == [64 * 32 * 4] * 3
    first = temporaries[0]
    assert (first.name, first.start, first.end) == ("wrapped_tanh", 5, 14)
    assert first.shape == "f32[64,32]"
    assert first.defined_by == "jit(loss)/jvp()/tanh"
    assert first.defined_at == "train.py:5"
    assert first.last_used_in == "jit(loss)/transpose(jvp())/mul"
    assert first.last_used_at == "train.py:5"
    kinds = {v.kind for v in dump.values}
    assert kinds == {"temp", "argument", "output", "constant"}


def test_live_dump_agrees_with_the_compiler(tmp_path):
    def loss(ws, x):
        def body(x, _):
            for w in ws:
                x = jnp.tanh(x @ w)
            return x, jnp.sum(x)

        return jnp.sum(jax.lax.scan(body, x, length=5)[1])

    ws, x = [jnp.ones((64, 64))] * 3, jnp.ones((128, 64))
    lowered = jax.jit(jax.value_and_grad(loss)).lower(ws, x)
    compiled = xla.compile_with_dump(lowered, None, tmp_path)
    dump = read_dump(tmp_path)
    assert dump.temp_bytes == xla.temp_bytes(compiled)
    assert 0.9 * dump.temp_bytes <= dump.timeline().max() <= dump.temp_bytes
    assert any("while" in value.opcode for value in dump.values)


def test_values_of_loops_are_named(tmp_path):
    def loss(ws, x):
        def body(x, w):
            return jnp.tanh(x @ w) * 1.5, None

        return jnp.sum(jax.lax.scan(body, x, ws)[0])

    ws, x = jnp.ones((6, 64, 64)), jnp.ones((256, 64))
    xla.compile_with_dump(jax.jit(jax.grad(loss)).lower(ws, x), None, tmp_path)
    dump = read_dump(tmp_path)
    stacks, others = [], []
    for value in dump.alive(dump.peak()):
        if value.kind == "temp" and value.bytes >= x.nbytes:
            (stacks if value.shape.startswith("f32[6,") else others).append(value)
    assert len(stacks) >= 2
    for value in stacks:
        assert "/while/body/" in value.defined_by
        assert value.defined_by.endswith("/mul")
    assert any("/while/body/" in value.defined_by for value in others)


_LOOP = """
%sliced (p0: f32[4,8], p1: f32[8], p2: s32[]) -> f32[4,8] {
  %p0 = f32[4,8]{1,0} parameter(0)
  %p1 = f32[8]{0} parameter(1)
  %row = f32[1,8]{1,0} bitcast(%p1)
  %p2 = s32[] parameter(2)
  ROOT %d = f32[4,8]{1,0} dynamic-update-slice(%p0, %row, %p2, %p2)
}

%both (q0: f32[4,8], q1: s32[]) -> (f32[8], f32[4,8]) {
  %q0 = f32[4,8]{1,0} parameter(0)
  %q1 = s32[] parameter(1)
  %sine = f32[8]{0} sine(f32[8]{0} %z), metadata={op_name="body/sin"}
  %e = f32[4,8]{1,0} dynamic-update-slice(%q0, %sine, %q1, %q1)
  ROOT %pair = (f32[8]{0}, f32[4,8]{1,0}) tuple(%sine, %e)
}

%body (arg: (s32[], f32[8], f32[4,8], f32[4,8], f32[8])) -> (s32[], f32[8], f32[4,8]) {
  %arg = (s32[], f32[8]{0}, f32[4,8]{1,0}, /*index=3*/f32[4,8]{1,0}) parameter(0)
  %x = f32[8]{0} get-tuple-element(%arg), index=1
  %y = f32[8]{0} add(%x, %arg#4), metadata={op_name="body/add"}
  %kept = f32[4,8]{1,0} fusion(%arg#2, %x, %arg#0), kind=kLoop, calls=%sliced
  %two = (f32[8]{0}, f32[4,8]{1,0}) fusion(%arg#3, %arg#0), kind=kLoop, calls=%both
  %new = f32[8]{0} copy(%y)
  ROOT %t = (s32[], f32[8]{0}, f32[4,8]{1,0}) tuple(%arg#0, %new, %kept, %two#1, %arg#4)
}

ENTRY %main (a: f32[8]) -> f32[8] {
  %w = (s32[], f32[8]{0}) while(%init), condition=%c, body=%body
}
"""


def test_origin_of_what_a_loop_carries():
    module = hlo.parse_hlo(_LOOP)
    names = {
        number: module.origin("w", number).op_name or module.origin("w", number).opcode
        for number in range(6)
    }
    assert names == {
        0: "while",
        1: "body/add",
        # A slice is the value that the last iteration computed.
        2: "body/add",
        3: "body/sin",
        4: "while",
        5: "while",
    }
    assert module.origin("arg", 3).op_name == "body/sin"
    assert module.origin("arg", 4).opcode == "parameter"
    assert module.origin("two", 0).opcode == "fusion"
    assert module.origin("missing") is None


def test_hlo_names_and_sources():
    text = (DUMP / "module_0001.jit_loss.cpu_after_optimizations.txt").read_text()
    tanh = hlo.parse_hlo(text).instructions["wrapped_tanh"]
    assert (tanh.opcode, tanh.source) == ("fusion", "train.py:5")
    old_style = (
        '  %a = f32[2]{0} add(%b, %c), metadata={op_name="f/add" '
        'source_file="m.py" source_line=7}\n'
    )
    assert hlo.parse_hlo(old_style).instructions["a"] == hlo.Instruction(
        "add", "f/add", "m.py:7", (), ("b", "c"), ""
    )


def run_peak(capsys, *arguments: str) -> tuple[int, str, str]:
    status = peak.main(list(arguments))
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_command_prints_what_lives_at_the_peak(capsys):
    status, out, _ = run_peak(capsys, str(DUMP))
    assert status == 0
    assert "24.0 KiB of temporaries alive at 8 of 18 (wrapped_multiply)" in out
    assert "XLA allocates 24.0 KiB" in out
    for text in ("wrapped_tanh.1", "jit(loss)/jvp()/tanh", "train.py:5", "5..14"):
        assert text in out
    assert "(argument)" not in out


def test_command_options(capsys, tmp_path):
    file = tmp_path / "peak.json"
    status, out, _ = run_peak(
        capsys, str(DUMP), "--all", "--limit", "1", "--at", "9", "--json", str(file)
    )
    assert status == 0
    assert "more values with" in out
    document = json.loads(file.read_text())
    assert document["position"] == 9
    assert document["positions"] == 18
    assert document["temp_bytes"] == 24576
    assert {value["kind"] for value in document["values"]} >= {"temp", "argument"}
    sizes = [value["bytes"] for value in document["values"]]
    assert sizes == sorted(sizes, reverse=True)


def test_errors(capsys, tmp_path):
    status, _, err = run_peak(capsys, str(tmp_path))
    assert status == 1
    assert "has no XLA dump with live ranges" in err
    assert "--xla_dump_to" in err
    assert "is not a directory" in run_peak(capsys, str(tmp_path / "no"))[2]
    assert (
        "no module named other" in run_peak(capsys, str(DUMP), "--module", "other")[2]
    )
    assert "positions 0 to 17" in run_peak(capsys, str(DUMP), "--at", "18")[2]


@pytest.mark.parametrize("suffix", ["-buffer-assignment.txt", ".txt"])
def test_missing_file(tmp_path, suffix):
    copy = tmp_path / "dump"
    shutil.copytree(DUMP, copy)
    name = f"module_0001.jit_loss.cpu_after_optimizations{suffix}"
    (copy / name).unlink()
    with pytest.raises(act.ActDumpError, match=f"{name} is missing"):
        read_dump(copy)


@pytest.mark.parametrize("suffix", ["-buffer-assignment.txt", "-live-range.txt"])
def test_empty_file(tmp_path, suffix):
    copy = tmp_path / "dump"
    shutil.copytree(DUMP, copy)
    (copy / f"module_0001.jit_loss.cpu_after_optimizations{suffix}").write_text("")
    with pytest.raises(act.ActDumpError, match="no schedule or no buffers"):
        read_dump(copy)


def test_largest_of_several_modules_is_read(tmp_path):
    for file in DUMP.iterdir():
        shutil.copy(file, tmp_path)
        other = file.name.replace("module_0001.jit_loss", "module_0000.jit_small")
        text = file.read_text()
        if "live-range" in file.name:
            text = text.replace("    wrapped_tanh{}:5-14\n", "")
        (tmp_path / other).write_text(text)
    assert read_dump(tmp_path).module.startswith("module_0001.jit_loss")
    assert read_dump(tmp_path, "small").module.startswith("module_0000.jit_small")

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`python -m act`: what it prints, writes and refuses."""

import json
from pathlib import Path

import jax
import jax.numpy as jnp
import pytest
from jax import export

from act import cli, stablehlo

KEYS = {
    "temp_bytes_before",
    "temp_bytes_after",
    "stash_bytes",
    "primal_identical",
    "gradient_error_median",
    "gradient_error_max",
    "survivors",
    "not_compressed",
}


def write_step(path: Path, function, *arguments, pretty: bool = False) -> Path:
    exported = export.export(jax.jit(function))(*arguments)
    text = exported.mlir_module() if pretty else stablehlo.exported_module(exported)[0]
    path.write_text(text)
    return path


@pytest.fixture
def step_file(tmp_path, mlp) -> Path:
    return write_step(
        tmp_path / "step.mlir", jax.value_and_grad(mlp.loss), *mlp.arguments
    )


def run(capsys, *arguments) -> tuple[int, str, str]:
    status = cli.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def test_run_compares_both_steps(capsys, step_file, tmp_path):
    report, plot, output = (tmp_path / n for n in ("r.json", "p.png", "out.mlir"))
    status, out, err = run(
        capsys, step_file, "--run", "--json", report, "--plot", plot, "-o", output
    )
    assert (status, err) == (0, "")
    document = json.loads(report.read_text())
    assert document.keys() >= KEYS
    assert document["primal_identical"] is True
    assert 0 < document["gradient_error_median"] <= document["gradient_error_max"] < 0.3
    assert document["temp_bytes_after"] < document["temp_bytes_before"]
    assert 0 < document["stash_bytes"] < document["raw_bytes"] / 4
    assert isinstance(document["survivors"], list)
    assert document["survivors"]
    assert "primal results: bit-identical" in out
    assert "Saved for backward" in out
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert '"stablehlo.dot_general"' in output.read_text()


def test_the_output_file_is_the_compressed_step(capsys, step_file, tmp_path):
    output, first, second = (tmp_path / n for n in ("o.mlir", "1.json", "2.json"))
    assert run(capsys, step_file, "-o", output, "--json", first)[0] == 0
    function = cli.FileStep.read(output)
    original = cli.FileStep.read(step_file)
    loss, expected = (
        s.run(s.lower(s.exported, None).compile())[0] for s in (function, original)
    )
    assert loss == expected
    assert second.exists() is False


def test_without_baseline_and_run(capsys, fake_tool, step_file, tmp_path):
    report = tmp_path / "r.json"
    assert run(capsys, step_file, "--no-baseline", "--json", report)[0] == 0
    document = json.loads(report.read_text())
    assert document.keys() >= KEYS
    for key in ("temp_bytes_before", "primal_identical", "gradient_error_median"):
        assert document[key] is None
    assert document["temp_bytes_after"] > 0
    status, out, _ = run(capsys, step_file, "--no-baseline", "--run")
    assert status == 0
    assert "nothing to compare with" in out


def test_pretty_text_is_accepted(capsys, fake_tool, mlp, tmp_path):
    step = jax.value_and_grad(mlp.loss)
    file = write_step(tmp_path / "pretty.mlir", step, *mlp.arguments, pretty=True)
    assert run(capsys, file)[0] == 0


def test_x64_step(capsys, fake_tool, tmp_path):
    with jax.enable_x64(True):
        struct = jax.ShapeDtypeStruct((8, 8), jnp.float64)
        step = jax.value_and_grad(lambda w: jnp.sum(jnp.tanh(w @ w)))
        file = write_step(tmp_path / "wide.mlir", step, struct)
    report = tmp_path / "r.json"
    assert run(capsys, file, "--run", "--json", report)[0] == 0
    assert json.loads(report.read_text())["primal_identical"] is True


def test_bf16_step_is_run_without_excess_precision(capsys, fake_tool, tmp_path):
    struct = jax.ShapeDtypeStruct((8, 8), jnp.bfloat16)
    step = jax.value_and_grad(lambda w: jnp.sum(jnp.tanh(w @ w)).astype(jnp.float32))
    file = write_step(tmp_path / "short.mlir", step, struct)
    status, out, _ = run(capsys, file, "--run")
    assert status == 0
    assert "--xla_allow_excess_precision=false" in out


def scaled(factor):
    return jax.value_and_grad(lambda x: factor * jnp.sum(x * x))


def test_all_nan_is_said(capsys, fake_tool, tmp_path):
    file = write_step(tmp_path / "nan.mlir", scaled(jnp.nan), jnp.ones(8))
    status, out, _ = run(capsys, file, "--run")
    assert status == 0
    assert "every float result of the original step is NaN" in out


def test_different_primal_results_fail(capsys, make_fake_tool, tmp_path):
    other = write_step(tmp_path / "other.mlir", scaled(3.0), jnp.ones(8)).read_text()
    make_fake_tool(output=other)
    file = write_step(tmp_path / "step.mlir", scaled(2.0), jnp.ones(8))
    report = tmp_path / "r.json"
    status, out, err = run(capsys, file, "--run", "--json", report)
    assert status == 1
    assert "DIFFERENT" in out
    assert "the primal results of the compressed step differ" in err
    document = json.loads(report.read_text())
    assert document["primal_identical"] is False
    assert document["gradient_error_max"] == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (None, [], "cannot read"),
        (b"\xff\xfe\x00\x01", [], "cannot read"),
        (b"", [], "no function @main"),
        (b"func.func @main(", [], "jaxlib does not accept the module"),
        (b"good", ["--primal-results", "9"], "so it must be between 1 and 6"),
        (b"good", ["--primal-results", "0"], "so it must be between 1 and 6"),
        (b"good", ["--rules", "missing.json"], "rules: no such file"),
        (b"good", ["--average-bits", "-1"], "average_bits must be a positive number"),
    ],
)
def test_errors(capsys, fake_tool, step_file, content, arguments, message):
    if content is None:
        step_file.unlink()
    elif content != b"good":
        step_file.write_bytes(content)
    status, _, err = run(capsys, step_file, *arguments)
    assert status == 1
    assert err.startswith(f"act: error: {step_file}: ")
    assert message in err


def test_truncated_file(capsys, step_file):
    text = step_file.read_text()
    step_file.write_text(text[: len(text) // 2])
    status, _, err = run(capsys, step_file)
    assert status == 1
    assert "jaxlib does not accept the module" in err


def test_tool_diagnostics_reach_the_user(capsys, make_fake_tool, step_file):
    make_fake_tool(exit_status=1, stderr="step.mlir:1:1: error: expects a gradient\n")
    status, _, err = run(capsys, step_file)
    assert status == 1
    assert "expects a gradient" in err


def test_partitioned_step_needs_devices(capsys, fake_tool, step_file):
    text = step_file.read_text()
    assert "mhlo.num_partitions" in text
    step_file.write_text(
        text.replace("mhlo.num_partitions = 1", "mhlo.num_partitions = 64")
    )
    status, _, err = run(capsys, step_file)
    assert status == 1
    assert "xla_force_host_platform_device_count=64" in err


@pytest.mark.parametrize("bits", ["3", "16", "four"])
def test_bad_bits(capsys, step_file, bits):
    with pytest.raises(SystemExit) as exit_info:
        cli.main([str(step_file), "--bits", bits])
    assert exit_info.value.code == 2
    assert "--bits" in capsys.readouterr().err

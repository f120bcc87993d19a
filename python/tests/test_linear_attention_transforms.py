# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.linear_attention` under JAX's transformations, and its errors."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import attention_cases as reference
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attention_calls import arguments_of, attend
from jax import export

import act
from act import attention_lowering, cli, runtime
from act.stablehlo import exported_module

DECAYS = ("none", "head", "token", "channel")
PROGRAM = Path(__file__).with_name("sharded_attention.py")


def with_gradient(arrays, **options):
    """Returns output, state and gradients of a fixed function of them."""

    def loss(arrays):
        o, state = attend(arrays, return_state=True, **options)
        parts = [part for part in state if part is not None]
        return sum((x**2).sum() for x in (o, *parts)), (o, *parts)

    (_, results), gradients = jax.value_and_grad(loss, has_aux=True)(arrays)
    gradients.pop("features", None)
    return results, gradients


def element(tree, index):
    """Returns an element of a mapped axis."""
    return jax.tree.map(lambda x: x[index], tree)


def assert_close(got, wanted, bound=2e-6):
    assert jax.tree.structure(got) == jax.tree.structure(wanted)
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(wanted), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=bound * abs(b).max())


@pytest.mark.parametrize("decay", DECAYS)
def test_vmap_is_a_loop_over_the_axis(decay):
    cases = [
        reference.make_case(20, decay=decay, with_state=True, seed=seed)
        for seed in range(3)
    ]
    arrays = [arguments_of(case) for case in cases]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *arrays)

    def function(arrays):
        return with_gradient(arrays, **cases[0].options)

    wanted = [jax.jit(function)(case) for case in arrays]
    wanted = jax.tree.map(lambda *x: np.stack(x), *wanted)
    assert_close(jax.jit(jax.vmap(function))(stacked), wanted)


@pytest.mark.parametrize("shared", ["k", "decay"])
def test_vmap_with_a_shared_argument(shared):
    case = reference.make_case(20, decay="head")
    arrays = arguments_of(case)
    scales = jnp.asarray([1.0, 0.5, 2.0])
    axes = {name: None if name == shared else 0 for name in arrays}
    stacked = {
        name: array if axes[name] is None else jnp.stack([array * s for s in scales])
        for name, array in arrays.items()
    }

    def function(arrays):
        return with_gradient(arrays, **case.options)

    got = jax.jit(jax.vmap(function, in_axes=(axes,)))(stacked)
    for index, scale in enumerate(scales):
        one = {n: a if n == shared else a * scale for n, a in arrays.items()}
        assert_close(element(got, index), function(one))


def test_vmap_over_another_axis_and_over_features():
    case = reference.make_case(12, feature_map="favor_plus")
    arrays = arguments_of(case)
    other = arrays["features"][::-1] * 0.5
    both = arrays | {"features": jnp.stack([arrays["features"], other], 1)}
    both["q"] = jnp.stack([arrays["q"], -arrays["q"]], 3)
    axes = {"q": 3, "k": None, "v": None, "features": 1}

    def function(arrays):
        return with_gradient(arrays, **case.options)

    got = jax.jit(jax.vmap(function, in_axes=(axes,)))(both)
    second = arrays | {"q": -arrays["q"], "features": other}
    for index, one in enumerate((arrays, second)):
        assert_close(element(got, index), function(one))


def test_without_batch():
    case = reference.make_case(20, decay="channel", batch=1, with_state=True)
    arrays = arguments_of(case)
    single = {name: array[0] for name, array in arrays.items()}
    wanted = jax.tree.map(lambda x: x[0], with_gradient(arrays, **case.options))
    assert_close(with_gradient(single, **case.options), wanted)


def test_scan_over_layers_and_over_time():
    case = reference.make_case(40, batch=1, dim=4, value_dim=4)
    arrays = arguments_of(case)

    def layers(weights):
        def layer(x, weight):
            return x + act.linear_attention(x @ weight, x, x), None

        return (jax.lax.scan(layer, arrays["q"], weights)[0] ** 2).sum()

    def unrolled(weights):
        x = arrays["q"]
        for weight in weights:
            x = x + act.linear_attention(x @ weight, x, x)
        return (x**2).sum()

    weights = jax.random.normal(jax.random.key(0), (3, 4, 4))
    assert_close(
        jax.jit(jax.grad(layers))(weights), jax.jit(jax.grad(unrolled))(weights)
    )

    def in_parts(arrays):
        parts = {
            n: jnp.moveaxis(a.reshape(1, 4, 10, *a.shape[2:]), 1, 0)
            for n, a in arrays.items()
        }

        def part(state, x):
            x = x | {"S": state[0], "z": state[1]}
            o, state = attend(x, return_state=True, **case.options)
            return tuple(state), o

        start = jnp.zeros((1, 2, 4, 4)), jnp.zeros((1, 2, 4))
        _, o = jax.lax.scan(part, start, parts)
        return (jnp.moveaxis(o, 0, 1).reshape(1, 40, 2, 4) ** 2).sum()

    def at_once(arrays):
        return (attend(arrays, **case.options) ** 2).sum()

    assert_close(jax.jit(jax.grad(in_parts))(arrays), jax.grad(at_once)(arrays), 1e-5)


def test_nothing_but_arguments_and_results_is_saved():
    case = reference.make_case(64, dim=8, value_dim=8)
    arrays = arguments_of(case)

    def function(q, k, v):
        return attend({"q": q, "k": k, "v": v})

    _, pull = jax.vjp(function, *(arrays[n] for n in "qkv"))
    saved = sorted(leaf.shape for leaf in jax.tree.leaves(pull))
    # q, k, v, the output and the denominators.
    assert saved == sorted([(2, 64, 2, 8)] * 4 + [(2, 64, 2)])


def test_equal_attentions_share_a_function():
    x = jnp.ones((1, 100, 2, 4))

    def layers(x):
        for _ in range(3):
            x = act.linear_attention(x, x, x, implementation="loop")
        return x

    text = jax.jit(layers).lower(x).as_text()
    assert text.count("stablehlo.while") == 1
    assert len(re.findall(r"call @act_linear_attention\(", text)) == 3


def test_export_is_portable():
    case = reference.make_case(20)
    arrays = arguments_of(case)

    def function(arrays):
        return attend(arrays, **case.options)

    exported = export.export(jax.jit(function), platforms=("cpu", "cuda", "tpu"))(
        arrays
    )
    assert "stablehlo.custom_call" not in exported.mlir_module()
    assert_close(exported.call(arrays), function(arrays))


def test_step_that_act_rewrites_holds_custom_calls():
    x = jnp.ones((1, 20, 2, 4))
    step = jax.jit(jax.value_and_grad(lambda x: act.linear_attention(x, x, x).sum()))
    exporting = export.export(step)(x)  # what JAX caches of it must not be used
    assert "stablehlo.custom_call" not in exporting.mlir_module()
    exported = export.export(
        step,
        disabled_checks=attention_lowering.ALLOWED_CALLS,
        _override_lowering_rules=attention_lowering.step_lowering_rules(),
    )(x)
    text = exported.mlir_module()
    assert text.count("@act_linear_attention(") == 1
    assert text.count("@act_linear_attention_grad(") == 1


def small_step():
    """Returns a step of two layers with attention, and its arguments."""
    x, target, *weights = jax.random.normal(jax.random.key(0), (4, 2, 64, 16))

    def loss(weights, x, target):
        for weight in weights:
            h = x @ weight[0, :16]
            q, k, v = (y.reshape(2, 64, 2, 8) for y in (h, jnp.sin(h), x))
            x = x + act.linear_attention(q, k, v).reshape(2, 64, 16)
        return ((x - target) ** 2).mean()

    return jax.value_and_grad(loss), (weights, x, target)


@pytest.mark.parametrize("native", [True, False])
@pytest.mark.parametrize("bits", [0, 8])
def test_compressed_step(bits, native, monkeypatch):
    if not native:
        monkeypatch.setenv("ACT_RUNTIME", "")
    elif runtime.find_library() is None:
        pytest.skip("libActRuntime is not built")
    step, arguments = small_step()
    compressed = act.compress(step, bits=bits)
    text = compressed.mlir(*arguments)
    assert ('call_target_name = "act_linear_attention_grad"' in text) == native
    assert ('"stablehlo.while"' in text) != native
    loss, gradients = compressed(*arguments)
    wanted_loss, wanted = jax.jit(step)(*arguments)
    np.testing.assert_allclose(loss, wanted_loss, rtol=1e-6)
    assert_close(gradients, wanted, 2e-6 if bits == 0 else 0.05)


def test_step_that_stays_as_it_is_can_be_run(monkeypatch):
    monkeypatch.setattr("act.rewrite._saves_much", lambda *_: False)
    monkeypatch.setattr("act.xla.temp_bytes", lambda _: 1)  # nothing is smaller
    step, arguments = small_step()
    compressed = act.compress(step, bits=4)
    assert_close(compressed(*arguments), jax.jit(step)(*arguments))
    assert "dequantize" not in compressed.mlir(*arguments)


def test_step_in_a_file(tmp_path):
    step, arguments = small_step()
    exported = export.export(
        jax.jit(step),
        disabled_checks=attention_lowering.ALLOWED_CALLS,
        _override_lowering_rules=attention_lowering.step_lowering_rules(),
    )(*arguments)
    file, report = tmp_path / "step.mlir", tmp_path / "report.json"
    file.write_text(exported_module(exported)[0])
    assert cli.main([str(file), "--run", "--bits=0", "--json", str(report)]) == 0
    assert json.loads(report.read_text())["gradient_error_max"] < 1e-5


@pytest.mark.parametrize(
    ("decay", "shardy"), [("none", True), ("head", True), ("token", False)]
)
def test_devices_compute_their_own_sequences_and_heads(decay, shardy):
    flags = os.environ.get("XLA_FLAGS", "")
    flags += " --xla_force_host_platform_device_count=8"
    done = subprocess.run(
        [sys.executable, str(PROGRAM), decay, str(int(shardy))],
        env={**os.environ, "XLA_FLAGS": flags},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["devices"] == 8
    for layout, figures in found["layouts"].items():
        assert figures["error"] < 2e-5, layout
        assert figures["divided"], layout
        # The sum of the loss, and that of the decay's gradient over the batch.
        assert set(figures["collectives"]) <= {"all-reduce"}, layout
    assert found["shard_map_error"] < 2e-5
    assert found["kernels_in_shard_map"] == (runtime.find_library() is not None)
    assert "call it in jax.shard_map" in found["native_error"]


def test_second_derivatives_are_rejected():
    x = jnp.ones((1, 4, 1, 2))

    def slope(x):
        return jax.grad(lambda x: act.linear_attention(x, x, x).sum())(x).sum()

    with pytest.raises(act.ActStepError, match="differentiated once, in reverse mode"):
        jax.grad(slope)(x)


Q = jnp.ones((2, 9, 4, 6))
HALF = jnp.ones((2, 9, 2, 6))
BAD_CALLS = {
    "q must have the shape": {"q": jnp.ones((9, 4))},
    "q must be an array": {"q": 1.0},
    "k must have the rank of q": {"k": jnp.ones((9, 4, 6))},
    "q must be of float16": {"q": jnp.ones((2, 9, 4, 6), int)},
    "v must have the element type of q, float32, got bfloat16": {
        "v": Q.astype(jnp.bfloat16)
    },
    "k must have the dim of q, 6, got 5": {"k": jnp.ones((2, 9, 4, 5))},
    "v must have the length of q, 9, got 8": {"v": jnp.ones((2, 8, 4, 6))},
    "k must have the batch of q, 2, got 1": {"k": jnp.ones((1, 9, 4, 6))},
    "numbers of heads": {"k": jnp.ones((2, 9, 3, 6))},
    "must not be empty": {
        "q": jnp.ones((2, 0, 4, 6)),
        "k": jnp.ones((2, 0, 4, 6)),
        "v": jnp.ones((2, 0, 4, 6)),
    },
    r"decay must have the shape \[state heads\] = \(4,\), got \(2,\)": {
        "decay": jnp.zeros(2)
    },
    r"decay must have the shape \[state heads\], \[batch": {"decay": jnp.zeros((2, 4))},
    "decay must be of float16": {"decay": jnp.zeros(4, int)},
    "feature_map must be one of 'identity'": {"feature_map": "gelu"},
    "needs random features": {"feature_map": "favor_plus"},
    "takes no random features": {"features": jnp.ones((3, 6))},
    r"features must have the shape \[features, dim\]": {
        "feature_map": "favor_plus",
        "features": jnp.ones(6),
    },
    "features must have the dim of q, 6, got 5": {
        "feature_map": "favor_plus",
        "features": jnp.ones((3, 5)),
    },
    "scale must be a finite number": {"scale": float("nan")},
    "epsilon must be a finite number": {"epsilon": "1"},
    "epsilon must not be negative": {"epsilon": -1.0},
    "normalize must be True or False": {"normalize": 1},
    "chunk must be a positive int": {"chunk": 0},
    "state_policy must be": {"state_policy": "checkpoint"},
    "the tokens of state_policy": {"state_policy": ("checkpoint", 0)},
    "cannot be used with decay": {"decay": jnp.zeros(4), "state_policy": "reverse"},
    "implementation must be one of": {"implementation": "fast"},
    r"initial_state must be \(S, z\)": {"initial_state": (jnp.ones((2, 4, 6, 6)),)},
    r"initial_state must be \(S, None\)": {
        "initial_state": (jnp.ones((2, 4, 6, 6)), jnp.ones((2, 4, 6))),
        "normalize": False,
    },
    r"initial_state\[0\] must have the shape": {
        "initial_state": (jnp.ones((2, 4, 6, 5)), jnp.ones((2, 4, 6)))
    },
    r"initial_state\[1\] must have the shape": {
        "initial_state": (jnp.ones((2, 4, 6, 6)), jnp.ones((2, 4)))
    },
}


@pytest.mark.parametrize("message", BAD_CALLS)
def test_bad_arguments(message):
    arguments = {"q": Q, "k": Q, "v": Q} | BAD_CALLS[message]
    q, k, v = (arguments.pop(name) for name in "qkv")
    with pytest.raises(act.ActOptionError, match=message):
        act.linear_attention(q, k, v, **arguments)


def test_absent_library_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("ACT_RUNTIME", "")
    with pytest.raises(act.ActOptionError, match="libActRuntime was not found"):
        act.linear_attention(Q, HALF, HALF, implementation="native")
    monkeypatch.setenv("ACT_RUNTIME", str(tmp_path / "absent.so"))
    with pytest.raises(act.ActToolError, match="ACT_RUNTIME names"):
        act.linear_attention(Q[:, :3], HALF[:, :3], HALF[:, :3])
    (tmp_path / "bad.so").write_text("no library")
    monkeypatch.setenv("ACT_RUNTIME", str(tmp_path / "bad.so"))
    with pytest.raises(act.ActToolError, match="cannot use"):
        act.linear_attention(Q[:, :4], HALF[:, :4], HALF[:, :4])


def test_orthogonal_features():
    rows = np.asarray(act.orthogonal_features(jax.random.key(0), 200, 64), np.float64)
    assert rows.shape == (200, 64)
    for block in np.split(rows[:192], 3):
        products = block @ block.T
        off = products - np.diag(np.diag(products))
        assert abs(off).max() < 1e-4 * np.diag(products).mean()
    # Lengths are chi distributed: mean of the squares 64, variance 128.
    squares = (rows**2).sum(1)
    assert abs(squares.mean() - 64) < 4 * np.sqrt(128 / 200)
    assert 64 < squares.var() < 256
    same = act.orthogonal_features(jax.random.key(0), 200, 64)
    np.testing.assert_array_equal(np.asarray(same, np.float64), rows)
    assert (
        act.orthogonal_features(jax.random.key(1), 3, 8, jnp.bfloat16).dtype
        == "bfloat16"
    )


def test_random_features_estimate_softmax_attention():
    q, k, v = jax.random.normal(jax.random.key(0), (3, 1, 30, 1, 8))
    q, k = q * 8**-0.25 / 2, k * 8**-0.25 / 2
    scores = jnp.where(jnp.tri(30), jnp.einsum("bthp,bshp->bhts", q, k), -jnp.inf)
    wanted = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)

    def error(count):
        features = act.orthogonal_features(jax.random.key(1), count, 8)
        o = act.linear_attention(q, k, v, feature_map="favor_plus", features=features)
        return float(jnp.sqrt(jnp.mean((o - wanted) ** 2) / jnp.mean(wanted**2)))

    assert error(512) < 0.1
    assert error(512) < error(16) / 2


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("num_features must be a positive int", (0, 4)),
        ("dim must be a positive int", (4, 2.0)),
        ("dtype must be a floating-point type", (4, 2, jnp.int32)),
    ],
)
def test_bad_feature_sizes(message, arguments):
    with pytest.raises(act.ActOptionError, match=message):
        act.orthogonal_features(jax.random.key(0), *arguments)

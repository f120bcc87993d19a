# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whole steps with running ranges: states in and out, loops, donation, errors."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import reference_encodings as reference
from jax import lax

import act
from act import cli
from act.compare import compare_results

LAST = [{"axis": "last", "bits": 8, "range": "running"}]
WIDTH = 64


@pytest.fixture
def rules(tmp_path: Path) -> Callable[..., Path]:
    """Writes rules to a file."""

    def write(content: list = LAST) -> Path:
        path = tmp_path / "rules.json"
        path.write_text(json.dumps(content))
        return path

    return write


def normal(seed: int, *shape: int, scale: float = 1) -> jax.Array:
    values = np.random.default_rng(seed).standard_normal(shape) * scale
    return jnp.asarray(values, jnp.float32)


def two_layers(w: jax.Array, x: jax.Array) -> jax.Array:
    """Saves `x @ w` alone: what the second product computes is read at once."""
    return jnp.mean(jnp.sin(jnp.sin(x @ w) @ w) ** 2)


def compressed(loss: Callable, path: Path, **options: Any) -> act.CompressedStep:
    options = {"recompute": "none", "search": "none", "running_ranges": True} | options
    return act.value_and_grad(loss, rules=path, **options)


def test_state_follows_the_saved_value(rules: Callable) -> None:
    step = compressed(two_layers, rules())
    w = normal(0, WIDTH, WIDTH, scale=0.1)
    ranges = step.init_ranges(w, normal(1, 256, WIDTH))
    assert [value.shape for value in ranges.values()] == [(2, WIDTH)]
    assert all(np.isnan(value).all() for value in ranges.values())
    exact = jax.jit(jax.value_and_grad(two_layers))
    state = np.full((2, WIDTH), np.nan, np.float32)
    for seed in range(1, 4):
        x = normal(seed, 256, WIDTH, scale=seed)
        results, ranges = step.with_ranges(ranges, w, x)
        state, _ = reference.range_update(state, np.asarray(x @ w), 1, 0.9)
        (got,) = ranges.values()
        np.testing.assert_allclose(got, state, rtol=1e-4, atol=1e-4)
        compared = compare_results(
            jax.tree.leaves(exact(w, x)), jax.tree.leaves(results), 1
        )
        assert compared.primal_identical
        # Widths triple from the first batch to the third: values are clamped.
        assert 0 < compared.gradient_error_max < (0.02 if seed == 1 else 0.6)


def test_equal_batches_are_stored_like_with_batch_ranges(rules: Callable) -> None:
    """A state that has seen but this batch is its range."""
    arguments = (normal(0, WIDTH, WIDTH, scale=0.1), normal(1, 256, WIDTH))
    running = compressed(two_layers, rules())
    (_, gradient), _ = running.with_ranges(running.init_ranges(*arguments), *arguments)
    batch = compressed(
        two_layers, rules([{"axis": "last", "bits": 8}]), running_ranges=False
    )
    np.testing.assert_allclose(gradient, batch(*arguments)[1], rtol=1e-5, atol=1e-9)


def test_names_survive_a_new_trace(rules: Callable) -> None:
    arguments = (normal(0, WIDTH, WIDTH), normal(1, 256, WIDTH))
    first, second = (compressed(two_layers, rules()) for _ in range(2))
    ranges = first.init_ranges(*arguments)
    assert ranges.keys() == second.init_ranges(*arguments).keys()
    second.with_ranges(ranges, *arguments)


def layers(parameters: jax.Array, x: jax.Array) -> jax.Array:
    def layer(h: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
        return jnp.sin(h @ w), None

    return jnp.mean(lax.scan(layer, x, parameters)[0] ** 2)


def test_layers_of_a_scan_have_states_of_their_own(rules: Callable) -> None:
    step = compressed(layers, rules())
    parameters = normal(0, 3, WIDTH, WIDTH, scale=0.1) * jnp.arange(1, 4)[:, None, None]
    x = normal(1, 256, WIDTH)
    ranges = step.init_ranges(parameters, x)
    # Of each layer its input, for the gradient of the weight, and the cosine.
    assert [value.shape for value in ranges.values()] == [(3, 2, WIDTH)] * 2
    exact = jax.jit(jax.value_and_grad(layers))
    inputs, slopes = np.full((2, 3, 2, WIDTH), np.nan, np.float32)
    for scale in (1.0, 1.5):
        results, ranges = step.with_ranges(ranges, parameters, x * scale)
        h = np.asarray(x * scale)
        for number, w in enumerate(parameters):
            z = np.asarray(h @ w)
            inputs[number], _ = reference.range_update(inputs[number], h, 1, 0.9)
            slopes[number], _ = reference.range_update(
                slopes[number], np.cos(z), 1, 0.9
            )
            h = np.sin(z)
        got = sorted(ranges.values(), key=lambda v: float(v[0, 0, 0]))
        want = sorted([inputs, slopes], key=lambda v: float(v[0, 0, 0]))
        for a, b in zip(got, want, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
        reference_results = jax.tree.leaves(exact(parameters, x * scale))
        compared = compare_results(reference_results, jax.tree.leaves(results), 1)
        assert compared.primal_identical
        # With larger values some are clamped.
        assert compared.gradient_error_max < (0.02 if scale == 1 else 0.3)


def accumulated(w: jax.Array, batches: jax.Array) -> Any:
    """Loss and gradient over micro-batches, in a loop."""

    def add(total: Any, x: jax.Array) -> tuple[Any, None]:
        return jax.tree.map(jnp.add, total, jax.value_and_grad(two_layers)(w, x)), None

    return lax.scan(add, (jnp.float32(0), jnp.zeros_like(w)), batches)[0]


def test_micro_batches_update_one_state_in_turn(rules: Callable) -> None:
    step = act.compress(accumulated, rules=rules(), running_ranges=True, search="none")
    w = normal(0, WIDTH, WIDTH, scale=0.1)
    batches = jnp.stack([normal(seed, 256, WIDTH, scale=seed) for seed in (1, 2)])
    ranges = step.init_ranges(w, batches)
    assert [value.shape for value in ranges.values()] == [(2, WIDTH)]
    results, ranges = step.with_ranges(ranges, w, batches)
    state = np.full((2, WIDTH), np.nan, np.float32)
    for x in batches:
        state, _ = reference.range_update(state, np.asarray(x @ w), 1, 0.9)
    (got,) = ranges.values()
    np.testing.assert_allclose(got, state, rtol=1e-4, atol=1e-4)
    exact = jax.tree.leaves(jax.jit(accumulated)(w, batches))
    compared = compare_results(exact, jax.tree.leaves(results), 1)
    assert compared.primal_identical
    assert 0 < compared.gradient_error_max < 0.5


def test_ranges_pass_through_jit_scan_and_donation(rules: Callable) -> None:
    step = compressed(two_layers, rules())
    w = normal(0, WIDTH, WIDTH, scale=0.1)
    batches = jnp.stack([normal(seed, 256, WIDTH) for seed in range(3)])
    ranges = step.init_ranges(w, batches[0])

    def body(carry: Any, x: jax.Array) -> tuple[Any, jax.Array]:
        (loss, gradient), following = step.with_ranges(carry[1], carry[0], x)
        return (carry[0] - 0.1 * gradient, following), loss

    (_, scanned), losses = jax.jit(functools.partial(lax.scan, body))(
        (w, ranges), batches
    )
    jitted = jax.jit(step.with_ranges, donate_argnums=0)
    following, expected = jax.tree.map(jnp.copy, ranges), []
    for x in batches:
        donated = following
        (loss, gradient), following = jitted(donated, w, x)
        expected.append(loss)
        w = w - 0.1 * gradient
        assert all(value.is_deleted() for value in donated.values())
    np.testing.assert_allclose(losses, np.stack(expected), rtol=1e-6)
    (got,), (want,) = scanned.values(), following.values()
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
    # What was not donated is still what it was.
    assert all(np.isnan(value).all() for value in ranges.values())


def test_arguments_of_the_step_are_donated(rules: Callable) -> None:
    step = compressed(two_layers, rules(), donate_argnums=0)
    w, x = normal(0, WIDTH, WIDTH), normal(1, 256, WIDTH)
    ranges = step.init_ranges(w, x)
    _, following = step.with_ranges(ranges, w, x)
    assert w.is_deleted() and not x.is_deleted()
    assert not any(value.is_deleted() for value in ranges.values())
    assert all(np.isfinite(value).all() for value in following.values())


def attention(parameters: Any, x: jax.Array) -> jax.Array:
    q, k, v = (
        jnp.einsum("btc,chd->bthd", x, w) for w in (parameters[n] for n in "qkv")
    )
    scores = jnp.einsum("bthd,bshd->bhts", q, k)
    mixed = jnp.einsum("bhts,bshd->bthd", jax.nn.softmax(scores), v)
    return jnp.mean(jnp.sin(mixed) ** 2)


def test_heads_of_attention(rules: Callable) -> None:
    heads = 4
    head_rules = rules([{"axis": "head", "bits": 8, "range": "running"}])
    step = compressed(attention, head_rules)
    parameters = {n: normal(i, 32, heads, 16, scale=0.2) for i, n in enumerate("qkv")}
    x = normal(5, 2, 128, 32)
    ranges = step.init_ranges(parameters, x)
    assert len(ranges) >= 3
    assert {value.shape for value in ranges.values()} == {(2, heads)}
    results, ranges = step.with_ranges(ranges, parameters, x)
    exact = jax.jit(jax.value_and_grad(attention))(parameters, x)
    compared = compare_results(
        jax.tree.leaves(exact), jax.tree.leaves(results), primal_results=1
    )
    assert compared.primal_identical
    assert compared.gradient_error_max < 0.05


def convolutions_of(kernels: Any, x: jax.Array) -> jax.Array:
    for kernel in kernels:
        x = lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        x = jnp.tanh(x)
    return x


def convolutions(kernels: Any, x: jax.Array) -> jax.Array:
    return jnp.mean(convolutions_of(kernels, x) ** 2)


def test_channels_of_convolutions(rules: Callable) -> None:
    channel_rules = rules([{"axis": "channel", "bits": 8, "range": "running"}])
    step = compressed(convolutions, channel_rules)
    kernels = [normal(i, 3, 3, 8, 8, scale=0.2) for i in range(3)]
    x = normal(7, 4, 32, 32, 8)
    ranges = step.init_ranges(kernels, x)
    assert ranges and {value.shape for value in ranges.values()} == {(2, 8)}
    _, ranges = step.with_ranges(ranges, kernels, x)
    assert all(np.isfinite(value).all() for value in ranges.values())


def documented_rules() -> list[list]:
    """The rules of docs/RunningRanges.md: for a transformer, for a CNN."""
    page = Path(__file__).parents[2] / "docs" / "RunningRanges.md"
    return [
        json.loads(t)
        for t in re.findall(r"```json\n(.*?)```", page.read_text(), re.DOTALL)
    ]


def test_documented_rules(rules: Callable) -> None:
    transformer, network = documented_rules()
    parameters = {n: normal(i, 32, 4, 16, scale=0.2) for i, n in enumerate("qkv")}
    arguments = (parameters, normal(5, 2, 128, 32))
    report = compressed(attention, rules(transformer)).report(*arguments)
    kinds = {survivor["encoding"] for survivor in report.survivors}
    heads = "#act.axis_quant<bits = 8, axis = {}>"
    running = "#act.axis_quant<bits = 8, axis = {}, range = running>"
    assert heads.format(1) in kinds  # exponentials of softmax
    assert running.format(2) in kinds  # queries, keys, values

    def stages(kernels: Any, x: jax.Array) -> jax.Array:
        for number, kernel in enumerate(kernels, 1):
            with jax.named_scope(f"stage{number}"):
                x = convolutions_of([kernel], x)
        return jnp.mean(x**2)

    kernels = [normal(i, 3, 3, 8, 8, scale=0.2) for i in range(4)]
    arguments = (kernels, normal(7, 4, 32, 32, 8))
    report = compressed(stages, rules(network)).report(*arguments)
    kinds = [survivor["encoding"] for survivor in report.survivors]
    assert running.format(3) in kinds
    assert running.format(3).replace("8", "4") in kinds


def test_bad_steps_do_not_spoil_the_state(rules: Callable) -> None:
    step = compressed(two_layers, rules())
    w, x = normal(0, WIDTH, WIDTH, scale=0.1), normal(1, 256, WIDTH)
    _, ranges = step.with_ranges(step.init_ranges(w, x), w, x)
    (_, gradient), following = step.with_ranges(ranges, w, x.at[3, 5].set(jnp.nan))
    assert np.isnan(gradient).all()
    for name, value in ranges.items():
        np.testing.assert_array_equal(following[name], value)


def test_a_step_that_saves_nothing_so_has_no_states(rules: Callable) -> None:
    step = compressed(two_layers, rules([{"axis": 7, "bits": 8, "range": "running"}]))
    w, x = normal(0, WIDTH, WIDTH), normal(1, 256, WIDTH)
    assert step.init_ranges(w, x) == {}
    results, ranges = step.with_ranges({}, w, x)
    assert ranges == {} and results[0].shape == ()


def test_a_search_may_leave_the_step_as_it_is(rules: Callable) -> None:
    step = compressed(two_layers, rules(), search="full")
    w, x = normal(0, 4, 4), normal(1, 8, 4)
    ranges = step.init_ranges(w, x)
    (loss, _), _ = step.with_ranges(ranges, w, x)
    assert loss == jax.jit(two_layers)(w, x)


def test_report_and_lower(rules: Callable) -> None:
    step = compressed(two_layers, rules())
    arguments = (normal(0, WIDTH, WIDTH), normal(1, 256, WIDTH))
    report = step.report(*arguments)
    assert "range = running" in report.survivors[0]["encoding"]
    step.lower(*arguments).compile()
    assert "act.range" in step.mlir(*arguments)


def test_errors_of_calls(rules: Callable) -> None:
    w, x = normal(0, WIDTH, WIDTH), normal(1, 256, WIDTH)
    step = compressed(two_layers, rules())
    with pytest.raises(act.ActStepError, match=r"call step\.with_ranges\(ranges"):
        step(w, x)
    ranges = step.init_ranges(w, x)
    (name,) = ranges
    with pytest.raises(act.ActStepError, match=r"another step.*missing: .*unknown: z"):
        step.with_ranges({"z": ranges[name]}, w, x)
    with pytest.raises(act.ActStepError, match=r"must be float32\[2, 64\], got float"):
        step.with_ranges({name: jnp.zeros((2, 3))}, w, x)
    with pytest.raises(act.ActStepError, match="a mapping of names to arrays, got Arr"):
        step.with_ranges(ranges[name], w, x)
    plain = act.value_and_grad(two_layers)
    for method in (plain.init_ranges, functools.partial(plain.with_ranges, ranges)):
        with pytest.raises(act.ActStepError, match="needs a step with running ranges"):
            method(w, x)
    stateless = compressed(two_layers, rules(), running_ranges=False)
    with pytest.raises(act.ActToolError, match=r"running_ranges of act\.compress"):
        stateless(w, x)


def test_errors_of_options(rules: Callable) -> None:
    path = rules()
    with pytest.raises(act.ActOptionError, match="running_ranges needs rules"):
        act.value_and_grad(two_layers, running_ranges=True)
    with pytest.raises(act.ActOptionError, match="range_decay must be at least 0"):
        compressed(two_layers, path, range_decay=1)
    with pytest.raises(act.ActOptionError, match="range_decay must be a number"):
        compressed(two_layers, path, range_decay="0.9")
    with pytest.raises(act.ActOptionError, match="range_decay needs running_ranges"):
        compressed(two_layers, path, running_ranges=False, range_decay=0.5)
    with pytest.raises(act.ActOptionError, match="must be True or False"):
        compressed(two_layers, path, running_ranges=1)
    with pytest.raises(
        act.ActOptionError, match=r"running_ranges is for act\.compress"
    ):
        act.native(two_layers, bits=8, rules=path, running_ranges=True)


def test_command_line(rules: Callable, tmp_path: Path, capsys: Any) -> None:
    step = jax.jit(jax.value_and_grad(two_layers))
    text = step.lower(normal(0, WIDTH, WIDTH), normal(1, 256, WIDTH)).as_text()
    (source := tmp_path / "step.mlir").write_text(text)
    options = [str(source), "--rules", str(rules()), "--search", "none", "--run"]
    output = tmp_path / "report.json"
    ranged = ["--running-ranges", "--range-decay", "0.5", "--json", str(output)]
    assert cli.main([*options, *ranged]) == 0
    document = json.loads(output.read_text())
    assert document["primal_identical"]
    assert 0 < document["gradient_error_max"] < 0.05
    capsys.readouterr()
    assert cli.main(options) == 1
    assert "running-ranges of act-compress" in capsys.readouterr().err

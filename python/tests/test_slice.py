# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps in parts by execution: the same loss and gradients, in less memory."""

import dataclasses
import json
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from slice_models import (
    Draw,
    Gpt,
    Performer,
    hard_mean,
    head,
    mean,
    weighted_mean,
)

import act
from act import cli, stablehlo, xla

#: Rounding of a sum over other parts, relative to the norm of a gradient.
GRADIENT_BOUND = 1e-5
#: One unit in the last place of a loss between 4 and 8.
LOSS_BOUND = 1e-6


@dataclasses.dataclass
class Outcome:
    """A step as it is and in parts.

    Attributes:
        losses: of both.
        error: largest relative Euclidean error of a gradient.
        loops: how many loops over parts there are.
        ratio: temporary memory in parts over that at once.
    """

    losses: tuple[Any, Any]
    error: float
    loops: int
    ratio: float

    @property
    def is_exact(self) -> bool:
        """Whether the losses have the same bits."""
        return np.array_equal(*map(np.asarray, self.losses))


def gradient_error(expected: Any, actual: Any) -> float:
    """Returns the largest relative Euclidean error over the leaves."""
    errors = [0.0]
    for a, b in zip(jax.tree.leaves(expected), jax.tree.leaves(actual), strict=True):
        assert a.dtype == b.dtype
        wide_a, wide_b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        norm = np.linalg.norm(wide_a)
        assert np.isfinite(norm)
        difference = np.linalg.norm(wide_a - wide_b)
        errors.append(difference / norm if norm else difference)
    return max(errors)


def count_loops(text: str) -> int:
    """Returns how many loops over parts a module has."""
    return len(re.findall(r"act\.sliced\b", text))


def run(
    problem: tuple[Callable, Any, Any],
    slice: bool | int = True,
    transform: Callable = jax.value_and_grad,
    exact_bf16: bool = False,
    **options: Any,
) -> Outcome:
    """Runs a step as it is, and in parts without encoding anything.

    Args:
        problem: (loss, parameters, batch).
        slice: as of `act.compress`.
        transform: makes the step of the loss.
        exact_bf16: as of `act.compress`; also of the step as it is.
        **options: of `act.compress`.
    """
    loss, *arguments = problem
    step = transform(loss)
    options = {"bits": 0, "search": "none", **options}
    compressed = act.compress(step, slice=slice, exact_bf16=exact_bf16, **options)
    flags = xla.EXACT_SHORT_FLOATS if exact_bf16 else None
    before = jax.jit(step).lower(*arguments).compile(flags)
    after = compressed.lower(*arguments).compile()
    expected, actual = before(*arguments), after(*arguments)
    assert jax.tree.structure(expected) == jax.tree.structure(actual)
    return Outcome(
        (expected[0], actual[0]),
        gradient_error(expected[1], actual[1]),
        count_loops(compressed.mlir(*arguments)),
        xla.temp_bytes(after) / xla.temp_bytes(before),
    )


def check(
    problem: tuple[Callable, Any, Any],
    loops: int,
    ratio: float,
    exact: bool = True,
    **options: Any,
) -> None:
    """Checks what `run` returns against numbers of loops and a bound on memory."""
    outcome = run(problem, **options)
    assert outcome.loops == loops
    if exact:
        assert outcome.is_exact, outcome.losses
    else:
        np.testing.assert_allclose(*outcome.losses, rtol=LOSS_BOUND)
    assert outcome.error < GRADIENT_BOUND
    assert outcome.ratio < ratio


# ---- Loss heads


HEADS = {
    "mean": (head(mean), {"loops": 1, "ratio": 0.3}),
    "given weights": (head(weighted_mean), {"loops": 1, "ratio": 0.3}),
    # The gradient of a token depends on a sum over all: logits are computed again.
    "weights by loss": (head(hard_mean), {"loops": 2, "ratio": 0.3}),
    "tied embedding": (head(tied=True), {"loops": 1, "ratio": 0.4}),
    "parts of 100": (head(), {"loops": 2, "ratio": 0.5, "slice": 100}),
    # A shorter last part has loops of its own.
    "odd sizes": (head(tokens=509, vocabulary=1021), {"loops": 2, "ratio": 0.5}),
}


@pytest.mark.parametrize("name", HEADS)
def test_head(name):
    problem, expected = HEADS[name]
    check(problem, **expected)


def test_head_in_bf16():
    outcome = run(head(tokens=1024, dtype=jnp.bfloat16), exact_bf16=True)
    assert outcome.is_exact
    assert outcome.loops == 1
    # Parts of weight gradients are added in f32, better than all at once in bf16.
    assert outcome.error < 0.01
    assert outcome.ratio < 0.3


def test_head_of_squares_is_summed_in_another_order():
    draw = Draw()
    parameters = (draw.normal(32, 32), draw.normal(32, 1024))
    batch = (draw.normal(512, 32) * 20, draw.normal(512, 1024) * 20)

    def loss(parameters: Any, batch: Any) -> jax.Array:
        x = jnp.tanh(batch[0] @ parameters[0]) @ parameters[1]
        return ((x - batch[1]) ** 2).mean()

    check((loss, parameters, batch), loops=1, ratio=0.8, exact=False)


def test_head_with_encoded_values():
    """Slicing changes nothing about what encoding does to the gradients."""
    problem = Gpt(layers=2, vocabulary=1024).make()
    outcome = run(problem, bits=4)
    assert outcome.is_exact
    assert outcome.loops >= 3
    assert 1e-4 < outcome.error < 0.5
    assert outcome.ratio < 0.3


def test_small_steps_are_left_alone():
    check(head(tokens=64, vocabulary=512), loops=0, ratio=1.1)


# ---- Softmax attention

ATTENTIONS = {
    "causal": (Gpt(), {"loops": 2, "ratio": 0.4}),
    "not causal": (Gpt(causal=False), {"loops": 2, "ratio": 0.4}),
    "dropout": (Gpt(dropout=0.2), {"loops": 2, "ratio": 0.8}),
    "grouped queries": (Gpt(key_heads=2), {"loops": 2, "ratio": 0.4}),
    "one key head": (Gpt(key_heads=1), {"loops": 2, "ratio": 0.4, "exact": False}),
    "three layers": (Gpt(layers=3), {"loops": 6, "ratio": 0.4}),
    "checkpoint": (Gpt(layers=2, wrap=jax.checkpoint), {"loops": 6, "ratio": 0.6}),
    "head as well": (Gpt(vocabulary=1024), {"loops": 3, "ratio": 0.6}),
}


@pytest.mark.parametrize("name", ATTENTIONS)
def test_attention(name):
    model, expected = ATTENTIONS[name]
    check(model.make(), **expected)


def test_dropout_with_halves_drawn_together():
    with jax.threefry_partitionable(False):
        check(Gpt(dropout=0.2).make(), loops=2, ratio=0.8)


def test_one_head_of_one_sequence_is_cut_along_queries():
    model = Gpt(sequences=1, heads=1, key_heads=1, length=1024)
    check(model.make(), loops=2, ratio=0.4)


# ---- What is around a step, or around parts of it


def test_mapped_loss():
    loss, parameters, (tokens, labels, key) = Gpt().make()
    batches = tokens[:, None], labels[:, None], jax.random.split(key, 2)

    def mapped(parameters: Any, batches: Any) -> jax.Array:
        return jax.vmap(lambda batch: loss(parameters, batch))(batches).mean()

    check((mapped, parameters, batches), loops=2, ratio=0.6)


def test_bodies_of_loops_are_left_alone():
    loss, parameters, (tokens, labels, key) = Gpt().make()
    batches = tokens[:, None], labels[:, None], jax.random.split(key, 2)

    def accumulate(loss: Callable) -> Callable:
        step = jax.value_and_grad(loss)

        def body(total: Any, batch: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, step(parameters, batch)), None

        def accumulated(parameters: Any, batches: Any) -> Any:
            zero = jnp.zeros(()), jax.tree.map(jnp.zeros_like, parameters)
            return jax.lax.scan(body, zero, batches)[0]

        return accumulated

    check((loss, parameters, batches), loops=0, ratio=1.1, transform=accumulate)


def test_head_behind_a_loop_over_layers():
    model = Gpt(layers=2, vocabulary=1024, scanned=True, length=128, sequences=4)
    check(model.make(), loops=1, ratio=0.8)


# ---- Sequences

# Parts of narrow products are summed up in another order by some libraries, which
# shows in the last bit of some losses.
SEQUENCES = {
    "parts chosen": (Performer(), {"slice": True, "ratio": 0.4}),
    "parts that divide": (Performer(), {"slice": 16, "ratio": 0.4, "exact": True}),
    "shorter last part": (Performer(), {"slice": 36, "loops": 3, "ratio": 0.8}),
    "longer than all": (Performer(), {"slice": 1000, "ratio": 1.3}),
    # A product with one row is computed by other code.
    "single tokens": (
        Performer(length=24),
        {"slice": 1, "ratio": 1.0},
    ),
    "three layers": (Performer(layers=3), {"slice": 16, "ratio": 0.4, "exact": True}),
    "three layers, shorter last part": (
        Performer(layers=3),
        {"slice": 20, "loops": 3, "ratio": 0.5},
    ),
    "decay of heads": (
        Performer(layers=2, decay="head"),
        {"slice": 20, "loops": 3, "ratio": 0.6},
    ),
    "decay of tokens": (
        Performer(layers=2, decay="token"),
        {"slice": 20, "loops": 3, "ratio": 0.6},
    ),
    "decay of channels": (
        Performer(layers=2, decay="channel"),
        {"slice": 32, "ratio": 0.7},
    ),
    "random features": (
        Performer(layers=2, feature_map="favor_plus"),
        {"slice": 32, "ratio": 0.7},
    ),
    "grouped queries": (
        Performer(layers=2, key_heads=2),
        {"slice": 20, "loops": 3, "ratio": 0.5},
    ),
    "dropout and positions": (
        Performer(layers=2, dropout=0.2, learnt=True),
        {"slice": 20, "loops": 3, "ratio": 0.6},
    ),
    "checkpoint": (
        Performer(layers=2, wrap=jax.checkpoint),
        {"slice": 20, "loops": 3, "ratio": 0.6},
    ),
    "three sequences": (
        Performer(layers=2, sequences=3),
        # XLA multiplies 3 * 20 rows in other blocks than 3 times all tokens.
        {"slice": 20, "loops": 3, "ratio": 0.4, "exact": False},
    ),
    "final state in the loss": (
        Performer(layers=2, state_in_loss=True),
        {"slice": 20, "loops": 4, "ratio": 0.6},
    ),
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequence(name):
    model, expected = SEQUENCES[name]
    check(model.make(), **{"loops": 2, "exact": False, **expected})


def test_final_state_is_returned():
    model = Performer(layers=2)
    _, parameters, batch = model.make()

    def with_state(parameters: Any, batch: Any) -> tuple[jax.Array, Any]:
        losses, state = model.losses_and_state(parameters, batch)
        return weighted_mean(losses, batch[2]), state

    step = jax.value_and_grad(with_state, has_aux=True)
    sliced = act.compress(step, slice=16, bits=0, search="none")
    expected, gradients = step(parameters, batch)
    actual, sliced_gradients = sliced(parameters, batch)
    assert count_loops(sliced.mlir(parameters, batch)) >= 2
    np.testing.assert_allclose(expected[0], actual[0], rtol=LOSS_BOUND)
    assert gradient_error(expected[1], actual[1]) < GRADIENT_BOUND
    assert gradient_error(gradients, sliced_gradients) < GRADIENT_BOUND


def test_memory_of_short_and_long_parts_and_of_reversed_states():
    """Reversed, memory does not grow with the number of parts, errors do."""
    problem = Performer(layers=2, length=1024).make()
    short, long = (run(problem, slice=chunk) for chunk in (8, 256))
    reversed_ = run(problem, slice=8, slice_states="reverse")
    for outcome in (short, long):
        np.testing.assert_allclose(*outcome.losses, rtol=LOSS_BOUND)
        assert outcome.error < GRADIENT_BOUND
    np.testing.assert_allclose(short.losses[1], long.losses[1], rtol=LOSS_BOUND)
    assert short.ratio < 0.2
    assert 2 * short.ratio < long.ratio < 0.6
    np.testing.assert_allclose(*reversed_.losses, rtol=1e-5)
    assert reversed_.error < 1e-2
    assert reversed_.ratio < 0.8 * short.ratio


# ---- Refusals


def test_softmax_in_a_model_with_linear_attention():
    loss, *arguments = Performer(layers=2, width=128, softmax=True).make()
    step = act.value_and_grad(loss, slice=16)
    with pytest.raises(act.ActToolError, match=r"stablehlo\.dot_general.*mixes tokens"):
        step.mlir(*arguments)


def test_decay_cannot_be_subtracted():
    loss, *arguments = Performer(decay="token").make()
    step = act.value_and_grad(loss, slice=16, slice_states="reverse")
    with pytest.raises(
        act.ActToolError, match="has decay, which states=reverse cannot"
    ):
        step.mlir(*arguments)


# ---- Files


def write_step(path, problem):
    loss, *arguments = problem
    exported = export.export(jax.jit(jax.value_and_grad(loss)))(*arguments)
    path.write_text(stablehlo.exported_module(exported)[0])
    return path


@pytest.mark.parametrize("argument", ["--slice", "--slice=16"])
def test_command(argument, tmp_path, capsys):
    step = write_step(tmp_path / "step.mlir", head())
    report, output = tmp_path / "r.json", tmp_path / "out.mlir"
    options = ["--bits=0", "--search=none", "--run", f"--json={report}"]
    status = cli.main([str(step), argument, *options, f"--output={output}"])
    assert (status, capsys.readouterr().err) == (0, "")
    document = json.loads(report.read_text())
    assert document["primal_identical"] is True
    assert document["gradient_error_max"] < GRADIENT_BOUND
    assert document["temp_bytes_after"] < 0.5 * document["temp_bytes_before"]
    text = output.read_text()
    assert count_loops(text) == 1
    assert ("tensor<16x1024xf32>" in text) is (argument == "--slice=16")


@pytest.mark.parametrize("value", ["0", "-4", "many", "1.5", ""])
def test_command_refuses(value, tmp_path, capsys):
    with pytest.raises(SystemExit) as error:
        cli.main([str(tmp_path / "step.mlir"), f"--slice={value}"])
    assert error.value.code == 2
    assert "--slice" in capsys.readouterr().err


def test_command_refuses_unknown_states(tmp_path, capsys):
    with pytest.raises(SystemExit):
        cli.main([str(tmp_path / "step.mlir"), "--slice", "--slice-states=kept"])
    assert "stored" in capsys.readouterr().err

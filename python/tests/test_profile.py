# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Instrumented steps and what is measured with them, on XLA."""

import dataclasses
import functools
import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import spearmanr

import act
from act.contributions import default_passes
from act.profile_data import Profile
from act.unmixing import Group, draw_masks, least_runs, unmix


@functools.cache
def layers(count: int = 11) -> tuple:
    """A step with 10 values that matter very differently, and its arguments."""
    random = np.random.default_rng(0)
    scales = 2.0 ** random.permutation(np.linspace(-5, 1, count))
    parameters = [
        jnp.asarray(random.standard_normal((128, 128)) / 11, jnp.float32)
        for _ in range(count)
    ]
    x = jnp.asarray(random.standard_normal((128, 128)), jnp.float32)

    def loss(parameters, x):
        for weight, scale in zip(parameters, scales, strict=True):
            x = x + scale * jax.nn.gelu(x @ weight)
            x = x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True))
        return jnp.mean(jnp.tanh(x) * x)

    return act.value_and_grad(loss, search="none"), parameters, x


@functools.cache
def probe():
    step, *arguments = layers()
    return step.probe(tuple(arguments), {})


def flat(results) -> np.ndarray:
    return np.concatenate([np.asarray(leaf).ravel() for leaf in results])


def test_level_0_is_exact():
    step, *arguments = layers()
    leaves = jax.tree.leaves(arguments)
    exact = probe().step.run(np.zeros(probe().survivors), 3, leaves)
    plain = act.compress(step.__wrapped__, bits=0, search="none")(*arguments)
    again = probe().step.run(np.zeros(probe().survivors), 4, leaves)
    assert np.array_equal(exact[0], plain[0])
    np.testing.assert_allclose(flat(exact), flat(jax.tree.leaves(plain)), 1e-4, 1e-7)
    for a, b in zip(exact, again, strict=True):
        assert np.array_equal(a, b)


@pytest.mark.parametrize("bits", [8, 4, 2, 1])
def test_levels_round_as_the_encoding_does(bits):
    """With the seed 0 the noise is that of the compressed step."""
    _, *arguments = layers()
    step = layers()[0].with_options(act.options.CompressOptions(bits, search="none"))
    compressed = flat(jax.tree.leaves(step(*arguments)))
    instrumented = step.probe(tuple(arguments), {})
    assert [s.bits for s in instrumented.step.survivors] == [bits] * 10
    levels = np.full(instrumented.survivors, 2.0**bits - 1)
    run = instrumented.step.run
    rounded = flat(run(levels, 0, jax.tree.leaves(arguments)))
    other = flat(run(levels, 1, jax.tree.leaves(arguments)))
    noise = np.linalg.norm(other - compressed)
    # XLA contracts other products and sums, which moves a code now and then.
    assert np.linalg.norm(rounded - compressed) < 0.05 * noise


def test_any_number_of_levels_rounds():
    errors = [
        probe().error(np.full(probe().survivors, levels), [1, 2])
        for levels in (7, 15, 255, 4095)
    ]
    found = [few / many for few, many in itertools.pairwise(errors)]
    assert found == pytest.approx([15 / 7, 17, 16], rel=0.25)


def test_one_survivor_at_a_time_adds_up():
    count = probe().survivors
    alone = [probe().error(row, [5, 6]) ** 2 for row in 15 * np.eye(count)]
    together = probe().error(np.full(count, 15), [5, 6]) ** 2
    assert sum(alone) == pytest.approx(together, rel=0.25)


def test_axis_quant_rounds_the_same(tmp_path):
    rules = tmp_path / "rules.json"
    rules.write_text('[{"min-elements": 1, "encoding": "axis_quant<bits=4, axis=1>"}]')
    step, *arguments = layers()
    step = step.with_options(dataclasses.replace(step.options, rules=rules))
    compressed = flat(jax.tree.leaves(step(*arguments)))
    instrumented = step.probe(tuple(arguments), {})
    assert all("axis_quant" in s.encoding for s in instrumented.step.survivors)
    run = functools.partial(
        instrumented.step.run, np.full(instrumented.survivors, 15.0)
    )
    rounded, other = (flat(run(seed, jax.tree.leaves(arguments))) for seed in (0, 1))
    difference = np.linalg.norm(rounded - compressed)
    assert difference < 0.05 * np.linalg.norm(other - compressed)


def scanned(parameters, x):
    def layer(x, weight):
        return x + jax.nn.gelu(x @ weight), None

    return jnp.mean(jnp.tanh(jax.lax.scan(layer, x, parameters)[0]))


def test_loops_round_every_iteration_by_one_level():
    _, parameters, x = layers()
    step = act.value_and_grad(scanned, search="none")
    arguments = (jnp.stack(parameters), x)
    instrumented = step.probe(arguments, {})
    assert {survivor.copies for survivor in instrumented.step.survivors} == {11}
    levels = np.full(instrumented.survivors, 15.0)
    run = functools.partial(instrumented.step.run, levels)
    rounded, other = (flat(run(seed, arguments)) for seed in (0, 1))
    compressed = flat(jax.tree.leaves(step(*arguments)))
    difference = np.linalg.norm(rounded - compressed)
    assert difference < 0.05 * np.linalg.norm(other - compressed)
    profile = act.profile(step, *arguments)
    assert {entry.copies for entry in profile.survivors} == {11}
    assert profile.error() == pytest.approx(instrumented.error(levels, [7, 8]), rel=0.2)


def truth() -> np.ndarray:
    """What each value adds alone, mean over several seeds."""
    seeds = range(100, 108)
    rows = 15 * np.eye(probe().survivors)
    return np.array([probe().error(row, seeds) ** 2 for row in rows])


def test_profile_ranks_survivors(tmp_path):
    step, *arguments = layers()
    profile = act.profile(step, *arguments, path=tmp_path / "profile.json")
    assert Profile.read(tmp_path / "profile.json") == profile
    assert profile.passes == 1 + default_passes(10) < 3 * 10
    measured = np.array([entry.contribution for entry in profile.survivors])
    expected = truth()
    assert spearmanr(measured, expected)[0] >= 0.9
    assert measured.sum() == pytest.approx(expected.sum(), rel=0.2)
    assert [entry.key for entry in profile.survivors] == [
        survivor.key for survivor in probe().step.survivors
    ]


def test_keys_hold_for_other_batch_sizes_and_traces():
    step, parameters, x = layers()
    other = act.compress(step.__wrapped__, search="none")
    keys = [
        [s.key for s in make.probe((parameters, batch), {}).step.survivors]
        for make, batch in ((step, x), (other, jnp.concatenate([x, x])))
    ]
    assert keys[0] == keys[1]
    assert len(set(keys[0])) == 10


def test_profile_moves_bits(tmp_path):
    step, *arguments = layers()
    path = tmp_path / "profile.json"
    act.profile(step, *arguments, path=path)
    budget = act.compress(
        step.__wrapped__, search="none", average_bits=4.5, profile=path
    )
    survivors = budget.probe(tuple(arguments), {}).step.survivors
    expected = truth()
    by_bits = {
        bits: [e for e, s in zip(expected, survivors, strict=True) if s.bits == bits]
        for bits in {s.bits for s in survivors}
    }
    assert len(by_bits) > 1
    means = [np.mean(by_bits[bits]) for bits in sorted(by_bits)]
    assert means == sorted(means)
    assert "profile=" in repr(budget)


def test_unknown_survivors_are_counted_in_one_warning():
    step, *arguments = layers()
    profile = act.profile(step, *arguments)
    part = dataclasses.replace(profile, survivors=profile.survivors[:7])
    budget = act.compress(
        step.__wrapped__, search="none", average_bits=4.5, profile=part
    )
    with pytest.warns(act.ActWarning, match="does not know 3 of 10 values") as found:
        budget(*arguments)
    assert len([w for w in found if "does not know" in str(w.message)]) == 1


def test_auto_bits_is_never_worse_and_says_by_how_much():
    step, *arguments = layers()
    auto = act.auto_bits(step, *arguments)
    assert auto.error <= auto.uniform_error
    assert auto.gain >= 0
    assert auto.takes_profile == (auto.profile_error < auto.uniform_error)
    assert f"gain {auto.gain:.2f} bits" in str(auto)
    assert auto.average_bits <= 4.5
    exact, loss = jax.jit(step.__wrapped__), auto.step(*arguments)
    assert np.array_equal(exact(*arguments)[0], loss[0])


def test_auto_bits_falls_back_to_uniform_bits():
    """A profile that is upside down is worse than none."""
    step, *arguments = layers()
    profile = act.profile(step, *arguments)
    wrong = dataclasses.replace(
        profile,
        survivors=tuple(
            dataclasses.replace(entry, contribution=1e-9 / (1e-9 + entry.contribution))
            for entry in profile.survivors
        ),
    )
    auto = act.auto_bits(step, *arguments, profile=wrong)
    assert not auto.takes_profile
    assert auto.profile_error > auto.uniform_error == auto.error
    assert auto.gain == 0
    assert auto.step.options.average_bits is None


def test_results_choose_the_gradients():
    step, *arguments = layers()
    gradients = jax.jit(step.__wrapped__)(*arguments)[1]
    for picked in (0, -1):
        profile = act.profile(step, *arguments, results=lambda out, p=picked: out[1][p])
        norm = float(jnp.linalg.norm(gradients[picked]))
        assert profile.gradient_norm == pytest.approx(norm, rel=1e-3)
    with pytest.raises(act.ActOptionError, match="results must pick float results"):
        act.profile(step, *arguments, results=lambda out: ())


def test_nothing_to_measure_is_an_error():
    step, parameters, x = layers()
    exact = act.compress(step.__wrapped__, bits=0, search="none")
    with pytest.raises(act.ActStepError, match="stores nothing with a loss"):
        act.profile(exact, parameters, x)
    with pytest.raises(act.ActProfileError, match=r"has the norm 0\.0"):
        act.profile(step, [0 * weight for weight in parameters], 0 * x + 1)
    with pytest.raises(act.ActOptionError, match="passes must be an int of at least 4"):
        act.profile(step, parameters, x, passes=1)
    budget = act.compress(step.__wrapped__, average_bits=4)
    with pytest.raises(act.ActOptionError, match="without average_bits"):
        act.auto_bits(budget, parameters, x)


def test_donated_arguments_survive():
    step, parameters, x = layers()
    donating = act.compress(step.__wrapped__, search="none", donate_argnums=0)
    copies = [weight + 0 for weight in parameters]
    act.profile(donating, copies, x)
    assert not any(weight.is_deleted() for weight in copies)


def test_reprofiling_follows_the_parameters():
    """Weights of which the last half is tiny, then the first."""
    step, parameters, x = layers()
    step = act.compress(
        step.__wrapped__, search="none", average_bits=4.5, reprofile_every=2
    )

    def stored(parameters):
        survivors = step.probe((parameters, x), {}).step.survivors
        return [survivor.encoding for survivor in survivors]

    def scaled(first, last):
        return [first * w for w in parameters[:5]] + [last * w for w in parameters[5:]]

    late, early = scaled(1, 0.01), scaled(0.01, 1)
    untouched = stored(late)
    loss = step(late, x)[0]
    first = stored(late)
    assert first != untouched
    step(early, x)
    assert stored(early) == first
    step(early, x)
    assert stored(early) != first
    assert np.array_equal(step(late, x)[0], loss)


def test_reprofiling_is_checked():
    step = layers()[0]
    with pytest.raises(act.ActOptionError, match="reprofile_every must be an int"):
        act.compress(step.__wrapped__, average_bits=4, reprofile_every=0)
    with pytest.raises(act.ActOptionError, match="needs average_bits or error_budget"):
        act.compress(step.__wrapped__, reprofile_every=5)


@pytest.mark.parametrize(("runs", "values"), [(6, 15), (8, 25), (4, 9), (2, 9)])
def test_masks_are_balanced(runs, values):
    masks = draw_masks(np.random.default_rng(0), runs, values)
    assert masks.any(0).all()
    assert np.ptp(masks.sum(1)) <= 2
    if math.comb(runs, 2) >= values:
        assert np.unique(masks, axis=1).shape[1] == values
    assert (
        math.comb(least_runs(values), 2)
        >= values
        > math.comb(least_runs(values) - 1, 2)
    )


def test_few_values_are_measured_alone():
    assert np.array_equal(draw_masks(np.random.default_rng(0), 8, 5)[:5], np.eye(5))


def test_unmixing_finds_squares_of_independent_vectors():
    random = np.random.default_rng(0)
    squares = 10.0 ** random.uniform(-4, 0, 30)
    vectors = random.standard_normal((30, 40000))
    vectors *= np.sqrt(squares / (vectors**2).sum(1))[:, None]
    vectors[:20, :20000] = 0  # of another tensor
    groups = []
    for _ in range(2):
        masks = draw_masks(random, 9, 30)
        sums = masks @ vectors
        parts = np.stack([sums[:, :20000], sums[:, 20000:]])
        groups.append(Group(masks, parts @ parts.transpose(0, 2, 1)))
    found, fit = unmix(groups)
    expected = (vectors**2).sum(1)
    assert spearmanr(found, expected)[0] > 0.95
    large = expected > 0.03
    np.testing.assert_allclose(found[large], expected[large], rtol=0.35)
    assert fit < 0.2

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Values and gradients of `act.linear_attention` against float64 references."""

import dataclasses
import re

import attention_cases as reference
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from attention_calls import arguments_of, attend, expected, rms_errors, run

import act
from act import runtime
from act.attention_config import FORWARD, Config

MAPS = ("identity", "relu", "elu_plus_one", "square", "exp", "favor_plus")
DECAYS = ("none", "head", "token", "channel")
needs_library = pytest.mark.skipif(
    runtime.find_library() is None, reason="libActRuntime is not built"
)
EACH = pytest.mark.parametrize(
    "implementation", ["loop", pytest.param("native", marks=needs_library)]
)


def require(case, implementation, dtype=np.float32):
    """Skips a test of a case that the native library has no kernel for."""
    if implementation == "native":
        reason = no_kernel(case, dtype)
        if reason is not None:
            pytest.skip(reason)


def no_kernel(case, dtype=np.float32):
    """Returns why there is no native kernel for a case, or None."""
    options = {"epsilon": 0.0} | case.options
    config = Config(**options, decay=decay_of(case))
    operands = arguments_of(case, dtype)
    return runtime.why_not(FORWARD, config, operands)


def decay_of(case):
    """Returns the kind of a case's decay."""
    if "decay" not in case.arrays:
        return "none"
    return {1: "head", 3: "token", 4: "channel"}[case.arrays["decay"].ndim]


def check(case, bound, dtype=np.float32, decay_bound=None, **options):
    """Compares all results of an attention with the reference's."""
    require(case, options["implementation"], dtype)
    errors = rms_errors(run(case, dtype, **options), expected(case))
    loose = {"d_decay": decay_bound or bound}
    bad = {n: e for n, e in errors.items() if not e <= loose.get(n, bound)}
    assert not bad, f"relative RMS errors {bad}, all: {errors}"


@pytest.mark.parametrize("decay", DECAYS)
@pytest.mark.parametrize("length", [1, 15, 65])
def test_references_agree(length, decay):
    case = reference.make_case(length, decay=decay, heads=(4, 2, 4), with_state=True)
    o, _ = reference.recurrent(case)
    np.testing.assert_allclose(reference.quadratic(case), o, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("feature_map", MAPS)
@pytest.mark.parametrize("decay", DECAYS)
def test_reference_gradients_are_central_differences(feature_map, decay):
    for normalize in (True, False):
        case = reference.make_case(
            15,
            feature_map=feature_map,
            decay=decay,
            normalize=normalize,
            heads=(4, 2, 4),
            with_state=True,
        )
        got = reference.gradients(case)
        assert got.keys() == case.arrays.keys() - {"features"}
        for name, gradient in got.items():
            slope = central_difference(case, name)
            direction = direction_of(case, name)
            np.testing.assert_allclose((gradient * direction).sum(), slope, rtol=2e-6)


def direction_of(case, name):
    array = case.arrays[name]
    direction = np.random.default_rng(7).standard_normal(array.shape)
    # Resets stay as they are: there is no decay near -inf.
    return np.where(array < -100, 0, direction) if name == "decay" else direction


def central_difference(case, name, step=1e-6):
    """Returns the slope of <o, d_o> + <state, d_state> along `direction_of`."""

    def loss(sign):
        moved = case.arrays[name] + sign * step * direction_of(case, name)
        o, state = reference.recurrent(
            dataclasses.replace(case, arrays=case.arrays | {name: moved})
        )
        parts = zip((o, *state), (case.d_o, *case.d_state), strict=True)
        return sum((part * weight).sum() for part, weight in parts)

    return (loss(1) - loss(-1)) / (2 * step)


@pytest.mark.parametrize(
    ("feature_map", "decay"),
    [
        *((feature_map, "none") for feature_map in MAPS),
        *(("elu_plus_one", decay) for decay in DECAYS[1:]),
        ("favor_plus", "token"),
        ("identity", "token"),
    ],
)
def test_loop_in_float64(feature_map, decay):
    case = reference.make_case(
        65,
        batch=1,
        feature_map=feature_map,
        decay=decay,
        normalize=feature_map not in ("identity", "relu"),
        heads=(4, 2, 4),
        with_state=True,
    )
    with jax.enable_x64(True):
        check(case, 1e-12, np.float64, decay_bound=1e-11, implementation="loop")


@EACH
@pytest.mark.parametrize(
    ("length", "decay"),
    [
        (1, "none"),
        (1, "token"),
        (15, "head"),
        (15, "channel"),
        (63, "none"),
        (65, "head"),
        (65, "token"),
        (500, "none"),
        (500, "head"),
        (500, "token"),
        (500, "channel"),
    ],
)
def test_lengths(length, decay, implementation):
    case = reference.make_case(length, batch=1, decay=decay, with_state=True)
    check(case, 1e-6, decay_bound=2e-5, implementation=implementation)


@EACH
@pytest.mark.parametrize(
    ("feature_map", "normalize"),
    [*((feature_map, True) for feature_map in MAPS), ("identity", False)],
)
def test_maps(feature_map, normalize, implementation):
    case = reference.make_case(
        70, feature_map=feature_map, normalize=normalize, dim=9, value_dim=17
    )
    check(case, 1e-6, implementation=implementation)


@EACH
@pytest.mark.parametrize(
    "heads", [(4, 2, 2), (4, 1, 1), (2, 2, 4), (2, 4, 4), (4, 2, 4), (8, 4, 2)]
)
def test_numbers_of_heads(heads, implementation):
    case = reference.make_case(33, heads=heads, decay="token", with_state=True)
    check(case, 1e-6, decay_bound=2e-5, implementation=implementation)


@EACH
def test_squares_of_positive_rows_elementwise(implementation):
    # The tolerance of the fast-transformers library: 1e-5 of each element.
    case = reference.make_case(300, feature_map="square", dim=32, value_dim=32, batch=1)
    positive = {name: abs(array) + 0.05 for name, array in case.arrays.items()}
    case = dataclasses.replace(case, arrays=positive)
    require(case, implementation)
    o = run(case, implementation=implementation)["o"]
    np.testing.assert_allclose(o, reference.recurrent(case)[0], rtol=1e-5)


@EACH
@pytest.mark.parametrize("feature_map", ["elu_plus_one", "square", "favor_plus"])
def test_bfloat16(feature_map, implementation):
    case = reference.make_case(200, feature_map=feature_map, batch=1, dim=16)
    # What is compared is the arithmetic, not the rounding of the arguments.
    rounded = {
        name: np.asarray(jnp.asarray(array, jnp.bfloat16), np.float64)
        for name, array in case.arrays.items()
    }
    d_o = np.asarray(jnp.asarray(case.d_o, jnp.bfloat16), np.float64)
    case = dataclasses.replace(case, arrays=rounded, d_o=d_o)
    check(case, 5e-3, jnp.bfloat16, implementation=implementation)


@EACH
@pytest.mark.parametrize("decay", ["none", "channel"])
def test_chunks_change_rounding_only(decay, implementation):
    case = reference.make_case(100, decay=decay, batch=1)
    require(case, implementation)
    results = [
        run(case, chunk=chunk, implementation=implementation)
        for chunk in (None, 16, 64, 128)
    ]
    for result in results[1:]:
        bad = {
            name: error
            for name, error in rms_errors(result, results[0]).items()
            if error > (2e-5 if name == "d_decay" else 1e-6)
        }
        assert not bad


@EACH
@pytest.mark.parametrize("decay", ["none", "token"])
@pytest.mark.parametrize("feature_map", ["elu_plus_one", "favor_plus"])
def test_split_sequence_is_resumed(decay, feature_map, implementation):
    case = reference.make_case(90, decay=decay, feature_map=feature_map)
    require(case, implementation)
    arrays = arguments_of(case)
    along_time = [n for n in arrays if n != "features"]
    options = case.options | {"implementation": implementation}

    def whole(arrays):
        o, state = attend(arrays, return_state=True, **options)
        return o, state

    def split(arrays):
        first = arrays | {n: arrays[n][:, :37] for n in along_time}
        rest = arrays | {n: arrays[n][:, 37:] for n in along_time}
        o, state = attend(first, return_state=True, **options)
        rest |= {"S": state.sums, "z": state.normalizer}
        o_rest, state = attend(rest, return_state=True, **options)
        return jnp.concatenate([o, o_rest], 1), state

    def results(function):
        out, pull = jax.vjp(function, arrays)
        weights = jax.tree.map(
            lambda x: jnp.sin(jnp.arange(x.size)).reshape(x.shape), out
        )
        gradient = pull(weights)[0]
        gradient.pop("features", None)
        flat = jax.tree.leaves_with_path((out, gradient))
        return {jax.tree_util.keystr(k): np.asarray(x, np.float64) for k, x in flat}

    errors = rms_errors(results(jax.jit(split)), results(jax.jit(whole)))
    assert max(errors.values()) < 2e-5, errors


@EACH
@pytest.mark.parametrize("policy", ["rescan", ("checkpoint", 32), "reverse"])
def test_state_policies(policy, implementation):
    case = reference.make_case(150, with_state=True)
    # Sums that are taken apart again keep what rounding did to them.
    bound = 1e-4 if policy == "reverse" else 2e-6
    check(case, bound, state_policy=policy, implementation=implementation)


@EACH
def test_checkpoints_give_the_bits_of_rescanning(implementation):
    case = reference.make_case(150, decay="token")
    require(case, implementation)
    first, second = (
        run(case, state_policy=policy, chunk=16, implementation=implementation)
        for policy in ("rescan", ("checkpoint", 48))
    )
    for name, value in first.items():
        np.testing.assert_array_equal(second[name], value, err_msg=name)


@EACH
@pytest.mark.parametrize("norm", [1.0, 30.0, 1000.0])
def test_random_features_of_large_keys_stay_finite(norm, implementation):
    case = reference.make_case(80, feature_map="favor_plus", dim=8, batch=1)
    require(case, implementation)
    arrays = arguments_of(case)
    arrays["k"] = arrays["k"].at[:, 40:].multiply(norm)
    arrays["q"] = arrays["q"].at[:, 60].multiply(norm)

    def loss(arrays):
        return (
            attend(arrays, implementation=implementation, **case.options) ** 2
        ).sum()

    value, gradients = jax.jit(jax.value_and_grad(loss))(arrays)
    assert np.isfinite(value)
    for name in ("q", "k", "v"):
        assert np.isfinite(gradients[name]).all(), name


@EACH
@pytest.mark.parametrize("feature_map", ["elu_plus_one", "favor_plus"])
def test_the_future_does_not_matter(feature_map, implementation):
    case = reference.make_case(80, feature_map=feature_map, batch=1)
    require(case, implementation)
    arrays = arguments_of(case)
    options = case.options | {"implementation": implementation}
    before = attend(arrays, **options)
    changed = {
        name: array.at[:, 50:].multiply(9.0) if name in ("q", "k", "v") else array
        for name, array in arrays.items()
    }
    after = attend(changed, **options)
    np.testing.assert_array_equal(after[:, :50], before[:, :50])
    assert not np.allclose(after[:, 50:], before[:, 50:])


@needs_library
@pytest.mark.parametrize("decay", DECAYS)
def test_loop_and_kernel_agree(decay):
    case = reference.make_case(
        257, decay=decay, dim=64, value_dim=64, batch=1, heads=(4, 2, 2)
    )
    require(case, "native")
    got, wanted = (run(case, implementation=form) for form in ("native", "loop"))
    errors = rms_errors(got, wanted)
    # The criterion of the flash-linear-attention library is 1e-3.
    assert max(errors.values()) < 2e-5, errors


@needs_library
def test_cases_without_a_kernel_take_the_loop():
    case = reference.make_case(20)
    with jax.enable_x64(True):
        reason = no_kernel(case, np.float64)
        assert reason is not None
        with pytest.raises(act.ActOptionError, match=re.escape(reason)):
            run(case, np.float64, implementation="native")
        check(case, 1e-12, np.float64, implementation=None)


@EACH
def test_a_million_tokens(implementation):
    length, dim = 1 << 20, 16
    random = np.random.default_rng(0)
    q, k, v, d_o = (
        random.standard_normal((1, length, 1, dim), np.float32) for _ in range(4)
    )

    def step(q, k, v, d_o):
        o, pull = jax.vjp(
            lambda *x: act.linear_attention(
                *x, feature_map="square", implementation=implementation
            ),
            q,
            k,
            v,
        )
        return (o, *pull(d_o))

    compiled = jax.jit(step).lower(q, k, v, d_o).compile()
    array_bytes = q.nbytes
    temp = compiled.memory_analysis().temp_size_in_bytes
    # Denominators take 1 / 16 of an array; states per token would take 16 arrays.
    assert temp < (0.1 if implementation == "native" else 5) * array_bytes
    o, d_q, _, d_v = (np.asarray(x, np.float64)[0] for x in compiled(q, k, v, d_o))
    q, k, v, d_o = (x[0, :, 0].astype(np.float64) for x in (q, k, v, d_o))
    q, k = q * q, k * k
    d = (q * k.cumsum(0)).sum(1, keepdims=True) + 1e-6
    last = slice(length - 1000, None, 100)
    for t in range(length)[last]:
        state = k[: t + 1].T @ v[: t + 1]
        np.testing.assert_allclose(o[t, 0], q[t] @ state / d[t], rtol=1e-3, atol=1e-6)
    for t in range(0, 1000, 100):
        suffix = (q[t:]).T @ (d_o[t:] / d[t:])
        np.testing.assert_allclose(d_v[t, 0], k[t] @ suffix, rtol=1e-3, atol=1e-6)
    assert np.isfinite(d_q).all()

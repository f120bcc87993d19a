# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.compress` as a callable; act-opt is a stand-in that changes nothing."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import act
from act import stablehlo, xla


def assert_equal(a, b):
    jax.tree.map(np.testing.assert_array_equal, a, b)


def test_same_results_and_structure(fake_tool, mlp):
    original = jax.value_and_grad(mlp.loss)
    compressed = act.compress(original)
    assert_equal(compressed(*mlp.arguments), jax.jit(original)(*mlp.arguments))
    assert compressed.__name__ == original.__name__
    assert "bits=4" in repr(compressed)


def test_tool_runs_once_per_shape(fake_tool, mlp):
    step = act.value_and_grad(mlp.loss)
    x, y = mlp.batch
    for _ in range(2):
        step(*mlp.arguments)
        step.lower(*mlp.arguments)
        step.mlir(*mlp.arguments)
    assert fake_tool.calls == 1
    step(mlp.parameters, (x[:64], y[:64]))
    assert fake_tool.calls == 2
    step(mlp.parameters, (x.astype(jnp.int8), y))
    assert fake_tool.calls == 3
    step(mlp.parameters, (np.asarray(x), np.asarray(y)))
    assert fake_tool.calls == 3


def test_shape_structs(fake_tool, mlp):
    step = act.value_and_grad(mlp.loss)
    structs = jax.tree.map(
        lambda a: jax.ShapeDtypeStruct(a.shape, a.dtype), mlp.arguments
    )
    lowered = step.lower(*structs)
    report = step.report(*structs)
    step(*mlp.arguments)
    assert fake_tool.calls == 1
    assert report.temp_bytes_after == xla.temp_bytes(lowered.compile())


def test_compiled_ahead_of_time(fake_tool, mlp):
    step = act.value_and_grad(mlp.loss)
    compiled = step.lower(mlp.parameters, batch=mlp.batch).compile()
    assert_equal(
        compiled(mlp.parameters, batch=mlp.batch),
        step(mlp.parameters, batch=mlp.batch),
    )


@pytest.mark.parametrize(
    ("returns", "primal_results", "flat"),
    [
        (lambda v, g, x: (v, g), 1, 1),
        (lambda v, g, x: [v, g], 1, 1),
        (lambda v, g, x: ((v, {"a": x, "b": (x, x)}), g), 1, 4),
        (lambda v, g, x: (v, {"a": x}, (x, x), g), 3, 4),
        (lambda v, g, x: (v, None, g, x), 2, 1),
    ],
)
def test_primal_results_are_counted_flat(fake_tool, returns, primal_results, flat):
    def step(w, x):
        value, gradient = jax.value_and_grad(lambda w: jnp.sum(jnp.tanh(x @ w)))(w)
        return returns(value, gradient, x)

    w, x = jnp.ones((8, 8)), jnp.ones((4, 8))
    compressed = act.compress(step, primal_results=primal_results)
    assert_equal(compressed(w, x), step(w, x))
    assert f"primal-results={flat} " in fake_tool.pipelines[0]


def test_has_aux_and_argnums(fake_tool, mlp):
    def loss(scale, parameters, batch):
        value = mlp.loss(parameters, batch)
        return scale * value, {"plain": value}

    original = jax.value_and_grad(loss, argnums=(1, 0), has_aux=True)
    compressed = act.value_and_grad(loss, argnums=(1, 0), has_aux=True)
    arguments = (jnp.float32(2), *mlp.arguments)
    assert_equal(compressed(*arguments), jax.jit(original)(*arguments))
    assert "primal-results=2 " in fake_tool.pipelines[0]


@pytest.mark.parametrize(
    ("returns", "primal_results", "message"),
    [
        (lambda v, g: (v, g), 2, r"primal_results=2 leaves no gradient.*tuple of 2"),
        (lambda v, g: (v, None), 1, r"primal_results=1 leaves no gradient"),
        (
            lambda v, g: {"loss": v, "gradient": g},
            1,
            r"returns a dict; act needs",
        ),
        (lambda v, g: g, 1, r"returns a ArrayImpl|returns a int"),
    ],
)
def test_wrong_primal_count(fake_tool, returns, primal_results, message):
    def step(w):
        return returns(*jax.value_and_grad(lambda w: jnp.sum(w * w))(w))

    with pytest.raises(act.ActStepError, match=message):
        act.compress(step, primal_results=primal_results)(jnp.ones(8))


def test_no_gradient(make_fake_tool):
    make_fake_tool(backward=0)
    step = act.compress(lambda x: (jnp.sum(x), x + 1))
    with pytest.raises(act.ActStepError, match="computes no gradient"):
        step(jnp.ones(4))


def test_a_gradient_without_saved_values_is_one(fake_tool):
    weights = jnp.arange(4.0)
    loss, gradient = act.value_and_grad(jnp.sum)(weights)
    assert loss == 6
    assert_equal(gradient, jnp.ones(4))


def sgd(parameters, batch, rate):
    def loss(w):
        return jnp.mean((batch @ w) ** 2)

    value, gradient = jax.value_and_grad(loss)(parameters)
    return value, parameters - rate * gradient


@pytest.mark.parametrize("how", ["argnums", "argnames", "jitted"])
@pytest.mark.parametrize("by_name", [False, True])
def test_donation(fake_tool, how, by_name):
    step = {
        "argnums": lambda: act.compress(sgd, donate_argnums=0),
        "argnames": lambda: act.compress(sgd, donate_argnames="parameters"),
        "jitted": lambda: act.compress(
            jax.jit(sgd, donate_argnums=0, donate_argnames="parameters")
        ),
    }[how]()
    parameters, batch = jnp.ones((64, 64)), jnp.ones((8, 64))
    if by_name:
        args, kwargs = (), {"batch": batch, "rate": 0.1, "parameters": parameters}
    else:
        args, kwargs = (parameters, batch, 0.1), {}
    statistics = step.lower(*args, **kwargs).compile().memory_analysis()
    assert statistics.alias_size_in_bytes == parameters.nbytes
    step(*args, **kwargs)
    assert parameters.is_deleted()
    assert not batch.is_deleted()


def test_without_donation_arguments_survive(fake_tool):
    parameters = jnp.ones((64, 64))
    act.compress(sgd)(parameters, jnp.ones((8, 64)), 0.1)
    assert not parameters.is_deleted()


def power(x, exponent, *, scale=1):
    return jax.value_and_grad(lambda x: scale * jnp.sum(x**exponent))(x)


@pytest.mark.parametrize(
    "static",
    [
        {"static_argnums": 1},
        {"static_argnames": "exponent"},
        {"static_argnames": ("exponent", "scale")},
        {"static_argnums": 1, "static_argnames": ["exponent", "scale"]},
    ],
)
def test_static_arguments(fake_tool, static):
    step = act.compress(power, **static)
    x = jnp.arange(1.0, 5)
    for _ in range(2):
        assert_equal(step(x, 2), power(x, 2))
        assert_equal(step(x, exponent=3), power(x, 3))
        assert_equal(step(x, 3, scale=2), power(x, 3, scale=2))
    assert fake_tool.calls == 3


def test_static_position_from_the_end(fake_tool):
    step = act.compress(lambda n, x: power(x, n), static_argnums=-2)
    x = jnp.arange(1.0, 5)
    assert_equal(step(2, x), power(x, 2))
    assert_equal(step(3, x), power(x, 3))
    assert fake_tool.calls == 2


def test_static_arguments_of_a_jitted_step(fake_tool):
    x = jnp.arange(1.0, 5)
    jitted = jax.jit(power, static_argnums=1)
    for options in ({}, {"static_argnums": 1}, {"donate_argnums": 0}):
        assert_equal(act.compress(jitted, **options)(x + 0, 2), power(x, 2))


def test_unhashable_static_argument(fake_tool):
    step = act.compress(power, static_argnums=1)
    with pytest.raises(act.ActOptionError, match="static argument 1 must be hashable"):
        step(jnp.ones(4), [2])
    with pytest.raises(act.ActOptionError, match=r"must be hashable, got tuple"):
        step(jnp.ones(4), ([2],))


def test_keyword_arguments(fake_tool, mlp):
    step = act.value_and_grad(mlp.loss)
    expected = step(*mlp.arguments)
    assert_equal(step(mlp.parameters, batch=mlp.batch), expected)
    assert_equal(step(mlp.parameters, batch=mlp.batch), expected)
    assert fake_tool.calls == 2


def dropout_loss(w, x, key):
    return jnp.sum(jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x * w, 0.0))


@pytest.mark.parametrize("make_key", [jax.random.key, jax.random.PRNGKey])
def test_keys(fake_tool, make_key):
    w, x = jnp.ones(16), jnp.arange(64.0).reshape(4, 16)
    step = act.value_and_grad(dropout_loss)
    expected = jax.jit(jax.value_and_grad(dropout_loss))
    for seed in range(2):
        assert_equal(step(w, x, make_key(seed)), expected(w, x, make_key(seed)))
    assert fake_tool.calls == 2  # masks may be drawn again


def test_inside_jit_scan_and_remat(fake_tool):
    step = act.compress(sgd)
    batches = jnp.arange(64.0).reshape(4, 2, 8) / 64

    def train(f, parameters):
        def body(parameters, batch):
            loss, parameters = f(parameters, batch, 0.1)
            return parameters, loss

        return jax.lax.scan(body, parameters, batches)

    got = jax.jit(lambda p: train(step, p))(jnp.eye(8))
    assert_equal(got, jax.jit(lambda p: train(sgd, p))(jnp.eye(8)))
    assert fake_tool.calls == 1


@pytest.mark.parametrize(
    "differentiate",
    [
        lambda f: jax.grad(lambda w: f(w)[0]),
        lambda f: jax.grad(lambda w: jax.jit(f)(w)[0]),
        lambda f: lambda w: jax.jvp(f, (w,), (w,)),
        lambda f: lambda w: jax.vjp(f, w),
        lambda f: jax.jit(jax.hessian(lambda w: f(w)[0])),
    ],
)
def test_differentiating_a_compressed_step(fake_tool, differentiate):
    step = act.value_and_grad(lambda w: jnp.sum(jnp.tanh(w)))
    with pytest.raises(act.ActStepError, match=r"cannot be differentiated.*act\.compr"):
        differentiate(step)(jnp.ones(4))
    step(jnp.ones(4))


def test_vmap_over_a_compressed_step(fake_tool):
    step = act.value_and_grad(lambda w: jnp.sum(jnp.tanh(w)))
    with pytest.raises(act.ActStepError, match=r"cannot transform.*jax\.vmap"):
        jax.vmap(step)(jnp.ones((2, 4)))


def test_x64_is_another_step(fake_tool):
    step = act.value_and_grad(lambda w: jnp.sum(jnp.tanh(w)))
    assert step(np.ones(4))[1].dtype == jnp.float32
    with jax.enable_x64(True):
        assert step(np.ones(4))[1].dtype == jnp.float64
    assert fake_tool.calls == 2


@pytest.mark.parametrize("as_it_is", [191, 190])
def test_full_search_keeps_the_smallest(fake_tool, mlp, monkeypatch, as_it_is):
    sizes = iter([300, 200, 190, 200, as_it_is])
    monkeypatch.setattr("act.options.CUTS", ("sink",))
    monkeypatch.setattr("act.options._FULL_RECOMPUTES", ("none", "batch"))
    monkeypatch.setattr("act.rewrite.xla.temp_bytes", lambda _: next(sizes, 1))
    step = act.value_and_grad(mlp.loss, search="full")
    report = step.report(*mlp.arguments)
    assert report.configuration == "bits=4 window=3 cut=sink recompute=none"
    assert list(report.candidates.values()) == [300, 200, 190, 200, as_it_is]
    assert fake_tool.calls == 4
    # The tool leaves a comment with the pipeline.
    is_untouched = "act-compress" not in step.mlir(*mlp.arguments)
    assert is_untouched == (as_it_is == 190)
    assert (report.untouched or "").startswith("every") == is_untouched


@pytest.mark.parametrize(
    ("sizes", "recompute"),
    [
        ([1000, 909], "none"),  # less than a tenth smaller
        ([1000, 890], "growing"),
        ([1001], "none"),  # 100 bytes of saves are less than a tenth
    ],
)
def test_default_search_wants_a_tenth(fake_tool, mlp, monkeypatch, sizes, recompute):
    candidates = [(1, "sink", "none"), (1, "sink", "growing")]
    monkeypatch.setattr("act.options.DEFAULT_CANDIDATES", candidates)
    remaining = iter(sizes)
    monkeypatch.setattr("act.rewrite.xla.temp_bytes", lambda _: next(remaining, 1))
    report = act.value_and_grad(mlp.loss).report(*mlp.arguments)
    assert report.configuration == f"bits=4 window=1 cut=sink recompute={recompute}"
    assert list(report.candidates.values()) == sizes
    assert fake_tool.calls == 2


def bf16_loss(w):
    return jnp.sum(jnp.tanh(w).astype(jnp.float32))


def test_bf16_warns_once(fake_tool, monkeypatch):
    monkeypatch.delenv("XLA_FLAGS", raising=False)
    step = act.value_and_grad(bf16_loss)
    with pytest.warns(act.ActWarning, match="exact_bf16=True"):
        step(jnp.ones(4, jnp.bfloat16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(jnp.ones(8, jnp.bfloat16))


def test_f32_and_exact_bf16_do_not_warn(fake_tool, monkeypatch):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        act.value_and_grad(bf16_loss)(jnp.ones(4))
        exact = act.value_and_grad(bf16_loss, exact_bf16=True)
        exact(jnp.ones(4, jnp.bfloat16))
        monkeypatch.setenv("XLA_FLAGS", "--xla_allow_excess_precision=false")
        act.value_and_grad(bf16_loss)(jnp.ones(4, jnp.bfloat16))


def test_exact_bf16_keeps_roundings(fake_tool):
    def loss(w):
        short = (w * jnp.bfloat16(1.01)) * jnp.bfloat16(0.99)
        return jnp.sum(short.astype(jnp.float32))

    w = jnp.linspace(0.1, 3, 64, dtype=jnp.bfloat16)
    original = jax.jit(
        jax.value_and_grad(loss), compiler_options=xla.EXACT_SHORT_FLOATS
    )
    assert_equal(act.value_and_grad(loss, exact_bf16=True)(w), original(w))


@pytest.mark.parametrize(
    ("flags", "off"),
    [
        ("", False),
        ("--xla_allow_excess_precision=false", True),
        ("--xla_allow_excess_precision=true", False),
        ("--a=1 --xla_allow_excess_precision=0", True),
        (
            "--xla_allow_excess_precision=false --xla_allow_excess_precision=true",
            False,
        ),
    ],
)
def test_excess_precision_flag(monkeypatch, flags, off):
    monkeypatch.setenv("XLA_FLAGS", flags)
    assert xla.excess_precision_is_off() is off


def test_module_with_locations_reaches_the_tool(fake_tool, mlp):
    text = act.value_and_grad(mlp.loss).mlir(*mlp.arguments)
    assert "transpose(jvp" in text
    assert '"stablehlo.dot_general"(' in text
    assert stablehlo.operation_count(text) > 10


def test_module_that_jaxlib_rejects(make_fake_tool, mlp):
    make_fake_tool(output='"builtin.module"() ({ nonsense }) : () -> ()')
    with pytest.raises(act.ActStepError, match="jaxlib does not accept the module"):
        act.value_and_grad(mlp.loss)(*mlp.arguments)


def test_threads_share_one_compilation(fake_tool, mlp):
    from concurrent.futures import ThreadPoolExecutor

    step = act.value_and_grad(mlp.loss)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(lambda _: step(*mlp.arguments)[0], range(4)))
    assert fake_tool.calls == 1
    assert len({float(result) for result in results}) == 1

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loops that act-opt makes of linear attention, on XLA, against the recurrence."""

import dataclasses

import jax
import numpy as np
import pytest
import reference_attention as reference
from attention_runner import DTYPES, element, run, temporary_bytes
from reference_attention import Case, Tensors

#: Relative errors in the root mean square, by element type of rows.
TOLERANCES = {"f64": 1e-13, "f32": 1e-6, "f16": 1e-3, "bf16": 5e-3}


@pytest.fixture(autouse=True)
def _doubles():
    with jax.enable_x64(True):
        yield


def error(got: np.ndarray, want: np.ndarray) -> float:
    """RMS of the difference over RMS of what is wanted."""
    difference = got.astype(np.float64) - want
    return np.sqrt(np.mean(difference**2) / max(np.mean(want**2), 1e-60))


def draw(case: Case, seed: int = 0) -> tuple[Tensors, Tensors]:
    """Inputs and cotangents, rounded to the types that the call takes."""
    rng = np.random.default_rng(seed)
    tensors = {name: rng.standard_normal(s) for name, s in case.shapes.items()}
    if "key_sum" in tensors:
        tensors["key_sum"] = np.abs(tensors["key_sum"]) + 1
    if "decay" in tensors:
        tensors["decay"] = -np.abs(tensors["decay"]) / 3
    for name in tensors:
        dtype = DTYPES[element(case, name)]
        tensors[name] = tensors[name].astype(dtype).astype(np.float64)
    wanted = ("output", "state", "key_sum")
    cotangents = {
        name: rng.standard_normal(case.shapes[name])
        .astype(DTYPES[element(case, name)])
        .astype(np.float64)
        for name in wanted
        if name in case.shapes
    }
    return tensors, cotangents


def check(case: Case, tensors: Tensors, cotangents: Tensors, factor: float = 1) -> None:
    """Runs all three calls and compares."""
    limit = TOLERANCES[case.dtype] * factor
    want = reference.forward(case, tensors)
    got = run(case, "forward", tensors)
    for name, value in want.items():
        assert error(got[name], value) <= limit, ("forward", name)
    state = run(case, "state", tensors)
    for name in state:
        assert error(state[name], want[name]) <= limit, ("state", name)
    saved = {name: want[name] for name in ("output", "denominator") if name in want}
    start = tensors
    if case.state_policy == "reverse":
        start = tensors | {n: want[n] for n in ("state", "key_sum") if n in want}
    got = run(case, "grad", start | saved, cotangents)
    for name, value in reference.gradients(case, tensors, cotangents).items():
        # o, which the gradients use, has been rounded; that of decay is a sum of
        # differences that nearly cancel.
        bound = (20 if name == "decay" else 2) * limit
        assert error(got[name], value) <= bound, ("gradient", name)


def check_drawn(case: Case, factor: float = 1) -> None:
    check(case, *draw(case), factor)


@pytest.mark.parametrize("decay", ["none", "head", "token", "channel"])
@pytest.mark.parametrize("normalize", [False, True])
def test_reference_gradients_are_central_differences(decay, normalize):
    case = Case(
        length=6,
        heads=(4, 1, 2),
        decay=decay,
        normalize=normalize,
        scale=0.7,
        dtype="f64",
    )
    tensors, cotangents = draw(case)
    found = reference.gradients(case, tensors, cotangents)
    rng = np.random.default_rng(1)

    def loss(values: Tensors) -> float:
        results = reference.forward(case, values)
        return sum(np.sum(cotangents[n] * results[n]) for n in cotangents)

    for name, gradient in found.items():
        direction = rng.standard_normal(gradient.shape)
        step = 1e-5
        up = loss(tensors | {name: tensors[name] + step * direction})
        down = loss(tensors | {name: tensors[name] - step * direction})
        want = (up - down) / (2 * step)
        assert np.sum(gradient * direction) == pytest.approx(want, rel=1e-6), name


def slow(*values: object) -> object:
    """A combination that is like a quicker one."""
    return pytest.param(*values, marks=pytest.mark.slow)


LENGTHS = [
    (65, "none", True),
    (65, "head", True),
    (65, "token", True),
    (35, "channel", True),
    (1, "token", False),
    (15, "none", False),
    *(
        slow(length, decay, normalize)
        for length in (1, 15, 63, 65, 500)
        for decay in ("none", "head", "token", "channel")
        for normalize in (False, True)
    ),
]


@pytest.mark.parametrize(("length", "decay", "normalize"), LENGTHS)
def test_lengths(length, decay, normalize):
    check_drawn(
        Case(
            length=length,
            decay=decay,
            normalize=normalize,
            scale=0.37,
            epsilon=1e-3 if normalize else 0.0,
            row=7,
            value=4,
        ),
        factor=2 if length == 500 else 1,
    )


@pytest.mark.parametrize(
    "feature_map", ["identity", "relu", "elu_plus_one", "square", "exp", "favor_plus"]
)
@pytest.mark.parametrize("decay", ["none", slow("channel")])
def test_feature_maps(feature_map, decay):
    check_drawn(
        Case(
            length=65,
            feature_map=feature_map,
            directions=9 if feature_map == "favor_plus" else 0,
            normalize=feature_map != "identity",
            decay=decay,
            chunk=16,
            scale=0.5,
            epsilon=0.25 if feature_map != "identity" else 0.0,
        ),
        factor=2,
    )


HEADS = [(4, 1, 2), (4, 2, 1), (6, 2, 2), (1, 4, 4), (2, 2, 4), (2, 4, 2), (1, 1, 3)]


@pytest.mark.parametrize(
    ("heads", "decay"),
    [
        *((heads, "token") for heads in HEADS),
        ((6, 2, 2), "channel"),
        *(slow(h, decay) for h in HEADS for decay in ("none", "head", "channel")),
    ],
)
def test_grouped_heads(heads, decay):
    check_drawn(Case(heads=heads, decay=decay, chunk=8, scale=0.5))


@pytest.mark.parametrize("heads", [(4, 1, 2), (1, 1, 3)])
def test_grouped_heads_with_random_features(heads):
    check_drawn(Case(heads=heads, feature_map="favor_plus", directions=6, chunk=8))


@pytest.mark.parametrize(
    ("dtype", "decay"),
    [
        ("f64", "token"),
        ("bf16", "channel"),
        ("f16", "none"),
        *(slow(d, a) for d in ("f64", "bf16") for a in ("none", "head")),
        slow("f64", "channel"),
    ],
)
def test_element_types(dtype, decay):
    check_drawn(Case(length=65, dtype=dtype, decay=decay, row=8, value=8))


@pytest.mark.parametrize(
    ("decay", "chunk"),
    [
        ("token", 1),
        ("head", 3),
        ("none", 1000),
        *(slow(d, c) for d in ("none", "channel") for c in (1, 3, 16, 33)),
    ],
)
def test_chunks_change_nothing(decay, chunk):
    check_drawn(Case(decay=decay, chunk=chunk))


@pytest.mark.parametrize("low", [-1e4, -np.inf, slow(-5.0), slow(-60.0)])
@pytest.mark.parametrize("decay", ["head", "token", "channel"])
def test_extreme_decays(decay, low):
    case = Case(length=70, decay=decay, row=4, value=4)
    tensors, cotangents = draw(case)
    chosen = np.random.default_rng(2).random(tensors["decay"].shape) < 0.2
    if decay == "head":
        chosen = np.array([True, False])
    tensors["decay"] = np.where(chosen, low, tensors["decay"])
    check(case, tensors, cotangents)


@pytest.mark.parametrize(
    ("decay", "segment", "feature_map"),
    [
        ("none", 20, "favor_plus"),
        ("head", 16, "elu_plus_one"),
        ("token", 1, "elu_plus_one"),
        ("channel", 1000, "elu_plus_one"),
        *(slow(a, s, "favor_plus") for a in ("head", "channel") for s in (16, 32)),
    ],
)
def test_checkpoints_change_nothing(decay, segment, feature_map):
    case = Case(
        length=70,
        decay=decay,
        chunk=8,
        feature_map=feature_map,
        directions=6 if feature_map == "favor_plus" else 0,
    )
    kept = dataclasses.replace(case, state_policy="checkpoint", segment=segment)
    tensors, cotangents = draw(case)
    saved = reference.forward(case, tensors)
    saved = tensors | {n: saved[n] for n in ("output", "denominator")}
    want = run(case, "grad", saved, cotangents)
    got = run(kept, "grad", saved, cotangents)
    for name, value in want.items():
        # The same operations, of which XLA makes other kernels: a unit in the last
        # place here and there.
        assert error(got[name], value.astype(np.float64)) <= 2e-7, name


@pytest.mark.parametrize("feature_map", ["square", "favor_plus"])
@pytest.mark.parametrize("normalize", [False, True])
def test_reverse(feature_map, normalize):
    check_drawn(
        Case(
            length=70,
            feature_map=feature_map,
            directions=6 if feature_map == "favor_plus" else 0,
            normalize=normalize,
            state_policy="reverse",
            chunk=16,
        ),
        factor=20,  # see the text of #act.reverse
    )


@pytest.mark.parametrize("feature_map", ["square", "favor_plus"])
def test_subtracting_undoes_adding(feature_map):
    case = Case(
        length=70,
        feature_map=feature_map,
        directions=6 if feature_map == "favor_plus" else 0,
        chunk=16,
    )
    tensors, _ = draw(case)
    end = run(case, "state", tensors)
    back = run(dataclasses.replace(case, subtract=True), "state", tensors | end)
    for name, value in back.items():
        assert error(value, tensors[name]) <= 2e-5, name


@pytest.mark.parametrize(
    ("decay", "feature_map"),
    [
        ("none", "favor_plus"),
        ("head", "elu_plus_one"),
        ("token", "elu_plus_one"),
        ("channel", "elu_plus_one"),
        slow("channel", "favor_plus"),
    ],
)
def test_a_sequence_can_be_cut(decay, feature_map):
    directions = 6 if feature_map == "favor_plus" else 0
    whole = Case(
        length=50, decay=decay, chunk=8, feature_map=feature_map, directions=directions
    )
    tensors, cotangents = draw(whole)
    want = run(whole, "forward", tensors)
    gradient = run(whole, "grad", tensors | want | _states(tensors), cotangents)
    cuts = [(0, 21), (21, 50)]
    parts, state = [], _states(tensors)
    for begin, end in cuts:
        part = dataclasses.replace(whole, length=end - begin)
        found = run(part, "forward", _cut(whole, tensors, begin, end) | state)
        parts.append((part, begin, end, state, found))
        state = _states(found)
    for name, value in _states(want).items():
        assert error(state[name], value.astype(np.float64)) <= 1e-6, name
    outputs = np.concatenate([found["output"] for *_, found in parts], 1)
    assert error(outputs, want["output"].astype(np.float64)) <= 1e-6

    after = _states(cotangents)
    collected: list[Tensors] = []
    for part, begin, end, state, found in reversed(parts):
        given = {"output": cotangents["output"][:, begin:end]} | after
        inputs = _cut(whole, tensors, begin, end) | found | state
        collected.append(run(part, "grad", inputs, given))
        after = _states(collected[-1])
    collected.reverse()
    for name, value in gradient.items():
        if name in ("state", "key_sum"):
            got = after[name]
        elif name == "decay" and decay == "head":
            got = sum(part[name] for part in collected)
        else:
            got = np.concatenate([part[name] for part in collected], 1)
        assert error(got, value.astype(np.float64)) <= 2e-6, name


def _states(tensors: Tensors) -> Tensors:
    return {name: tensors[name] for name in ("state", "key_sum")}


def _cut(case: Case, tensors: Tensors, begin: int, end: int) -> Tensors:
    """The tokens `begin` to `end` of what has tokens."""
    names = ["query", "key", "value"]
    if case.decay in ("token", "channel"):
        names.append("decay")
    return tensors | {name: tensors[name][:, begin:end] for name in names}


def test_random_features_far_from_one():
    """Exponents whose exponentials overflow or vanish in f32."""
    for shift in (-60.0, 0.0, 60.0):
        case = Case(length=40, feature_map="favor_plus", directions=8, chunk=8)
        tensors, cotangents = draw(case)
        # w . x moves by `shift` for every row and direction.
        tensors["key"][..., 0] = 1
        tensors["features"][:, 0] += shift
        tensors["query"][..., 0] = 0
        tensors["state"][:] = 0
        tensors["key_sum"][:] = 0
        cotangents["state"][:] = 0
        cotangents["key_sum"][:] = 0
        for values in (tensors, cotangents):
            for name in values:
                values[name] = values[name].astype(np.float32).astype(np.float64)
        want = reference.forward(case, tensors)
        got = run(case, "forward", tensors)
        assert error(got["output"], want["output"]) <= 5e-6
        saved = {name: want[name] for name in ("output", "denominator")}
        got = run(case, "grad", tensors | saved, cotangents)
        wanted = reference.gradients(case, tensors, cotangents)
        for name in ("query", "key", "value"):
            # Of gradients of rows, sums over directions of up to 60 that cancel.
            limit = 2e-5 if name == "value" else 1e-3
            assert error(got[name], wanted[name]) <= limit, (shift, name)


def test_no_tokens():
    case = Case(length=0, decay="head", normalize=True)
    tensors, cotangents = draw(case)
    for kind in ("forward", "state"):
        got = run(case, kind, tensors)
        np.testing.assert_array_equal(got["state"], tensors["state"].astype(np.float32))
    saved = {"output": tensors["output"], "denominator": tensors["denominator"]}
    got = run(case, "grad", tensors | saved, cotangents)
    np.testing.assert_array_equal(got["state"], cotangents["state"].astype(np.float32))
    np.testing.assert_array_equal(got["decay"], np.zeros(2, np.float32))


@pytest.mark.parametrize("decay", ["none", "head", "token", "channel"])
@pytest.mark.parametrize("kind", ["forward", "grad"])
def test_memory_does_not_grow(decay, kind):
    short, long = (
        Case(
            length=length,
            batch=1,
            heads=(8, 8, 8),
            row=64,
            value=64,
            decay=decay,
            feature_map="square",
        )
        for length in (8192, 32768)
    )
    # Factors of pairs of tokens for each channel take most of it.
    limit = 2**21 if decay == "channel" else 2**20
    assert temporary_bytes(long, kind) <= limit
    # What a decay per head keeps of each chunk: two numbers per head.
    slack = 2**16 if decay == "head" else 2**10
    assert temporary_bytes(long, kind) <= temporary_bytes(short, kind) + slack

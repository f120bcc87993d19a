# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPU kernels of linear attention, as PTX on the emulator, against the recurrence.

The emulator checks bounds, alignment, races and divergence meanwhile.
"""

import dataclasses

import gpu_attention_runner as runner
import numpy as np
import pytest
import reference_attention as reference
from attention_runner import DTYPES, element
from reference_attention import Case, Tensors

pytestmark = pytest.mark.skipif(
    not runner.LIBRARY.is_file(), reason="needs the emulator, libact_gpu_emu.so"
)

#: Relative errors in the root mean square, by element type of rows: of outputs and
#: states, and of gradients, which are differences that cancel in part, of rows
#: and o that are rounded to the type.
TOLERANCES = {"f32": (1e-6, 3e-6), "f16": (1e-3, 2e-3), "bf16": (5e-3, 1.5e-2)}
#: The gradient of decay is a sum over tokens of differences.
DECAY_FACTOR = 7


def error(got: np.ndarray, want: np.ndarray) -> float:
    """RMS of the difference over RMS of what is wanted."""
    difference = got.astype(np.float64) - want
    return np.sqrt(np.mean(difference**2) / max(np.mean(want**2), 1e-60))


def draw(case: Case, seed: int = 0) -> tuple[Tensors, Tensors]:
    """Inputs and cotangents, rounded to the types that the operation takes."""
    rng = np.random.default_rng(seed)

    def rounded(name: str, values: np.ndarray) -> np.ndarray:
        return values.astype(DTYPES[element(case, name)]).astype(np.float64)

    tensors = {name: rng.standard_normal(s) for name, s in case.shapes.items()}
    if "key_sum" in tensors:
        tensors["key_sum"] = np.abs(tensors["key_sum"]) + 1
    if "decay" in tensors:
        tensors["decay"] = -np.abs(tensors["decay"]) / 3
    tensors = {name: rounded(name, values) for name, values in tensors.items()}
    wanted = ("output", "state", "key_sum")
    cotangents = {
        name: rounded(name, rng.standard_normal(case.shapes[name]))
        for name in wanted
        if name in case.shapes
    }
    return tensors, cotangents


def gradient_inputs(case: Case, tensors: Tensors) -> Tensors:
    """`tensors` with what forward saves."""
    want = reference.forward(case, tensors)
    saved = {n: want[n] for n in ("output", "denominator") if n in want}
    if case.state_policy == "reverse":
        saved |= {n: want[n] for n in ("state", "key_sum") if n in want}
    return tensors | saved


def check(case: Case, segments: int = 1) -> None:
    """Runs all three operations and compares."""
    tensors, cotangents = draw(case)
    limit, gradient_limit = TOLERANCES[case.dtype]
    want = reference.forward(case, tensors)
    got = runner.run(case, "forward", tensors, segments=segments)
    assert set(got) == set(want)
    for name, value in want.items():
        assert error(got[name], value) <= limit, ("forward", name)
    state = runner.run(case, "state", tensors, segments=segments)
    for name, value in state.items():
        wanted = 2 * tensors[name] - want[name] if case.subtract else want[name]
        assert error(value, wanted) <= limit, ("state", name)
    want = reference.gradients(case, tensors, cotangents)
    inputs = gradient_inputs(case, tensors)
    got = runner.run(case, "grad", inputs, cotangents, segments=segments)
    assert set(got) == set(want)
    for name, value in want.items():
        factor = DECAY_FACTOR if name == "decay" else 1
        assert error(got[name], value) <= gradient_limit * factor, ("grad", name)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("length", [1, 63, 64, 65, 200])
def test_lengths(length, dtype):
    """Chunks that are full, and one that is not."""
    check(Case(length=length, batch=1, row=16, value=8, dtype=dtype))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize(("row", "value"), [(5, 3), (17, 70), (72, 24)])
def test_sizes(row, value, dtype):
    """Odd sizes and several tiles of columns."""
    check(Case(length=70, batch=1, heads=(1, 1, 1), row=row, value=value, dtype=dtype))


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("feature_map", ["identity", "relu", "square", "exp"])
def test_feature_maps(feature_map, dtype):
    """The default one is that of the other tests."""
    normalize = feature_map not in ("identity", "relu")
    check(
        Case(
            length=33,
            batch=1,
            feature_map=feature_map,
            normalize=normalize,
            scale=0.5,
            epsilon=1e-2,
            dtype=dtype,
        )
    )


@pytest.mark.parametrize("segments", [1, 2])
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("decay", ["head", "token", "channel"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_decays(decay, normalize, segments, dtype):
    """All kinds of decay, within a sequence and from segment to segment."""
    check(
        Case(
            length=80,
            batch=2,
            heads=(1, 1, 1),
            row=6,
            value=5,
            decay=decay,
            normalize=normalize,
            dtype=dtype,
        ),
        segments,
    )


@pytest.mark.parametrize("heads", [(4, 2, 2), (2, 1, 2), (1, 1, 2), (2, 2, 1)])
@pytest.mark.parametrize("decay", ["none", "token"])
def test_shared_heads(heads, decay):
    """Grouped queries, and heads that share keys or values."""
    check(Case(length=70, batch=1, heads=heads, decay=decay), segments=2)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_subtract(dtype):
    """States without the tokens, and gradients from the final state."""
    check(Case(length=65, subtract=True, state_policy="reverse", dtype=dtype))


@pytest.mark.parametrize("decay", ["token", "channel"])
@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_resets(decay, dtype):
    """What came before does not count, nor makes it NaN."""
    case = Case(length=70, batch=1, decay=decay, dtype=dtype)
    tensors, cotangents = draw(case)
    for token, value in ((20, -np.inf), (33, -1e5), (64, -np.inf)):
        tensors["decay"][:, token] = value
    limit, gradient_limit = TOLERANCES[dtype]
    want = reference.forward(case, tensors)
    got = runner.run(case, "forward", tensors)
    for name, value in want.items():
        assert error(got[name], value) <= limit, name
    want = reference.gradients(case, tensors, cotangents)
    got = runner.run(case, "grad", gradient_inputs(case, tensors), cotangents)
    for name in set(want) - {"decay"}:
        assert error(got[name], want[name]) <= gradient_limit, name
    assert np.isfinite(got["decay"]).all()


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
@pytest.mark.parametrize("name", ["query", "key", "value"])
def test_nan(name, dtype):
    """A NaN reaches later tokens and no earlier chunk."""
    case = Case(length=140, batch=1, heads=(1, 1, 1), dtype=dtype)
    tensors, _ = draw(case)
    tensors[name][:, 100] = np.nan
    got = runner.run(case, "forward", tensors)
    output = np.isnan(got["output"].astype(np.float64))
    assert not output[:, :64].any()
    assert output[:, 100].all()
    if name != "query":
        assert output[:, 101:].all()
        assert np.isnan(got["state"]).any()


@pytest.mark.parametrize("kind", ["forward", "grad"])
@pytest.mark.parametrize(
    "case",
    [
        Case(length=130, batch=1, row=16, value=8, dtype="bf16", decay="token"),
        Case(length=70, batch=1, dtype="f32", decay="channel"),
    ],
)
def test_schedules(case, kind):
    """The order in which threads run makes no difference."""
    tensors, cotangents = draw(case)
    inputs = gradient_inputs(case, tensors)
    found = [
        runner.run(case, kind, inputs, cotangents, segments=2, schedule=schedule)
        for schedule in ("forward", "reverse", "random:7")
    ]
    for name, value in found[0].items():
        for other in found[1:]:
            assert value.tobytes() == other[name].tobytes(), name


def test_policies():
    """Checkpoints are the same kernels."""
    case = Case(length=65, batch=1)
    tensors, cotangents = draw(case)
    inputs = gradient_inputs(case, tensors)
    other = dataclasses.replace(case, state_policy="checkpoint", segment=32)
    left = runner.run(case, "grad", inputs, cotangents)
    right = runner.run(other, "grad", inputs, cotangents)
    for name, value in left.items():
        assert value.tobytes() == right[name].tobytes(), name

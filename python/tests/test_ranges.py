# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Running ranges on XLA, against NumPy: the update, the codes, single saves."""

import functools
from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest
import reference_encodings as reference
from encoding_runner import Save, compile_module, lower, private_function, salt

BF16 = np.dtype(ml_dtypes.bfloat16)
F16 = np.dtype(np.float16)
F32 = np.dtype(np.float32)

#: Shape, element type, axis, bits, rounding.
CASES = [
    ((3, 5, 7), F32, 1, 8, "stochastic"),
    ((3, 5, 7), BF16, 0, 4, "stochastic"),
    ((2, 3, 5, 11), F32, 3, 4, "nearest"),
    ((13,), F16, 0, 2, "stochastic"),
    ((1, 9), F32, 1, 1, "stochastic"),
    ((4, 1, 33), F16, 1, 8, "nearest"),
]


def program(save: Save, axis: int, decay: float) -> str:
    """`main(tensor, state) -> (tensor as loaded, next, range)`."""
    ranges = f"tensor<2x{save.shape[axis]}xf32>"
    return f"""
      func.func public @main(%x: {save.tensor}, %s: {ranges})
          -> ({save.tensor}, {ranges}, {ranges}) {{
        %n, %r = act.update_range %x, %s axis {axis} decay {decay}
            : {save.tensor}, {ranges}
        %c = act.compressed_save %x range(%r : {ranges}) {{id = {save.id} : i64}}
            : {save.tensor} to {save.compressed}
        %y = act.dequantize_load %c : {save.compressed} to {save.tensor}
        return %y, %n, %r : {save.tensor}, {ranges}, {ranges}
      }}"""


def save_of(shape: tuple, dtype: np.dtype, axis: int, bits: int, rounding: str) -> Save:
    fields = f"bits = {bits}, axis = {axis}, rounding = {rounding}, range = running"
    return Save(shape, dtype, f"axis_quant<{fields}>", 3)


@functools.cache
def compiled(save: Save, axis: int, decay: float) -> Callable:
    return compile_module(lower(program(save, axis, decay)))


@functools.cache
def encoder(save: Save, axis: int) -> Callable:
    """`(tensor[, salt], range) -> storage`."""
    text = lower(program(save, axis, 0.9))
    return compile_module(private_function(text, "act_save"))


def follow(save: Save, axis: int, tensors: list, decay: float = 0.9) -> list:
    """Runs one save on tensors in turn; returns (value, next, range) of each."""
    state = np.full((2, save.shape[axis]), np.nan, np.float32)
    results = []
    for tensor in tensors:
        outputs = compiled(save, axis, decay)(tensor, state)
        results.append(tuple(np.asarray(output) for output in outputs))
        state = results[-1][1]
    return results


def batches(seed: int, shape: tuple, dtype: np.dtype, count: int) -> list:
    """Values of ranges that differ between indices and change from step to step."""
    rng = np.random.default_rng(seed)
    scale = rng.uniform(0.1, 10, shape)
    return [
        (
            rng.standard_normal(shape) * scale * rng.uniform(0.5, 2) + rng.normal()
        ).astype(dtype)
        for _ in range(count)
    ]


def assert_close(got: np.ndarray, want: np.ndarray) -> None:
    """Equal but for the last bits of sums of numbers of this size."""
    largest = np.nanmax(np.abs(want), initial=0)
    np.testing.assert_allclose(got, want, rtol=0, atol=3e-7 * largest)


@pytest.mark.parametrize("case", CASES)
def test_update_follows_the_batches(case: tuple) -> None:
    shape, dtype, axis, *_ = case
    save = save_of(*case)
    state = np.full((2, shape[axis]), np.nan, np.float32)
    tensors = batches(0, shape, dtype, 4)
    for tensor, (_, following, used) in zip(
        tensors, follow(save, axis, tensors), strict=True
    ):
        want, want_used = reference.range_update(state, tensor, axis, 0.9)
        assert_close(following, want)
        assert_close(used, want_used)
        np.testing.assert_array_equal(following, used)
        state = following


def test_first_step_copies_the_range_of_its_batch() -> None:
    save = save_of((6, 5), F32, 1, 8, "nearest")
    (tensor,) = batches(1, (6, 5), F32, 1)
    ((_, following, _),) = follow(save, 1, [tensor])
    np.testing.assert_array_equal(following[0], tensor.max(0) - tensor.min(0))
    np.testing.assert_array_equal(following[1], tensor.min(0))


@pytest.mark.parametrize("decay", [0.0, 0.5, 0.99])
def test_decay_is_what_a_step_keeps(decay: float) -> None:
    save = save_of((2, 1), F32, 1, 8, "nearest")
    first, second = np.float32([[0], [1]]), np.float32([[10], [13]])
    (_, (_, following, _)) = follow(save, 1, [first, second], decay)
    want = np.float32([[decay * 1 + (1 - decay) * 3], [(1 - decay) * 10]])
    np.testing.assert_allclose(following, want, rtol=1e-6)


@pytest.mark.parametrize("case", CASES)
def test_codes(case: tuple) -> None:
    """Bytes, minimum and step; many values are out of range."""
    shape, dtype, axis, bits, rounding = case
    save = save_of(*case)
    tensor, other = batches(2, shape, dtype, 2)
    _, ranges = reference.range_update(
        np.full((2, shape[axis]), np.nan, np.float32), other, axis, 0.9
    )
    noise = salt(3) if rounding == "stochastic" else None
    operands = (tensor, ranges) if noise is None else (tensor, np.uint32(noise), ranges)
    packed, minimum, step = (np.asarray(p) for p in encoder(save, axis)(*operands))
    want = reference.axis_quant_running(tensor, ranges, bits, axis, noise)
    assert packed.shape == want.packed[0].shape
    assert np.all((packed == want.packed[0]) | (packed == want.packed[1]))
    np.testing.assert_array_equal(minimum, want.minimum)
    np.testing.assert_array_equal(step, want.step)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_values_out_of_range_are_clamped(bits: int) -> None:
    """To both ends, however far off: no code wraps around."""
    save = save_of((1, 7), F32, 0, bits, "stochastic")
    values = np.float32([[-1e30, -3, -0.01, 0.5, 1.01, 300, 1e30]])
    ranges = np.float32([[1], [0]])
    packed, *_ = encoder(save, 0)(values, np.uint32(salt(3)), ranges)
    codes = reference.unpack(np.asarray(packed)[0], bits, 7)
    largest = 2**bits - 1
    np.testing.assert_array_equal(codes[[0, 1, 5, 6]], [0, 0, largest, largest])
    assert codes[2] <= 1 and codes[4] >= largest - 1 and 0 <= codes[3] <= largest


def test_rounding_is_unbiased_inside_the_range() -> None:
    shape = (2048, 1)
    save = save_of(shape, F32, 1, 4, "stochastic")
    wide = np.linspace(-1, 1, 2048, dtype=np.float32).reshape(shape)
    # The noise depends on the place: each of these values stands at 2048.
    errors = []
    for target in np.linspace(-0.8, 0.8, 9, dtype=np.float32):
        values = np.full(shape, target)
        (_, (value, _, used)) = follow(save, 1, [wide, values], decay=0.99)
        step = used[0, 0] / 15
        assert np.all(np.abs(value - values) <= step * 1.001)
        errors.append(np.mean(value - values) / step)
    # The mean of 2048 draws has a deviation of at most 1/2/sqrt(2048) = 0.011.
    assert np.max(np.abs(errors)) < 0.05


@pytest.mark.parametrize("rows", [4, 300])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_bad_batches_do_not_spoil_the_state(bad: float, rows: int) -> None:
    """They decode to NaN where they are bad, and leave the state as it was."""
    save = save_of((rows, 3), F32, 1, 8, "stochastic")
    first, second, third = batches(3, (rows, 3), F32, 3)
    second[rows // 2, 1] = bad
    one, two, three = follow(save, 1, [first, second, third])
    assert np.isnan(two[0][:, 1]).all() and np.isfinite(two[0][:, [0, 2]]).all()
    np.testing.assert_array_equal(two[1][:, 1], one[1][:, 1])
    assert np.isnan(two[2][:, 1]).all()
    assert np.isfinite(three[0]).all() and np.isfinite(three[1]).all()


def test_bad_first_batch() -> None:
    """Nothing has been seen until a batch is finite."""
    save = save_of((4, 2), F32, 1, 8, "nearest")
    first, second = batches(4, (4, 2), F32, 2)
    first[0, 0] = np.inf
    one, two = follow(save, 1, [first, second])
    assert np.isnan(one[1][:, 0]).all() and np.isnan(one[0][:, 0]).all()
    np.testing.assert_array_equal(two[1][0, 0], np.ptp(second[:, 0]))


def test_too_wide_a_range_is_skipped() -> None:
    save = save_of((2, 1), F32, 1, 8, "nearest")
    fine, wide = np.float32([[0], [1]]), np.float32([[-3e38], [3e38]])
    one, two = follow(save, 1, [fine, wide])
    np.testing.assert_array_equal(one[1], two[1])
    assert np.isnan(two[0]).all()


def test_constants_are_exact() -> None:
    save = save_of((5, 3), F32, 1, 4, "stochastic")
    constant = np.broadcast_to(np.float32([0, 1.2345, -7e-20]), (5, 3)).copy()
    for value, following, _ in follow(save, 1, [constant] * 3):
        np.testing.assert_array_equal(value, constant)
        np.testing.assert_array_equal(following[0], 0)


def test_two_forwards_before_a_backward_keep_their_own_ranges() -> None:
    """What a save has stored does not change when the state goes on."""
    save = save_of((4, 3), F32, 1, 8, "nearest")
    shape, ranges = save.tensor, "tensor<2x3xf32>"
    text = f"""
      func.func public @main(%x: {shape}, %z: {shape}, %s: {ranges})
          -> ({shape}, {shape}, {ranges}) {{
        %n, %r = act.update_range %x, %s axis 1 decay 0.0 : {shape}, {ranges}
        %c = act.compressed_save %x range(%r : {ranges}) : {shape} to {save.compressed}
        %m, %q = act.update_range %z, %n axis 1 decay 0.0 : {shape}, {ranges}
        %d = act.compressed_save %z range(%q : {ranges}) {{id = 1 : i64}}
            : {shape} to {save.compressed}
        %b:3 = act.barrier %c, %d, %m : {save.compressed}, {save.compressed}, {ranges}
        %y = act.dequantize_load %b#0 : {save.compressed} to {shape}
        %w = act.dequantize_load %b#1 : {save.compressed} to {shape}
        return %y, %w, %b#2 : {shape}, {shape}, {ranges}
      }}"""
    first = np.float32(np.arange(12).reshape(4, 3))
    second = first * 1000 - 50000
    state = np.full((2, 3), np.nan, np.float32)
    outputs = compile_module(lower(text))(first, second, state)
    y, w, following = (np.asarray(output) for output in outputs)
    np.testing.assert_allclose(y, first, atol=9 / 255 / 2 * 1.01)
    np.testing.assert_allclose(w, second, atol=9000 / 255 / 2 * 1.01)
    np.testing.assert_array_equal(following[1], second.min(0))

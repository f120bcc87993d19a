# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Saves and loads lowered by act-opt and run by XLA, against NumPy.

Codes and parameters are compared bit for bit. Where XLA may or may not contract
a multiply-add, either result is accepted, byte by byte.
"""

import itertools

import jax
import ml_dtypes
import numpy as np
import pytest
import reference_encodings as reference
from encoding_runner import (
    Loaded,
    Save,
    decoder,
    encoder,
    lower,
    round_trip,
    run,
    salt,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

BF16 = np.dtype(ml_dtypes.bfloat16)
F16 = np.dtype(np.float16)
F32 = np.dtype(np.float32)
F64 = np.dtype(np.float64)
FLOATS = (F32, BF16, F16)
PARAMS = {"f32": F32, "bf16": BF16}

few_examples = settings(
    max_examples=6,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)


def group_quant(shape: tuple, dtype: np.dtype = F32, id: int = 0, **fields) -> Save:
    """A save under `#act.group_quant`."""
    text = ", ".join(f"{name} = {value}" for name, value in fields.items())
    return Save(shape, dtype, f"group_quant<{text}>", id)


def check_group_quant(
    save: Save,
    tensor: np.ndarray,
    loaded: Loaded,
    bits: int,
    group: int,
    axis: int = -1,
    merge: int = 1,
    rounding: str = "stochastic",
    params: str = "bf16",
) -> None:
    """Checks storage, decoded value and error of one save."""
    layout = {"group": group, "axis": axis, "merge": merge}
    noise = salt(save.id) if rounding == "stochastic" else None
    want = reference.group_quant(
        tensor, bits, params=PARAMS[params], salt=noise, **layout
    )
    codes, minimum, step = loaded.storage
    assert minimum.dtype == step.dtype == PARAMS[params]
    np.testing.assert_array_equal(*(a.astype(np.float32) for a in (step, want.step)))
    finite = np.isfinite(want.step.astype(np.float32))
    np.testing.assert_array_equal(minimum[finite], want.minimum[finite])
    same = (codes == want.packed[0]) | (codes == want.packed[1]) | ~finite
    assert codes.shape == want.packed[0].shape and codes.dtype == np.uint8
    assert np.all(same), f"{np.sum(~same)} of {same.size} bytes differ"

    stored = reference.Codes((codes,), minimum, step)
    plain, contracted = (
        value.astype(tensor.dtype)
        for value in reference.decode_group_quant(stored, tensor.shape, bits, **layout)
    )
    equal = (
        (loaded.value == plain)
        | (loaded.value == contracted)
        | (np.isnan(loaded.value) & np.isnan(plain))
    )
    assert loaded.value.dtype == tensor.dtype
    assert np.all(equal), f"{np.sum(~equal)} of {equal.size} values differ"
    check_bound(
        tensor,
        loaded.value,
        bits,
        rounding,
        reference.spread_params(step, tensor.shape, **layout),
        reference.spread_params(minimum, tensor.shape, **layout),
    )


def check_bound(
    tensor: np.ndarray,
    value: np.ndarray,
    bits: int,
    rounding: str,
    step: np.ndarray,
    minimum: np.ndarray,
) -> None:
    """Errors are within a step (half of one to the nearest) and some rounding."""
    largest = 2**bits - 1
    bound = step.astype(np.float64) * (0.5 if rounding == "nearest" else 1)
    scale = np.abs(minimum.astype(np.float64)) + largest * step.astype(np.float64)
    slack = max(float(ml_dtypes.finfo(tensor.dtype).eps), 2.0**-22)
    error = np.abs(value.astype(np.float64) - tensor.astype(np.float64))
    assert np.all((error <= bound + slack * scale) | np.isnan(step))


def random_tensor(seed: int, shape: tuple, dtype: np.dtype) -> np.ndarray:
    """Groups of different range: normal, shifted, constant, sparse."""
    rng = np.random.default_rng(seed)
    values = rng.standard_normal(shape) * 10.0 ** rng.integers(-3, 3)
    kind = rng.integers(0, 4)
    if kind == 1:
        values += 100 * rng.standard_normal()
    if kind == 2:
        values[...] = rng.standard_normal()
    if kind == 3:
        values[rng.random(shape) < 0.7] = 0
    return values.astype(dtype)


@st.composite
def grouped_saves(draw: st.DrawFn) -> tuple[list[Save], list[dict], int]:
    """Several saves with random shapes and encodings, and a seed of data."""
    saves, encodings = [], []
    for _ in range(6):
        rank = draw(st.integers(1, 5))
        shape = tuple(draw(st.integers(1, 4)) for _ in range(rank - 1))
        shape += (draw(st.integers(1, 90)),)
        shape = tuple(draw(st.permutations(shape))) if rank > 1 else shape
        axis = draw(st.integers(-1, rank - 1))
        fields = {
            "bits": draw(st.sampled_from([1, 2, 4, 8])),
            "group": draw(st.integers(2, 70)),
            "axis": axis,
            "merge": draw(st.integers(1, rank)) if axis == -1 else 1,
            "rounding": draw(st.sampled_from(["stochastic", "nearest"])),
            "params": draw(st.sampled_from(["f32", "bf16"])),
        }
        dtype = draw(st.sampled_from(FLOATS))
        saves.append(group_quant(shape, dtype, draw(st.integers(0, 9)), **fields))
        encodings.append(fields)
    return saves, encodings, draw(st.integers(0, 2**32))


@few_examples
@given(grouped_saves())
def test_group_quant_of_any_shape(case: tuple) -> None:
    saves, encodings, seed = case
    tensors = [
        random_tensor(seed + i, save.shape, save.dtype) for i, save in enumerate(saves)
    ]
    for save, tensor, loaded, fields in zip(
        saves, tensors, run(saves, tensors), encodings, strict=True
    ):
        check_group_quant(save, tensor, loaded, **fields)


def test_group_quant_of_default_shapes() -> None:
    """4 bits in groups of 64 and 8 bits in groups of 256, with and without tail."""
    encodings = [
        {"bits": 4, "group": 64},
        {"bits": 8, "group": 256},
        {"bits": 4, "group": 64, "merge": 2},
    ]
    shapes = [(3, 128), (2, 600), (4, 5, 50)]
    saves = [
        group_quant(shape, F32, i, **fields)
        for i, (shape, fields) in enumerate(zip(shapes, encodings, strict=True))
    ]
    tensors = [random_tensor(i, shape, F32) for i, shape in enumerate(shapes)]
    for save, tensor, loaded, fields in zip(
        saves, tensors, run(saves, tensors, seed=0), encodings, strict=True
    ):
        check_group_quant(save, tensor, loaded, **fields)


@st.composite
def axis_saves(draw: st.DrawFn) -> tuple[list[Save], list[tuple], int]:
    """Several saves under `axis_quant`, and a seed of data."""
    saves, encodings = [], []
    for _ in range(5):
        rank = draw(st.integers(1, 5))
        shape = tuple(draw(st.integers(1, 6)) for _ in range(rank))
        bits = draw(st.sampled_from([1, 2, 4, 8]))
        axis = draw(st.integers(0, rank - 1))
        rounding = draw(st.sampled_from(["stochastic", "nearest"]))
        text = f"axis_quant<bits = {bits}, axis = {axis}, rounding = {rounding}>"
        saves.append(Save(shape, draw(st.sampled_from(FLOATS)), text, 5))
        encodings.append((bits, axis, rounding))
    return saves, encodings, draw(st.integers(0, 2**32))


@few_examples
@given(axis_saves())
def test_axis_quant_of_any_shape(case: tuple) -> None:
    saves, encodings, seed = case
    tensors = [
        random_tensor(seed + i, save.shape, save.dtype) for i, save in enumerate(saves)
    ]
    results = run(saves, tensors)
    for (bits, axis, rounding), tensor, loaded in zip(
        encodings, tensors, results, strict=True
    ):
        noise = salt(5) if rounding == "stochastic" else None
        want = reference.axis_quant(tensor, bits, axis, noise)
        packed, minimum, step = loaded.storage
        assert packed.shape == want.packed[0].shape
        assert np.all((packed == want.packed[0]) | (packed == want.packed[1]))
        np.testing.assert_array_equal(minimum, want.minimum)
        np.testing.assert_array_equal(
            *(a.astype(np.float32) for a in (step, want.step))
        )
        codes = np.zeros(tensor.shape, int)
        for row in np.ndindex(*tensor.shape[:-1]):
            codes[row] = reference.unpack(packed[row], bits, tensor.shape[-1])
        plain, contracted = (
            value.astype(tensor.dtype)
            for value in reference.decode_codes(codes, minimum, step)
        )
        assert np.all((loaded.value == plain) | (loaded.value == contracted))
        check_bound(
            tensor,
            loaded.value,
            bits,
            rounding,
            np.broadcast_to(step, tensor.shape),
            np.broadcast_to(minimum, tensor.shape),
        )


@st.composite
def lossless_saves(draw: st.DrawFn) -> tuple[list[Save], list[tuple], int]:
    """Several masks and bounded integers, and a seed of data."""
    saves, encodings = [], []
    for _ in range(8):
        rank = draw(st.integers(1, 4))
        shape = tuple(draw(st.integers(1, 21)) for _ in range(rank))
        merge = draw(st.integers(1, rank))
        group = draw(st.sampled_from([0, 0, 8, 16]))
        bits = draw(st.sampled_from([1, 1, 2, 4, 8, 16]))
        layout = f"merge = {merge}, group = {group}"
        if bits == 1 and draw(st.booleans()):
            saves.append(Save(shape, np.dtype(np.bool_), f"mask<{layout}>"))
        else:
            dtype = draw(st.sampled_from([np.int32, np.uint32]))
            text = f"narrow<bits = {bits}, {layout}>"
            saves.append(Save(shape, np.dtype(dtype), text))
        encodings.append((bits, merge, group))
    return saves, encodings, draw(st.integers(0, 2**32))


@few_examples
@given(lossless_saves())
def test_mask_and_narrow_are_exact(case: tuple) -> None:
    saves, encodings, seed = case
    rng = np.random.default_rng(seed)
    tensors = [
        rng.integers(0, 2**bits, save.shape).astype(save.dtype)
        for save, (bits, *_) in zip(saves, encodings, strict=True)
    ]
    results = run(saves, tensors)
    for (bits, merge, group), tensor, loaded in zip(
        encodings, tensors, results, strict=True
    ):
        np.testing.assert_array_equal(loaded.value, tensor)
        assert loaded.value.dtype == tensor.dtype
        (stored,) = loaded.storage
        if bits < 8:
            want = reference.pack_last_axis(tensor.astype(int), bits, merge, group)
        else:
            want = tensor.astype(np.uint8 if bits == 8 else np.uint16)
        np.testing.assert_array_equal(stored, want)
        assert stored.dtype == want.dtype


FLOAT_CODES = {
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "bf16": BF16,
    "f16": F16,
}


@pytest.mark.parametrize("group", [0, 7, 32])
def test_float(group: int) -> None:
    """All types; zeros, a tail, values out of range, NaN and infinities."""
    tensor = random_tensor(1, (3, 32), F32) * np.float32([[1], [1e-9], [3e4]])
    tensor[0, :8] = 0
    tensor[1, 3], tensor[2, 5], tensor[2, 20] = np.nan, np.inf, -np.inf
    saves = [
        Save((3, 32), F32, f"float<type = {name}, group = {group}>")
        for name in FLOAT_CODES
    ]
    for loaded, dtype in zip(
        run(saves, [tensor] * len(saves)), FLOAT_CODES.values(), strict=True
    ):
        want = reference.float_code(tensor, dtype, group)
        assert [part.dtype for part in loaded.storage] == [p.dtype for p in want]
        decoded = reference.decode_float(want, tensor.shape)
        bad = ~np.isfinite(decoded)
        np.testing.assert_array_equal(np.isnan(loaded.value), bad)
        np.testing.assert_array_equal(loaded.value[~bad], decoded[~bad])
        assert np.all(bad[~np.isfinite(tensor)])
        if group == 0:
            codes = loaded.storage[0].astype(np.float32)
            np.testing.assert_array_equal(codes, want[0].astype(np.float32))


def test_raw_is_the_tensor() -> None:
    tensor = random_tensor(0, (3, 5), F32)
    tensor[0, 0] = np.nan
    (loaded,) = run([Save((3, 5), F32, "raw")], [tensor])
    np.testing.assert_array_equal(loaded.value, tensor)
    assert loaded.storage == ()


@pytest.mark.parametrize(
    "encoding",
    [
        "axis_quant<bits = 8, axis = 0>",
        "axis_quant<bits = 8, axis = 1>",
        "group_quant<bits = 8, group = 64>",
        "group_quant<bits = 8, group = 64, axis = 0>",
    ],
)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_large_ranges_lose_nothing_that_is_not_finite(
    encoding: str, bad: float
) -> None:
    """In the middle of a range long enough for XLA to reduce it by vectors."""
    tensor = random_tensor(0, (256, 64), F32)
    tensor[85, 21] = bad
    (loaded,) = run([Save((256, 64), F32, encoding)], [tensor])
    assert np.isnan(loaded.storage[2].astype(np.float32)).sum() == 1
    assert np.isnan(loaded.value[85, 21])


EXTREMES = {
    "zero": [0.0] * 8,
    "negative_zero": [-0.0, 0.0] * 4,
    "constant": [1.2345] * 8,
    "negative_constant": [-1.2345] * 8,
    "denormal": [1e-40, 0, 3e-42, -1e-41, 1e-40, 0, 0, 0],
    "small": [1e-30, 2e-30, 0, -1e-30, 3e-31, 0, 0, 0],
    "huge": [3e38, 1e38, 0, 1, 2.9e38, 1e37, 0, 0],
    "huge_negative": [-3e38, -1e38, 0, -1, -2.9e38, -1e37, 0, 0],
    "largest": [float(np.finfo(np.float32).max), 0, 1, 2, 3, 4, 5, 6],
    "lowest": [float(np.finfo(np.float32).min), 0, 1, 2, 3, 4, 5, 6],
    "wide": [1e20, 1e-20, 1, -1e10, 0, 0, 0, 0],
    "shifted": [1000.25, 1000.5, 1000.75, 1000, 1000.1, 1000.2, 1000, 1000],
}


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
def test_extremes(params: str, rounding: str) -> None:
    """Finite groups decode to finite values within the bound."""
    tensor = np.array(list(EXTREMES.values()), np.float32)
    all_bits = [1, 2, 4, 8]
    saves = [
        group_quant(tensor.shape, bits=bits, group=8, rounding=rounding, params=params)
        for bits in all_bits
    ]
    for bits, loaded in zip(all_bits, run(saves, [tensor] * 4), strict=True):
        assert np.all(np.isfinite(loaded.value))
        step = loaded.storage[2]
        width = step.astype(np.float64) * (2**bits - 1)
        part = 0.5 if rounding == "nearest" else 1.0
        # The last rows may be clamped, by no more than bf16 resolves.
        slack = 2.0**-7 * np.abs(tensor).max(axis=1, keepdims=True)
        exact = np.isin(list(EXTREMES), ["huge", "huge_negative", "largest", "lowest"])
        slack = np.where(exact[:, None], slack, 2.0**-22 * np.abs(tensor))
        error = np.abs(loaded.value.astype(np.float64) - tensor)
        bound = part * width.reshape(-1, 1) / (2**bits - 1) + slack
        assert np.all(error <= bound), np.argwhere(error > bound)
        assert np.all(loaded.value[:2] == 0)


def test_lowest_f16_stays_finite() -> None:
    """The step is rounded up, which must not decode to an infinity of f16."""
    tensor = np.array([[65504, 0, 5, 3], [-65504, 0, 5, 3], [65504] * 4], F16)
    saves = [group_quant((3, 4), F16, bits=bits, group=4) for bits in (1, 2, 4, 8)]
    for bits, loaded in zip((1, 2, 4, 8), run(saves, [tensor] * 4), strict=True):
        assert np.all(np.isfinite(loaded.value)), bits
        largest = loaded.value[2].astype(float)
        np.testing.assert_allclose(largest, 65504, rtol=2.0**-7)


def test_clamped_step_keeps_the_largest_code() -> None:
    """65504 lies beyond the last code, so noise would carry it past."""
    tensor = np.full((64, 64), 65504, F16)
    tensor[:, 0] = 0
    saves = [group_quant((64, 64), F16, bits=bits, group=64) for bits in (1, 2, 4, 8)]
    for bits, loaded in zip((1, 2, 4, 8), run(saves, [tensor] * 4), strict=True):
        assert np.all(loaded.value[:, 1:].astype(float) > 65000), bits


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_not_finite_poisons_its_group_only(bad: float) -> None:
    tensor = random_tensor(3, (4, 40), F32)
    tensor[1, 10] = bad  # first group
    tensor[2, 35] = bad  # the short last group
    tensor[3, 0] = tensor[3, 39] = bad
    poisoned = np.zeros((4, 40), bool)
    poisoned[1, :16] = poisoned[2, 32:] = poisoned[3, :16] = poisoned[3, 32:] = True
    saves = [
        group_quant((4, 40), bits=bits, group=16, params=params)
        for bits, params in itertools.product([1, 2, 4, 8], PARAMS)
    ]
    saves.append(Save((4, 40), F32, "axis_quant<bits = 4, axis = 0>"))
    *grouped, by_axis = run(saves, [tensor] * len(saves))
    for loaded in grouped:
        np.testing.assert_array_equal(np.isnan(loaded.value), poisoned)
    np.testing.assert_array_equal(
        np.isnan(by_axis.value), [[False] * 40, [True] * 40, [True] * 40, [True] * 40]
    )


def test_range_beyond_f32_decodes_to_nan() -> None:
    """A group wider than the largest f32 cannot be coded: never hidden."""
    tensor = np.array([[3e38, -3e38, 0, 1], [1, 2, 3, 4]], np.float32)
    (loaded,) = run([group_quant((2, 4), bits=4, group=4)], [tensor])
    assert np.all(np.isnan(loaded.value[0])) and np.all(np.isfinite(loaded.value[1]))


def test_f64_goes_through_f32() -> None:
    """Values beyond f32 count as infinite."""
    with jax.enable_x64(True):
        tensor = random_tensor(5, (3, 50), F64)
        tensor[1, 3] = 1e300
        fields = {"bits": 4, "group": 32}
        save = group_quant((3, 50), F64, **fields)
        integers = np.arange(50, dtype=np.int64) % 16
        loaded, narrow = run(
            [save, Save((50,), np.dtype(np.int64), "narrow<bits = 4>")],
            [tensor, integers],
        )
        check_group_quant(save, tensor, loaded, **fields)
        assert np.all(np.isnan(loaded.value[1, :32]))
        assert np.all(np.isfinite(loaded.value[[0, 2]]))
        np.testing.assert_array_equal(narrow.value, integers)


def _errors(bits: int, tensor: np.ndarray, salts: np.ndarray) -> tuple:
    """Decoded minus exact, in steps, for every salt; and the exact fractions."""
    save = group_quant(tensor.shape, bits=bits, group=64, params="f32")
    encode, decode = encoder(save), decoder(save)
    errors, storage = [], None
    for number in salts:
        storage = encode(tensor, np.uint32(number))
        (value,) = decode(*storage)
        errors.append(np.asarray(value, np.float64) - tensor)
    step = np.asarray(storage[2], np.float64).repeat(64, axis=-1)
    minimum = np.asarray(storage[1], np.float64).repeat(64, axis=-1)
    step, minimum = step.reshape(tensor.shape), minimum.reshape(tensor.shape)
    fraction = ((tensor - minimum) / step) % 1
    return np.array(errors) / step, fraction


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_decoding_is_unbiased(bits: int) -> None:
    """Over saves, over elements, and with neither correlated with the other."""
    rng = np.random.default_rng(bits)
    tensor = rng.standard_normal((32, 256)).astype(np.float32)
    salts = [salt(id, seed) for id in range(32) for seed in (0, 1, 2, 3)]
    errors, fraction = _errors(bits, tensor, salts)
    variance = fraction * (1 - fraction)
    inner = variance > 1e-3
    count, size = len(salts), inner.sum()
    # Every element over saves: squared z scores average to 1.
    z = errors.mean(axis=0)[inner] / np.sqrt(variance[inner] / count)
    assert abs(z.mean()) < 5 / np.sqrt(size)
    spread = np.sqrt(np.mean((z**2 - 1) ** 2) / size)
    assert abs(np.mean(z**2) - 1) < 5 * spread
    # Every save over its elements.
    per_save = errors[:, inner].sum(axis=1) / np.sqrt(variance[inner].sum())
    assert np.max(np.abs(per_save)) < 5
    assert abs(np.mean(per_save**2) - 1) < 5 * np.sqrt(2 / count)
    # Neighbours, rows and successive saves are independent.
    scaled = np.where(inner, errors / np.sqrt(np.maximum(variance, 1e-3)), 0)
    for axis in range(3):
        first, second = np.delete(scaled, -1, axis), np.delete(scaled, 0, axis)
        products = first * second
        assert abs(products.mean()) < 5 * products.std() / np.sqrt(products.size)


def test_equal_values_round_independently() -> None:
    """The noise of one save does not repeat where values do."""
    tensor = np.full((64, 64), 0.3, np.float32)
    tensor[:, 0], tensor[:, 1] = 0, 1
    errors, _ = _errors(4, tensor, np.array([salt(0), salt(1)]))
    rounded_up = errors[:, :, 2:] > 0
    share = 0.5  # 0.3 is 4.5 steps of 1/15
    for up in rounded_up:
        assert abs(up.mean() - share) < 5 * 0.5 / np.sqrt(up.size)
        rows = up.mean(axis=1)
        assert np.all(np.abs(rows - share) < 5 * 0.5 / np.sqrt(up.shape[1]))
    agree = (rounded_up[0] == rounded_up[1]).mean()
    assert abs(agree - 0.5) < 5 * 0.5 / np.sqrt(rounded_up[0].size)


def test_seed_and_id_change_the_noise_and_nothing_else() -> None:
    tensor = random_tensor(0, (8, 64), F32)
    saves = [group_quant((8, 64), F32, id, bits=4, group=64) for id in (0, 1)]
    first, second = run(saves, [tensor] * 2)
    (again, _), (other, _) = (run(saves, [tensor] * 2, seed) for seed in (0, 1))
    np.testing.assert_array_equal(first.storage[0], again.storage[0])
    for changed in (second, other):
        assert np.mean(first.storage[0] != changed.storage[0]) > 0.2
        np.testing.assert_array_equal(first.storage[1], changed.storage[1])
        np.testing.assert_array_equal(first.storage[2], changed.storage[2])


def test_salt_is_the_constant_of_the_call() -> None:
    save = group_quant((8, 64), F32, 11, bits=4, group=64)
    assert f"dense<{salt(11, 5)}> : tensor<ui32>" in lower(round_trip([save]), 5)

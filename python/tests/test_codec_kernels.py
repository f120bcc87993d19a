# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act's kernels for the CPU against NumPy and against XLA, bit for bit.

Codes are those of a reference that rounds a multiplication and an addition once.
Where a range is not finite, codes and minimum mean nothing and are not compared.
"""

import itertools

import codec_kernels as kernels
import jax
import ml_dtypes
import numpy as np
import pytest
import reference_encodings as reference
from encoding_runner import Loaded, Save, run, salt
from hypothesis import HealthCheck, given, settings
from test_encodings import (
    BF16,
    EXTREMES,
    F16,
    F32,
    F64,
    FLOAT_CODES,
    FLOATS,
    PARAMS,
    axis_saves,
    group_quant,
    grouped_saves,
    lossless_saves,
    random_tensor,
)

several_examples = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
)
#: For what XLA compiles.
few_examples = settings(several_examples, max_examples=4)


def check_same(got: Loaded, want: Loaded) -> None:
    """Storage and values are equal; a NaN is like any other."""
    for ours, theirs in zip(
        (*got.storage, got.value), (*want.storage, want.value), strict=True
    ):
        assert ours.dtype == theirs.dtype
        if ours.dtype.kind in "biu":
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_array_equal(
                *(a.astype(np.float64) for a in (ours, theirs))
            )


def check_integer_codes(
    got: Loaded, want: reference.Codes, value: np.ndarray, finite: np.ndarray
) -> None:
    """Compares codes, ranges and values where `finite`, per byte, is true."""
    codes, minimum, step = got.storage
    np.testing.assert_array_equal(step.astype(F32), want.step.astype(F32))
    known = np.isfinite(want.step.astype(F32))
    np.testing.assert_array_equal(minimum[known], want.minimum[known])
    np.testing.assert_array_equal(codes[finite], want.packed[1][finite])
    np.testing.assert_array_equal(got.value.astype(F64), value.astype(F64))


def check_group_quant(save: Save, tensor: np.ndarray, fields: dict) -> Loaded:
    """Checks storage and decoded value of one save."""
    layout = {name: fields.get(name, default) for name, default in _LAYOUT.items()}
    bits, params = fields["bits"], PARAMS[fields.get("params", "bf16")]
    noise = None if fields.get("rounding") == "nearest" else salt(save.id)
    want = reference.group_quant(tensor, bits, params=params, salt=noise, **layout)
    like = (want.packed[1], want.minimum, want.step)
    got = kernels.round_trip(save, tensor, like, salt(save.id))
    stored = reference.Codes((got.storage[0],), *got.storage[1:])
    value = reference.decode_group_quant(stored, tensor.shape, bits, **layout)[1]
    finite = np.broadcast_to(np.isfinite(want.step.astype(F32)), want.packed[1].shape)
    check_integer_codes(got, want, value.astype(tensor.dtype), finite)
    return got


_LAYOUT = {"group": 64, "axis": -1, "merge": 1}


@several_examples
@given(grouped_saves())
def test_group_quant_of_any_shape(case: tuple) -> None:
    saves, encodings, seed = case
    for i, (save, fields) in enumerate(zip(saves, encodings, strict=True)):
        tensor = random_tensor(seed + i, save.shape, save.dtype)
        check_group_quant(save, tensor, fields)


@few_examples
@given(grouped_saves())
def test_group_quant_is_what_xla_computes(case: tuple) -> None:
    saves, _, seed = case
    tensors = [
        random_tensor(seed + i, save.shape, save.dtype) for i, save in enumerate(saves)
    ]
    for save, tensor, want in zip(saves, tensors, run(saves, tensors), strict=True):
        check_same(kernels.round_trip(save, tensor, want.storage, salt(save.id)), want)


@pytest.mark.parametrize("dtype", [*FLOATS, F64], ids=str)
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_group_quant_of_long_groups(bits: int, dtype: np.dtype) -> None:
    """Blocks of groups, one that is too long for a block, and tails of all."""
    for shape, group in [((2, 1000), 32), ((1, 5000), 256), ((1, 9001), 4500)]:
        save = group_quant(shape, dtype, 2, bits=bits, group=group)
        tensor = random_tensor(bits, shape, F64).astype(dtype)
        with np.errstate(over="ignore"):
            check_group_quant(save, tensor, {"bits": bits, "group": group})


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_threads_change_nothing(threads: int) -> None:
    shape = (300, 1024)
    tensor = random_tensor(0, shape, F32)
    save = group_quant(shape, F32, 1, bits=4, group=64)
    like = (np.zeros((300, 16, 32), np.uint8), *[np.zeros((300, 16, 1), BF16)] * 2)
    one, more = (
        kernels.round_trip(save, tensor, like, salt(1), count) for count in (1, threads)
    )
    check_same(more, one)
    rows = slice(100, 103)
    want = reference.group_quant(tensor[rows], 4, 64, salt=None)
    np.testing.assert_array_equal(more.storage[2][rows], want.step)


@pytest.mark.parametrize("offset", [0, 1])
@pytest.mark.parametrize("dtype", [F32, BF16], ids=str)
def test_decoding_more_than_caches_hold(dtype: np.dtype, offset: int) -> None:
    """Stores go around the caches where the tensor is aligned, as at offset 0."""
    shape, group, bits = (2**26 // dtype.itemsize // 2048, 1024), 128, 4
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, (shape[0], 8, 64), np.uint8)
    minimum, step = (
        np.abs(rng.standard_normal((shape[0], 8, 1))).astype(BF16) for _ in range(2)
    )
    memory = np.zeros(2**25 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + offset * dtype.itemsize
    value = memory[start : start + 2**25].view(dtype).reshape(shape)
    save = group_quant(shape, dtype, bits=bits, group=group)
    kernels.decode(save, (codes, minimum, step), value, threads=2)
    numbers = np.concatenate([codes & 15, codes >> 4], axis=-1).astype(F64)
    want = (numbers * step.astype(F64) + minimum.astype(F64)).astype(F32)
    np.testing.assert_array_equal(
        value.view(f"u{dtype.itemsize}"),
        want.astype(dtype).reshape(shape).view(f"u{dtype.itemsize}"),
    )
    assert not memory[:start].any() and not memory[start + 2**25 :].any()


@pytest.mark.parametrize("params", PARAMS)
@pytest.mark.parametrize("rounding", ["nearest", "stochastic"])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_extremes(bits: int, rounding: str, params: str) -> None:
    """Finite groups decode to finite values."""
    tensor = np.array(list(EXTREMES.values()), F32)
    fields = {"bits": bits, "group": 8, "rounding": rounding, "params": params}
    got = check_group_quant(group_quant(tensor.shape, **fields), tensor, fields)
    assert np.all(np.isfinite(got.value))


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_lowest_f16_stays_finite(bits: int) -> None:
    tensor = np.full((4, 64), 65504, F16)
    tensor[0, :4] = [65504, 0, 5, 3]
    tensor[1, :4] = [-65504, 0, 5, 3]
    tensor[3, 0] = 0
    fields = {"bits": bits, "group": 64}
    got = check_group_quant(group_quant((4, 64), F16, **fields), tensor, fields)
    assert np.all(np.isfinite(got.value))
    assert np.all(got.value[3, 1:].astype(float) > 65000)


@pytest.mark.parametrize("bad", [np.nan, -np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("dtype", [*FLOATS, F64], ids=str)
def test_not_finite_poisons_its_group_only(dtype: np.dtype, bad: float) -> None:
    tensor = random_tensor(3, (4, 40), F32).astype(dtype)
    tensor[1, 10] = bad  # first group
    tensor[2, 35] = bad  # the short last group
    tensor[3, 0] = tensor[3, 39] = bad
    poisoned = np.zeros((4, 40), bool)
    poisoned[1, :16] = poisoned[2, 32:] = poisoned[3, :16] = poisoned[3, 32:] = True
    for bits, params in itertools.product([1, 2, 4, 8], PARAMS):
        fields = {"bits": bits, "group": 16, "params": params}
        got = check_group_quant(group_quant((4, 40), dtype, **fields), tensor, fields)
        np.testing.assert_array_equal(np.isnan(got.value), poisoned)


def test_a_group_of_all_kinds_of_nan() -> None:
    """Signalling NaNs and those with all bits set stay NaN in every type."""
    bits = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF800001], np.uint32)
    rows = np.zeros((4, 8), F32)
    rows[:, 3] = bits.view(F32)
    for dtype, name in itertools.product((F32, BF16), FLOAT_CODES):
        if dtype == BF16 and not name.startswith("f8"):
            continue
        tensor = rows.view(np.uint32)
        if dtype == BF16:
            tensor = (tensor >> 16 | (tensor & 1)).astype(np.uint16)
        tensor = tensor.view(dtype)
        for group in (0, 8):
            save = Save((4, 8), dtype, f"float<type = {name}, group = {group}>")
            with np.errstate(invalid="ignore"):
                want = reference.float_code(tensor, FLOAT_CODES[name], group)
            value = kernels.round_trip(save, tensor, want).value
            assert np.all(np.isnan(value[:, 3]))
            assert np.all(np.isnan(value) if group else (value[:, 4:] == 0))
    for dtype in (F32, BF16):
        fields = {"bits": 4, "group": 8, "params": "f32"}
        with np.errstate(invalid="ignore"):
            tensor = rows.astype(dtype)
        got = check_group_quant(group_quant((4, 8), dtype, **fields), tensor, fields)
        assert np.all(np.isnan(got.value))


def test_range_beyond_f32_decodes_to_nan() -> None:
    tensor = np.array([[3e38, -3e38, 0, 1], [1, 2, 3, 4]], F32)
    fields = {"bits": 4, "group": 4}
    got = check_group_quant(group_quant((2, 4), **fields), tensor, fields)
    np.testing.assert_array_equal(np.isnan(got.value), [[True] * 4, [False] * 4])


def test_f64_goes_through_f32() -> None:
    tensor = random_tensor(5, (3, 50), F64)
    tensor[1, 3] = 1e300
    fields = {"bits": 4, "group": 32}
    with np.errstate(over="ignore"):
        got = check_group_quant(group_quant((3, 50), F64, **fields), tensor, fields)
    assert np.all(np.isnan(got.value[1, :32]))
    assert np.all(np.isfinite(got.value[[0, 2]]))


@several_examples
@given(axis_saves())
def test_axis_quant_of_any_shape(case: tuple) -> None:
    saves, encodings, seed = case
    for i, (save, (bits, axis, rounding)) in enumerate(
        zip(saves, encodings, strict=True)
    ):
        tensor = random_tensor(seed + i, save.shape, save.dtype)
        check_axis_quant(save, tensor, bits, axis, rounding)


def check_axis_quant(
    save: Save, tensor: np.ndarray, bits: int, axis: int, rounding: str
) -> Loaded:
    """Checks storage and decoded value of one save."""
    noise = salt(save.id) if rounding == "stochastic" else None
    want = reference.axis_quant(tensor, bits, axis, noise)
    like = (want.packed[1], want.minimum, want.step)
    got = kernels.round_trip(save, tensor, like, salt(save.id))
    codes = np.zeros(tensor.shape, int)
    for row in np.ndindex(*tensor.shape[:-1]):
        codes[row] = reference.unpack(got.storage[0][row], bits, tensor.shape[-1])
    value = reference.decode_codes(codes, *got.storage[1:])[1].astype(tensor.dtype)
    finite = np.isfinite(want.step)
    if axis == tensor.ndim - 1:  # a byte holds codes of several ranges
        finite = finite.all()
    check_integer_codes(got, want, value, np.broadcast_to(finite, want.packed[1].shape))
    return got


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("bits", [1, 4, 8])
def test_axis_quant_of_long_rows(bits: int, axis: int) -> None:
    save = Save((3, 5, 301), BF16, f"axis_quant<bits = {bits}, axis = {axis}>", 7)
    tensor = random_tensor(bits, save.shape, BF16)
    tensor[1, 2, 3] = np.nan
    got = check_axis_quant(save, tensor, bits, axis, "stochastic")
    poisoned = np.zeros(save.shape, bool)
    poisoned[(slice(None),) * axis + ([1, 2, 3][axis],)] = True
    np.testing.assert_array_equal(np.isnan(got.value), poisoned)


@few_examples
@given(axis_saves())
def test_axis_quant_is_what_xla_computes(case: tuple) -> None:
    saves, _, seed = case
    tensors = [
        random_tensor(seed + i, save.shape, save.dtype) for i, save in enumerate(saves)
    ]
    for save, tensor, want in zip(saves, tensors, run(saves, tensors), strict=True):
        check_same(kernels.round_trip(save, tensor, want.storage, salt(save.id)), want)


@several_examples
@given(lossless_saves())
def test_mask_and_narrow_are_exact(case: tuple) -> None:
    saves, encodings, seed = case
    rng = np.random.default_rng(seed)
    for save, (bits, merge, group) in zip(saves, encodings, strict=True):
        tensor = rng.integers(0, 2**bits, save.shape).astype(save.dtype)
        if bits < 8:
            want = reference.pack_last_axis(tensor.astype(int), bits, merge, group)
        else:
            want = tensor.astype(np.uint8 if bits == 8 else np.uint16)
        check_same(kernels.round_trip(save, tensor, [want]), Loaded((want,), tensor))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64, np.uint16])
def test_narrow_of_other_widths(dtype: type) -> None:
    rng = np.random.default_rng(0)
    for bits in (1, 2, 4, 8, 16):
        if bits >= 8 * np.dtype(dtype).itemsize:
            continue
        tensor = rng.integers(0, min(2**bits, 128), (3, 77)).astype(dtype)
        want = tensor.astype(np.uint8 if bits == 8 else np.uint16)
        if bits < 8:
            want = reference.pack_last_axis(tensor.astype(int), bits)
        save = Save((3, 77), np.dtype(dtype), f"narrow<bits = {bits}>")
        check_same(kernels.round_trip(save, tensor, [want]), Loaded((want,), tensor))


def float_tensor(shape: tuple, dtype: np.dtype) -> np.ndarray:
    """Numbers of all sizes: zeros, ties, denormal, out of range, not finite."""
    rng = np.random.default_rng(1)
    size = np.exp2(rng.uniform(-30, 20, shape))
    tensor = np.round(rng.standard_normal(shape) * 16) / 16 * size
    tensor[0, :8] = 0
    tensor[1] = 0
    tensor[2] *= 1e-9
    tensor[3, 3], tensor[4, 5], tensor[5, 20] = np.nan, np.inf, -np.inf
    with np.errstate(over="ignore"):
        return tensor.astype(dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, F64], ids=str)
@pytest.mark.parametrize("group", [0, 7, 32, 100])
def test_float(group: int, dtype: np.dtype) -> None:
    shape = (9, 75)
    tensor = float_tensor(shape, dtype)
    for name, code in FLOAT_CODES.items():
        if code.itemsize >= dtype.itemsize:
            continue
        save = Save(shape, dtype, f"float<type = {name}, group = {group}>")
        with np.errstate(invalid="ignore", over="ignore"):
            want = reference.float_code(tensor, code, group)
        got = kernels.round_trip(save, tensor, want)
        value = reference.decode_float(want, shape)
        with np.errstate(invalid="ignore", over="ignore"):
            value = value.astype(dtype)
        check_same(got, Loaded(tuple(want), value))


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2"])
def test_every_bf16_as_float8(name: str) -> None:
    """Each of the 65536 bit patterns, encoded, decoded and compared with XLA's."""
    tensor = np.arange(2**16, dtype=np.uint16).view(BF16).reshape(2, -1)
    save = Save(tensor.shape, BF16, f"float<type = {name}>")
    (want,) = run([save], [tensor])
    check_same(kernels.round_trip(save, tensor, want.storage), want)


@pytest.mark.parametrize("name", FLOAT_CODES)
def test_f64_is_rounded_once(name: str) -> None:
    """Numbers next to ties, closer than an f32 can tell."""
    code = FLOAT_CODES[name]
    patterns = np.arange(2 ** (8 * code.itemsize - 1), dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        finite = patterns.astype(f"u{code.itemsize}").view(code).astype(F64)
    finite = np.unique(finite[np.isfinite(finite)])
    finite = finite[finite >= float(ml_dtypes.finfo(code).smallest_normal)]
    ties = (finite[1:] + finite[:-1]) / 2
    tensor = np.stack([np.nextafter(ties, 0), ties, np.nextafter(ties, np.inf)])
    even = finite.astype(code).view(f"u{code.itemsize}") % 2 == 0
    want = np.stack(
        [finite[:-1], np.where(even[1:], finite[1:], finite[:-1]), finite[1:]]
    )
    save = Save(tensor.shape, F64, f"float<type = {name}>")
    got = kernels.round_trip(save, tensor, [np.zeros(tensor.shape, code)])
    np.testing.assert_array_equal(got.value, want)


def test_raw_is_the_tensor() -> None:
    for dtype in (F32, BF16, np.dtype(np.bool_), np.dtype(np.int16)):
        tensor = (np.arange(77) % 2).astype(dtype).reshape(7, 11)
        got = kernels.round_trip(Save((7, 11), dtype, "raw"), tensor, [tensor])
        check_same(got, Loaded((tensor,), tensor))


@pytest.mark.parametrize(
    ("encoding", "tensor", "message"),
    [
        (
            "group_quant<bits = 3, group = 64>",
            (4, 4),
            "expects bits to be 1, 2, 4 or 8",
        ),
        ("no_such_encoding", (4, 4), "expects an encoding of the act dialect"),
        ("mask", (4, 4), "mask expects element type i1, got 'f32'"),
        ("group_quant<bits = 4, group = 64>", (0, 4), "at least one element"),
    ],
)
def test_what_is_wrong_is_said(encoding: str, tensor: tuple, message: str) -> None:
    array = np.zeros(tensor, F32)
    with pytest.raises(ValueError, match=message):
        kernels.encode(Save(tensor, F32, encoding), array, [array])


def test_x64_narrow_is_what_xla_computes() -> None:
    with jax.enable_x64(True):
        integers = np.arange(50, dtype=np.int64) % 16
        save = Save((50,), np.dtype(np.int64), "narrow<bits = 4>")
        (want,) = run([save], [integers])
        check_same(kernels.round_trip(save, integers, want.storage), want)

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What every encoding stores, in NumPy, written from docs/Encodings.md.

Nothing here is shared with the compiler: loops over groups instead of reshapes,
Python integers for packing, `nextafter` for directed rounding. Where a compiler
may contract `a * b + c` into one rounding, both results are returned.
"""

import dataclasses
import math
from collections.abc import Iterator

import ml_dtypes
import numpy as np

BF16 = np.dtype(ml_dtypes.bfloat16)
F32 = np.dtype(np.float32)


@dataclasses.dataclass(frozen=True)
class Codes:
    """Stored integer codes and parameters.

    Attributes:
        packed: the accepted bytes, one array per way of contracting.
        minimum, step: parameters, in the type they are stored in.
    """

    packed: tuple[np.ndarray, ...]
    minimum: np.ndarray
    step: np.ndarray


def _directed(values: np.ndarray, dtype: np.dtype, towards: float) -> np.ndarray:
    """Rounds f32 values to `dtype` towards an infinity (or 0)."""
    rounded = values.astype(dtype)
    back = rounded.astype(np.float32)
    target = np.full_like(values, towards)
    overshot = (
        np.abs(back) > np.abs(values)
        if towards == 0
        else (back > values if towards < 0 else back < values)
    )
    return np.where(overshot, np.nextafter(rounded, target.astype(dtype)), rounded)


def _largest(dtype: np.dtype) -> np.float32:
    """The largest number a decoded value of type `dtype` may have."""
    if dtype == np.float64:
        dtype = F32
    return np.float32(float(ml_dtypes.finfo(dtype).max) * (1 - 2.0**-20))


def code_range(
    values: np.ndarray, bits: int, params: np.dtype, original: np.dtype
) -> tuple[np.ndarray, np.ndarray]:
    """Minimum and step, as stored, of a group of f32 values."""
    per_step = np.float32(1 / (2**bits - 1))
    low, high = np.min(values), np.max(values)
    with np.errstate(all="ignore"):
        limit = _directed(_largest(original), params, 0).astype(np.float32)
        minimum = np.maximum(
            _directed(low, params, -math.inf).astype(np.float32), -limit
        )
        step = np.maximum((high - minimum) * per_step, np.float32(1e-30))
        step = _directed(step, params, math.inf).astype(np.float32)
        room = np.minimum(_largest(original) - minimum, _largest(F32))
        room = _directed(room * per_step, params, 0).astype(np.float32)
        step = np.minimum(step, room)
        if not np.isfinite(high - low):
            step = np.float32(np.nan)
    return minimum.astype(params), step.astype(params)


def noise(values: np.ndarray, indices: np.ndarray, salt: int) -> np.ndarray:
    """U - 1/2 of every element: hash of its bits, its index and the salt."""
    mask = 0xFFFFFFFF
    result = np.empty(values.shape, np.float32)
    bits = values.view(np.uint32)
    for position in np.ndindex(*values.shape):
        index = int(indices[position])
        state = int(bits[position]) ^ ((index * 0x9E3779B1 + salt) & mask)
        state = (state ^ (state >> 16)) * 0x7FEB352D & mask
        state = (state ^ (state >> 15)) * 0x846CA68B & mask
        result[position] = (state >> 9) * 2.0**-23 - 0.5
    return result


def round_to_codes(
    values: np.ndarray,
    minimum: np.ndarray,
    step: np.ndarray,
    bits: int,
    random: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """Codes of f32 values, without and with a contracted multiply-add."""
    largest_code = np.float32(2**bits - 1)
    with np.errstate(all="ignore"):
        # In quarters, or the inverse of the largest steps would be denormal.
        inverse = np.float32(4) / step.astype(np.float32)
        distance = (values - minimum.astype(np.float32)) * np.float32(0.25)
        scaled = distance * inverse
        contracted = scaled
        if random is not None:
            scaled = scaled + random
            exact = distance.astype(np.float64) * inverse.astype(np.float64)
            contracted = (exact + random).astype(np.float32)
        return tuple(
            np.rint(np.clip(np.nan_to_num(t, nan=0), 0, largest_code)).astype(int)
            for t in (scaled, contracted)
        )


def pack(codes: np.ndarray, bits: int, num_bytes: int) -> np.ndarray:
    """Packs one row: code i to byte i mod W, bit `bits * (i div W)`."""
    row = [0] * num_bytes
    for i, code in enumerate(codes):
        row[i % num_bytes] |= int(code) << (bits * (i // num_bytes))
    return np.array(row, np.uint8)


def packed_bytes(count: int, bits: int) -> int:
    """Bytes that hold `count` codes."""
    return -(-count * bits // 8)


def _grouped_view(values: np.ndarray, axis: int, merge: int) -> tuple:
    """`values` with the grouped axis last, and how to put results back."""
    if axis < 0:
        flat = values.reshape(*values.shape[: values.ndim - merge], -1)
        axis = flat.ndim - 1
    else:
        flat = values
    return np.moveaxis(flat, axis, -1), axis


def _groups(extent: int, group: int) -> Iterator[slice]:
    for begin in range(0, extent, group):
        yield slice(begin, min(begin + group, extent))


def group_quant(
    tensor: np.ndarray,
    bits: int,
    group: int,
    axis: int = -1,
    merge: int = 1,
    params: np.dtype = BF16,
    salt: int | None = None,
) -> Codes:
    """Storage under `#act.group_quant`; to the nearest if `salt` is None."""
    with np.errstate(over="ignore"):
        values, axis = _grouped_view(tensor.astype(np.float32), axis, merge)
    indices, _ = _grouped_view(
        np.arange(tensor.size).reshape(tensor.shape), axis if merge == 1 else -1, merge
    )
    extent = values.shape[-1]
    group = min(group, extent)
    width = packed_bytes(group, bits)
    lead, count = values.shape[:-1], -(-extent // group)
    packed = [np.zeros((*lead, count, width), np.uint8) for _ in range(2)]
    minimum = np.zeros((*lead, count, 1), params)
    step = np.zeros((*lead, count, 1), params)
    for row in np.ndindex(*lead):
        for number, part in enumerate(_groups(extent, group)):
            x = np.ascontiguousarray(values[row][part])
            m, s = code_range(x, bits, params, tensor.dtype)
            random = None if salt is None else noise(x, indices[row][part], salt)
            minimum[row][number], step[row][number] = m, s
            for out, codes in zip(
                packed, round_to_codes(x, m, s, bits, random), strict=True
            ):
                out[row][number] = pack(codes, bits, width)
    restore = [
        np.moveaxis(a, (-2, -1), (axis, axis + 1)) for a in (*packed, minimum, step)
    ]
    return Codes(tuple(restore[:2]), restore[2], restore[3])


def axis_quant(
    tensor: np.ndarray, bits: int, axis: int, salt: int | None = None
) -> Codes:
    """Storage under `#act.axis_quant`."""
    with np.errstate(over="ignore"):
        values = tensor.astype(np.float32)
    indices = np.arange(tensor.size).reshape(tensor.shape)
    shape = [1] * tensor.ndim
    shape[axis] = tensor.shape[axis]
    minimum, step = np.zeros(shape, F32), np.zeros(shape, F32)
    codes = [np.zeros(tensor.shape, int) for _ in range(2)]
    for i in range(tensor.shape[axis]):
        where = (slice(None),) * axis + (slice(i, i + 1),)
        x = np.ascontiguousarray(values[where])
        m, s = code_range(x, bits, F32, tensor.dtype)
        minimum[where], step[where] = m, s
        random = None if salt is None else noise(x, indices[where], salt)
        for out, part in zip(codes, round_to_codes(x, m, s, bits, random), strict=True):
            out[where] = part
    return Codes(tuple(pack_last_axis(part, bits) for part in codes), minimum, step)


def range_update(
    state: np.ndarray, tensor: np.ndarray, axis: int, decay: float
) -> tuple[np.ndarray, np.ndarray]:
    """The results `next` and `range` of `act.update_range`, one index at a time.

    Within a rounding: XLA may contract the multiply-add.
    """
    following, used = state.copy(), state.copy()
    with np.errstate(all="ignore"):
        values = np.moveaxis(tensor.astype(np.float32), axis, 0)
        for i, x in enumerate(values):
            low, width = np.min(x), np.max(x) - np.min(x)
            if not np.isfinite(width):
                used[:, i] = np.nan
                continue
            batch = np.array([width, low], np.float32)
            if not np.isnan(state[0, i]):
                kept = np.float32(1 - decay) * (state[:, i] - batch)
                batch = state[:, i] - kept
            following[:, i] = used[:, i] = batch
    return following, used


def axis_quant_running(
    tensor: np.ndarray,
    ranges: np.ndarray,
    bits: int,
    axis: int,
    salt: int | None = None,
) -> Codes:
    """Storage under `#act.axis_quant` with `range = running`."""
    indices = np.arange(tensor.size).reshape(tensor.shape)
    shape = [1] * tensor.ndim
    shape[axis] = tensor.shape[axis]
    limit = np.float32(_largest(tensor.dtype))
    per_step = np.float32(1 / (2**bits - 1))
    with np.errstate(all="ignore"):
        values = tensor.astype(np.float32)
        minimum = np.maximum(ranges[1], -limit)
        step = np.maximum(ranges[0] * per_step, np.float32(1e-30))
        room = np.minimum(limit - minimum, _largest(F32)).astype(np.float32)
        step = np.minimum(step, room * per_step)
        step[~np.isfinite(ranges[0])] = np.nan
    minimum, step = minimum.reshape(shape), step.reshape(shape)
    codes = [np.zeros(tensor.shape, int) for _ in range(2)]
    for i in range(tensor.shape[axis]):
        where = (slice(None),) * axis + (slice(i, i + 1),)
        x = np.ascontiguousarray(values[where])
        random = None if salt is None else noise(x, indices[where], salt)
        made = round_to_codes(x, minimum[where], step[where], bits, random)
        for out, part in zip(codes, made, strict=True):
            out[where] = part
    return Codes(tuple(pack_last_axis(part, bits) for part in codes), minimum, step)


def pack_last_axis(
    codes: np.ndarray, bits: int, merge: int = 1, group: int = 0
) -> np.ndarray:
    """Packs integers along the last `merge` axes, `group` at a time if not 0."""
    codes = codes.reshape(*codes.shape[: codes.ndim - merge], -1)
    if group:
        padding = [(0, 0)] * (codes.ndim - 1) + [(0, -codes.shape[-1] % group)]
        codes = np.pad(codes, padding)
        codes = codes.reshape(*codes.shape[:-1], -1, group)
    width = packed_bytes(codes.shape[-1], bits)
    result = np.zeros((*codes.shape[:-1], width), np.uint8)
    for row in np.ndindex(*codes.shape[:-1]):
        result[row] = pack(codes[row], bits, width)
    return result


def float_code(
    tensor: np.ndarray, dtype: np.dtype, group: int
) -> tuple[np.ndarray, ...]:
    """Storage under `#act.float`."""
    largest = float(ml_dtypes.finfo(dtype).max)
    if group == 0:
        finite = np.where(np.isfinite(tensor), tensor, np.array(np.nan, tensor.dtype))
        return (
            np.clip(finite, *np.array([-largest, largest], tensor.dtype)).astype(dtype),
        )
    values = tensor.astype(np.float32)
    extent = values.shape[-1]
    group = min(group, extent)
    count = -(-extent // group)
    codes = np.zeros((*values.shape[:-1], count, group), dtype)
    scales = np.zeros((*values.shape[:-1], count, 1), np.float32)
    for row in np.ndindex(*values.shape[:-1]):
        for number, part in enumerate(_groups(extent, group)):
            x = values[row][part]
            top = np.max(np.abs(x))
            scale = np.maximum(
                top * np.float32(1 / min(largest, 2.0**64)), np.float32(2.0**-126)
            )
            scale = np.float32(1) if top == 0 else scale
            scales[row][number] = scale
            with np.errstate(all="ignore"):
                scaled = np.clip(
                    x * (np.float32(1) / scale),
                    -np.float32(largest),
                    np.float32(largest),
                )
                codes[row][number][: len(x)] = scaled.astype(dtype)
    return codes, scales


def unpack(packed: np.ndarray, bits: int, count: int) -> np.ndarray:
    """The inverse of `pack` for one row."""
    width, largest = len(packed), 2**bits - 1
    return np.array(
        [
            int(packed[i % width]) >> (bits * (i // width)) & largest
            for i in range(count)
        ]
    )


def decode_codes(
    codes: np.ndarray, minimum: np.ndarray, step: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """f32 values of codes, without and with a contracted multiply-add."""
    q, s, m = (a.astype(np.float32) for a in (codes, step, minimum))
    with np.errstate(all="ignore"):
        exact = q.astype(np.float64) * s.astype(np.float64)
        return q * s + m, (exact + m).astype(np.float32)


def decode_group_quant(
    stored: Codes,
    shape: tuple[int, ...],
    bits: int,
    group: int,
    axis: int = -1,
    merge: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """f32 values of the first packing in `stored`."""
    results = [np.zeros(shape, np.float32) for _ in range(2)]
    views = [_grouped_view(result, axis, merge) for result in results]
    axis = views[0][1]
    packed, minimum, step = (
        np.moveaxis(a, (axis, axis + 1), (-2, -1))
        for a in (stored.packed[0], stored.minimum, stored.step)
    )
    extent = views[0][0].shape[-1]
    for row in np.ndindex(*packed.shape[:-2]):
        for number, part in enumerate(_groups(extent, min(group, extent))):
            codes = unpack(packed[row][number], bits, part.stop - part.start)
            values = decode_codes(codes, minimum[row][number], step[row][number])
            for (view, _), decoded in zip(views, values, strict=True):
                view[row][part] = decoded
    return tuple(results)


def spread_params(
    param: np.ndarray,
    shape: tuple[int, ...],
    group: int,
    axis: int = -1,
    merge: int = 1,
) -> np.ndarray:
    """A parameter of `group_quant` for every element of the tensor, in f32."""
    result = np.zeros(shape, np.float32)
    view, axis = _grouped_view(result, axis, merge)
    param = np.moveaxis(param, (axis, axis + 1), (-2, -1))
    extent = view.shape[-1]
    for row in np.ndindex(*param.shape[:-2]):
        for number, part in enumerate(_groups(extent, min(group, extent))):
            view[row][part] = param[row][number]
    return result


def decode_float(stored: tuple[np.ndarray, ...], shape: tuple) -> np.ndarray:
    """f32 values of what `float_code` stores."""
    if len(stored) == 1:
        return stored[0].astype(np.float32)
    codes, scales = stored
    with np.errstate(all="ignore"):
        values = codes.astype(np.float32) * scales
    return values.reshape(*shape[:-1], -1)[..., : shape[-1]]

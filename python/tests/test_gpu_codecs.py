# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""act's kernels for GPUs against those for the CPU, byte for byte.

They run on the emulator, with all its checks. Where a range is not finite its minimum
means nothing and is not compared.
"""

import codec_kernels
import gpu_codecs
import ml_dtypes
import numpy as np
import pytest
from encoding_runner import Save

pytestmark = pytest.mark.skipif(
    not gpu_codecs.emulator_library().is_file(), reason="there is no emulator"
)

F32, F16, F64 = (np.dtype(name) for name in ("f4", "f2", "f8"))
BF16 = np.dtype(ml_dtypes.bfloat16)
SALTS = (0, 0x9E3779B9)


def numbers(kind: str, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """A tensor of a certain kind of values."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(shape)
    largest = float(ml_dtypes.finfo(dtype).max)
    if kind == "offset":
        values = 1000 + values / 100
    elif kind == "huge":
        values = np.clip(values / 2, -1, 1) * largest
    elif kind == "denormal":
        values *= float(ml_dtypes.finfo(dtype).smallest_normal) / 100
    elif kind == "constant":
        values = np.full(shape, -1.5)
    elif kind == "special":
        bad = rng.integers(0, values.size, (3, max(1, values.size // 200)))
        for row, value in zip(bad, (np.nan, np.inf, -np.inf), strict=True):
            values.flat[row] = value
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def check_bytes(got: np.ndarray, want: np.ndarray, where: np.ndarray | bool) -> None:
    """Equal bits where `where` is true; a NaN is like any other."""
    bits = f"u{want.dtype.itemsize}"
    same = got.view(bits) == want.view(bits)
    if want.dtype.kind not in "biu":
        wide = (got.astype(F64), want.astype(F64))
        same |= np.isnan(wide[0]) & np.isnan(wide[1])
        # The sign of a minimum that is zero depends on the width of vectors.
        same |= (wide[0] == 0) & (wide[1] == 0)
    assert np.all(same | ~np.broadcast_to(where, same.shape))


def check(save: Save, tensor: np.ndarray, salt: int = 0, **options: str) -> None:
    """The GPU stores what the CPU stores, and both decode it alike."""
    want = gpu_codecs.storage(save)
    codec_kernels.encode(save, tensor, want, salt)
    value = np.empty_like(tensor)
    codec_kernels.decode(save, want, value)
    got = gpu_codecs.round_trip(save, tensor, given=want, salt=salt, **options)
    finite: np.ndarray | bool = True
    for number, (ours, theirs) in enumerate(zip(got.storage, want, strict=True)):
        if number == 1 and len(want) == 3:
            finite = np.isfinite(want[2].astype(F64))
        check_bytes(ours, theirs, finite if number == 1 else True)
    check_bytes(got.value, value, True)


KINDS = ("normal", "offset", "huge", "denormal", "constant", "special")


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", [F32, BF16, F16], ids=str)
def test_groups_in_registers(dtype: np.dtype, bits: int) -> None:
    """All sizes of groups that lanes hold, and groups of threads without one."""
    for group, params in ((256, "bf16"), (128, "f32"), (64, "bf16"), (32, "bf16")):
        encoding = f"group_quant<bits = {bits}, group = {group}, params = {params}>"
        save = Save((9, 512), dtype, encoding)
        for kind, salt in zip(KINDS, SALTS * 3, strict=True):
            check(save, numbers(kind, save.shape, dtype), salt)


@pytest.mark.parametrize("bits", [1, 2, 4, 8])
@pytest.mark.parametrize("dtype", [F32, BF16, F16, F64], ids=str)
def test_groups_of_any_size(dtype: np.dtype, bits: int) -> None:
    for shape, fields in (
        ((5, 333), "group = 100"),
        ((3, 23, 5), "group = 7, axis = 1, params = f32"),
        ((3, 5, 37), "group = 64, merge = 2, rounding = nearest"),
        ((1, 1), "group = 3"),
    ):
        save = Save(shape, dtype, f"group_quant<bits = {bits}, {fields}>")
        for kind, salt in zip(KINDS, SALTS * 3, strict=True):
            check(save, numbers(kind, shape, dtype), salt)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("bits", [1, 2, 4, 8])
def test_ranges_of_indices(bits: int, axis: int) -> None:
    for dtype, shape in ((F32, (6, 5, 37)), (BF16, (3, 4, 64)), (F64, (2, 3, 1))):
        save = Save(shape, dtype, f"axis_quant<bits = {bits}, axis = {axis}>")
        for kind, salt in zip(KINDS, SALTS * 3, strict=True):
            check(save, numbers(kind, shape, dtype), salt)


@pytest.mark.parametrize("group", [0, 16, 100])
@pytest.mark.parametrize("code", ["f8E4M3FN", "f8E5M2", "bf16", "f16"])
def test_shorter_floats(code: str, group: int) -> None:
    for dtype in (F32, F64) if code in ("bf16", "f16") else (F32, BF16, F16, F64):
        scaled = f", group = {group}" if group else ""
        save = Save((5, 205), dtype, f"float<type = {code}{scaled}>")
        for kind in KINDS:
            check(save, numbers(kind, save.shape, dtype))


@pytest.mark.parametrize("shape", [(5, 100), (4, 256), (3, 1)])
def test_lossless(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    for encoding in ("mask", "mask<merge = 2>", "mask<group = 64>", "raw"):
        save = Save(shape, np.dtype(bool), encoding)
        check(save, rng.integers(0, 2, shape).astype(bool))
    for bits in (1, 2, 4, 8, 16):
        for extra in ("", ", group = 32"):
            save = Save(shape, np.dtype("i4"), f"narrow<bits = {bits}{extra}>")
            check(save, rng.integers(0, 1 << bits, shape).astype("i4"))


@pytest.mark.parametrize("schedule", ["reverse", "random:7"])
@pytest.mark.parametrize(
    "encoding",
    [
        "group_quant<bits = 4, group = 64>",
        "group_quant<bits = 2, group = 100>",
        "axis_quant<bits = 4, axis = 1>",
        "float<type = f8E5M2, group = 64>",
    ],
)
def test_order_of_threads_changes_nothing(encoding: str, schedule: str) -> None:
    save = Save((6, 256), F32, encoding)
    check(save, numbers("normal", save.shape, F32), schedule=schedule)


@pytest.mark.parametrize(
    "encoding",
    [
        "group_quant<bits = 4, group = 64>",
        "group_quant<bits = 4, group = 100>",
        "axis_quant<bits = 4, axis = 0>",
        "axis_quant<bits = 4, axis = 1>",
        "float<type = bf16>",
        "float<type = f8E4M3FN, group = 64>",
    ],
)
def test_inside_of_other_kernels(encoding: str) -> None:
    """Two warps share the units, of which each sees its own only."""
    save = Save((6, 256), F32, encoding)
    check(save, numbers("normal", save.shape, F32), options="rows=true")


def test_memory_that_is_not_aligned() -> None:
    for encoding in ("group_quant<bits = 4, group = 64>", "float<type = bf16>"):
        save = Save((6, 256), F32, encoding)
        check(save, numbers("normal", save.shape, F32), options="alignment=4")

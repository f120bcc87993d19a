# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests GPU kernels of convolutions on the emulator, against numpy in f64."""

import dataclasses
import itertools

import gpu_kernels
import ml_dtypes
import numpy as np
import pytest

pytestmark = pytest.mark.skipif(
    not gpu_kernels.has_emulator(), reason="needs libact_gpu_emu.so"
)

TYPES = {
    "f32": np.float32,
    "f64": np.float64,
    "bf16": ml_dtypes.bfloat16,
    "f16": np.float16,
}
# Of the root mean square of the result.
TOLERANCES = {"f32": 5e-6, "f64": 1e-14, "bf16": 2e-2, "f16": 3e-3}
TF32_TOLERANCE = 3e-3
NHWC = ("b01f", "01io", "b01f")
NCHW = ("bf01", "oi01", "bf01")


@dataclasses.dataclass(frozen=True)
class Convolution:
    """A convolution.

    Attributes:
        lhs, rhs: shapes, in the order of `layouts`.
        layouts: what the dimensions of lhs, rhs and the result are, as in the
            operation's `dims`.
        strides, padding, lhs_dilation, rhs_dilation, reversal: per spatial dimension;
            empty for none.
        feature_groups, batch_groups: numbers of groups.
        type: of the factors.
        out: type of the result, if it is another one.
    """

    lhs: tuple[int, ...]
    rhs: tuple[int, ...]
    layouts: tuple[str, str, str] = NHWC
    strides: tuple[int, ...] = ()
    padding: tuple[tuple[int, int], ...] = ()
    lhs_dilation: tuple[int, ...] = ()
    rhs_dilation: tuple[int, ...] = ()
    reversal: tuple[bool, ...] = ()
    feature_groups: int = 1
    batch_groups: int = 1
    type: str = "f32"
    out: str = ""

    @property
    def rank(self) -> int:
        """The number of spatial dimensions."""
        return len(self.lhs) - 2

    @property
    def out_type(self) -> str:
        """The type of the result."""
        return self.out or self.type


def get_order(layout: str, first: str) -> list[int]:
    """The dimensions of a layout: those of `first`, then the spatial ones."""
    rank = len(layout) - 2
    return [layout.index(c) for c in [*first, *map(str, range(rank))]]


def convolve(op: Convolution, lhs: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """The convolution in f64, element of the window by element."""
    lhs = lhs.astype(np.float64).transpose(get_order(op.layouts[0], "bf"))
    rhs = rhs.astype(np.float64).transpose(get_order(op.layouts[1], "io"))
    rank = op.rank
    strides = op.strides or (1,) * rank
    for dim in range(rank):
        axis = dim + 2
        dilation = (op.lhs_dilation or (1,) * rank)[dim]
        low, high = (op.padding or ((0, 0),) * rank)[dim]
        shape = list(lhs.shape)
        shape[axis] = (shape[axis] - 1) * dilation + 1
        dilated = np.zeros(shape)
        dilated[(slice(None),) * axis + (slice(None, None, dilation),)] = lhs
        widths = [(0, 0)] * (rank + 2)
        widths[axis] = (max(low, 0), max(high, 0))
        lhs = np.pad(dilated, widths)
        end = lhs.shape[axis] + min(high, 0)
        lhs = lhs[(slice(None),) * axis + (slice(max(-low, 0), end),)]
        if op.reversal and op.reversal[dim]:
            rhs = np.flip(rhs, axis)
    dilations = op.rhs_dilation or (1,) * rank
    positions = [
        (lhs.shape[d + 2] - (rhs.shape[d + 2] - 1) * dilations[d] - 1) // strides[d] + 1
        for d in range(rank)
    ]
    groups = op.feature_groups * op.batch_groups
    axis = 1 if op.feature_groups > 1 else 0
    parts = []
    for part, window in zip(
        np.split(lhs, groups, axis), np.split(rhs, groups, 1), strict=True
    ):
        total = np.zeros((part.shape[0], window.shape[1], *positions))
        for element in itertools.product(*map(range, window.shape[2:])):
            chosen = tuple(
                slice(z * d, z * d + (count - 1) * s + 1, s)
                for z, d, s, count in zip(
                    element, dilations, strides, positions, strict=True
                )
            )
            total += np.einsum(
                "bi...,io->bo...", part[:, :, *chosen], window[:, :, *element]
            )
        parts.append(total)
    result = np.concatenate(parts, 1)
    order = get_order(op.layouts[2], "bf")
    return result.transpose([order.index(i) for i in range(rank + 2)])


def write_module(op: Convolution, out_shape: tuple[int, ...]) -> str:
    """The kernel of `op` in a function."""

    def buffer(shape, element):
        return f"memref<{'x'.join(map(str, [*shape, element]))}>"

    types = [
        buffer(op.lhs, op.type),
        buffer(op.rhs, op.type),
        buffer(out_shape, op.out_type),
    ]
    lists = {
        "window_strides": op.strides,
        "padding": tuple(itertools.chain(*op.padding)),
        "lhs_dilation": op.lhs_dilation,
        "rhs_dilation": op.rhs_dilation,
    }
    attributes = [
        f"{name} = array<i64: {', '.join(map(str, values))}>"
        for name, values in lists.items()
        if values
    ]
    if op.reversal:
        values = ", ".join(str(value).lower() for value in op.reversal)
        attributes.append(f"window_reversal = array<i1: {values}>")
    attributes.append(f"feature_group_count = {op.feature_groups}")
    attributes.append(f"batch_group_count = {op.batch_groups}")
    dims = [f"[{', '.join(layout)}]" for layout in op.layouts]
    joined = ", ".join(types)
    return f"""
  func.func @convolution(%a0: {types[0]}, %b0: {types[1]}, %c0: {types[2]}) {{
    act.kernel convolution [] (%a0, %b0, %c0 : {joined}) {{
    ^bb0(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}):
      act.convolution ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]})
          dims {dims[0]}x{dims[1]}->{dims[2]} {{{", ".join(attributes)}}}
    }}
    return
  }}
"""


def check(op: Convolution, *options: str) -> None:
    """Compares a convolution of random numbers with that of numpy."""
    generator = np.random.default_rng(1)
    lhs, rhs = (
        generator.standard_normal(shape).astype(TYPES[op.type])
        for shape in (op.lhs, op.rhs)
    )
    expected = convolve(op, lhs, rhs)
    text = write_module(op, expected.shape)
    (kernel,) = gpu_kernels.compile_products(text, *options)
    results = []
    for schedule in ("forward", "reverse", "random:3"):
        # What the destination held does not matter.
        result = np.full(expected.shape, np.nan).astype(TYPES[op.out_type])
        gpu_kernels.run(kernel, [lhs, rhs, result], schedule)
        results.append(result)
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
    tolerance = TOLERANCES[op.out_type]
    if "tf32=true" in options:
        tolerance = TF32_TOLERANCE
    scale = np.sqrt(np.sum(expected**2) / max(expected.size, 1))
    error = np.abs(results[0].astype(np.float64) - expected).max(initial=0)
    assert error <= tolerance * scale


@pytest.mark.parametrize(
    ("element", "out", "options"),
    [
        ("f32", "f32", ()),
        ("f32", "f32", ("tf32=true",)),
        ("bf16", "bf16", ()),
        ("bf16", "f32", ()),
        ("f16", "f16", ()),
        ("f64", "f64", ()),
    ],
)
@pytest.mark.parametrize("layouts", [NHWC, NCHW])
def test_types(element, out, options, layouts):
    shapes = {NHWC: ((2, 9, 8, 16), (3, 3, 16, 24)), NCHW: ((2, 5, 9, 8), (6, 5, 3, 2))}
    lhs, rhs = shapes[layouts]
    op = Convolution(lhs, rhs, layouts, (2, 1), ((1, 1), (0, 2)), type=element, out=out)
    check(op, *options)


@pytest.mark.parametrize(
    "op",
    [
        Convolution((2, 9, 8, 16), (3, 3, 16, 24), padding=((-1, 1), (2, -2))),
        Convolution((2, 9, 8, 16), (3, 3, 4, 24), feature_groups=4),
        Convolution(
            (2, 9, 9, 8), (3, 3, 1, 8), padding=((1, 1),) * 2, feature_groups=8
        ),
        Convolution((4, 9, 8, 6), (3, 3, 6, 24), batch_groups=2, rhs_dilation=(2, 1)),
        Convolution(
            (2, 5, 6, 4),
            (3, 3, 4, 5),
            lhs_dilation=(2, 3),
            padding=((2, 1), (1, 2)),
            reversal=(True, False),
        ),
        Convolution(
            (2, 5, 6, 4),
            (3, 2, 4, 5),
            strides=(3, 1),
            padding=((2, 4), (1, 2)),
            lhs_dilation=(2, 1),
            rhs_dilation=(1, 3),
            reversal=(True, True),
        ),
        Convolution((1, 3, 3, 2), (5, 5, 2, 3), padding=((4, 4), (4, 4))),
        Convolution((9, 8, 2, 16), (3, 3, 16, 24), ("01bf", "01io", "01bf")),
        Convolution((9, 8, 16, 2), (16, 24, 3, 3), ("01fb", "io01", "f01b")),
        Convolution((16, 9, 8, 2), (3, 16, 24, 3), ("f01b", "0io1", "f0b1")),
    ],
)
def test_attributes(op):
    check(op)


@pytest.mark.parametrize(
    "op",
    [
        Convolution((3, 7), (7, 4), ("bf", "io", "bf")),
        Convolution((3, 7), (4, 7), ("bf", "oi", "fb")),
        Convolution((2, 10, 4), (3, 4, 6), ("b0f", "0io", "b0f"), padding=((1, 1),)),
        Convolution((2, 4, 10), (3, 4, 6), ("bf0", "0io", "f0b"), padding=((1, 1),)),
        Convolution(
            (2, 5, 6, 7, 3),
            (2, 3, 2, 3, 4),
            ("b012f", "012io", "b012f"),
            strides=(1, 2, 1),
            padding=((1, 0), (0, 1), (1, 1)),
        ),
    ],
)
def test_ranks(op):
    check(op)


@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_large_blocks(element):
    # At least 96 blocks of 128 by 128.
    check(Convolution((17, 28, 28, 8), (2, 1, 8, 128), type=element))


def test_no_elements():
    check(Convolution((0, 5, 5, 3), (3, 3, 3, 4)))

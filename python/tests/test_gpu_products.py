# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests GPU kernels of sums of products on the emulator, against numpy in f64.

Tolerances are of the root mean square of the result: results of f32 have the rounding
errors of f32 alone, tf32 rounds factors to 11 bits, and results of 16 bits are rounded
once.
"""

import dataclasses

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
TOLERANCES = {"f32": 5e-6, "f64": 1e-14, "bf16": 2e-2, "f16": 3e-3}
TF32_TOLERANCE = 3e-3
LAYOUTS = ("mk,kn->mn", "mk,nk->mn", "km,kn->mn", "km,nk->mn")


@dataclasses.dataclass(frozen=True)
class Product:
    """A sum of products.

    Attributes:
        spec: as of numpy.einsum, one letter per loop.
        extents: of the loops, by letter.
        type: of the factors.
        out: type of the result.
        adds: to what the destination holds.
        strides: of the first factor, in elements; those of a row-major array if None.
    """

    spec: str
    extents: dict[str, int]
    type: str = "f32"
    out: str = ""
    adds: bool = False
    strides: tuple[int, ...] | None = None

    @property
    def out_type(self) -> str:
        """The type of the result."""
        return self.out or self.type

    def operands(self) -> list[str]:
        """The letters of both factors and the result."""
        inputs, result = self.spec.split("->")
        return [*inputs.split(","), result]

    def shape(self, letters: str) -> list[int]:
        """The extents of a tensor."""
        return [self.extents[letter] for letter in letters]


def buffer_type(shape: list[int], element: str, strides=None) -> str:
    """The type of a buffer in MLIR."""
    layout = f", strided<[{', '.join(map(str, strides))}]>" if strides else ""
    return f"memref<{'x'.join(map(str, [*shape, element]))}{layout}>"


def write_module(product: Product, name: str = "product") -> str:
    """The kernel of `product` in a function."""
    left, right, out = product.operands()
    loops = sorted(set(left + right))
    dims = ", ".join(f"d{i}" for i in range(len(loops)))

    def loop_map(letters: str) -> str:
        results = ", ".join(f"d{loops.index(letter)}" for letter in letters)
        return f"affine_map<({dims}) -> ({results})>"

    kinds = ["parallel" if loop in out else "reduction" for loop in loops]
    types = [
        buffer_type(product.shape(left), product.type, product.strides),
        buffer_type(product.shape(right), product.type),
        buffer_type(product.shape(out), product.out_type),
    ]
    total = product.out_type
    rank = ", ".join(f"d{i}" for i in range(len(out)))
    fill = f"""
      %zero = arith.constant 0.0 : {total}
      linalg.generic {{
          indexing_maps = [affine_map<({rank}) -> ()>,
                           affine_map<({rank}) -> ({rank})>],
          iterator_types = [{", ".join(['"parallel"'] * len(out))}]}}
          ins(%zero : {total}) outs(%c : {types[2]}) {{
      ^bb0(%x: {total}, %z: {total}):
        linalg.yield %x : {total}
      }}"""
    factors = ["%x", "%y"]
    extensions = ""
    if total != product.type:
        factors = ["%xe", "%ye"]
        extensions = "".join(
            f"        %{v}e = arith.extf %{v} : {product.type} to {total}\n"
            for v in "xy"
        )
    maps = ", ".join(map(loop_map, (left, right, out)))
    iterators = ", ".join(f'"{kind}"' for kind in kinds)
    joined = ", ".join(types)
    return f"""
  func.func @{name}(%a0: {types[0]}, %b0: {types[1]}, %c0: {types[2]}) {{
    act.kernel contraction [] (%a0, %b0, %c0 : {joined}) {{
    ^bb0(%a: {types[0]}, %b: {types[1]}, %c: {types[2]}):{"" if product.adds else fill}
      linalg.generic {{indexing_maps = [{maps}], iterator_types = [{iterators}]}}
          ins(%a, %b : {types[0]}, {types[1]}) outs(%c : {types[2]}) {{
      ^bb0(%x: {product.type}, %y: {product.type}, %z: {total}):
{extensions}        %m = arith.mulf {factors[0]}, {factors[1]} : {total}
        %s = arith.addf %z, %m : {total}
        linalg.yield %s : {total}
      }}
    }}
    return
  }}
"""


def make_arguments(product: Product, seed: int = 0) -> list[np.ndarray]:
    """Random factors and what is in the destination."""
    generator = np.random.default_rng(seed)
    left, right, out = product.operands()
    types = (product.type, product.type, product.out_type)
    return [
        generator.standard_normal(product.shape(letters)).astype(TYPES[element])
        for letters, element in zip((left, right, out), types, strict=True)
    ]


def place(array: np.ndarray, strides: tuple[int, ...]) -> np.ndarray:
    """A flat buffer in which `array` has `strides`, with NaN where it is not."""
    span = 1 + sum(
        (extent - 1) * stride
        for extent, stride in zip(array.shape, strides, strict=True)
    )
    flat = np.full(span, np.nan).astype(array.dtype)
    view = np.lib.stride_tricks.as_strided(
        flat, array.shape, [stride * array.itemsize for stride in strides]
    )
    view[...] = array
    return flat


def get_expected(product: Product, arguments: list[np.ndarray]) -> np.ndarray:
    """The result in f64."""
    left, right, out = (array.astype(np.float64) for array in arguments)
    return np.einsum(product.spec, left, right) + (out if product.adds else 0)


def execute(product: Product, arguments: list[np.ndarray], *options: str) -> np.ndarray:
    """The result of the kernel, which is the same under all schedules."""
    (kernel,) = gpu_kernels.compile_products(write_module(product), *options)
    left, right, out = arguments
    if product.strides:
        left = place(left, product.strides)
    results = []
    for schedule in ("forward", "reverse", "random:7"):
        result = out.copy()
        gpu_kernels.run(kernel, [left, right, result], schedule)
        results.append(result)
    assert results[0].tobytes() == results[1].tobytes() == results[2].tobytes()
    return results[0]


def check(product: Product, *options: str) -> None:
    """Compares a product of random numbers with that of numpy."""
    arguments = make_arguments(product)
    expected = get_expected(product, arguments)
    result = execute(product, arguments, *options).astype(np.float64)
    tolerance = TOLERANCES[product.out_type]
    if "tf32=true" in options:
        tolerance = TF32_TOLERANCE
    scale = np.sqrt(np.mean(expected**2))
    assert np.abs(result - expected).max() <= tolerance * scale


@pytest.mark.parametrize("spec", LAYOUTS)
@pytest.mark.parametrize(
    ("element", "options"),
    [("f32", ()), ("f32", ("tf32=true",)), ("bf16", ()), ("f16", ()), ("f64", ())],
)
@pytest.mark.parametrize(
    "size", [(128, 128, 192), (104, 88, 72), (1, 7, 3), (33, 65, 17)]
)
def test_layouts_and_tails(spec, element, options, size):
    check(Product(spec, dict(zip("mnk", size, strict=True)), element), *options)


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize(
    ("spec", "extents"),
    [
        ("bshd,hdo->bsho", {"b": 4, "s": 32, "h": 4, "d": 16, "o": 16}),
        ("bqhd,bkhd->bhqk", {"b": 2, "q": 33, "k": 40, "h": 3, "d": 16}),
        ("bhqk,bkhd->bqhd", {"b": 2, "q": 33, "k": 40, "h": 3, "d": 16}),
        ("bsm,bsn->mn", {"b": 4, "s": 40, "m": 72, "n": 33}),
        ("mk,kn->nm", {"m": 100, "n": 60, "k": 48}),
        ("xmyk,kz->mxzy", {"x": 3, "m": 5, "y": 7, "k": 20, "z": 9}),
        ("k,kn->n", {"n": 60, "k": 48}),
        ("mk,k->m", {"m": 70, "k": 48}),
    ],
)
def test_several_loops(element, spec, extents):
    check(Product(spec, extents, element))


@pytest.mark.parametrize(
    ("element", "out"),
    [("f32", "f32"), ("bf16", "bf16"), ("bf16", "f32"), ("f16", "f32")],
)
@pytest.mark.parametrize("adds", [False, True])
def test_accumulates(element, out, adds):
    sizes = {"m": 100, "n": 60, "k": 48}
    check(Product("mk,kn->mn", sizes, element, out, adds))


# Each has at least 96 blocks, which chooses the shape of blocks.
@pytest.mark.parametrize(
    ("element", "options", "rows", "columns"),
    [
        ("f32", (), 128, 128),
        ("f32", ("tf32=true",), 128, 128),
        ("f32", ("tf32=true",), 128, 256),
        ("bf16", (), 128, 128),
        ("bf16", (), 128, 256),
        ("bf16", (), 100, 150),
        ("f32", (), 90, 120),
    ],
)
def test_large_blocks(element, options, rows, columns):
    extents = {"b": 96, "m": rows, "n": columns, "k": 40}
    product = Product("bmk,bkn->bmn", extents, element)
    (kernel,) = gpu_kernels.compile_products(write_module(product), *options)
    assert kernel.blocks == 96
    assert kernel.threads == 256
    check(product, *options)


@pytest.mark.parametrize("element", ["f32", "bf16"])
@pytest.mark.parametrize("alignment", [2, 4, 8])
@pytest.mark.parametrize("strides", [None, (49, 1), (51, 1), (1, 101), (2, 203)])
def test_alignment_and_strides(element, alignment, strides):
    if element == "f32" and alignment < 4:
        pytest.skip("an element has 4 bytes")
    sizes = {"m": 100, "n": 60, "k": 48}
    product = Product("mk,kn->mn", sizes, element, strides=strides)
    check(product, f"alignment={alignment}")


@pytest.mark.parametrize(
    ("element", "options"), [("f32", ()), ("f32", ("tf32=true",)), ("bf16", ())]
)
def test_special_numbers(element, options):
    product = Product("mk,kn->mn", {"m": 70, "n": 40, "k": 33}, element)
    arguments = make_arguments(product)
    arguments[0][3, 5] = np.nan
    arguments[0][40, 32] = np.inf
    arguments[1][7, 39] = -np.inf
    with np.errstate(invalid="ignore"):
        expected = get_expected(product, arguments)
    result = execute(product, arguments, *options).astype(np.float64)
    np.testing.assert_array_equal(np.isnan(result), np.isnan(expected))
    infinite = np.isinf(expected)
    assert infinite.any()
    np.testing.assert_array_equal(result[infinite], expected[infinite])


def test_no_elements():
    product = Product("mk,kn->mn", {"m": 0, "n": 6, "k": 4})
    assert execute(product, make_arguments(product)).shape == (0, 6)


def test_mixed_types_have_no_kernel_of_their_own():
    text = write_module(Product("mk,kn->mn", {"m": 8, "n": 9, "k": 7}, "bf16", "f32"))
    assert gpu_kernels.compile_products(text)
    for old, new in (
        ("7x9xbf16", "7x9xf32"),
        ("%y: bf16", "%y: f32"),
        ("%xe, %ye", "%xe, %y"),
        ("%ye = arith.extf %y : bf16 to f32", ""),
    ):
        assert old in text
        text = text.replace(old, new)
    assert not gpu_kernels.compile_products(text)

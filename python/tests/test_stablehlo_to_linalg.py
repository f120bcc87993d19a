# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operations of StableHLO, lowered by act and by XLA: the same numbers.

Shapes, dimension numbers and types are drawn at random; a program holds several
operations, since compiling takes most of the time.
"""

import math
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np
import pytest
from native_runner import run_native, run_xla
from stablehlo_program import (
    ELEMENTS,
    Program,
    Value,
    integers,
    random_array,
    special_array,
)

INTEGERS = [name for name in ELEMENTS if "int" in name]
FLOATS = [name for name in ELEMENTS if "float" in name]
#: Relative error that results of elementwise functions may have: two units in
#: the last place, and what XLA's approximations add.
TOLERANCE = {"float16": 2e-3, "bfloat16": 1.6e-2, "float32": 2e-6, "float64": 1e-13}
#: Relative and absolute error of sums of few numbers near 1, which XLA may add up
#: in another order and, if they are narrow, with more roundings.
SUMS = {
    "float16": (5e-3, 2e-2),
    "bfloat16": (3e-2, 5e-2),
    "float32": (1e-5, 1e-5),
    "float64": (1e-12, 1e-12),
}
SEEDS = [0, 1, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(2, 6))]

UNARY_ON_FLOATS = [
    "abs",
    "ceil",
    "floor",
    "cbrt",
    "cosine",
    "sine",
    "tan",
    "tanh",
    "exponential",
    "exponential_minus_one",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "sign",
    "sqrt",
    "rsqrt",
    "round_nearest_afz",
    "round_nearest_even",
]
CHLO_ON_FLOATS = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "cosh",
    "sinh",
    "erf",
    "erfc",
    "erf_inv",
    "square",
    "tan",
]
BINARY_ON_FLOATS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "remainder",
    "maximum",
    "minimum",
    "power",
    "atan2",
]
UNARY_ON_INTEGERS = ["not", "popcnt", "count_leading_zeros"]
BINARY_ON_INTEGERS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "remainder",
    "maximum",
    "minimum",
    "and",
    "or",
    "xor",
    "shift_left",
    "shift_right_logical",
    "shift_right_arithmetic",
]
BINARY_ON_BOOLEANS = ["add", "multiply", "maximum", "minimum", "and", "or", "xor"]


def compare(got: np.ndarray, expected: np.ndarray, tolerance: float, what: str):
    """Checks that arrays agree, with NaN and infinities in the same places.

    XLA flushes subnormal numbers to zero.
    """
    assert got.dtype == expected.dtype, what
    assert got.shape == expected.shape, what
    if got.dtype.name not in FLOATS:
        np.testing.assert_array_equal(got, expected, err_msg=what)
        return
    smallest = 2 * float(jnp.finfo(got.dtype).tiny)
    got, expected = got.astype(np.float64), expected.astype(np.float64)
    tiny = (np.abs(got) <= smallest) & (np.abs(expected) <= smallest)
    np.testing.assert_allclose(
        np.where(tiny, 0, got), np.where(tiny, 0, expected), tolerance, 0, err_msg=what
    )


def check(
    program: Program,
    arguments: Sequence[np.ndarray],
    sums: bool = False,
    names: Sequence[str] = (),
) -> None:
    """Runs a program both ways and compares all results.

    Args:
        program: what to run.
        arguments: its arguments.
        sums: whether results are sums, for which `SUMS` holds.
        names: of the results, for messages.
    """
    text = program.text()
    expected = run_xla(text, arguments)
    got = run_native(text, arguments)
    for i, (a, b) in enumerate(zip(got, expected, strict=True)):
        what = f"result {i} {names[i] if i < len(names) else ''} of\n{text}"
        kind = b.dtype.name
        if sums and kind in SUMS:
            a, b = a.astype(np.float64), b.astype(np.float64)
            np.testing.assert_allclose(a, b, *SUMS[kind], err_msg=what)
        else:
            compare(a, b, TOLERANCE.get(kind, 0.0), what)


def draw_arguments(program: Program, seed: int) -> list[np.ndarray]:
    generator = np.random.default_rng(seed)
    return [random_array(generator, v.dtype, v.shape) for v in program.arguments]


def pairs(dtype: str) -> tuple[np.ndarray, np.ndarray]:
    """Returns all pairs of special numbers."""
    first, second = np.meshgrid(special_array(dtype), special_array(dtype))
    return first.reshape(-1).copy(), second.reshape(-1).copy()


# ---------------------------------------------------------------------------
# Elementwise operations
# ---------------------------------------------------------------------------


class Elementwise:
    """A program of elementwise operations on two arguments of one type."""

    def __init__(self, dtype: str):
        self.dtype = dtype
        self.program = Program()
        self.arrays = pairs(dtype)
        self.shape = self.arrays[0].shape
        self.x, self.y = (self.program.argument(dtype, self.shape) for _ in range(2))
        self.names: list[str] = []

    def add(
        self, name: str, operands: Sequence[Value], dtype: str = "", attributes=""
    ) -> None:
        """Adds an operation and makes its result one of the program's."""
        result = (dtype or self.dtype, self.shape)
        self.program.output(*self.program.add(name, operands, [result], attributes))
        self.names.append(f"{name} {attributes}")

    def add_comparisons(self, kind: str) -> None:
        """Adds comparisons in all directions."""
        for direction in ("EQ", "NE", "GE", "GT", "LE", "LT"):
            attributes = (
                f"compare_type = #stablehlo<comparison_type {kind}>, "
                "comparison_direction = "
                f"#stablehlo<comparison_direction {direction}>"
            )
            self.add("stablehlo.compare", [self.x, self.y], "bool", attributes)

    def check(self) -> None:
        """Runs the program both ways."""
        check(self.program, self.arrays, names=self.names)


@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_floats(dtype):
    case = Elementwise(dtype)
    for name in UNARY_ON_FLOATS:
        case.add(f"stablehlo.{name}", [case.x])
    for name in CHLO_ON_FLOATS:
        case.add(f"chlo.{name}", [case.x])
    for name in BINARY_ON_FLOATS:
        case.add(f"stablehlo.{name}", [case.x, case.y])
    case.add("stablehlo.clamp", [case.x, case.y, case.x])
    case.add("stablehlo.clamp", [case.y, case.x, case.x])
    case.check()


@pytest.mark.parametrize("dtype", FLOATS)
def test_tests_of_floats(dtype):
    case = Elementwise(dtype)
    case.add_comparisons("FLOAT")
    case.add_comparisons("TOTALORDER")
    case.add("stablehlo.is_finite", [case.x], "bool")
    for name in ("is_inf", "is_pos_inf", "is_neg_inf"):
        case.add(f"chlo.{name}", [case.x], "bool")
    case.check()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_functions_of_integers(dtype):
    case = Elementwise(dtype)
    for name in UNARY_ON_INTEGERS:
        case.add(f"stablehlo.{name}", [case.x])
    for name in BINARY_ON_INTEGERS:
        case.add(f"stablehlo.{name}", [case.x, case.y])
    if dtype.startswith("int"):
        for name in ("abs", "negate", "sign"):
            case.add(f"stablehlo.{name}", [case.x])
    case.add("stablehlo.clamp", [case.x, case.y, case.x])
    case.add_comparisons("SIGNED" if dtype.startswith("int") else "UNSIGNED")
    case.check()


def test_functions_of_booleans():
    case = Elementwise("bool")
    for name in BINARY_ON_BOOLEANS:
        case.add(f"stablehlo.{name}", [case.x, case.y])
    case.add("stablehlo.not", [case.x])
    case.add("stablehlo.select", [case.x, case.y, case.x])
    case.add_comparisons("UNSIGNED")
    case.check()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_powers_of_integers(dtype):
    # XLA only looks at the lowest bits of exponents.
    program = Program()
    exponents = np.arange(-5 if dtype.startswith("int") else 0, 14).astype(dtype)
    bases = special_array(dtype)
    grid = [a.reshape(-1).copy() for a in np.meshgrid(bases, exponents)]
    x, y = (program.argument(dtype, a.shape) for a in grid)
    program.output(*program.add("stablehlo.power", [x, y], [(dtype, x.shape)]))
    check(program, grid)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_constant_operands(dtype):
    # Constants need no test for division by zero or shifts that are too far.
    case = Elementwise(dtype)
    for number in (1, 3, 7, 100):
        attributes = f"value = dense<{number}> : {case.x.type}"
        (constant,) = case.program.add(
            "stablehlo.constant", [], [(dtype, case.shape)], attributes
        )
        for name in BINARY_ON_INTEGERS:
            case.add(f"stablehlo.{name}", [case.x, constant])
            case.add(f"stablehlo.{name}", [constant, constant])
    case.check()


@pytest.mark.parametrize("dtype", ELEMENTS)
def test_conversions(dtype):
    case = Elementwise(dtype)
    for to in ELEMENTS:
        case.add("stablehlo.convert", [case.x], to)
    if dtype in FLOATS:
        for bits in [(5, 10), (8, 7), (4, 3), (8, 23), (5, 2), (11, 52), (3, 0)]:
            attributes = "exponent_bits = {} : i32, mantissa_bits = {} : i32"
            case.add(
                "stablehlo.reduce_precision", [case.x], "", attributes.format(*bits)
            )
    case.check()


@pytest.mark.parametrize("dtype", [name for name in ELEMENTS if name != "bool"])
def test_bitcasts(dtype):
    width = jnp.dtype(dtype).itemsize
    program = Program()
    source = special_array(dtype)
    length = len(source) // 8 * 8
    arrays = []
    for to in ELEMENTS:
        other = jnp.dtype(to).itemsize
        if to == "bool":
            continue
        shape = [length // 8, 8]
        result = list(shape)
        if width > other:
            result.append(width // other)
        elif width < other:
            shape = [length // (other // width), other // width]
            result = shape[:-1]
        x = program.argument(dtype, shape)
        arrays.append(source[:length].reshape(shape))
        (value,) = program.add("stablehlo.bitcast_convert", [x], [(to, result)])
        bits = f"uint{8 * other}"
        # NaN have many bit patterns.
        (value,) = program.add("stablehlo.bitcast_convert", [value], [(bits, result)])
        program.output(value)
    check(program, arrays)


def test_scalars_beside_tensors():
    program = Program()
    x = program.argument("float32", [3, 5])
    low, high = program.argument("float32", []), program.argument("float32", [])
    flag = program.argument("bool", [])
    result = [("float32", [3, 5])]
    program.output(*program.add("stablehlo.clamp", [low, x, high], result))
    (negative,) = program.add("stablehlo.negate", [x], result)
    program.output(*program.add("stablehlo.select", [flag, x, negative], result))
    for choice in (False, True):
        x = np.linspace(-3, 3, 15, dtype=np.float32).reshape(3, 5)
        check(program, [x, np.float32(-1), np.float32(0.5), np.array(choice)])


# ---------------------------------------------------------------------------
# Shapes
# ---------------------------------------------------------------------------


def draw_shape(generator: np.random.Generator, rank: int, low: int = 1) -> list[int]:
    return [int(n) for n in generator.integers(low, 6, rank)]


def draw_type(generator: np.random.Generator) -> str:
    return str(generator.choice(["float32", "bfloat16", "int32", "uint8", "bool"]))


@pytest.mark.parametrize("seed", SEEDS)
def test_shapes(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    for _ in range(12):
        dtype = draw_type(generator)
        rank = int(generator.integers(0, 5))
        shape = draw_shape(generator, rank, low=0 if seed == 0 else 1)
        x = program.argument(dtype, shape)
        add_transpose(program, x, generator)
        add_reverse(program, x, generator)
        add_broadcast(program, x, generator)
        add_reshape(program, x, generator)
        add_iota(program, x, generator)
    check(program, draw_arguments(program, seed))


def add_transpose(program, x, generator):
    order = [int(d) for d in generator.permutation(len(x.shape))]
    shape = [x.shape[d] for d in order]
    attributes = f"permutation = {integers(order)}"
    program.output(
        *program.add("stablehlo.transpose", [x], [(x.dtype, shape)], attributes)
    )


def add_reverse(program, x, generator):
    dims = [d for d in range(len(x.shape)) if generator.integers(2)]
    attributes = f"dimensions = {integers(dims)}"
    program.output(
        *program.add("stablehlo.reverse", [x], [(x.dtype, x.shape)], attributes)
    )


def add_broadcast(program, x, generator):
    shape = draw_shape(generator, len(x.shape) + int(generator.integers(0, 3)))
    dims = [int(d) for d in generator.permutation(len(shape))[: len(x.shape)]]
    for size, dim in zip(x.shape, dims, strict=True):
        if size != 1:
            shape[dim] = size
    attributes = f"broadcast_dimensions = {integers(dims)}"
    program.output(
        *program.add("stablehlo.broadcast_in_dim", [x], [(x.dtype, shape)], attributes)
    )


def add_reshape(program, x, generator):
    factors = []
    for size in x.shape:
        while size > 1:
            factor = next(f for f in range(2, size + 1) if size % f == 0)
            factors.append(factor)
            size //= factor
    factors += [1] * int(generator.integers(0, 3))
    generator.shuffle(factors)
    if 0 in x.shape:
        factors = [0, 3]
    shape = []
    for factor in map(int, factors):
        if shape and generator.integers(2):
            shape[-1] *= factor
        else:
            shape.append(factor)
    if math.prod(shape) == math.prod(x.shape):
        program.output(*program.add("stablehlo.reshape", [x], [(x.dtype, shape)]))


def add_iota(program, x, generator):
    if x.shape and x.dtype != "bool":
        dim = int(generator.integers(len(x.shape)))
        attributes = f"iota_dimension = {dim} : i64"
        program.output(
            *program.add("stablehlo.iota", [], [(x.dtype, x.shape)], attributes)
        )


# ---------------------------------------------------------------------------
# Slices
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_slices(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    arrays = []

    def argument(dtype, shape):
        arrays.append(random_array(generator, dtype, shape))
        return program.argument(dtype, shape)

    for _ in range(10):
        dtype = draw_type(generator)
        x = argument(dtype, draw_shape(generator, int(generator.integers(0, 4))))
        add_slice(program, x, generator)
        add_pad(program, x, argument(dtype, []), generator)
        add_concatenate(program, x, argument, generator)
        add_dynamic_slices(program, x, argument, generator)
    check(program, arrays)


def add_slice(program, x, generator):
    starts = [int(generator.integers(0, n + 1)) for n in x.shape]
    limits = [
        int(generator.integers(s, n + 1)) for s, n in zip(starts, x.shape, strict=True)
    ]
    strides = [int(n) for n in generator.integers(1, 4, len(x.shape))]
    shape = [-(-(b - a) // s) for a, b, s in zip(starts, limits, strides, strict=True)]
    attributes = (
        f"start_indices = {integers(starts)}, limit_indices = {integers(limits)}, "
        f"strides = {integers(strides)}"
    )
    program.output(*program.add("stablehlo.slice", [x], [(x.dtype, shape)], attributes))


def add_pad(program, x, value, generator):
    interior = [int(n) for n in generator.integers(0, 3, len(x.shape))]
    low, high, shape = [], [], []
    for size, between in zip(x.shape, interior, strict=True):
        length = size + (size - 1) * between
        low.append(int(generator.integers(-length, 4)))
        high.append(int(generator.integers(-(length + low[-1]), 4)))
        shape.append(low[-1] + length + high[-1])
    attributes = (
        f"edge_padding_low = {integers(low)}, edge_padding_high = {integers(high)}, "
        f"interior_padding = {integers(interior)}"
    )
    program.output(
        *program.add("stablehlo.pad", [x, value], [(x.dtype, shape)], attributes)
    )


def add_concatenate(program, x, argument, generator):
    if not x.shape:
        return
    dim = int(generator.integers(len(x.shape)))
    operands = [x]
    for _ in range(int(generator.integers(0, 3))):
        shape = list(x.shape)
        shape[dim] = int(generator.integers(0, 4))
        operands.append(argument(x.dtype, shape))
    shape = list(x.shape)
    shape[dim] = sum(v.shape[dim] for v in operands)
    attributes = f"dimension = {dim} : i64"
    program.output(
        *program.add("stablehlo.concatenate", operands, [(x.dtype, shape)], attributes)
    )


def add_dynamic_slices(program, x, argument, generator):
    kind = str(generator.choice(["int32", "uint8", "int64"]))
    # Also starts that are out of range, of either sign.
    starts = [argument(kind, []) for _ in x.shape]
    sizes = [int(generator.integers(0, n + 1)) for n in x.shape]
    attributes = f"slice_sizes = {integers(sizes)}"
    program.output(
        *program.add(
            "stablehlo.dynamic_slice", [x, *starts], [(x.dtype, sizes)], attributes
        )
    )
    update = argument(x.dtype, sizes)
    program.output(
        *program.add(
            "stablehlo.dynamic_update_slice",
            [x, update, *starts],
            [(x.dtype, x.shape)],
        )
    )


# ---------------------------------------------------------------------------
# Contractions
# ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_dot_general(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    for dtypes in [
        ("float32", "float32"),
        ("float64", "float64"),
        ("bfloat16", "bfloat16"),
        ("bfloat16", "float32"),
        ("float16", "float16"),
        ("int32", "int32"),
        ("int8", "int32"),
        ("uint8", "int32"),
    ]:
        add_dot(program, *dtypes, generator)
        add_dot(program, *dtypes, generator)
    check(program, draw_arguments(program, seed), sums=True)


def add_dot(program, dtype, result, generator):
    counts = [int(n) for n in generator.integers(0, 3, 4)]
    batch, lhs_free, rhs_free, contracted = (
        draw_shape(generator, count, low=0 if generator.integers(8) == 0 else 1)
        for count in counts
    )
    lhs_dims = [
        int(d) for d in generator.permutation(counts[0] + counts[1] + counts[3])
    ]
    rhs_dims = [
        int(d) for d in generator.permutation(counts[0] + counts[2] + counts[3])
    ]

    def place(sizes, dims):
        shape = [0] * len(dims)
        for size, dim in zip(sizes, dims, strict=True):
            shape[dim] = size
        return shape

    lhs = program.argument(dtype, place([*batch, *lhs_free, *contracted], lhs_dims))
    rhs = program.argument(dtype, place([*batch, *rhs_free, *contracted], rhs_dims))
    # Free dimensions come in the order of the operand.
    lhs_order = sorted(lhs_dims[counts[0] : counts[0] + counts[1]])
    rhs_order = sorted(rhs_dims[counts[0] : counts[0] + counts[2]])
    shape = [*batch, *(lhs.shape[d] for d in lhs_order)]
    shape += [rhs.shape[d] for d in rhs_order]
    numbers = {
        "lhs_batching_dimensions": lhs_dims[: counts[0]],
        "rhs_batching_dimensions": rhs_dims[: counts[0]],
        "lhs_contracting_dimensions": lhs_dims[counts[0] + counts[1] :],
        "rhs_contracting_dimensions": rhs_dims[counts[0] + counts[2] :],
    }
    text = ", ".join(f"{key} = {value}" for key, value in numbers.items())
    attributes = f"dot_dimension_numbers = #stablehlo.dot<{text}>"
    program.output(
        *program.add("stablehlo.dot_general", [lhs, rhs], [(result, shape)], attributes)
    )


# ---------------------------------------------------------------------------
# Reductions
# ---------------------------------------------------------------------------


def neutral(name: str, dtype: str) -> np.ndarray:
    """Returns what a reduction starts with; XLA may leave other values out."""
    kind = jnp.dtype(dtype)
    if dtype == "bool":
        return np.array(name in ("and", "minimum"))
    if name in ("maximum", "minimum"):
        info = jnp.finfo(kind) if dtype in FLOATS else jnp.iinfo(kind)
        value = info.min if name == "maximum" else info.max
    else:
        value = {"add": 0, "or": 0, "multiply": 1, "and": -1}[name]
    return np.array(value).astype(kind)


@pytest.mark.parametrize("seed", SEEDS)
def test_reductions(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    arrays = []
    for dtype in ("float32", "bfloat16", "int32", "uint8", "float64", "bool"):
        for name in ("add", "multiply", "maximum", "minimum", "and", "or"):
            if (dtype in FLOATS and name in ("and", "or")) or (
                dtype == "bool" and name in ("add", "multiply")
            ):
                continue
            shape = draw_shape(generator, int(generator.integers(0, 4)))
            dims = [d for d in range(len(shape)) if generator.integers(2)]
            x, init = program.argument(dtype, shape), program.argument(dtype, [])
            arrays += [random_array(generator, dtype, shape), neutral(name, dtype)]
            kept = [n for d, n in enumerate(shape) if d not in dims]
            program.output(
                *program.add(
                    "stablehlo.reduce",
                    [x, init],
                    [(dtype, kept)],
                    f"dimensions = {integers(dims)}",
                    [program.combiner(name, dtype)],
                )
            )
    check(program, arrays, sums=True)


def argmax_region(program: Program) -> str:
    """The greater number, then the smaller index."""
    a, i, b, j = (
        Value(program.fresh(), dtype, ())
        for dtype in ("float32", "int32", "float32", "int32")
    )
    order = "compare_type = #stablehlo<comparison_type {}>"
    order += ", comparison_direction = #stablehlo<comparison_direction {}>"
    f, n, o = a.type, i.type, "tensor<i1>"
    s = "stablehlo"
    lines = f"""
    %gt{a.name[1:]} = "{s}.compare"({a.name}, {b.name}) <{{{order.format("FLOAT", "GT")}}}> : ({f}, {f}) -> {o}
    %eq{a.name[1:]} = "{s}.compare"({a.name}, {b.name}) <{{{order.format("FLOAT", "EQ")}}}> : ({f}, {f}) -> {o}
    %lt{a.name[1:]} = "{s}.compare"({i.name}, {j.name}) <{{{order.format("SIGNED", "LT")}}}> : ({n}, {n}) -> {o}
    %tie{a.name[1:]} = "{s}.and"(%eq{a.name[1:]}, %lt{a.name[1:]}) : ({o}, {o}) -> {o}
    %w{a.name[1:]} = "{s}.or"(%gt{a.name[1:]}, %tie{a.name[1:]}) : ({o}, {o}) -> {o}
    %x{a.name[1:]} = "{s}.select"(%w{a.name[1:]}, {a.name}, {b.name}) : ({o}, {f}, {f}) -> {f}
    %y{a.name[1:]} = "{s}.select"(%w{a.name[1:]}, {i.name}, {j.name}) : ({o}, {n}, {n}) -> {n}
    """  # noqa: E501
    result = f"%x{a.name[1:]}, %y{a.name[1:]} : {f}, {n}"
    return program.region([a, i, b, j], lines, result)


def test_argmax():
    program = Program()
    x, start = program.argument("float32", [7, 9]), program.argument("float32", [])
    first = program.argument("int32", [])
    (numbers,) = program.add(
        "stablehlo.iota", [], [("int32", [7, 9])], "iota_dimension = 1 : i64"
    )
    program.output(
        *program.add(
            "stablehlo.reduce",
            [x, numbers, start, first],
            [("float32", [7]), ("int32", [7])],
            f"dimensions = {integers([1])}",
            [argmax_region(program)],
        )
    )
    array = np.random.default_rng(0).integers(0, 4, (7, 9)).astype(np.float32)
    check(program, [array, np.float32(-np.inf), np.int32(0)])


def window_attributes(generator, shape, may_dilate=True, may_pad=True):
    """Draws a window, its strides, dilations and padding."""
    rank = len(shape)
    sizes = [int(n) for n in generator.integers(1, 4, rank)]
    strides = [int(n) for n in generator.integers(1, 3, rank)]
    base = [int(n) for n in generator.integers(1, 3 if may_dilate else 2, rank)]
    dilations = [int(n) for n in generator.integers(1, 3 if may_dilate else 2, rank)]
    padding = generator.integers(-1 if may_dilate else 0, 3, (rank, 2)).tolist()
    if not may_pad:
        padding = [[0, 0]] * rank
    result = []
    for d in range(rank):
        padded = (shape[d] - 1) * base[d] + 1 + sum(padding[d])
        extent = (sizes[d] - 1) * dilations[d] + 1
        result.append(0 if padded < extent else (padded - extent) // strides[d] + 1)
    attributes = {
        "window_dimensions": integers(sizes),
        "window_strides": integers(strides),
        "padding": f"dense<{padding}> : tensor<{rank}x2xi64>",
    }
    if may_dilate:
        attributes["base_dilations"] = integers(base)
        attributes["window_dilations"] = integers(dilations)
    return ", ".join(f"{k} = {v}" for k, v in attributes.items()), result


@pytest.mark.parametrize("seed", SEEDS)
def test_reduce_window(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    arrays = []
    for dtype in ("float32", "bfloat16", "int32", "uint8"):
        for name in ("add", "maximum", "minimum"):
            shape = draw_shape(generator, int(generator.integers(1, 4)), low=3)
            x, init = program.argument(dtype, shape), program.argument(dtype, [])
            arrays += [random_array(generator, dtype, shape), neutral(name, dtype)]
            attributes, result = window_attributes(generator, shape)
            program.output(
                *program.add(
                    "stablehlo.reduce_window",
                    [x, init],
                    [(dtype, result)],
                    attributes,
                    [program.combiner(name, dtype)],
                )
            )
    check(program, arrays, sums=True)


def test_cumulative_sum():
    program = Program()
    x, zero = program.argument("float32", [3, 17]), program.argument("float32", [])
    for low, high in ((16, 0), (0, 16)):
        program.output(
            *program.add(
                "stablehlo.reduce_window",
                [x, zero],
                [("float32", [3, 17])],
                f"window_dimensions = {integers([1, 17])}, "
                f"padding = dense<[[0, 0], [{low}, {high}]]> : tensor<2x2xi64>",
                [program.combiner("add", "float32")],
            )
        )
    x = np.random.default_rng(0).standard_normal((3, 17)).astype(np.float32)
    check(program, [x, np.float32(0)], sums=True)


@pytest.mark.parametrize("seed", SEEDS)
def test_select_and_scatter(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    arrays = []
    for dtype in ("float32", "int32", "float32", "bfloat16"):
        for direction in ("GE", "LE", "GT"):
            shape = draw_shape(generator, int(generator.integers(1, 4)), low=3)
            has_ties = bool(generator.integers(2))
            attributes, result = window_attributes(
                generator, shape, may_dilate=False, may_pad=not has_ties
            )
            operands = [program.argument(dtype, s) for s in (shape, result, [])]
            # Of equal values the first one is chosen; with padding XLA goes
            # through windows in an order that depends on its layouts.
            values = generator.permutation(math.prod(shape)).reshape(shape)
            values = generator.integers(-2, 3, shape) if has_ties else values
            arrays.append(values.astype(jnp.dtype(dtype)))
            arrays += [random_array(generator, dtype, s) for s in (result, [])]
            a, b = (Value(program.fresh(), dtype, ()) for _ in range(2))
            kind = "SIGNED" if dtype == "int32" else "FLOAT"
            chosen = program.fresh()
            compare = (
                f'{chosen} = "stablehlo.compare"({a.name}, {b.name}) <{{compare_type ='
                f" #stablehlo<comparison_type {kind}>, comparison_direction ="
                f" #stablehlo<comparison_direction {direction}>}}> :"
                f" ({a.type}, {b.type}) -> tensor<i1>"
            )
            program.output(
                *program.add(
                    "stablehlo.select_and_scatter",
                    operands,
                    [(dtype, shape)],
                    attributes,
                    [
                        program.region([a, b], compare, f"{chosen} : tensor<i1>"),
                        program.combiner("add", dtype),
                    ],
                )
            )
    check(program, arrays, sums=True)


# ---------------------------------------------------------------------------
# Gather and scatter
# ---------------------------------------------------------------------------


class Blocks:
    """Random dimension numbers of a gather or scatter.

    Attributes:
        shape: of the tensor.
        sizes: of a block in it.
        indices: shape of the indices.
        blocks: shape of all blocks.
    """

    def __init__(self, generator: np.random.Generator):
        batch = draw_shape(generator, int(generator.integers(0, 3)))
        others = draw_shape(generator, int(generator.integers(1, 4)))
        rank = len(batch) + len(others)
        places = [int(d) for d in generator.permutation(rank)]
        self.batch_dims = sorted(places[: len(batch)])
        rest = places[len(batch) :]
        self.shape = [0] * rank
        for size, dim in zip([*batch, *others], [*self.batch_dims, *rest], strict=True):
            self.shape[dim] = size
        count = int(generator.integers(1, len(rest) + 1))
        self.indexed_dims = rest[:count]
        self.sizes = [int(generator.integers(1, n + 1)) for n in self.shape]
        for dim in self.batch_dims:
            self.sizes[dim] = 1
        self.dropped_dims = sorted(d for d in rest if self.sizes[d] == 1)
        if self.dropped_dims and generator.integers(3) == 0:
            self.dropped_dims.pop()
        positions = draw_shape(generator, int(generator.integers(0, 3)))
        where = [int(d) for d in generator.permutation(len(batch) + len(positions))]
        index_shape = [0] * len(where)
        for size, dim in zip([*batch, *positions], where, strict=True):
            index_shape[dim] = size
        self.vector_dim = int(generator.integers(len(where) + 1))
        if count == 1 and generator.integers(2):
            # Without a dimension for vectors of one entry.
            self.vector_dim = len(where)
            self.indices = index_shape
        else:
            self.indices = list(index_shape)
            self.indices.insert(self.vector_dim, count)
        self.index_batch_dims = [
            d if d < self.vector_dim else d + 1 for d in where[: len(batch)]
        ]
        window = [
            self.sizes[d]
            for d in range(rank)
            if d not in self.batch_dims and d not in self.dropped_dims
        ]
        total = len(window) + len(index_shape)
        self.offset_dims = sorted(
            int(d) for d in generator.permutation(total)[: len(window)]
        )
        self.blocks = []
        window_sizes, index_sizes = iter(window), iter(index_shape)
        for dim in range(total):
            source = window_sizes if dim in self.offset_dims else index_sizes
            self.blocks.append(next(source))

    def draw_indices(self, generator, dtype: str) -> np.ndarray:
        """Some are out of range."""
        low = 0 if dtype.startswith("uint") else -2
        return generator.integers(low, 6, self.indices).astype(dtype)


@pytest.mark.parametrize("seed", SEEDS)
def test_gather(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    arrays = []
    for _ in range(8):
        numbers, dtype = Blocks(generator), draw_type(generator)
        index_type = str(generator.choice(["int32", "uint8", "int64"]))
        x = program.argument(dtype, numbers.shape)
        indices = program.argument(index_type, numbers.indices)
        arrays += [
            random_array(generator, dtype, numbers.shape),
            numbers.draw_indices(generator, index_type),
        ]
        attributes = (
            "dimension_numbers = #stablehlo.gather<"
            f"offset_dims = {numbers.offset_dims}, "
            f"collapsed_slice_dims = {numbers.dropped_dims}, "
            f"operand_batching_dims = {numbers.batch_dims}, "
            f"start_indices_batching_dims = {numbers.index_batch_dims}, "
            f"start_index_map = {numbers.indexed_dims}, "
            f"index_vector_dim = {numbers.vector_dim}>, "
            f"slice_sizes = {integers(numbers.sizes)}, indices_are_sorted = false"
        )
        program.output(
            *program.add(
                "stablehlo.gather", [x, indices], [(dtype, numbers.blocks)], attributes
            )
        )
    check(program, arrays)


@pytest.mark.parametrize("seed", SEEDS)
def test_scatter(seed):
    generator = np.random.default_rng(seed)
    program = Program()
    arrays = []
    for name in ("add", "multiply", "maximum", "minimum"):
        for dtype in ("float32", "int32", "bfloat16"):
            numbers = Blocks(generator)
            index_type = str(generator.choice(["int32", "uint8", "int64"]))
            operands = [
                program.argument(dtype, numbers.shape),
                program.argument(index_type, numbers.indices),
                program.argument(dtype, numbers.blocks),
            ]
            arrays += [
                random_array(generator, dtype, numbers.shape),
                numbers.draw_indices(generator, index_type),
                random_array(generator, dtype, numbers.blocks),
            ]
            attributes = (
                "scatter_dimension_numbers = #stablehlo.scatter<"
                f"update_window_dims = {numbers.offset_dims}, "
                f"inserted_window_dims = {numbers.dropped_dims}, "
                f"input_batching_dims = {numbers.batch_dims}, "
                f"scatter_indices_batching_dims = {numbers.index_batch_dims}, "
                f"scatter_dims_to_operand_dims = {numbers.indexed_dims}, "
                f"index_vector_dim = {numbers.vector_dim}>, "
                "indices_are_sorted = false, unique_indices = false"
            )
            program.output(
                *program.add(
                    "stablehlo.scatter",
                    operands,
                    [(dtype, numbers.shape)],
                    attributes,
                    [program.combiner(name, dtype)],
                )
            )
    check(program, arrays, sums=True)

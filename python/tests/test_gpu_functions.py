# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Functions of f32 in kernels for GPUs, executed on the emulator, against f64.

Errors are in units in the last place of the exact result, which numpy computes in
f64; the bounds are those of docs/Native.md.
"""

import functools
import math
import re
import subprocess
from collections.abc import Callable

import numpy as np
import pytest
from gpu_kernels import Kernel, has_emulator, run

from act import tool

pytestmark = pytest.mark.skipif(
    not has_emulator(), reason="the emulator has not been built"
)

F32 = np.float32
INF, NAN = F32(np.inf), F32(np.nan)
TINY = np.finfo(F32).tiny
SPECIAL = np.array(
    [
        0,
        -0.0,
        INF,
        -INF,
        NAN,
        1,
        -1,
        2,
        -2,
        3,
        -3,
        0.5,
        -0.5,
        2.5,
        -2.5,
        4,
        1e-20,
        TINY,
        -TINY,
        TINY / 8,
        -TINY / 8,
        1e-45,
        -1e-45,
        3.4e38,
        -3.4e38,
        16777215,
        16777216,
        -16777217,
        10000000000.0,
        -10000000000.0,
        0.99999994,
        1.0000001,
    ],
    F32,
)

_MODULE = """gpu.module @kernels {{
  gpu.func @function({arguments}, %out: !llvm.ptr<1>) kernel
      attributes {{known_block_size = array<i32: 256, 1, 1>}} {{
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c256 = arith.constant 256 : index
    %first = arith.muli %b, %c256 : index
    %i = arith.addi %first, %t : index
    %place = arith.index_cast %i : index to i64
    {loads}
    %result = math.{name} {operands} : f32
    %to = llvm.getelementptr %out[%place] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    llvm.store %result, %to {{alignment = 4 : i64}} : f32, !llvm.ptr<1>
    gpu.return
  }}
}}
"""
_LOAD = """%p{0} = llvm.getelementptr %a{0}[%place]
        : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
    %x{0} = llvm.load %p{0} {{alignment = 4 : i64}} : !llvm.ptr<1> -> f32"""


@functools.cache
def compile_function(name: str, count: int) -> str:
    """PTX of a kernel that computes math.`name` of `count` operands."""
    numbers = range(count)
    module = _MODULE.format(
        name=name,
        arguments=", ".join(f"%a{i}: !llvm.ptr<1>" for i in numbers),
        loads="\n    ".join(_LOAD.format(i) for i in numbers),
        operands=", ".join(f"%x{i}" for i in numbers),
    )
    passes = "builtin.module(gpu.module(act-lower-gpu-kernels),act-gpu-to-binary)"
    done = subprocess.run(
        [tool.find_tool(), f"--pass-pipeline={passes}"],
        input=module,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    text = re.search(r'assembly = "((?:[^"\\]|\\.)*)"', done.stdout)[1]
    return re.sub(r"\\([0-9A-Fa-f]{2})", lambda code: chr(int(code[1], 16)), text)


def compute(name: str, *operands: np.ndarray) -> np.ndarray:
    """What the kernel computes of operands of one shape."""
    size = operands[0].size
    blocks = math.ceil(size / 256)
    buffers = [np.zeros(256 * blocks, F32) for _ in range(len(operands) + 1)]
    for buffer, operand in zip(buffers, operands, strict=False):
        buffer[:size] = operand.ravel()
    text = compile_function(name, len(operands)).rstrip("\0")
    run(Kernel(text, "function", blocks, 256, 0), buffers)
    return buffers[-1][:size].reshape(operands[0].shape)


def find_error(
    got: np.ndarray, exact: np.ndarray, *operands: np.ndarray
) -> tuple[float, tuple]:
    """The largest error in units in the last place, and the operands of it.

    Zeros have to have the sign of what they stand for, and what is NaN, infinite, or
    too large for f32 has to be it.
    """
    with np.errstate(over="ignore"):
        expected = exact.astype(F32)
    isnan = np.isnan(exact)
    wrong = np.isnan(got) != isnan
    wrong |= ~isnan & (np.signbit(got) != np.signbit(exact))
    wrong |= ~isnan & (np.isinf(exact) & (got != expected))
    finite = np.isfinite(exact)
    # Infinity counts as the number that would follow the largest one.
    value = np.clip(got.astype(np.float64), -(2.0**128), 2.0**128)
    bounded = np.clip(np.where(finite, exact, 0), -(2.0**128), 2.0**128)
    unit = np.spacing(np.abs(np.clip(bounded, -3.4e38, 3.4e38)).astype(F32))
    error = np.where(finite, np.abs(value - bounded) / unit.astype(np.float64), 0)
    error = np.where(wrong, np.inf, error)
    worst = int(np.argmax(error))
    return float(error.flat[worst]), tuple(
        float(value.flat[worst]) for value in (*operands, got, exact)
    )


def random_bits(count: int, seed: int) -> np.ndarray:
    """Floats whose bits are random: all exponents, denormals and NaN."""
    generator = np.random.default_rng(seed)
    return generator.integers(0, 2**32, count, np.uint32).view(F32)


def numbers(count: int, low: float, high: float, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(low, high, count).astype(F32)


def in_f64(function: Callable, *operands: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return function(*(operand.astype(np.float64) for operand in operands))


# ---------------------------------------------------------------------------
# Powers
# ---------------------------------------------------------------------------


def exact_power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return in_f64(np.power, x, y)


def test_powers_of_special_values():
    x, y = (grid.ravel() for grid in np.meshgrid(SPECIAL, SPECIAL))
    error, where = find_error(compute("powf", x, y), exact_power(x, y), x, y)
    assert error <= 1, where


@pytest.mark.parametrize(
    ("x", "y", "expected"),
    [
        (NAN, 0, 1),
        (NAN, -0.0, 1),
        (1, NAN, 1),
        (1, INF, 1),
        (-1, INF, 1),
        (-1, -INF, 1),
        (-2, 3, -8),
        (-2, 2, 4),
        (-2, 0.5, NAN),
        (-0.0, 3, -0.0),
        (-0.0, 2, 0),
        (-0.0, -3, -INF),
        (-0.0, -2, INF),
        (0, -0.5, INF),
        (-INF, 3, -INF),
        (-INF, -3, -0.0),
        (-INF, 0.5, INF),
        (0.5, INF, 0),
        (0.5, -INF, INF),
        (NAN, 1, NAN),
        (-1, 16777215, -1),
        (-1, 16777216, 1),
        (1e-45, 0.5, 3.743392066509216e-23),
    ],
)
def test_powers_as_ieee_754_has_them(x, y, expected):
    got = compute("powf", np.array([x], F32), np.array([y], F32))
    np.testing.assert_array_equal(got, np.array([expected], F32))
    assert math.isnan(expected) or np.signbit(got[0]) == np.signbit(F32(expected))


@pytest.mark.parametrize("seed", range(2))
def test_powers(seed):
    count = 1 << 17
    base = np.abs(random_bits(count, seed))
    exponents = numbers(count, -4, 4, seed)
    near_one = 1 + numbers(count, -1e-3, 1e-3, seed)
    large = numbers(count, -9e4, 9e4, seed + 10)
    whole = np.round(numbers(count, -20, 20, seed))
    negative = -np.abs(numbers(count, 1e-3, 60, seed))
    for x, y in (
        (base, exponents),
        (near_one.astype(F32), large),
        (negative, whole),
        (random_bits(count, seed + 20), random_bits(count, seed + 30)),
    ):
        error, where = find_error(compute("powf", x, y), exact_power(x, y), x, y)
        assert error <= 1, where


# ---------------------------------------------------------------------------
# Sines and cosines
# ---------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "exact"), [("sin", np.sin), ("cos", np.cos)])
def test_sines(name, exact):
    count = 1 << 17
    quarters = np.arange(-(1 << 15), 1 << 15) * (np.pi / 2)
    near_zeros = np.concatenate(
        [(quarters.astype(F32)), np.nextafter(quarters.astype(F32), INF)]
    )
    for x in (
        SPECIAL[np.abs(SPECIAL) <= 2.0**30],
        numbers(count, -10, 10),
        numbers(count, -(2.0**30), 2.0**30),
        numbers(count, -1e-3, 1e-3),
        near_zeros,
    ):
        error, where = find_error(compute(name, x), in_f64(exact, x), x)
        assert error <= 1, where


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_sines_of_what_has_none(name):
    x = np.array([INF, -INF, NAN], F32)
    assert np.isnan(compute(name, x)).all()


# ---------------------------------------------------------------------------
# Complementary error function, hyperbolic sines and cosines
# ---------------------------------------------------------------------------


def erfc(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erfc)(x)


@pytest.mark.parametrize(
    ("name", "exact", "most"),
    [("erfc", erfc, 11), ("sinh", np.sinh, 90), ("cosh", np.cosh, 90)],
)
def test_functions_by_way_of_f64(name, exact, most):
    with np.errstate(over="ignore"):
        for x in (
            SPECIAL[np.abs(SPECIAL) <= most],
            numbers(1 << 15, -most, most),
            numbers(1 << 15, -1, 1),
            numbers(1 << 12, -1e-3, 1e-3),
        ):
            error, where = find_error(compute(name, x), in_f64(exact, x), x)
            assert error <= 1, where


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("erfc", [0, 2, 0, 2]),
        ("sinh", [INF, -INF, INF, -INF]),
        ("cosh", [INF, INF, INF, INF]),
    ],
)
def test_functions_of_large_numbers(name, expected):
    x = np.array([INF, -INF, 1e30, -1e30, NAN], F32)
    result = compute(name, x)
    assert np.array_equal(result[:4], np.array(expected, F32))
    assert np.isnan(result[4])


# ---------------------------------------------------------------------------
# Polynomials
# ---------------------------------------------------------------------------


def erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


#: A bound for each function, and where it holds.
BOUNDS = {
    "exp": (np.exp, 1.0, -87, 88.7),
    "log": (np.log, 0.9, TINY, 3.4e38),
    "tanh": (np.tanh, 4.8, -20, 20),
    "log1p": (np.log1p, 2.4, 0, 1e4),
    "expm1": (np.expm1, 2.4, -20, 88),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1.5, TINY, 3.4e38),
    "erf": (erf, 4.8, -5, 5),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_polynomials(name):
    exact, bound, low, high = BOUNDS[name]
    count = 1 << (14 if name == "erf" else 17)
    bits = random_bits(4 * count, 5)
    for x in (
        bits[(bits >= F32(low)) & (bits <= F32(high))],
        numbers(count, max(low, -20), min(high, 20)),
    ):
        # erf is worse where its argument is hardly a number.
        x = x[np.abs(x) > 1e-30] if name == "erf" else x
        expected = in_f64(exact, x)
        # Errors are those of normal results.
        isnormal = (np.abs(expected) >= TINY) | (expected == 0)
        x, expected = x[isnormal], expected[isnormal]
        assert x.size > 1000
        error, where = find_error(compute(name, x), expected, x)
        assert error <= bound, where


@pytest.mark.parametrize(
    ("name", "pairs"),
    [
        ("exp", [(0, 1), (-0.0, 1), (INF, INF), (-INF, 0), (89, INF), (-110, 0)]),
        ("log", [(1, 0), (0, -INF), (-0.0, -INF), (INF, INF), (-1, NAN)]),
        ("tanh", [(0, 0), (INF, 1), (-INF, -1), (30, 1), (-30, -1)]),
        ("log1p", [(0, 0), (-1, -INF), (INF, INF), (-2, NAN)]),
        ("expm1", [(0, 0), (INF, INF), (-INF, -1), (-100, -1)]),
        ("rsqrt", [(4, 0.5), (0, INF), (INF, 0), (-1, NAN)]),
        ("erf", [(0, 0), (INF, 1), (-INF, -1), (10, 1), (-10, -1)]),
    ],
)
def test_polynomials_of_special_values(name, pairs):
    x, expected = (
        np.array(column, F32) for column in zip(*pairs, (NAN, NAN), strict=True)
    )
    np.testing.assert_array_equal(compute(name, x), expected)

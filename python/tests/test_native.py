# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.native` around a step that is lowered by hand; act-run compiles that one."""

import gc
import json
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

import act
from act import tool
from act.native_buffers import BufferPool
from act.native_library import LoadedStep

STEP = Path(__file__).parents[2] / "test" / "act-run" / "Inputs" / "step.mlir"

# Compiles another step than the one it gets, and writes down its options.
_STAND_IN = """#!{python}
import json, subprocess, sys
arguments = sys.argv[1:]
with open({log!r}, "a") as log:
    log.write(json.dumps(arguments) + "\\n")
if "--version" not in arguments:
    if open(arguments[0]).read().find("stablehlo.exponential") < 0:
        sys.exit("error: expects exponentials")
    arguments[0] = {step!r}
    arguments = [a for a in arguments if not a.startswith("--compress")]
sys.exit(subprocess.run([{tool!r}, *arguments]).returncode)
"""


@pytest.fixture(autouse=True)
def calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list]:
    """Lets act find a stand-in for act-run; returns a function for its calls."""
    real = tool.find_tool("act-run")
    path, log = tmp_path / "act-run", tmp_path / "log"
    path.write_text(
        _STAND_IN.format(
            python=sys.executable, log=str(log), step=str(STEP), tool=str(real)
        )
    )
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("ACT_RUN", str(path))
    monkeypatch.setenv("ACT_CACHE_DIR", str(tmp_path / "cache"))

    def read() -> list[list[str]]:
        lines = [json.loads(line) for line in log.read_text().splitlines()]
        return [line for line in lines if "--version" not in line]

    return read


def step(x, offset):
    """What the lowered step computes."""
    y = jnp.exp(2 * x) + offset
    return y[0].sum(), {"y": y}


X = (np.arange(12, dtype=np.float32) / 10).reshape(4, 3)
OFFSET = np.float32(0.5)


def assert_right(results, x=X, offset=OFFSET):
    loss, rest = results
    y = np.exp(2 * np.asarray(x)) + np.asarray(offset)
    np.testing.assert_allclose(rest["y"], y, rtol=1e-6)
    np.testing.assert_allclose(loss, y[0].sum(), rtol=1e-6)


def test_structure_and_values(calls):
    native = act.native(step)
    results = native(X, OFFSET)
    assert_right(results)
    assert isinstance(results[0], np.ndarray) and results[0].shape == ()
    assert_right(native(X, offset=OFFSET))  # another tree, the same step
    assert native.__name__ == "step"
    assert repr(native) == "<act.native of step, not compressed>"
    assert len(calls()) == 2


def test_compiled_once_per_shape(calls):
    native = act.native(step, X, OFFSET)
    assert len(calls()) == 1
    for _ in range(3):
        native(X, OFFSET)
    assert len(calls()) == 1
    structs = (
        jax.ShapeDtypeStruct((4, 3), jnp.float32),
        jax.ShapeDtypeStruct((), jnp.float32),
    )
    native.compile(*structs)
    assert len(calls()) == 1


def test_kinds_of_arguments_are_told_apart(calls):
    native = act.native(step)
    native(X, OFFSET)
    for x in (X, jnp.asarray(X), X.copy()):
        assert_right(native(x, jnp.asarray(OFFSET)))
    # Of weak type: exported again, and compiled for what JAX makes of it.
    assert_right(native(X, 0.5))
    assert_right(native(X, jnp.asarray(0.5)))
    assert len(calls()) == 2
    assert len(native._quick) == 4


def test_figures():
    native = act.native(step)
    with pytest.raises(act.ActStepError, match="step has not been compiled yet"):
        _ = native.arena_bytes
    native(X, OFFSET)
    assert (native.arena_bytes, native.bound_bytes, native.kernels) == (48, 48, 2)
    assert native.peak(X, OFFSET) == native.arena_bytes
    assert 0 < native.time(X, OFFSET, repeats=3) < 1


def test_trace(tmp_path):
    native = act.native(step)
    native.trace(tmp_path / "trace.json", X, OFFSET)
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    assert [e["name"] for e in events if e["cat"] == "launch"] == ["double", "shift"]
    with pytest.raises(act.ActStepError, match=r"nowhere/trace.json"):
        native.trace(tmp_path / "nowhere" / "trace.json", X, OFFSET)


def test_arrays_are_not_copied():
    native = act.native(step, X, OFFSET)
    for array in (X, jnp.asarray(X)):
        _, arguments = native._prepare((array, OFFSET), {})
        address = arguments[0].__array_interface__["data"][0]
        expected = (
            X.__array_interface__["data"][0]
            if array is X
            else array.unsafe_buffer_pointer()
        )
        assert address == expected


class OnlyDlpack:
    """An array of a library that offers nothing but DLPack."""

    def __init__(self, array) -> None:
        self._array = array

    def __dlpack__(self, **options):
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


def test_dlpack():
    native = act.native(step)
    x = X.copy()
    assert_right(native(OnlyDlpack(x), OFFSET))
    _, arguments = native._prepare((OnlyDlpack(x), OFFSET), {})
    assert np.shares_memory(arguments[0], x)
    _, results = native(x, OFFSET)
    assert np.shares_memory(np.from_dlpack(results["y"]), results["y"])


def test_arrays_that_must_be_copied():
    native = act.native(step)
    assert_right(native(X.T.copy().T, OFFSET))
    assert_right(native(np.repeat(X, 2, axis=1)[:, ::2], OFFSET))
    assert_right(native(X.astype(np.float64), 0.5))  # as jax.jit takes them
    unaligned = np.frombuffer(b"?" + X.tobytes(), np.uint8)[1:].view(np.float32)
    assert_right(native(unaligned.reshape(4, 3), OFFSET))


def test_results_are_not_overwritten():
    native = act.native(step)
    results = [native(X + i, OFFSET) for i in range(5)]
    for i, result in enumerate(results):
        assert_right(result, X + i)


def test_memory_of_results_is_used_again():
    native = act.native(step)
    _, state = native(X, OFFSET)
    addresses = set()
    for _ in range(20):
        _, state = native(np.minimum(state["y"], 1), OFFSET)
        addresses.add(state["y"].__array_interface__["data"][0])
    assert len(addresses) == 2
    assert next(iter(addresses)) % 64 == 0


def test_state_may_come_from_the_last_call():
    native = act.native(step)
    y = X
    for _ in range(4):
        before = np.minimum(y, 1).copy()
        _, rest = native(np.minimum(y, 1, out=y.copy()), OFFSET)
        assert_right((rest["y"][0].sum(), rest), before)
        y = rest["y"]


@pytest.mark.parametrize("keep", [lambda y: y[1:, ::2], memoryview, jnp.asarray])
def test_memory_that_anything_refers_to_is_not_used(keep):
    pool = BufferPool([((4, 3), np.dtype(np.float32))])
    (y,) = pool.take()
    y[...] = 1
    kept = keep(y)
    expected = np.array(kept, copy=True)
    del y
    (other,) = pool.take()
    other[...] = 2
    np.testing.assert_array_equal(np.asarray(kept), expected)
    del kept, other
    gc.collect()
    count = pool.count
    pool.take()
    assert pool.count == count


def test_pool_of_odd_shapes():
    pool = BufferPool(
        [((), np.dtype(np.bool_)), ((0, 3), np.dtype(ml_dtypes.bfloat16))]
    )
    flag, empty = pool.take()
    assert (flag.shape, flag.dtype) == ((), np.bool_)
    assert (empty.shape, empty.dtype) == ((0, 3), ml_dtypes.bfloat16)


def test_threads_take_turns():
    native = act.native(step, X, OFFSET)
    failures = []

    def work(shift: float) -> None:
        try:
            for _ in range(50):
                assert_right(native(X + shift, OFFSET), X + shift)
        except AssertionError as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(np.float32(i),)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_check():
    x = X.copy()
    x[2, 1] = 1e30
    assert np.isinf(act.native(step)(x, OFFSET)[1]["y"][2, 1])
    with pytest.raises(
        act.ActStepError, match=r"'result 1, y' has the non-finite value inf at el.* 7"
    ):
        act.native(step, check=True)(x, OFFSET)


def test_compression_is_handed_on(calls):
    def gradient(x, offset):
        return jax.value_and_grad(lambda x: jnp.exp(2 * x).sum() + offset)(x)

    native = act.native(gradient, bits=2, recompute="batch", primal_results=1)
    native.compile(X, OFFSET)
    (option,) = (a for a in calls()[-1] if a.startswith("--compress="))
    assert "primal-results=1 bits=2" in option and "recompute=batch" in option
    assert "report" not in option
    assert "bits=2" in repr(native)


def test_static_arguments(calls):
    def power(x, offset, count):
        return step(x * count, offset)

    native = act.native(power, static_argnums=2)
    assert_right(native(X, OFFSET, 1))
    native(X, OFFSET, 2)
    native(X, OFFSET, 1)
    assert len(calls()) == 2
    jitted = act.native(jax.jit(power, static_argnames="count"))
    assert_right(jitted(X, OFFSET, count=1))


def test_donated_arguments_are_left_alone():
    native = act.native(jax.jit(step, donate_argnums=0))
    x = X.copy()
    native(x, OFFSET)
    np.testing.assert_array_equal(x, X)


def test_file(tmp_path, calls):
    exported = jax.export.export(jax.jit(lambda *a: jax.tree.leaves(step(*a))))(
        X, OFFSET
    )
    path = tmp_path / "step.mlir"
    path.write_text(str(exported.mlir_module()))
    native = act.native(path)
    results = native(X, OFFSET)
    assert_right((results[0], {"y": results[1]}))
    assert repr(native) == "<act.native of step.mlir, not compressed>"
    with pytest.raises(act.ActOptionError, match="takes 2 arguments, got 1"):
        native(X)
    with pytest.raises(
        act.ActOptionError,
        match=r"argument 0 of step.mlir: expects float32\[4, 3\], got float32\[3, 4\]",
    ):
        native(X.T, OFFSET)
    with pytest.raises(act.ActOptionError, match=r"expects float32\[4, 3\], got int64"):
        native(X.astype(np.int64), OFFSET)
    with pytest.raises(act.ActStepError, match="cannot read"):
        act.native(tmp_path / "nothing.mlir")(X)


def test_inside_a_transformation():
    native = act.native(step)
    with pytest.raises(act.ActStepError, match=r"not inside jax.jit"):
        jax.jit(native)(X, OFFSET)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threads": -1}, "threads must be an int of at least 0, got -1"),
        ({"threads": True}, "threads must be an int"),
        ({"primal_results": 0}, "primal_results must be an int of at least 1, got 0"),
        ({"bits": 3}, "bits must be one of"),
        ({"recompute": "all"}, "recompute: say with bits="),
        ({"bits": 4, "search": "full"}, 'search must be "none"'),
    ],
)
def test_options_are_checked(options, message):
    with pytest.raises(act.ActOptionError, match=message):
        act.native(step, **options)


def test_not_a_step():
    with pytest.raises(act.ActOptionError, match="must be callable or a path, got int"):
        act.native(3)


def test_tool_is_missing(monkeypatch, tmp_path):
    monkeypatch.setenv("ACT_RUN", str(tmp_path / "nothing"))
    with pytest.raises(act.ActToolError, match=r"ACT_RUN names .*nothing, which is"):
        act.native(step)(X, OFFSET)


def test_tool_fails():
    with pytest.raises(act.ActToolError, match="exit status 1: expects exponentials"):
        act.native(lambda x, offset: (x, offset))(X, OFFSET)


def test_library_is_missing(monkeypatch):
    from act import native_library

    native_library._load_library.cache_clear()
    monkeypatch.setenv("ACT_RUNTIME", "")
    with pytest.raises(act.ActToolError, match="libActRuntime was not found"):
        act.native(step)(X, OFFSET)
    native_library._load_library.cache_clear()


@pytest.fixture
def loaded(tmp_path) -> LoadedStep:
    """The step without what makes it comfortable."""
    archive = tmp_path / "step.a"
    command = [os.environ["ACT_RUN"], str(STEP), "--emit=object", "-o", str(archive)]
    text = tmp_path / "with_exponential.mlir"
    text.write_text("stablehlo.exponential")
    command[1] = str(text)
    subprocess.run(command, check=True)
    return LoadedStep(archive, "step", 1)


def test_loaded_step(loaded):
    info = loaded.info
    assert [v.name for v in info.arguments] == ["x", "offset"]
    assert [v.name for v in info.results] == ["loss", "y"]
    assert info.arguments[0].shape == (4, 3) and info.arguments[0].nbytes == 48
    assert info.arguments[0].dtype == np.float32
    assert loaded.threads == 1
    loss, y = np.empty((), np.float32), np.empty((4, 3), np.float32)
    loaded.execute([X, np.asarray(OFFSET)], [loss, y])
    assert_right((loss, {"y": y}))


def test_loaded_step_checks_arrays(loaded):
    loss, y = np.empty((), np.float32), np.empty((4, 3), np.float32)
    offset = np.asarray(OFFSET)
    for arguments, results, message in (
        ([X], [loss, y], "expects 2 arguments, got 1"),
        ([X, offset], [loss], "expects 2 results, got 1"),
        ([X[:3], offset], [loss, y], r"argument 0 \('x'\): expects float32\[4, 3\]"),
        ([X, offset.astype(int)], [loss, y], r"argument 1 \('offset'\): .* got int64"),
        ([X, offset], [loss, y[::-1]], r"result 1 \('y'\): .* row-major order"),
    ):
        with pytest.raises(act.ActOptionError, match=message):
            loaded.execute(arguments, results)
    with pytest.raises(act.ActStepError, match="argument 0 and result 1 overlap"):
        loaded.execute([y, offset], [loss, y])


def test_object_of_another_step(tmp_path):
    path = tmp_path / "step.o"
    path.write_bytes(b"nothing")
    with pytest.raises(act.ActToolError, match="expects an object file or an archive"):
        LoadedStep(path, "step")
    with pytest.raises(act.ActToolError, match="cannot read"):
        LoadedStep(tmp_path / "nothing.o", "step")

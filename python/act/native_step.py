# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.native`: training steps that act compiles and executes without XLA."""

import contextlib
import dataclasses
import functools
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import export
from jax.extend.mlir import ir
from jax.interpreters import mlir as jax_mlir

from act import attention_lowering, stablehlo, tool
from act.arguments import Call, StaticArguments, trace_context
from act.budget import BudgetSearch, parse_bytes
from act.errors import ActOptionError, ActStepError
from act.native_buffers import BufferPool
from act.native_engine import NativeEngine
from act.native_library import LoadedStep
from act.options import CompressOptions
from act.progress import Stages
from act.step import flat_primal_count

#: JAX's names of the generators that typed keys are for.
_KEY_IMPLEMENTATIONS = {
    "key<fry>": "threefry2x32",
    "key<rbg>": "rbg",
    "key<urbg>": "unsafe_rbg",
}
#: Of the compiled function; nobody sees it.
_SYMBOL = "step"


@dataclasses.dataclass(frozen=True)
class _Program:
    """A step as text, with how its flat arguments and results fit a call.

    Attributes:
        text: StableHLO in generic form.
        primal_results: flat number of leading results that are primal.
        kept: the flat arguments that the module takes.
        unflatten: makes what the step returns of its flat results.
    """

    text: str
    primal_results: int
    kept: tuple[int, ...]
    unflatten: Callable[[list[np.ndarray]], Any]


@dataclasses.dataclass(frozen=True)
class _Compiled:
    """A step compiled for one set of shapes."""

    program: _Program
    step: LoadedStep
    pool: BufferPool


class NativeStep:
    """A training step compiled by act for this processor.

    Called like the original, it takes NumPy arrays, JAX arrays and what else has
    DLPack, without copying those that are in row-major order in main memory, and
    returns the original's structure with NumPy arrays as leaves. Arguments are
    never written to, donated or not. It is exported and compiled once for every
    combination of shapes, element types and static values; machine code is also
    kept on disk, see docs/Native.md.

    The temporary memory is allocated with the first call and kept. Memory of
    results is used again once no array refers to it.
    """

    def __init__(
        self,
        step: Callable | os.PathLike | str,
        primal_results: int,
        options: CompressOptions | None,
        threads: int,
        check: bool,
        static: dict[str, Any],
        progress: bool | None,
    ) -> None:
        self._path = None if callable(step) else Path(step)
        self._step = step
        self._name = getattr(step, "__name__", type(step).__name__)
        if self._path is not None:
            self._name = self._path.name
        self._primal_results = primal_results
        self._options = options
        self._threads = threads
        self._check = check
        self._progress = progress
        self._static = StaticArguments(
            step, static["static_argnums"], static["static_argnames"]
        )
        if self._path is None and not hasattr(step, "lower"):
            self._step = jax.jit(step, **self._static.jit_options)
        self._compiled: dict[Hashable, _Compiled] = {}
        self._quick: dict[Hashable, _Compiled] = {}
        self._latest: _Compiled | None = None
        self._lock = threading.RLock()
        if self._path is None:
            functools.update_wrapper(self, step)

    def __repr__(self) -> str:
        how = self._options.summary() if self._options else "not compressed"
        return f"<act.native of {self._name}, {how}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Executes the step; arguments and structure of results as the original's.

        Raises:
            ActStepError: the step cannot be compiled, or failed.
            ActToolError: act-run or libActRuntime is missing or failed.
        """
        with self._lock:
            compiled, arguments = self._prepare(args, kwargs)
            results = compiled.pool.take()
            compiled.step.execute(arguments, results)
        return compiled.program.unflatten(results)

    def compile(self, *args: Any, **kwargs: Any) -> "NativeStep":
        """Compiles the step for arrays or ShapeDtypeStructs; returns itself."""
        with self._lock:
            self._find(*self._bind(args, kwargs))
        return self

    @property
    def arena_bytes(self) -> int:
        """Temporary memory of the step, as it was compiled last, in bytes.

        Arguments and results are not part of it.

        Raises:
            ActStepError: the step has not been compiled yet.
        """
        return self._get_latest().step.info.arena_bytes

    @property
    def bound_bytes(self) -> int:
        """The most temporary bytes that are in use at once; `arena_bytes` at best.

        Raises:
            ActStepError: the step has not been compiled yet.
        """
        return self._get_latest().step.info.bound_bytes

    @property
    def kernels(self) -> int:
        """Number of pieces of code that the step launches.

        Raises:
            ActStepError: the step has not been compiled yet.
        """
        return self._get_latest().step.info.kernels

    def peak(self, *args: Any, **kwargs: Any) -> int:
        """Executes the step twice and returns the bytes of the arena it wrote to.

        The arena is filled with a pattern, and with its complement, before; it is
        another one than calls use.

        Raises:
            ActStepError: the step wrote behind its arena.
        """
        with self._lock:
            compiled, arguments = self._prepare(args, kwargs)
            return compiled.step.peak(arguments, compiled.pool.take())

    def time(self, *args: Any, repeats: int = 10, **kwargs: Any) -> float:
        """Returns the median time of an execution in seconds.

        Args:
            *args: arguments of the step.
            repeats: number of executions, after one that does not count.
            **kwargs: arguments of the step.
        """
        seconds = []
        with self._lock:
            compiled, arguments = self._prepare(args, kwargs)
            results = compiled.pool.take()
            compiled.step.execute(arguments, results)
            for _ in range(repeats):
                started = time.perf_counter()
                compiled.step.execute(arguments, results)
                seconds.append(time.perf_counter() - started)
        return statistics.median(seconds)

    def trace(self, path: os.PathLike | str, *args: Any, **kwargs: Any) -> None:
        """Executes the step and writes when each kernel ran.

        Args:
            path: file to write, a Chrome trace in JSON (chrome://tracing, Perfetto).
            *args: arguments of the step.
            **kwargs: arguments of the step.
        """
        with self._lock:
            compiled, arguments = self._prepare(args, kwargs)
            compiled.step.trace(arguments, compiled.pool.take(), Path(path))

    def _get_latest(self) -> _Compiled:
        if self._latest is None:
            raise ActStepError(
                f"{self._name} has not been compiled yet: call it, or pass example "
                "arguments to act.native or compile()"
            )
        return self._latest

    def _prepare(
        self, args: tuple, kwargs: dict[str, Any]
    ) -> tuple[_Compiled, list[np.ndarray]]:
        """Returns the step compiled for a call, and the arrays of the call."""
        leaves, tree = jax.tree.flatten((args, kwargs))
        quick_key = _quick_key(leaves, tree)
        compiled = self._quick.get(quick_key) if quick_key else None
        if compiled is None:
            call, merged = self._bind(args, kwargs)
            compiled = self._find(call, merged)
            leaves = call.leaves
            if quick_key is not None:
                self._quick[quick_key] = compiled
        self._latest = compiled
        arguments = [
            _to_numpy(leaves[index], value.dtype)
            for index, value in zip(
                compiled.program.kept, compiled.step.info.arguments, strict=True
            )
        ]
        return compiled, arguments

    def _bind(
        self, args: tuple, kwargs: dict[str, Any]
    ) -> tuple[Call, tuple[tuple, dict]]:
        """Splits the arguments of a call, in a form that JAX takes."""
        args, kwargs = jax.tree.map(_to_jax, (args, kwargs))
        # A file says itself what has 64 bits.
        with jax.enable_x64(True) if self._path else contextlib.nullcontext():
            call = self._static.bind(args, kwargs)
        if any(isinstance(leaf, jax.core.Tracer) for leaf in call.leaves):
            raise ActStepError(
                f"the native step {self._name} runs on arrays, not inside jax.jit or "
                "another transformation of JAX"
            )
        return call, self._static.merge(call, args, kwargs)

    def _find(self, call: Call, merged: tuple[tuple, dict]) -> _Compiled:
        if call.key not in self._compiled:
            with Stages(2, self._progress) as stages:
                stages.start(f"tracing {self._name}")
                if self._path is None:
                    program = self._export(call, merged)
                else:
                    program = _read(self._path, call)
                stages.start(f"compiling {self._name}")
                self._compiled[call.key] = self._compile(program)
        self._latest = self._compiled[call.key]
        return self._latest

    def _export(self, call: Call, merged: tuple[tuple, dict]) -> _Program:
        """Exports the step for the shapes of a call."""
        exported = export.export(
            self._step,
            disabled_checks=attention_lowering.ALLOWED_CALLS,
            _override_lowering_rules=attention_lowering.step_lowering_rules(),
        )(*merged[0], **merged[1])
        if exported.in_tree != call.tree:
            raise ActStepError(
                f"{self._name} takes {exported.in_tree} after tracing, the call "
                f"passes {call.tree}: if it was jitted with static arguments, "
                "give static_argnums or static_argnames to act.native as well"
            )
        if exported.nr_devices != 1:
            raise ActStepError(
                f"{self._name} is partitioned over {exported.nr_devices} devices; a "
                "native step runs on one processor"
            )
        text, _ = stablehlo.exported_module(exported)
        primal = 0
        if self._options is not None:
            primal = flat_primal_count(exported, self._primal_results)

        def unflatten(results: list[np.ndarray]) -> Any:
            leaves = [
                _from_numpy(result, aval.dtype)
                for result, aval in zip(results, exported.out_avals, strict=True)
            ]
            return jax.tree.unflatten(exported.out_tree, leaves)

        return _Program(text, primal, tuple(exported.module_kept_var_idx), unflatten)

    def _compile(self, program: _Program) -> _Compiled:
        options = self._options
        if options is None:
            return self._compile_with(program, None)
        primal = program.primal_results or self._primal_results
        if options.memory_budget is None:
            return self._compile_with(program, options.pipeline_options(primal))
        engine = NativeEngine(
            program.text,
            primal,
            lambda compress: self._compile_with(program, compress),
        )
        with Stages(1, self._progress) as stages:
            search = BudgetSearch(engine, program.text, options)
            found = search.find(options.memory_budget, stages)
        chosen = found.trial or found.original
        return engine.find(chosen.peak)

    def _compile_with(self, program: _Program, compress: str | None) -> _Compiled:
        """Compiles a program with options of the act-compress pipeline."""
        with tempfile.TemporaryDirectory(prefix="act-") as directory:
            archive = Path(directory) / "step.a"
            tool.compile_step(program.text, archive, _SYMBOL, compress)
            step = LoadedStep(archive, _SYMBOL, self._threads)
        step.set_check(self._check)
        pool = BufferPool([(value.shape, value.dtype) for value in step.info.results])
        return _Compiled(program, step, pool)


def native(
    step: Callable | os.PathLike | str,
    *example_args: Any,
    bits: int | None = None,
    primal_results: int = 1,
    threads: int = 0,
    check: bool = False,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    progress: bool | None = None,
    **options: Any,
) -> NativeStep:
    """Compiles a training step with act and executes it without XLA.

    Args:
        step: a function as `jax.jit` takes it, jitted or not, or the path of a file
            with StableHLO, whose arguments then are flat and whose results are a
            list.
        *example_args: arrays or ShapeDtypeStructs to compile for now; otherwise the
            first call compiles.
        bits: bits per stored element of values that backward needs, as in
            `act.compress`: 8, 4, 2, 1 or 0; None stores all as they are. The
            primal results are the same bits either way.
        primal_results: see `act.compress`; only matters with `bits`.
        threads: that execute the step, 0 for all processors this process may use.
            Results do not depend on it.
        check: whether infinities and NaN in results, products and convolutions are
            errors.
        static_argnums: as in `jax.jit`.
        static_argnames: as in `jax.jit`.
        progress: show progress on stderr; None shows it on a terminal only.
        **options: of `CompressOptions`, such as `recompute`, `slice` or
            `memory_budget` (bytes, or text such as "8GiB", for arguments, results and
            the arena); they need `bits`. `search` is "none" here: the configuration
            given is taken.

    Returns:
        A callable like the step.

    Raises:
        ActOptionError: an option has a bad value.
    """
    if not callable(step) and not isinstance(step, str | os.PathLike):
        raise ActOptionError(
            f"step must be callable or a path, got {type(step).__name__}"
        )
    for name, value, least in (
        ("primal_results", primal_results, 1),
        ("threads", threads, 0),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ActOptionError(
                f"{name} must be an int of at least {least}, got {value!r}"
            )
    if options.get("memory_budget") is not None:
        options["memory_budget"] = parse_bytes(
            "memory_budget", options["memory_budget"]
        )
        bits = 4 if bits is None else bits
    if bits is None and options:
        raise ActOptionError(
            f"{', '.join(sorted(options))}: say with bits= that the step is to be "
            "compressed"
        )
    if options.setdefault("search", "none") != "none":
        raise ActOptionError(
            f'search must be "none" for a native step, got {options["search"]!r}'
        )
    if options.get("running_ranges"):
        raise ActOptionError(
            "running_ranges is for act.compress; a native step has no ranges"
        )
    compress = None if bits is None else CompressOptions(bits=bits, **options)
    static = {"static_argnums": static_argnums, "static_argnames": static_argnames}
    made = NativeStep(step, primal_results, compress, threads, check, static, progress)
    return made.compile(*example_args) if example_args else made


def _read(path: Path, call: Call) -> _Program:
    """Reads a step from a file; the call must fit it.

    Raises:
        ActStepError: the file is no module that JAX can run.
        ActOptionError: the arguments of the call do not fit.
    """
    try:
        source = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ActStepError(f"cannot read {path} as text: {error}") from error
    with jax_mlir.make_ir_context(), ir.Location.unknown():
        module = stablehlo.parse_module(source)
        signature = stablehlo.signature(module)
        text = module.operation.get_asm(
            enable_debug_info=True, print_generic_op_form=True
        )
    if len(signature.arguments) != len(call.kinds):
        raise ActOptionError(
            f"{path.name} takes {len(signature.arguments)} arguments, got "
            f"{len(call.kinds)}"
        )
    for number, (expected, kind) in enumerate(
        zip(signature.arguments, call.kinds, strict=True)
    ):
        if expected.shape != kind.shape or expected.dtype != kind.dtype:
            raise ActOptionError(
                f"argument {number} of {path.name}: expects "
                f"{expected.dtype}{list(expected.shape)}, got "
                f"{kind.dtype}{list(kind.shape)}"
            )
    return _Program(text, 0, tuple(range(len(call.kinds))), list)


def _quick_key(leaves: list[Any], tree: Any) -> Hashable | None:
    """Returns what tells calls with arrays alone apart, None for any other call.

    Describing arguments as JAX sees them takes longer than many a kernel.
    """
    kinds = []
    for leaf in leaves:
        if type(leaf) is np.ndarray or isinstance(leaf, np.generic):
            kinds.append((leaf.shape, leaf.dtype))
        elif (
            isinstance(leaf, jax.Array)
            and not isinstance(leaf, jax.core.Tracer)
            and leaf.sharding.num_devices == 1
        ):
            weak = getattr(leaf, "weak_type", False)  # keys have none
            kinds.append((leaf.shape, leaf.dtype, weak))
        else:
            return None
    return tree, tuple(kinds), trace_context()


def _to_jax(leaf: Any) -> Any:
    """Returns what JAX can describe: arrays of other libraries become NumPy's."""
    if isinstance(leaf, np.ndarray | jax.Array | jax.ShapeDtypeStruct):
        return leaf
    if not hasattr(leaf, "__dlpack__"):
        return leaf
    try:
        return np.from_dlpack(leaf)
    except BufferError:
        return jax.dlpack.from_dlpack(leaf)  # NumPy knows no bf16 there


def _to_numpy(leaf: Any, dtype: np.dtype) -> np.ndarray:
    """Returns a leaf as an array that C can read, its own memory if possible."""
    if isinstance(leaf, jax.Array) and jax.dtypes.issubdtype(
        leaf.dtype, jax.dtypes.prng_key
    ):
        leaf = jax.random.key_data(leaf)
    array = np.asarray(leaf, dtype)
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    return np.require(array, requirements=("C", "A"))


def _from_numpy(result: np.ndarray, dtype: Any) -> Any:
    """Returns a result as the step returns it: typed keys are keys again."""
    if jax.dtypes.issubdtype(dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(result, impl=_KEY_IMPLEMENTATIONS[str(dtype)])
    return result

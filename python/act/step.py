# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""`act.compress` and `act.value_and_grad`."""

import dataclasses
import functools
import os
import threading
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any

import jax
from jax import export

from act import attention_lowering, stablehlo, xla
from act.arguments import Call, StaticArguments
from act.errors import ActOptionError, ActStepError
from act.options import CompressOptions, reject_memory_budget
from act.progress import Stages
from act.report import Report
from act.rewrite import Rewritten, rewrite

_NOT_DIFFERENTIABLE = (
    "a compressed step cannot be differentiated: it holds its gradient already, "
    "with encoded values between forward and backward. Differentiate first and "
    "compress the result: act.compress(jax.value_and_grad(loss)), or "
    "act.value_and_grad(loss)"
)


@dataclasses.dataclass(frozen=True)
class _Compiled:
    """A step compressed for one set of shapes.

    Attributes:
        rewritten: the compressed step.
        call: the step, to be used while JAX traces.
        jitted: the same, compiled by XLA, with the original's donation.
    """

    rewritten: Rewritten
    call: Callable
    jitted: Any


class CompressedStep:
    """A training step whose saved values are stored compressed.

    Called like the original. It is traced, rewritten and compiled once for
    every combination of shapes, element types, shardings and static values.
    """

    def __init__(
        self,
        step: Callable,
        primal_results: int,
        options: CompressOptions,
        jit_options: dict[str, Any],
        exact_bf16: bool,
        progress: bool | None,
    ) -> None:
        self._name = getattr(step, "__name__", type(step).__name__)
        self._primal_results = primal_results
        self._options = options
        self._compiler_options = xla.EXACT_SHORT_FLOATS if exact_bf16 else None
        self._progress = progress
        is_jitted = hasattr(step, "lower")
        has_options = any(value is not None for value in jit_options.values())
        self._static = StaticArguments(
            step, jit_options["static_argnums"], jit_options["static_argnames"]
        )
        if is_jitted and not has_options:
            self._step = step
        else:
            self._step = jax.jit(step, **{**jit_options, **self._static.jit_options})
        self._compiled: dict[Hashable, _Compiled] = {}
        self._lock = threading.RLock()
        self._warned = False
        functools.update_wrapper(self, step)

    def __repr__(self) -> str:
        return f"<act.compress of {self._name}, {self._options.summary()}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the compressed step; arguments and results as the original's."""
        call = self._static.bind(args, kwargs)
        compiled = self._prepare(call, args, kwargs)
        if not any(isinstance(leaf, jax.core.Tracer) for leaf in call.leaves):
            return compiled.jitted(*call.args, **call.kwargs)
        try:
            return compiled.call(*call.args, **call.kwargs)
        except NotImplementedError as error:
            raise ActStepError(
                f"JAX cannot transform the compressed step {self._name}: {error}. "
                "Apply jax.vmap and the like to the original and compress the result"
            ) from error

    def lower(self, *args: Any, **kwargs: Any) -> jax.stages.Lowered:
        """Lowers for arrays or ShapeDtypeStructs, like `jax.jit(f).lower`."""
        call = self._static.bind(args, kwargs)
        compiled = self._prepare(call, args, kwargs)
        return compiled.jitted.lower(*call.args_of_structs, **call.kwargs_of_structs)

    def mlir(self, *args: Any, **kwargs: Any) -> str:
        """Returns the rewritten module, StableHLO in generic form."""
        call = self._static.bind(args, kwargs)
        return self._prepare(call, args, kwargs).rewritten.text

    def report(self, *args: Any, **kwargs: Any) -> Report:
        """Compiles both steps, original and compressed, and compares them.

        Args:
            *args: arrays or ShapeDtypeStructs; nothing is executed.
            **kwargs: likewise.
        """
        call = self._static.bind(args, kwargs)
        compiled = self._prepare(call, args, kwargs)
        merged = self._static.merge(call, args, kwargs)
        before = self._step.lower(*merged[0], **merged[1])
        after = compiled.jitted.lower(*call.args_of_structs, **call.kwargs_of_structs)
        with Stages(2, self._progress) as stages:
            stages.start(f"compiling {self._name} as it is")
            bytes_before = xla.temp_bytes(before.compile(self._compiler_options))
            stages.start(f"compiling {self._name} compressed")
            # A search has compiled it already.
            searched = compiled.rewritten.compiled
            bytes_after = xla.temp_bytes(searched or after.compile())
        return Report.build(
            self._name,
            compiled.rewritten,
            bytes_before,
            bytes_after,
            (
                functools.partial(
                    xla.compile_with_dump, before, self._compiler_options
                ),
                functools.partial(xla.compile_with_dump, after, None),
            ),
        )

    def _prepare(self, call: Call, args: tuple, kwargs: dict[str, Any]) -> _Compiled:
        """Returns the step compressed for the shapes of a call, cached."""
        with self._lock:
            if call.key not in self._compiled:
                self._compiled[call.key] = self._compress(call, args, kwargs)
            return self._compiled[call.key]

    def _compress(self, call: Call, args: tuple, kwargs: dict[str, Any]) -> _Compiled:
        with Stages(1, self._progress) as stages:
            stages.start(f"tracing {self._name}")
            merged_args, merged_kwargs = self._static.merge(call, args, kwargs)
            exported = export.export(
                self._step,
                disabled_checks=attention_lowering.ALLOWED_CALLS,
                _override_lowering_rules=attention_lowering.step_lowering_rules(),
            )(*merged_args, **merged_kwargs)
            if exported.in_tree != call.tree:
                raise ActStepError(
                    f"{self._name} takes {exported.in_tree} after tracing, the call "
                    f"passes {call.tree}: if it was jitted with static arguments, "
                    "give static_argnums or static_argnames to act.compress as well"
                )
            primal = flat_primal_count(exported, self._primal_results)
            text, donated_arguments = stablehlo.exported_module(exported)
            self._warn_about_precision(text)
            kept = exported.module_kept_var_idx
            donated = {kept[index] for index in donated_arguments}
            result = rewrite(
                exported,
                text,
                primal,
                self._options,
                lambda step: self._lower(_callable(step), call, donated).compile(),
                stages,
            )
        function = _callable(result.exported)
        return _Compiled(result, function, self._jit(function, call, donated))

    def _jit(self, function: Callable, call: Call, donated: set[int]) -> Any:
        """Jits a rewritten step; `donated` are indices of flat leaves."""
        argnums, argnames = call.arguments_with(donated)
        return jax.jit(
            function,
            donate_argnums=argnums,
            donate_argnames=argnames,
            compiler_options=self._compiler_options,
        )

    def _lower(
        self, function: Callable, call: Call, donated: set[int]
    ) -> jax.stages.Lowered:
        jitted = self._jit(function, call, donated)
        return jitted.lower(*call.args_of_structs, **call.kwargs_of_structs)

    def _warn_about_precision(self, text: str) -> None:
        """Warns once per step about 16-bit floats with elided roundings."""
        if self._warned or self._compiler_options or xla.excess_precision_is_off():
            return
        if stablehlo.uses_short_floats(text):
            self._warned = True
            xla.warn_about_short_floats(stacklevel=5)


def compress(
    step: Callable,
    *,
    primal_results: int = 1,
    bits: int = 4,
    window: int = 1,
    cut: str = "sink",
    recompute: str = "none",
    unremat: bool = False,
    rederive: bool = False,
    search: str | None = None,
    slice: bool | int = False,
    slice_states: str = "stored",
    rules: str | os.PathLike | None = None,
    average_bits: float | None = None,
    error_budget: float | None = None,
    seed: int | None = None,
    exact_bf16: bool = False,
    memory_budget: Any = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    progress: bool | None = None,
) -> CompressedStep:
    """Makes a training step keep its saved values in a few bits.

    Args:
        step: function, jitted or not, that returns a tuple: primal results
            (loss, auxiliary values), then gradients or an updated state.
        primal_results: number of leading elements of that tuple that are
            primal; each may be a pytree. They stay bit-identical. With
            `jax.value_and_grad(..., has_aux=True)` the first element is
            (loss, aux), so 1 is right there too.
        bits: bits per stored element of a lossy value: 8, 4, 2, 1; 0 keeps
            values exact and only recomputes.
        window: see `CompressOptions`, like cut, recompute and search.
        cut: see `CompressOptions`.
        recompute: see `CompressOptions`.
        unremat: see `CompressOptions`.
        rederive: see `CompressOptions`.
        search: "none", "default" or "full": how many configurations to compile
            and compare; see `CompressOptions`.
        slice: True, or a number of tokens, runs the loss head, attention, wide layers
            and models with `act.linear_attention` in parts; see `CompressOptions`.
        slice_states: see `CompressOptions`.
        rules: JSON file of encoding rules per kind of value.
        average_bits: mean bits per compressed element to aim for.
        error_budget: bound on the estimated relative error of the gradient.
        seed: changes the rounding noise; not needed for training.
        exact_bf16: compile without excess precision, so that bf16 and f16
            steps give bit-identical primal results if the original is compiled
            that way too.
        memory_budget: not available yet; anything but None raises.
        donate_argnums: as in `jax.jit`.
        donate_argnames: as in `jax.jit`.
        static_argnums: as in `jax.jit`.
        static_argnames: as in `jax.jit`.
        progress: show progress on stderr; None shows it on a terminal only.

    Returns:
        A callable like the jitted step, with `.lower`, `.report` and `.mlir`.

    Raises:
        ActOptionError: an option has a bad value.
    """
    reject_memory_budget(memory_budget)
    if isinstance(primal_results, bool) or not isinstance(primal_results, int):
        raise ActOptionError(f"primal_results must be an int, got {primal_results!r}")
    if primal_results < 1:
        raise ActOptionError(f"primal_results must be at least 1, got {primal_results}")
    if not callable(step):
        raise ActOptionError(f"step must be callable, got {type(step).__name__}")
    options = CompressOptions(
        bits=bits,
        window=window,
        cut=cut,
        recompute=recompute,
        unremat=unremat,
        rederive=rederive,
        search=search,
        slice=slice,
        slice_states=slice_states,
        rules=rules,
        average_bits=average_bits,
        error_budget=error_budget,
        seed=seed,
    )
    jit_options = {
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
    }
    return CompressedStep(
        step, primal_results, options, jit_options, exact_bf16, progress
    )


def value_and_grad(
    loss: Callable,
    argnums: int | Sequence[int] = 0,
    has_aux: bool = False,
    **options: Any,
) -> CompressedStep:
    """Returns a compressed `jax.value_and_grad(loss, argnums, has_aux)`.

    Args:
        loss: scalar function, with `has_aux` one that returns (loss, aux).
        argnums: positions to differentiate with respect to.
        has_aux: whether `loss` returns auxiliary values.
        **options: options of `compress`, except `primal_results`.
    """
    if "primal_results" in options:
        raise ActOptionError(
            "value_and_grad knows its primal results; use act.compress to name them"
        )
    step = jax.value_and_grad(loss, argnums=argnums, has_aux=has_aux)
    return compress(step, primal_results=1, **options)


def flat_primal_count(exported: export.Exported, primal_results: int) -> int:
    """Returns the flat number of primal results.

    Args:
        exported: the step.
        primal_results: leading elements of its result tuple that are primal.

    Raises:
        ActStepError: the step returns no tuple, or one that is too short.
    """
    leaves = list(range(exported.out_tree.num_leaves))
    results = jax.tree.unflatten(exported.out_tree, leaves)
    if not isinstance(results, tuple | list):
        raise ActStepError(
            f"the step returns a {type(results).__name__}; act needs a tuple of "
            "primal results followed by gradients, such as (loss, gradients)"
        )
    gradients = len(jax.tree.leaves(results[primal_results:]))
    if primal_results >= len(results) or gradients == 0:
        raise ActStepError(
            f"primal_results={primal_results} leaves no gradient: the step returns "
            f"a tuple of {len(results)}"
        )
    return len(leaves) - gradients


def _callable(exported: export.Exported) -> Callable:
    """Returns the exported step as a function that cannot be differentiated."""

    def flat(*leaves: Any) -> Any:
        args, kwargs = jax.tree.unflatten(exported.in_tree, leaves)
        return exported.call(*args, **kwargs)

    guarded = jax.custom_jvp(flat)

    @guarded.defjvp
    def explain(_primals: tuple, _tangents: tuple) -> None:
        raise ActStepError(_NOT_DIFFERENTIABLE)

    def call(*args: Any, **kwargs: Any) -> Any:
        return guarded(*jax.tree.leaves((args, kwargs)))

    call.__name__ = exported.fun_name
    return call

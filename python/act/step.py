# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Steps that are traced, rewritten and compiled for what they are called with."""

import copy
import dataclasses
import functools
import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import jax
from jax import export

from act import attention_lowering, stablehlo, xla
from act.arguments import Call, StaticArguments
from act.contributions import profile_probe
from act.errors import ActStepError
from act.instrument import Instrumented, Traced
from act.options import CompressOptions
from act.probe import Probe, Results
from act.profile_data import Profile
from act.progress import Stages
from act.ranges import RangeState, check_ranges, stateful
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
        reprofile_every: int | None = None,
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
        self._reprofile_every = reprofile_every
        self._calls: dict[Hashable, int] = {}
        self._instrumented: dict[Hashable, Instrumented] = {}
        self._lock = threading.RLock()
        self._warned = False
        functools.update_wrapper(self, step)

    def __repr__(self) -> str:
        return f"<act.compress of {self._name}, {self._options.summary()}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the compressed step; arguments and results as the original's."""
        if self._options.running_ranges:
            raise ActStepError(
                f"{self._name} was compressed with running_ranges: call "
                "step.with_ranges(ranges, *args), which returns its results and the "
                "next ranges; the first are step.init_ranges(*args)"
            )
        call = self._static.bind(args, kwargs)
        is_traced = any(isinstance(leaf, jax.core.Tracer) for leaf in call.leaves)
        prepare = self._prepare if is_traced else self._prepare_profiled
        compiled = prepare(call, args, kwargs)
        return self._run(compiled, call.leaves, call.args, call.kwargs)

    def init_ranges(self, *args: Any, **kwargs: Any) -> dict[str, jax.Array]:
        """Returns running ranges that have seen nothing.

        Args:
            *args: arrays or ShapeDtypeStructs; nothing is executed.
            **kwargs: likewise.

        Returns:
            An f32 array of NaN for each value that a rule gives running ranges, by
            the value's name. Its last two axes are (2, indices of the ranged axis):
            widths, then minima.

        Raises:
            ActStepError: the step has no running ranges.
        """
        self._require_ranges("init_ranges")
        call = self._static.bind(args, kwargs)
        states = self._prepare(call, args, kwargs).rewritten.states
        return {state.name: state.initial() for state in states}

    def with_ranges(
        self, ranges: Mapping[str, jax.Array], *args: Any, **kwargs: Any
    ) -> tuple[Any, dict[str, jax.Array]]:
        """Runs the compressed step on ranges that steps before have left.

        A pure function, for `jax.jit` (which may donate the ranges) and `lax.scan`.

        Args:
            ranges: from `init_ranges` or the step before.
            *args: arguments of the step.
            **kwargs: likewise.

        Returns:
            The results of the step, and the ranges for the next one.

        Raises:
            ActStepError: the step has no running ranges, or `ranges` are not its.
        """
        self._require_ranges("with_ranges")
        call = self._static.bind(args, kwargs)
        compiled = self._prepare(call, args, kwargs)
        check_ranges(ranges, compiled.rewritten.states)
        leaves = (*jax.tree.leaves(ranges), *call.leaves)
        return self._run(compiled, leaves, (ranges, *call.args), call.kwargs)

    def _require_ranges(self, method: str) -> None:
        if not self._options.running_ranges:
            raise ActStepError(
                f"{method} needs a step with running ranges: act.compress(step, "
                "rules=..., running_ranges=True)"
            )

    def _run(
        self,
        compiled: _Compiled,
        leaves: Sequence[Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Runs a compiled step, or traces it if one of the leaves is traced."""
        if not any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
            return compiled.jitted(*args, **kwargs)
        try:
            return compiled.call(*args, **kwargs)
        except NotImplementedError as error:
            raise ActStepError(
                f"JAX cannot transform the compressed step {self._name}: {error}. "
                "Apply jax.vmap and the like to the original and compress the result"
            ) from error

    def lower(self, *args: Any, **kwargs: Any) -> jax.stages.Lowered:
        """Lowers for arrays or ShapeDtypeStructs, like `jax.jit(f).lower`.

        With running ranges what is lowered is `with_ranges`; give no ranges.
        """
        call = self._static.bind(args, kwargs)
        compiled = self._prepare(call, args, kwargs)
        return self._lower(compiled.jitted, call, compiled.rewritten.states)

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
        after = self._lower(compiled.jitted, call, compiled.rewritten.states)
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

    def _prepare_profiled(
        self, call: Call, args: tuple, kwargs: dict[str, Any]
    ) -> _Compiled:
        """Like `_prepare`, but profiles again every so many calls if asked to."""
        if self._reprofile_every is None:
            return self._prepare(call, args, kwargs)
        with self._lock:
            compiled = self._prepare(call, args, kwargs)
            calls = self._calls.get(call.key, 0)
            self._calls[call.key] = calls + 1
            if calls % self._reprofile_every:
                return compiled
            profile = self._profile_again(call, args, kwargs, calls)
            options = dataclasses.replace(compiled.rewritten.options, profile=profile)
            other = self.with_options(options)._prepare(call, args, kwargs)
            if _encodings(other) != _encodings(compiled):
                self._compiled[call.key] = other
            return self._compiled[call.key]

    def _profile_again(
        self, call: Call, args: tuple, kwargs: dict[str, Any], seed: int
    ) -> Profile:
        """Profiles with the arguments of a call; the instrumented step is kept."""
        if call.key in self._instrumented:
            probe = Probe(self._instrumented[call.key], call.leaves)
        else:
            options = dataclasses.replace(
                self._prepare(call, args, kwargs).rewritten.options,
                average_bits=None,
                error_budget=None,
                profile=None,
            )
            probe = self.with_options(options).probe(args, kwargs)
            self._instrumented[call.key] = probe.step
        return profile_probe(probe, None, seed)

    def _trace(self, call: Call, args: tuple, kwargs: dict[str, Any]) -> Traced:
        """Exports the original step for the shapes of a call."""
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
        kept = exported.module_kept_var_idx
        donated = {kept[index] for index in donated_arguments}
        return Traced(exported, text, primal, donated)

    def _compress(self, call: Call, args: tuple, kwargs: dict[str, Any]) -> _Compiled:
        with Stages(1, self._progress) as stages:
            stages.start(f"tracing {self._name}")
            traced = self._trace(call, args, kwargs)
            self._warn_about_precision(traced.text)
            result = rewrite(
                traced.exported,
                traced.text,
                traced.primal,
                self._options,
                lambda step: self._lower(
                    self._jit(
                        self._callable(step, traced.exported), call, traced.donated
                    ),
                    call,
                    step.states,
                ).compile(),
                stages,
            )
        function = self._callable(result, traced.exported)
        return _Compiled(result, function, self._jit(function, call, traced.donated))

    @property
    def options(self) -> CompressOptions:
        """How the step is compressed."""
        return self._options

    def with_options(self, options: CompressOptions) -> "CompressedStep":
        """Returns the same step compressed in another way, compiled anew."""
        other = copy.copy(self)
        other._options = options
        other._compiled = {}
        other._calls = {}
        other._instrumented = {}
        other._lock = threading.RLock()
        return other

    def chosen_options(self, *args: Any, **kwargs: Any) -> CompressOptions:
        """Returns the configuration that a call with these arguments runs."""
        call = self._static.bind(args, kwargs)
        return self._prepare(call, args, kwargs).rewritten.options

    def probe(
        self, args: tuple, kwargs: dict[str, Any], results: Results | None = None
    ) -> Probe:
        """Makes the step measure what rounding its saved values does.

        The configuration and the encodings are those that a call with these
        arguments runs.

        Args:
            args: arguments of the step.
            kwargs: likewise.
            results: picks the gradients from the results; see `act.profile`.

        Raises:
            ActStepError: the step stores nothing with a loss.
            ActProfileError: the gradient is zero or not finite.
        """
        call = self._static.bind(args, kwargs)
        compiled = self._prepare(call, args, kwargs)
        with Stages(2, self._progress) as stages:
            stages.start(f"tracing {self._name}")
            traced = self._trace(call, args, kwargs)
            stages.start(f"instrumenting {self._name}")
            instrumented = Instrumented.build(
                self._name, traced, compiled.rewritten, self._compiler_options
            )
            return Probe(instrumented, call.leaves, results)

    def _jit(self, function: Callable, call: Call, donated: set[int]) -> Any:
        """Jits a rewritten step; `donated` are indices of flat leaves."""
        argnums, argnames = call.arguments_with(donated)
        if self._options.running_ranges:
            argnums = tuple(number + 1 for number in argnums)
        return jax.jit(
            function,
            donate_argnums=argnums,
            donate_argnames=argnames,
            compiler_options=self._compiler_options,
        )

    def _lower(
        self, jitted: Any, call: Call, states: tuple[RangeState, ...]
    ) -> jax.stages.Lowered:
        args = call.args_of_structs
        if self._options.running_ranges:
            args = ({state.name: state.struct for state in states}, *args)
        return jitted.lower(*args, **call.kwargs_of_structs)

    def _callable(self, step: Rewritten, original: export.Exported) -> Callable:
        """Returns a rewritten step as a function, with ranges if it keeps any."""
        function = _callable(step.exported)
        if not self._options.running_ranges:
            return function
        call = stateful(function.flat, step.states, original.out_tree)
        call.__name__ = function.__name__
        return call

    def _warn_about_precision(self, text: str) -> None:
        """Warns once per step about 16-bit floats with elided roundings."""
        if self._warned or self._compiler_options or xla.excess_precision_is_off():
            return
        if stablehlo.uses_short_floats(text):
            self._warned = True
            xla.warn_about_short_floats(stacklevel=5)


def _encodings(compiled: _Compiled) -> list[str]:
    """Returns how the values of a step are stored."""
    return [entry["encoding"] for entry in compiled.rewritten.report["survivors"]]


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
    """Returns the exported step as a function that cannot be differentiated.

    Its attribute `flat` takes leaves instead.
    """

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
    call.flat = guarded
    return call

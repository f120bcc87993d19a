# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Splits the arguments of a call into static ones and a key of the others."""

import dataclasses
import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import jax

from act.errors import ActOptionError


@dataclasses.dataclass(frozen=True, slots=True)
class Kind:
    """What the compiled step depends on of an argument.

    Attributes:
        shape: of the array.
        dtype: its element type.
        weak_type: whether it yields to other types, as Python numbers do.
        sharding: where several devices hold it, else None.
    """

    shape: tuple[int, ...]
    dtype: Any
    weak_type: bool
    sharding: jax.sharding.Sharding | None

    @property
    def struct(self) -> jax.ShapeDtypeStruct:
        """The same as JAX takes it."""
        return jax.ShapeDtypeStruct(
            self.shape, self.dtype, sharding=self.sharding, weak_type=self.weak_type
        )


@dataclasses.dataclass(frozen=True)
class Call:
    """The arguments of one call, static ones apart.

    Attributes:
        args: positional arguments that are not static.
        kwargs: keyword arguments that are not static.
        leaves: their flat leaves, arrays or ShapeDtypeStructs.
        tree: their structure.
        kinds: shape, element type, weak type and sharding of each leaf.
        key: hashable identity of everything the compiled step depends on.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    leaves: tuple[Any, ...]
    tree: jax.tree_util.PyTreeDef
    kinds: tuple[Kind, ...]
    key: Hashable

    @property
    def args_of_structs(self) -> tuple[Any, ...]:
        """`args` with ShapeDtypeStructs for leaves."""
        return self._structs()[0]

    @property
    def kwargs_of_structs(self) -> dict[str, Any]:
        """`kwargs` with ShapeDtypeStructs for leaves."""
        return self._structs()[1]

    def _structs(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        structs = [kind.struct for kind in self.kinds]
        return jax.tree.unflatten(self.tree, structs)

    def arguments_with(self, leaves: set[int]) -> tuple[tuple[int, ...], list[str]]:
        """Returns the positions and names of arguments that hold given leaves.

        Args:
            leaves: indices of flat leaves.
        """
        args, kwargs = jax.tree.unflatten(self.tree, range(len(self.kinds)))

        def holds(argument: Any) -> bool:
            return not leaves.isdisjoint(jax.tree.leaves(argument))

        return (
            tuple(number for number, value in enumerate(args) if holds(value)),
            [name for name, value in kwargs.items() if holds(value)],
        )


class StaticArguments:
    """Which arguments of a function are static, by the rules of `jax.jit`.

    If only positions or only names are given, the function's signature tells
    the others. A function that is jitted with static arguments already keeps
    them.

    Args:
        function: the function.
        argnums: static positions, negative ones counted from the call's end.
        argnames: static names.
    """

    def __init__(
        self,
        function: Callable,
        argnums: int | Sequence[int] | None,
        argnames: str | Iterable[str] | None,
    ) -> None:
        if argnums is None and argnames is None:
            # Not public; without it the error for unequal trees explains itself.
            jitted = getattr(function, "_jit_info", None)
            argnums = getattr(jitted, "static_argnums", None)
            argnames = getattr(jitted, "static_argnames", None)
        numbers = {argnums} if isinstance(argnums, int) else set(argnums or ())
        names = {argnames} if isinstance(argnames, str) else set(argnames or ())
        if not numbers or not names:
            for number, name in _positional_parameters(function):
                if number in numbers or name in names:
                    numbers.add(number)
                    names.add(name)
        self._numbers = frozenset(numbers)
        self._names = frozenset(names)

    @property
    def jit_options(self) -> dict[str, Any]:
        """The same for `jax.jit`."""
        return {
            "static_argnums": tuple(sorted(self._numbers)),
            "static_argnames": tuple(sorted(self._names)),
        }

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Call:
        """Splits the arguments of a call.

        Raises:
            ActOptionError: a static argument is not hashable.
            TypeError: an argument is nothing JAX can take.
        """
        static: list[tuple[int | str, Any]] = []
        dynamic_args = []
        for number, value in enumerate(args):
            if self._is_static(number, len(args)):
                static.append((number, value))
            else:
                dynamic_args.append(value)
        dynamic_kwargs = {}
        for name, value in kwargs.items():
            if name in self._names:
                static.append((name, value))
            else:
                dynamic_kwargs[name] = value
        for where, value in static:
            if not isinstance(value, Hashable) or _hash_fails(value):
                raise ActOptionError(
                    f"static argument {where!r} must be hashable, got "
                    f"{type(value).__name__}"
                )
        leaves, tree = jax.tree.flatten((tuple(dynamic_args), dynamic_kwargs))
        kinds = tuple(kind_of(leaf) for leaf in leaves)
        key = (tuple(static), tree, kinds, jax.default_backend(), trace_context())
        return Call(
            tuple(dynamic_args), dynamic_kwargs, tuple(leaves), tree, kinds, key
        )

    def merge(
        self, call: Call, args: tuple[Any, ...], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Returns `args` and `kwargs` with ShapeDtypeStructs for the leaves."""
        positional = iter(call.args_of_structs)
        merged = tuple(
            value if self._is_static(number, len(args)) else next(positional)
            for number, value in enumerate(args)
        )
        return merged, {**kwargs, **call.kwargs_of_structs}

    def _is_static(self, number: int, count: int) -> bool:
        """Tells whether argument `number` of `count` positional ones is static."""
        return number in self._numbers or number - count in self._numbers


def kind_of(leaf: Any) -> Kind:
    """Describes an array, a number or a ShapeDtypeStruct.

    Raises:
        TypeError: JAX cannot take it.
    """
    if isinstance(leaf, jax.ShapeDtypeStruct):
        kind, sharding = leaf, leaf.sharding
    else:
        kind = jax.typeof(leaf)
        is_array = isinstance(leaf, jax.Array) and not isinstance(leaf, jax.core.Tracer)
        sharding = leaf.sharding if is_array and leaf.committed else None
    if sharding is not None and sharding.num_devices == 1:
        sharding = None
    return Kind(kind.shape, kind.dtype, kind.weak_type, sharding)


def _positional_parameters(function: Callable) -> list[tuple[int, str]]:
    """Returns number and name of the parameters that can be given either way."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [
        (number, parameter.name)
        for number, parameter in enumerate(parameters)
        if parameter.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    ]


def _hash_fails(value: Any) -> bool:
    """Tells whether hashing raises although the type has a hash."""
    try:
        hash(value)
    except TypeError:
        return True
    return False


def trace_context() -> Hashable:
    """Returns the JAX settings that change what a function traces to."""
    return (
        jax.config.jax_enable_x64,
        jax.config.jax_default_matmul_precision,
        jax.config.jax_numpy_dtype_promotion,
        jax.config.jax_default_prng_impl,
        jax.config.jax_threefry_partitionable,
    )

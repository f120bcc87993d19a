# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measured sensitivities of a step, and the files that hold them."""

import dataclasses
import json
import math
import os
import tempfile
import weakref
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from act.errors import ActProfileError

#: Version of the format that is written and read.
VERSION = 1

#: Bits at which contributions are measured.
BITS = 4


def code_variance(bits: float) -> float:
    """Returns the expected squared error of stochastically rounded codes.

    It is a fraction of the squared width of their range: 1 / (6 (2^bits - 1)^2).
    """
    return 1 / (6 * (2**bits - 1) ** 2)


@dataclasses.dataclass(frozen=True)
class Measured:
    """What was measured of one survivor, or of several with one key together.

    Attributes:
        key: structural key of the value: location name, # and 16 digits.
        name: of the operation in the program that computed it.
        shape: of one copy, when it was measured.
        copies: how many loops save.
        contribution: what storing it in `BITS` bits adds to the squared relative
            error of the gradient.
    """

    key: str
    name: str
    shape: tuple[int, ...]
    copies: int
    contribution: float


@dataclasses.dataclass(frozen=True)
class Profile:
    """What rounding each saved value of a step does to its gradient.

    Made by `act.profile`, read by `act.compress(..., profile=)`. It belongs to the
    program, not to a batch size: values are named by the expressions that compute
    them.

    Attributes:
        step: name of the step.
        survivors: what was measured, keys all different.
        gradient_norm: Euclidean norm of the exact gradient, all results together.
        passes: how often the instrumented step ran.
        fit: relative error of the fit to what the passes measured.
    """

    step: str
    survivors: tuple[Measured, ...]
    gradient_norm: float
    passes: int
    fit: float = 0.0

    def __str__(self) -> str:
        """A table of the survivors, the most sensitive first."""
        lines = [
            f"{self.step}: {len(self.survivors)} survivors, {self.passes} passes, "
            f"predicted error at {BITS} bits {self.error():.3g}"
        ]
        for entry in sorted(self.survivors, key=lambda s: -s.contribution):
            shape = "x".join(map(str, entry.shape))
            copies = f"{entry.copies} x " if entry.copies > 1 else ""
            root = math.sqrt(entry.contribution)
            lines.append(f"  {root:9.3g}  {copies}{shape:<20} {entry.name}")
        return "\n".join(lines)

    def contributions(self) -> dict[str, float]:
        """Returns what was measured, by key."""
        return {entry.key: entry.contribution for entry in self.survivors}

    def unknown(self, keys: Iterable[str]) -> list[str]:
        """Returns those of some keys that the profile does not know."""
        known = self.contributions()
        return [key for key in keys if key not in known]

    def error(self, bits: float = BITS) -> float:
        """Returns the predicted relative error of the gradient.

        Args:
            bits: per element of every survivor.
        """
        scale = code_variance(bits) / code_variance(BITS)
        return math.sqrt(scale * sum(entry.contribution for entry in self.survivors))

    def to_json(self) -> dict[str, Any]:
        """Returns the contents of a file."""
        return {
            "act_profile": VERSION,
            "step": self.step,
            "gradient_norm": self.gradient_norm,
            "passes": self.passes,
            "fit": self.fit,
            "noise": {
                "kind": "stochastic",
                "bits": BITS,
                "variance": code_variance(BITS),
            },
            "survivors": [
                dataclasses.asdict(entry) | {"shape": list(entry.shape)}
                for entry in self.survivors
            ],
        }

    def write(self, path: str | os.PathLike) -> None:
        """Writes the file, whole or not at all.

        Raises:
            ActProfileError: it cannot be written.
        """
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        try:
            partial.write_text(json.dumps(self.to_json(), indent=2) + "\n")
            partial.replace(target)
        except OSError as error:
            raise ActProfileError(f"cannot write profile {target}: {error}") from error

    @classmethod
    def read(cls, path: str | os.PathLike) -> "Profile":
        """Reads a file.

        Raises:
            ActProfileError: there is none, or it is no profile of this version;
                the message names file and entry.
        """
        try:
            document = json.loads(Path(path).read_text())
        except (OSError, UnicodeDecodeError) as error:
            raise ActProfileError(f"cannot read profile {path}: {error}") from error
        except ValueError as error:
            raise ActProfileError(f"profile {path} is not JSON: {error}") from error
        try:
            return _parse(document)
        except ActProfileError as error:
            raise ActProfileError(f"profile {path}: {error}") from None

    def as_file(self) -> Path:
        """Returns a file that holds the profile as long as this object lives."""
        if not hasattr(self, "_file"):
            handle, name = tempfile.mkstemp(prefix="act-profile-", suffix=".json")
            os.close(handle)
            self.write(name)
            object.__setattr__(self, "_file", Path(name))
            weakref.finalize(self, Path(name).unlink, missing_ok=True)
        return self._file


def load_profile(profile: "Profile | str | os.PathLike") -> "Profile":
    """Returns a profile, read from its file if that is given.

    Raises:
        ActProfileError: see `Profile.read`.
    """
    return profile if isinstance(profile, Profile) else Profile.read(profile)


def _parse(document: Any) -> Profile:
    """Checks the contents of a file.

    Raises:
        ActProfileError: something is missing or has a bad value.
    """
    version = _entry(document, "act_profile", "the file", int)
    if version != VERSION:
        raise ActProfileError(
            f"expects version {VERSION} ('act_profile'), got {version}; "
            "measure again with act.profile"
        )
    noise = _entry(document, "noise", "the file", dict)
    variance = _number(noise, "variance", "'noise'")
    if variance == 0:
        raise ActProfileError("expects a 'variance' of 'noise' above 0, got 0")
    scale = code_variance(BITS) / variance
    survivors = []
    for number, entry in enumerate(_entry(document, "survivors", "the file", list)):
        where = f"survivor {number}"
        key = _entry(entry, "key", where, str)
        where = f"survivor {number} ({key})"
        shape = _entry(entry, "shape", where, list)
        survivors.append(
            Measured(
                key,
                _entry(entry, "name", where, str),
                tuple(shape),
                _entry(entry, "copies", where, int),
                scale * _number(entry, "contribution", where),
            )
        )
    keys = [entry.key for entry in survivors]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise ActProfileError(f"expects keys that differ, got {twice} twice")
    return Profile(
        _entry(document, "step", "the file", str),
        tuple(survivors),
        _number(document, "gradient_norm", "the file"),
        _entry(document, "passes", "the file", int),
        _number(document, "fit", "the file"),
    )


def _entry(document: Any, name: str, where: str, kind: type) -> Any:
    """Returns an entry of an object in a file, after a check of its type."""
    if not isinstance(document, dict):
        raise ActProfileError(
            f"expects an object for {where}, got {type(document).__name__}"
        )
    if name not in document:
        raise ActProfileError(f"expects '{name}' in {where}")
    value = document[name]
    is_flag = isinstance(value, bool) and kind is not object
    if not isinstance(value, kind) or is_flag:
        raise ActProfileError(
            f"expects '{name}' of {where} to be of type {kind.__name__}, got {value!r}"
        )
    return value


def _number(document: Any, name: str, where: str) -> float:
    """Returns a finite number of an object that is not negative."""
    value = _entry(document, name, where, object)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        raise ActProfileError(
            f"expects '{name}' of {where} to be a finite number of at least 0, "
            f"got {value!r}"
        )
    return float(value)

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Exceptions and warnings of the package; every one names what to do next."""


class ActError(RuntimeError):
    """Base of every error that act raises on purpose."""


class ActOptionError(ActError, ValueError):
    """An argument or option, of a function or of the command line, is wrong."""


class ActStepError(ActError, ValueError):
    """The step cannot be compressed: no gradient, wrong primal count, ..."""


class ActBudgetError(ActError):
    """No plan is within the memory budget.

    Attributes:
        budget: bytes asked for.
        least: the least peak in bytes that was reached, a budget that can be met.
        original: peak of the step as it is.
    """

    def __init__(self, budget: int, least: int, original: int, bits: int) -> None:
        self.budget = budget
        self.least = least
        self.original = original
        super().__init__(
            f"memory_budget of {budget:,} bytes cannot be met: the least peak reached "
            f"with at least {bits} bits per element is {least:,} bytes "
            f"({least / 2**20:,.1f} MiB), arguments and results included; the step as "
            f"it is needs {original:,} bytes"
        )


class ActToolError(ActError):
    """act-opt is missing, too old, or failed; the text carries its diagnostics."""


class ActDumpError(ActError):
    """A directory holds no usable XLA dump."""


class ActProfileError(ActError, ValueError):
    """A file is no profile, or a step cannot be profiled."""


class ActWarning(UserWarning):
    """Something holds only under a condition that act cannot check."""

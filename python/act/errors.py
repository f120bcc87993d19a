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


class ActToolError(ActError):
    """act-opt is missing, too old, or failed; the text carries its diagnostics."""


class ActDumpError(ActError):
    """A directory holds no usable XLA dump."""


class ActWarning(UserWarning):
    """Something holds only under a condition that act cannot check."""

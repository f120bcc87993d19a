# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Version of the package and of the act-opt it needs."""

__version__ = "0.1.0"

#: Oldest act-opt whose options and report this package understands.
REQUIRED_TOOL_VERSION = (0, 1, 0)

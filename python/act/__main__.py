# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Entry point of `python -m act`."""

import sys

from act.cli import main

if __name__ == "__main__":
    sys.exit(main())

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Configuration of lit for the gtest programs under unittests/."""

# ruff: noqa: F821 (lit defines `config`)

import lit.formats

config.name = "act-unit"
config.suffixes = []
config.test_source_root = f"{config.act_obj_root}/unittests"
config.test_exec_root = config.test_source_root
# Programs whose name ends in Tests, in any folder.
config.test_format = lit.formats.GoogleTest(".", "Tests")

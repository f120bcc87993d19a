# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the code blocks of a page that a comment names to files.

usage: extract_blocks.py PAGE FOLDER NAME...

The block NAME follows a line that begins with `<!-- NAME:`.
"""

import re
import sys
from pathlib import Path

page, folder, *names = sys.argv[1:]
text = Path(page).read_text()
out = Path(folder)
out.mkdir(parents=True, exist_ok=True)
for name in names:
    block = rf"^<!-- {name}:[^\n]*-->\n```mlir\n(.*?)^```$"
    found = re.findall(block, text, re.MULTILINE | re.DOTALL)
    if len(found) != 1:
        sys.exit(f"{page}: expected one block '{name}', found {len(found)}")
    (out / f"{name}.mlir").write_text(found[0])

# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures. matplotlib is imported on first use: it is slow to load."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from act.dump import Dump

_MIB = 2**20


def plot_memory(dumps: Mapping[str, Dump], path: Path, title: str) -> Path:
    """Draws the temporary memory of compiled steps over their schedules.

    Args:
        dumps: by the name to show in the legend.
        path: picture to write; its suffix gives the format.
        title: heading.

    Returns:
        The path.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4.5), layout="constrained")
    axes = figure.add_subplot()
    for name, dump in dumps.items():
        timeline = dump.timeline() / _MIB
        progress = np.linspace(0, 100, len(timeline))
        label = f"{name}: {dump.temp_bytes / _MIB:,.1f} MiB"
        (line,) = axes.step(progress, timeline, where="post", label=label)
        axes.fill_between(progress, timeline, step="post", alpha=0.15)
        peak = dump.peak()
        axes.plot(progress[peak], timeline[peak], "o", color=line.get_color())
    axes.set_xlabel("position in XLA's schedule, %")
    axes.set_ylabel("temporary memory alive, MiB")
    axes.set_xlim(0, 100)
    axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.15), frameon=False)
    figure.savefig(path, dpi=150)
    return path

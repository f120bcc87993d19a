# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Pictures of benchmarks/parity: curves of a model, differences of all."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

#: What the results of a model are, see `training_parity`.
Results = Mapping[str, Any]

_VERDICT_COLOURS = {
    "within": "tab:green",
    "better": "tab:blue",
    "unclear": "tab:orange",
    "worse": "tab:red",
}


def plot_curves(results: Results, path: Path) -> None:
    """Draws losses over the steps: means over seeds and bands of all of them.

    Args:
        results: of one model.
        path: picture to write.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    charts = figure.subplots(1, 2)
    for policy, found in results["policies"].items():
        runs = list(found["runs"].values())
        steps = np.asarray(runs[0]["validation_steps"])
        middles = (steps[1:] + steps[:-1]) / 2
        for chart, positions, figure_name in (
            (charts[0], middles, "train_loss"),
            (charts[1], steps, "validation_loss"),
        ):
            curves = np.asarray([run[figure_name] for run in runs])
            (line,) = chart.semilogy(
                positions,
                curves.mean(0),
                "k--" if policy == "exact" else "-",
                linewidth=1,
                label=_label(policy),
                zorder=3 if policy == "exact" else 2,
            )
            chart.fill_between(
                positions,
                curves.min(0),
                curves.max(0),
                color=line.get_color(),
                alpha=0.12,
                linewidth=0,
            )
    for chart, heading in zip(charts, ("training", "validation"), strict=True):
        chart.set_xlabel("step")
        chart.set_ylabel(f"{heading} loss")
        # Plain numbers, between powers of ten as well where there is room.
        chart.yaxis.set_major_formatter(_plain_formatter())
        chart.yaxis.set_minor_formatter(_plain_formatter(minor_thresholds=(1.5, 0.5)))
        chart.grid(alpha=0.2, which="both", linewidth=0.5)
    charts[1].legend(frameon=False, fontsize="small")
    figure.suptitle(f"{results['title']}, {len(runs)} seeds", fontsize="medium")
    figure.savefig(path, dpi=80)


def _label(policy: str) -> str:
    """Returns what to call a policy: "4" -> "4 bits"."""
    return f"{policy} bits" if policy.isdigit() else policy


def _plain_formatter(**options: Any) -> Any:
    """Returns a formatter of logarithmic axes that writes 0.6 instead of 6e-01.

    Args:
        **options: of matplotlib's `LogFormatter`, which decides what has a label.
    """
    from matplotlib.ticker import LogFormatter

    class PlainFormatter(LogFormatter):
        def __call__(self, value: float, position: int | None = None) -> str:
            return f"{value:g}" if super().__call__(value, position) else ""

    return PlainFormatter(**options)


def plot_differences(models: Mapping[str, Results], path: Path) -> None:
    """Draws the difference of each policy's validation loss with its interval.

    The unit is the standard deviation of exact training over seeds of each model, so
    that all models share an axis, which is linear up to one deviation.

    Args:
        models: results by model.
        path: picture to write.
    """
    from matplotlib.figure import Figure

    names, rows = [], []
    for results in models.values():
        for policy, found in results["policies"].items():
            if "difference" in found:
                names.append(f"{results['title']}, {_label(policy)}")
                rows.append(found["difference"]["validation_loss"])
    figure = Figure(figsize=(8, 1 + 0.22 * len(rows)), layout="constrained")
    chart = figure.add_subplot()
    for position, row in enumerate(rows):
        interval = [row["interval"][key] for key in ("low", "mean", "high")]
        low, mean, high = np.asarray(interval) / row["seed_deviation"]
        colour = _VERDICT_COLOURS[row["verdict"]]
        chart.plot([low, high], [position, position], color=colour)
        chart.plot(mean, position, "o", color=colour, markersize=4)
    chart.axvspan(-1, 1, color="grey", alpha=0.15, linewidth=0)
    chart.axvline(0, color="black", linewidth=0.5)
    chart.set_xscale("symlog", linthresh=1)
    chart.set_xticks([-10, -1, 0, 1, 10, 100], ["-10", "-1", "0", "1", "10", "100"])
    chart.set_yticks(range(len(names)), names, fontsize="small")
    chart.invert_yaxis()
    chart.set_xlabel(
        "validation loss minus that of exact training, in deviations over seeds"
    )
    figure.savefig(path, dpi=80)

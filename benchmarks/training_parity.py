# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whether compressed training learns as much as exact training, see docs/Parity.md.

Small models are trained on real data with several seeds, as they are and compressed
by each policy, from the same start with the same batches. Validation losses are
compared by seed.
"""

import argparse
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import jax
from rich.console import Console
from rich.table import Table

from act.errors import ActError
from act.progress import Stages
from parity_plots import plot_curves, plot_differences
from parity_statistics import WITHIN, compare
from parity_tasks import TASKS, Task
from parity_training import POLICIES, Trainer

EXACT = "exact"

#: Whether more is worse, for each figure that is compared.
COMPARED = {"validation_loss": True, "accuracy": False}

#: Results of a model: title, steps, and by policy what is stored, a run for each
#: seed, and the difference from exact training.
Results = dict[str, Any]


def measure(
    name: str, options: argparse.Namespace, known: Results, stages: Stages
) -> Results:
    """Trains one model with each policy and seed that is not known yet.

    Args:
        name: of the model.
        options: of the command.
        known: results of the model from before; empty if there are none.
        stages: shows progress.

    Returns:
        The results of the chosen policies and seeds, with comparisons.

    Raises:
        ActError: a step cannot be compressed.
    """
    task = TASKS[name]()
    steps = options.steps or task.steps
    policies = {}
    for policy in options.policies:
        found = {"options": POLICIES[policy], "runs": {}}
        before = known["policies"].get(policy, found) if known else found
        if known and known["steps"] == steps and before["options"] == found["options"]:
            found |= before
        label = f"{name}, {policy}"
        try:
            train(task, steps, found, options.seeds, stages, label)
        except ActError as error:
            raise ActError(f"{label}: {error}") from error
        policies[policy] = found
    results = {"title": task.title, "steps": steps, "policies": policies}
    add_differences(results)
    return results


def train(
    task: Task,
    steps: int,
    found: dict[str, Any],
    seeds: int,
    stages: Stages,
    label: str,
) -> None:
    """Replaces the runs of a policy by those of the first seeds.

    Args:
        task: what to train.
        steps: of each training.
        found: results of the policy; its runs are taken where they have the seed.
        seeds: number of runs.
        stages: shows progress.
        label: what to call the training there.
    """
    before, trainer = found["runs"], None
    found["runs"] = {}
    for seed in range(seeds):
        run = before.get(str(seed))
        stages.start(f"{label}, seed {seed}{' is known' if run else ''}")
        if run is None:
            trainer = trainer or Trainer(task, found["options"], steps)
            run = dataclasses.asdict(trainer.run(seed))
        found["runs"][str(seed)] = run
    if trainer is not None and trainer.stored is not None:
        found["stored"] = dataclasses.asdict(trainer.stored)


def add_differences(results: Results) -> None:
    """Adds to each policy how its runs differ from the exact ones."""
    exact = results["policies"][EXACT]["runs"]
    for policy, found in results["policies"].items():
        if policy == EXACT:
            continue
        found["difference"] = {
            figure: dataclasses.asdict(
                compare(
                    [run[figure][-1] for run in exact.values()],
                    [found["runs"][seed][figure][-1] for seed in exact],
                    higher_is_worse,
                )
            )
            for figure, higher_is_worse in COMPARED.items()
        }


def results_table(models: dict[str, Results]) -> Table:
    """Returns the table of all models and policies."""
    table = Table(title="Validation at the end; differences from exact by seed, 95 %")
    for heading in ("model", "policy", "bits", "stored", "loss", "difference"):
        table.add_column(heading, justify="left" if heading == "model" else "right")
    for heading in ("accuracy %", "difference", "loss is", "accuracy is"):
        table.add_column(heading, justify="right")
    for name, results in models.items():
        for policy, found in results["policies"].items():
            table.add_row(name, policy, *_cells(found), end_section=False)
        table.add_section()
    return table


def _cells(found: dict[str, Any]) -> list[str]:
    """Returns the cells of a policy behind its name."""
    runs = list(found["runs"].values())
    loss, accuracy = (
        sum(run[figure][-1] for run in runs) / len(runs) for figure in COMPARED
    )
    if "difference" not in found:
        return ["32", "1", f"{loss:.4f}", "-", f"{100 * accuracy:.2f}", "-", "-", "-"]
    stored = found["stored"]
    loss_difference, accuracy_difference = found["difference"].values()
    return [
        f"{stored['lossy_bits']:.2f}",
        f"{stored['stash_bytes'] / stored['raw_bytes']:.3f}",
        f"{loss:.4f}",
        _format(loss_difference, 1, 4),
        f"{100 * accuracy:.2f}",
        _format(accuracy_difference, 100, 2),
        loss_difference["verdict"],
        accuracy_difference["verdict"],
    ]


def _format(difference: dict[str, Any], scale: float, digits: int) -> str:
    """Returns mean, interval and the seeds' deviation of a difference."""
    mean, low, high = (
        f"{scale * difference['interval'][key]:+.{digits}f}"
        for key in ("mean", "low", "high")
    )
    deviation = f"{scale * difference['seed_deviation']:.{digits}f}"
    return f"{mean} [{low}, {high}] of ±{deviation}"


def summary(models: dict[str, Results]) -> list[str]:
    """Returns for each policy on which models it is within the noise of seeds."""
    lines = []
    policies = {p: None for results in models.values() for p in results["policies"]}
    for policy in policies:
        verdicts = {
            name: results["policies"][policy]["difference"]["validation_loss"]
            for name, results in models.items()
            if policy != EXACT
        }
        within = [n for n, found in verdicts.items() if found["verdict"] == WITHIN]
        others = [f"{n} {d['verdict']}" for n, d in verdicts.items() if n not in within]
        if verdicts:
            text = f"{policy}: within seed noise on {len(within)} of {len(verdicts)}"
            lines.append("; ".join([text, *others]))
    return lines


def measure_all(options: argparse.Namespace) -> dict[str, Results]:
    """Returns the results of the chosen models; writes and draws them one by one."""
    known: dict[str, Results] = {}
    if options.resume and options.json.exists():
        known = json.loads(options.json.read_text())
    models: dict[str, Results] = {}
    runs = len(options.only) * len(options.policies) * options.seeds
    with Stages(runs, options.progress) as stages:
        for name in options.only:
            models[name] = measure(name, options, known.get(name, {}), stages)
            if options.json is not None:
                options.json.write_text(json.dumps(known | models) + "\n")
            if options.plot is not None:
                plot_curves(models[name], options.plot / f"parity_{name}.png")
            jax.clear_caches()
    return models


def main() -> int:
    """Runs the command; returns its exit status."""
    options = _parse_arguments()
    try:
        models = measure_all(options)
    except ActError as error:
        print(f"benchmarks/parity: error: {error}", file=sys.stderr)
        return 1
    if options.plot is not None:
        plot_differences(models, options.plot / "parity.png")
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 170)
    console.print(results_table(models))
    for line in summary(models):
        console.print(line)
    return 0


def _parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="benchmarks/parity", description=__doc__)
    for option, choices, what in (
        ("only", TASKS, "models"),
        ("policies", POLICIES, "policies besides exact"),
    ):
        parser.add_argument(
            f"--{option}",
            type=lambda text: text.split(","),
            default=list(choices),
            metavar="A,B",
            help=f"{what}, of {', '.join(choices)}",
        )
    parser.add_argument("--seeds", type=int, default=5, help="of each training [5]")
    parser.add_argument(
        "--steps", type=int, help="of each training [what the model needs]"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results")
    parser.add_argument(
        "--resume", action="store_true", help="keep the trainings that FILE has"
    )
    parser.add_argument(
        "--plot", type=Path, metavar="DIR", help="draw losses and differences there"
    )
    parser.add_argument(
        "--progress", action=argparse.BooleanOptionalAction, default=None
    )
    options = parser.parse_args()
    for option, choices in (("only", TASKS), ("policies", POLICIES)):
        unknown = [n for n in getattr(options, option) if n not in choices]
        if unknown:
            parser.error(
                f"--{option}: unknown {', '.join(unknown)}; of {', '.join(choices)}"
            )
    # Everything is compared with exact training.
    options.policies = list(dict.fromkeys([EXACT, *options.policies]))
    if options.seeds < 2:
        parser.error(f"--seeds: an interval needs at least 2, got {options.seeds}")
    if options.steps is not None and options.steps < 1:
        parser.error(f"--steps: expects at least 1, got {options.steps}")
    if options.resume and options.json is None:
        parser.error("--resume needs --json FILE")
    if options.plot is not None and not options.plot.is_dir():
        parser.error(f"--plot: no such folder: {options.plot}")
    return options


if __name__ == "__main__":
    sys.exit(main())

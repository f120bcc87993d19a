# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""benchmarks/parity: its statistics, its tasks, and short trainings."""

import dataclasses
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from act.errors import ActStepError

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import parity_plots  # noqa: E402
import parity_statistics as statistics  # noqa: E402
import parity_tasks as tasks  # noqa: E402
import parity_training as training  # noqa: E402
import training_parity  # noqa: E402

# The smallest batch whose hidden values are compressed: 16384 elements.
SMALL_MLP = {"layers": 2, "width": 128, "batch": 128}


def test_interval_is_that_of_students_t():
    # The mean of 1, 2, 3, 4 is 2.5, the deviation sqrt(5/3); with 3 degrees of
    # freedom the 97.5 % point of t is 3.182446.
    found = statistics.mean_interval([1, 2, 3, 4])
    reach = 3.182446 * np.sqrt(5 / 3) / 2
    assert found.mean == 2.5
    assert found.low == pytest.approx(2.5 - reach, rel=1e-6)
    assert found.high == pytest.approx(2.5 + reach, rel=1e-6)
    # 2.353363 is the 95 % point.
    found = statistics.mean_interval([1, 2, 3, 4], confidence=0.9)
    assert found.high == pytest.approx(2.5 + reach * 2.353363 / 3.182446, rel=1e-6)


def test_interval_holds_the_mean_as_often_as_it_says():
    samples = np.random.default_rng(0).normal(3, 2, (2000, 5))
    intervals = [statistics.mean_interval(sample) for sample in samples]
    held = np.mean([found.low <= 3 <= found.high for found in intervals])
    # Four standard errors of a part of 0.95.
    assert held == pytest.approx(0.95, abs=4 * np.sqrt(0.95 * 0.05 / 2000))


def test_an_interval_needs_two_values():
    with pytest.raises(ValueError, match="at least 2 values, got 1"):
        statistics.mean_interval([1.0])


@pytest.mark.parametrize(
    ("mean", "reach", "verdict"),
    [
        (0.0, 0.9, statistics.WITHIN),
        (0.4, 0.5, statistics.WITHIN),
        (-0.4, 0.5, statistics.WITHIN),
        # Within one deviation, but the mean is not small.
        (0.6, 0.1, statistics.WORSE),
        (-0.6, 0.1, statistics.BETTER),
        # Beyond one deviation.
        (0.4, 0.7, statistics.UNCLEAR),
        (-0.4, 0.7, statistics.UNCLEAR),
        (2.0, 1.5, statistics.WORSE),
        (-2.0, 1.5, statistics.BETTER),
    ],
)
@pytest.mark.parametrize("higher_is_worse", [True, False])
def test_verdicts(mean, reach, verdict, higher_is_worse):
    sign = 1 if higher_is_worse else -1
    # The seeds' deviation is the unit.
    interval = statistics.Interval(
        3 * sign * mean, 3 * (sign * mean - reach), 3 * (sign * mean + reach)
    )
    assert statistics.judge(interval, 3.0, higher_is_worse) == verdict


def test_trainings_are_compared_by_seed():
    exact = [1.0, 5.0, 9.0, 13.0]
    # Differences of -1, 0, 1 and 2 beside a deviation of seeds of 5.16.
    found = statistics.compare(exact, [0.0, 5.0, 10.0, 15.0], True)
    wanted = statistics.mean_interval([-1, 0, 1, 2])
    assert found.interval == wanted
    assert found.seed_deviation == pytest.approx(np.sqrt(80 / 3))
    assert found.verdict == statistics.WITHIN
    with pytest.raises(ValueError, match="expects 4 values as of exact, got 3"):
        statistics.compare(exact, [0.0, 5.0, 10.0], True)


def test_schedule_rises_and_falls():
    rates = np.asarray([training.schedule(number, 100) for number in range(100)])
    np.testing.assert_allclose(rates[:5], [0.2, 0.4, 0.6, 0.8, 1.0], rtol=1e-6)
    assert (np.diff(rates[4:]) < 0).all()
    assert 0 < rates[-1] < 1e-3
    assert rates[52] == pytest.approx(0.5, abs=0.01)
    assert float(training.schedule(0, 1)) == 1


@pytest.mark.parametrize("steps", [1, 7, 20, 21, 500])
def test_validation_steps(steps):
    found = training.validation_steps(steps)
    assert found[0] == 0
    assert found[-1] == steps
    assert len(found) == 1 + min(steps, training.VALIDATIONS)
    assert (np.diff(found) >= steps // training.VALIDATIONS).all()
    assert (np.diff(found) >= 1).all()


@pytest.fixture(scope="module")
def all_tasks():
    return {name: build() for name, build in tasks.TASKS.items()}


def batch_of(task, seed=0):
    selection = task.draw(np.random.default_rng(seed), 1)[0]
    inputs, labels = task.select(task.data, jnp.asarray(selection))
    return {"inputs": inputs, "labels": labels, "key": jax.random.key(seed)}


@pytest.mark.parametrize("name", tasks.TASKS)
def test_untrained_models_guess(all_tasks, name):
    task = all_tasks[name]
    parameters = task.initialise(jax.random.key(0))
    loss, found = jax.jit(task.loss)(parameters, batch_of(task))
    classes = 10 if name != "gpt" else tasks.text()[1]
    assert float(loss) == pytest.approx(np.log(classes), rel=0.5)
    shapes = [jax.tree.map(jnp.shape, s) for s in (found, task.statistics)]
    assert shapes[0] == shapes[1]
    validation, accuracy = jax.jit(task.validate)(parameters, task.statistics)
    assert np.isfinite(validation)
    assert float(accuracy) < 0.3


def test_images_are_moved_by_a_pixel_at_most():
    task = tasks.mlp()
    images, labels = tasks.digits()
    selection = jnp.asarray([[5, 1, 1], [5, 0, 1], [5, 1, 2]])
    found, found_labels = task.select(task.data, selection)
    np.testing.assert_array_equal(found[0], images[5])
    np.testing.assert_array_equal(found[1][1:], images[5][:-1])
    np.testing.assert_array_equal(found[2][:, :-1], images[5][:, 1:])
    np.testing.assert_array_equal(found_labels, labels[[5, 5, 5]])
    drawn = task.draw(np.random.default_rng(0), 100)
    assert drawn.min((0, 1)).tolist() == [0, 0, 0]
    assert drawn.max((0, 1)).tolist() == [tasks.LEARNT_IMAGES - 1, 2, 2]


def test_what_validates_is_not_learnt(all_tasks):
    images, labels = tasks.digits()
    found, found_labels = all_tasks["mlp"].validation
    np.testing.assert_array_equal(found, images[tasks.LEARNT_IMAGES :])
    np.testing.assert_array_equal(found_labels, labels[tasks.LEARNT_IMAGES :])
    assert all_tasks["gnn"].draw(np.random.default_rng(0), 50).max() < (
        all_tasks["gnn"].validation[0]["nodes"].min()
    )
    characters, alphabet = tasks.text()
    learnt = np.asarray(all_tasks["gpt"].data)
    np.testing.assert_array_equal(learnt, characters[: len(learnt)])
    assert alphabet == characters.max() + 1
    inputs, targets = (np.asarray(x) for x in all_tasks["gpt"].validation)
    np.testing.assert_array_equal(inputs[:, 1:], targets[:, :-1])
    np.testing.assert_array_equal(
        inputs[0], characters[len(learnt) : len(learnt) + inputs.shape[1]]
    )
    np.testing.assert_array_equal(targets[-1], characters[-inputs.shape[1] :])


def test_batch_norm_predicts_without_the_batch(all_tasks):
    task = all_tasks["cnn"]
    parameters = task.initialise(jax.random.key(0))
    batch = batch_of(task)["inputs"]
    logits, found = task.apply(parameters, batch, task.statistics, jax.random.key(0))
    # With the statistics of the batch itself, prediction is what training computes.
    predicted, _ = task.apply(parameters, batch, found, None)
    np.testing.assert_allclose(predicted, logits, rtol=1e-5, atol=1e-5)
    alone, _ = task.apply(parameters, batch[:1], found, None)
    np.testing.assert_allclose(alone, predicted[:1], rtol=1e-4, atol=1e-5)
    other, _ = task.apply(parameters, batch, task.statistics, None)
    assert abs(other - logits).max() > 0.01


def test_dropout_is_for_training_only(all_tasks):
    task = all_tasks["gnn"]
    parameters = task.initialise(jax.random.key(0))
    batch = batch_of(task)
    first, second = (
        task.loss(parameters, batch | {"key": jax.random.key(seed)})[0]
        for seed in (0, 1)
    )
    assert first != second
    inputs, labels = task.validation
    predicted, _ = task.apply(parameters, inputs, [], None)
    x = np.asarray(inputs["features"], np.float64)
    for weight, bias in parameters[:-1]:
        around = x[np.asarray(inputs["neighbours"])].mean(1)
        x = np.maximum(np.concatenate([x, around], 1) @ np.asarray(weight) + bias, 0)
    weight, bias = parameters[-1]
    np.testing.assert_allclose(
        predicted, x[tasks.LEARNT_NODES :] @ weight + bias, rtol=1e-4, atol=1e-4
    )
    assert len(labels) == len(predicted)


def test_attention_sees_no_later_token(all_tasks):
    task = all_tasks["gpt"]
    parameters = task.initialise(jax.random.key(0))
    tokens = jnp.zeros((1, 64), jnp.int32)
    logits, changed = (
        task.apply(parameters, x, [], None)[0][0]
        for x in (tokens, tokens.at[0, 40].set(1))
    )
    np.testing.assert_array_equal(logits[:40], changed[:40])
    assert (abs(logits[40:] - changed[40:]).max(-1) > 0).all()


def test_nearest_rows():
    rows = np.random.default_rng(0).standard_normal((20, 3))
    distances = np.linalg.norm(rows[:, None] - rows, axis=-1)
    wanted = np.argsort(distances, 1)[:, 1:5]
    np.testing.assert_array_equal(tasks.nearest(rows, 4), wanted)


@pytest.fixture(scope="module")
def small_runs():
    """Runs of four steps with two seeds, by policy, and what is stored."""
    task = tasks.mlp(**SMALL_MLP)
    found = {}
    for policy in ("exact", "8", "2"):
        trainer = training.Trainer(task, training.POLICIES[policy], 4)
        found[policy] = trainer.stored, [trainer.run(seed) for seed in (0, 1)]
    return found


def test_policies_store_what_they_say(small_runs):
    assert small_runs["exact"][0] is None
    raw = 2 * 128 * 128 * 4
    for policy, group in (("8", 256), ("2", 64)):
        stored = small_runs[policy][0]
        # A minimum and a step in bf16 for each group.
        bits = int(policy) + 32 / group
        assert stored == training.Stored(raw, int(bits * raw / 32), 2, bits, 1.0)


def test_compressed_training_starts_like_exact_training(small_runs):
    exact = small_runs["exact"][1]
    assert exact[0].validation_loss[0] != exact[1].validation_loss[0]
    for policy in ("8", "2"):
        for run, wanted in zip(small_runs[policy][1], exact, strict=True):
            assert run.validation_steps == [0, 1, 2, 3, 4]
            assert run.validation_loss[0] == wanted.validation_loss[0]
            # The first gradient is rounded, the loss that it is of is not.
            assert run.train_loss[0] == wanted.train_loss[0]
            assert run.train_loss[1:] != wanted.train_loss[1:]


def test_more_bits_stay_closer_to_exact_training(small_runs):
    distance = {
        policy: np.abs(
            np.subtract(
                [run.validation_loss for run in small_runs[policy][1]],
                [run.validation_loss for run in small_runs["exact"][1]],
            )
        ).max()
        for policy in ("8", "2")
    }
    assert 0 < distance["8"] < 0.1 * distance["2"]


def test_equal_seeds_train_alike(small_runs):
    task = tasks.mlp(**SMALL_MLP)
    again = training.Trainer(task, training.POLICIES["2"], 4).run(1)
    assert again == small_runs["2"][1][1]


def test_adam(monkeypatch):
    """Three steps against Adam's paper (arXiv 1412.6980, algorithm 1) in f64."""
    weights = np.asarray([0.5, -1.0, 2.0])
    targets = np.asarray([[1.0, 2.0, 3.0], [0.0, 1.0, -1.0], [4.0, 0.5, 0.25]])

    def apply(parameters, inputs, statistics, key):
        return parameters["w"] * 2 + 0 * inputs, []

    monkeypatch.setattr(
        tasks, "cross_entropy", lambda logits, labels: jnp.sum((logits - labels) ** 2)
    )
    task = tasks.Task(
        title="squares",
        initialise=lambda key: {"w": jnp.asarray(weights, jnp.float32)},
        apply=apply,
        statistics=[],
        data=jnp.asarray(targets, jnp.float32),
        select=lambda data, index: (jnp.zeros(3), data[index]),
        draw=lambda random, steps: np.arange(steps),
        validation=(jnp.zeros(3), jnp.zeros(3)),
        steps=3,
        rate=0.1,
    )
    w, first, second = weights, 0.0, 0.0
    losses = []
    for number, target in enumerate(targets):
        losses.append(((2 * w - target) ** 2).sum())
        gradient = 4 * (2 * w - target)
        first = 0.9 * first + 0.1 * gradient
        second = 0.95 * second + 0.05 * gradient**2
        rate = 0.1 * float(training.schedule(number, 3))
        step = first / (1 - 0.9 ** (number + 1))
        w = w - rate * step / (np.sqrt(second / (1 - 0.95 ** (number + 1))) + 1e-8)
    run = training.Trainer(task, None, 3).run(0)
    np.testing.assert_allclose(run.train_loss, losses, rtol=1e-5)
    assert run.validation_loss[-1] == pytest.approx(((2 * w) ** 2).sum(), rel=1e-5)


def test_a_step_that_stores_nothing_is_refused():
    task = tasks.mlp(layers=2, width=32, batch=8)
    with pytest.raises(ActStepError, match="loss is not rounded anywhere"):
        training.Trainer(task, training.POLICIES["4"], 4)


class StandIn:
    """Instead of a compressed step: computes exactly, stores a fifth in 8 bits.

    Running ranges are added to the loss, and grow by one in each step.
    """

    def __init__(self, step, **options):
        self.step = step
        self.options = options

    def __call__(self, *arguments):
        """Computes the step."""
        return self.step(*arguments)

    def report(self, *arguments):
        """Returns what a report says of 40 elements in 8 bits and 160 as they are."""
        survivor = {"copies": 1, "shape": [4, 10], "lossless": False, "bytes_after": 40}
        exact = survivor | {"copies": 4, "lossless": True}
        return types.SimpleNamespace(
            survivors=(survivor, exact), raw_bytes=160, stash_bytes=50, step="step"
        )

    def init_ranges(self, *arguments):
        """Returns three ranges of zero."""
        return {"a": jnp.zeros(3)}

    def with_ranges(self, ranges, *arguments):
        """Returns results with the ranges in the loss, and the next ranges."""
        (loss, found), gradients = self.step(*arguments)
        loss += ranges["a"].sum()
        return ((loss, found), gradients), {"a": ranges["a"] + 1}


@pytest.fixture
def stand_ins(monkeypatch):
    """The compressed steps that are made; all of them are stand-ins."""
    made = []

    def compress(step, **options):
        made.append(StandIn(step, **options))
        return made[-1]

    monkeypatch.setattr(training.act, "compress", compress)
    return made


def test_running_ranges_pass_from_step_to_step(stand_ins, small_runs):
    options = {"rules": "parity_running.json", "running_ranges": True}
    trainer = training.Trainer(tasks.mlp(**SMALL_MLP), options, 4)
    assert json.loads(stand_ins[0].options["rules"].read_text())
    assert trainer.stored == training.Stored(160, 50, 1, 8.0, 0.2)
    exact = small_runs["exact"][1]
    for seed in (0, 1):
        run = trainer.run(seed)
        added = np.subtract(run.train_loss, exact[seed].train_loss)
        np.testing.assert_allclose(added, [0, 3, 6, 9], atol=1e-4)


def test_sensitivities_are_measured_behind_the_start(stand_ins, monkeypatch):
    task = tasks.mlp(**SMALL_MLP)
    measured = []

    def profile(step, parameters, batch):
        measured.append((step(parameters, batch)[0][0], parameters))
        return "a profile"

    monkeypatch.setattr(training.act, "profile", profile, raising=False)
    options = {"average_bits": 4, "profile": training.MEASURED}
    training.Trainer(task, options, 30)
    assert stand_ins[0].options == {
        "average_bits": 4,
        "profile": "a profile",
        "progress": False,
    }
    ((loss, parameters),) = measured
    assert np.isfinite(loss)
    wanted = training.Trainer(task, None, 30).parameters_after(3, 0)
    jax.tree.map(np.testing.assert_array_equal, parameters, wanted)
    start = task.initialise(jax.random.key(0))
    assert abs(parameters[0][0] - start[0][0]).max() > 1e-4


def results_of(differences):
    """Returns results of one model with the final losses 1, 2, 3 and these added."""

    def policy(added):
        runs = {
            str(seed): dataclasses.asdict(
                training.Run([0, 2, 4], [3.0, 2.0], [3.0, 2.0, loss], [0.1, 0.5, 0.75])
            )
            for seed, loss in enumerate(np.asarray([1.0, 2.0, 3.0]) + added)
        }
        stored = dataclasses.asdict(training.Stored(1000, 125, 3, 4.5, 0.5))
        return {"options": {}, "runs": runs, "stored": stored}

    added = {"exact": np.zeros(3), **differences}
    results = {
        "title": "M",
        "steps": 4,
        "policies": {name: policy(values) for name, values in added.items()},
    }
    training_parity.add_differences(results)
    return results


def test_table_and_summary():
    found = results_of({"4": np.asarray([0.0, 0.1, 0.2]), "2": np.full(3, 5.0)})
    models = {"m": found}
    table = training_parity.results_table(models)
    cells = [list(column.cells) for column in table.columns]
    assert cells[1] == ["exact", "4", "2"]
    assert cells[2] == ["32", "4.50", "4.50"]
    assert cells[3] == ["1", "0.125", "0.125"]
    # The deviation of 0, 0.1 and 0.2 is 0.1; t is 4.302653.
    assert cells[5][1] == "+0.1000 [-0.1484, +0.3484] of ±1.0000"
    assert cells[6] == ["75.00"] * 3
    assert cells[8] == ["-", "within", "worse"]
    assert training_parity.summary(models) == [
        "4: within seed noise on 1 of 1",
        "2: within seed noise on 0 of 1; m worse",
    ]


def test_pictures(tmp_path):
    found = results_of({"4": np.asarray([0.0, 0.1, 0.2]), "2": np.full(3, 5.0)})
    parity_plots.plot_curves(found, tmp_path / "curves.png")
    parity_plots.plot_differences({"m": found}, tmp_path / "differences.png")
    for name in ("curves", "differences"):
        assert 1000 < (tmp_path / f"{name}.png").stat().st_size < 60 << 10


@pytest.fixture
def run_command(monkeypatch, capsys):
    """Returns a function that runs the command: (status, stdout, stderr)."""

    def run(*options):
        monkeypatch.setattr(sys, "argv", ["parity", *options])
        try:
            status = training_parity.main()
        except SystemExit as stop:
            status = stop.code
        return status, *capsys.readouterr()

    return run


def test_command(tmp_path, run_command):
    file = tmp_path / "p.json"
    command = [
        "--only=mlp",
        "--policies=4",
        "--steps=2",
        f"--json={file}",
        f"--plot={tmp_path}",
        "--progress",
    ]
    status, out, errors = run_command("--seeds=2", *command)
    assert status == 0, errors
    assert "4: within seed noise on" in out
    first = json.loads(file.read_text())["mlp"]
    assert list(first["policies"]) == ["exact", "4"]
    assert first["policies"]["4"]["stored"]["lossy_bits"] == 4.5
    assert (tmp_path / "parity_mlp.png").exists()
    assert (tmp_path / "parity.png").exists()
    status, _, errors = run_command("--seeds=3", "--resume", *command)
    assert status == 0, errors
    assert errors.count("is known") == 4
    second = json.loads(file.read_text())["mlp"]
    for policy, found in first["policies"].items():
        runs = second["policies"][policy]["runs"]
        assert list(runs) == ["0", "1", "2"]
        assert {seed: runs[seed] for seed in ("0", "1")} == found["runs"]
        assert runs["2"] != runs["1"]


def test_command_forgets_trainings_of_other_lengths(tmp_path, run_command, monkeypatch):
    monkeypatch.setitem(training_parity.TASKS, "mlp", lambda: tasks.mlp(1, 8, 8))
    command = ["--only=mlp", "--policies=exact", "--seeds=2", "--progress"]
    command += ["--resume", f"--json={tmp_path / 'p.json'}"]
    assert run_command("--steps=2", *command)[0] == 0
    assert run_command("--steps=2", *command)[2].count("is known") == 2
    assert run_command("--steps=3", *command)[2].count("is known") == 0


def test_command_says_what_cannot_be_compressed(run_command, monkeypatch):
    monkeypatch.setitem(training_parity.TASKS, "mlp", lambda: tasks.mlp(1, 8, 8))
    status, _, errors = run_command("--only=mlp", "--policies=4", "--steps=2")
    assert status == 1
    assert "benchmarks/parity: error: mlp, 4: " in errors
    assert "not rounded anywhere" in errors


@pytest.mark.parametrize(
    ("message", "options"),
    [
        ("unknown 3; of exact,", ("--policies=3",)),
        ("at least 2, got 1", ("--seeds=1",)),
        ("at least 1, got 0", ("--steps=0",)),
        ("--resume needs --json", ("--resume",)),
        ("no such folder: nowhere", ("--plot=nowhere",)),
    ],
)
def test_command_says_what_is_wrong(message, options, run_command):
    status, _, errors = run_command(*options)
    assert status == 2
    assert message in errors


def test_script():
    done = subprocess.run(
        ["benchmarks/parity", "--only=nothing"],
        cwd=BENCHMARKS.parent,
        env=os.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "unknown nothing; of mlp," in done.stderr

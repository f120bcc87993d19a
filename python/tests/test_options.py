# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Options: checked values, the pipeline they stand for, candidates."""

from pathlib import Path

import pytest

import act
from act.options import CompressOptions


def step(x):
    return x, x


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"bits": 3}, r"bits must be one of 0, 1, 2, 4, 8, got 3"),
        ({"bits": True}, r"bits must be one of 0, 1, 2, 4, 8, got True"),
        ({"bits": "4"}, r"bits must be one of 0, 1, 2, 4, 8, got '4'"),
        ({"window": 2}, r"window must be one of 1, 3, got 2"),
        ({"cut": "middle"}, r"cut must be one of 'sink', 'source', got 'middle'"),
        ({"recompute": "most"}, r"recompute must be one of 'none', 'batch', 'growing'"),
        ({"unremat": 1}, r"unremat must be True or False, got 1"),
        ({"search": "fast"}, r"search must be one of 'none', 'default', 'full'"),
        ({"slice": 0}, r"slice must be True, False or a number .* at least 1, got 0"),
        ({"slice": -3}, r"slice must be True, False or a number .* got -3"),
        ({"slice": 2.0}, r"slice must be True, False or a number .* got 2.0"),
        ({"slice": "yes"}, r"slice must be True, False or a number .* got 'yes'"),
        ({"slice_states": "kept"}, r"slice_states must be one of 'stored', 'reverse'"),
        ({"average_bits": 0}, r"average_bits must be a positive number, got 0"),
        ({"error_budget": -1.0}, r"error_budget must be a positive number, got -1.0"),
        ({"rules": "/no/such.json"}, r"rules: no such file: /no/such.json"),
        ({"primal_results": 0}, r"primal_results must be at least 1, got 0"),
        ({"primal_results": 1.0}, r"primal_results must be an int, got 1.0"),
        ({"primal_results": True}, r"primal_results must be an int, got True"),
    ],
)
def test_bad_option(options, message):
    with pytest.raises(act.ActOptionError, match=message):
        act.compress(step, **options)


def test_step_must_be_callable():
    with pytest.raises(act.ActOptionError, match="step must be callable, got int"):
        act.compress(3)


def test_value_and_grad_rejects_primal_results():
    with pytest.raises(act.ActOptionError, match="knows its primal results"):
        act.value_and_grad(step, primal_results=2)


def test_pipeline_holds_every_option(tmp_path: Path):
    rules = tmp_path / "rules.json"
    rules.write_text("[]")
    options = CompressOptions(
        bits=8,
        window=3,
        cut="source",
        recompute="batch",
        rules=rules,
        average_bits=4.5,
        error_budget=0.1,
        seed=7,
    )
    assert options.pipeline(2, Path("/r.json")) == (
        "builtin.module(act-compress{primal-results=2 bits=8 window=3 cut=source "
        f"recompute=batch rules={rules} average-bits=4.5 error-budget=0.1 seed=7 "
        "report=/r.json})"
    )


def test_pipeline_leaves_out_what_is_not_set():
    assert CompressOptions().pipeline(1, Path("/r.json")) == (
        "builtin.module(act-compress{primal-results=1 bits=4 window=1 cut=sink "
        "recompute=none report=/r.json})"
    )


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"slice": True}, "slice=true slice-states=stored "),
        ({"slice": 64}, "slice=true slice-chunk=64 slice-states=stored "),
        (
            {"slice": 1, "slice_states": "reverse"},
            "slice=true slice-chunk=1 slice-states=reverse ",
        ),
    ],
)
def test_pipeline_slices(options, expected):
    text = CompressOptions(**options).pipeline(1, Path("/r.json"))
    assert f"recompute=none {expected}report" in text


def test_candidates():
    alone = CompressOptions(search="none")
    assert list(alone.candidates()) == [alone]
    few = list(CompressOptions(search="default", bits=2).candidates())
    full = list(CompressOptions(search="full", bits=2).candidates())
    assert len(set(full)) == 16
    assert 1 < len(few) < 16
    assert set(few) < set(full)
    assert {option.bits for option in full} == {2}
    assert few[0] == CompressOptions(bits=2, search="none")


def test_candidates_of_a_rematerialised_step():
    options = CompressOptions(search="default")
    undone = [option.unremat for option in options.candidates(rematerialised=True)]
    assert undone == [False, True]
    full = list(CompressOptions(search="full").candidates(rematerialised=True))
    assert len(set(full)) == 32
    assert not any(option.unremat for option in options.candidates())


def test_search_unless_told_what_to_take():
    assert CompressOptions().search == "default"
    assert CompressOptions(recompute="growing").search == "none"
    assert CompressOptions(unremat=True).search == "none"
    assert CompressOptions(window=3, search="full").search == "full"

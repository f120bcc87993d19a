# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files with measured sensitivities: what is written is read, the rest refused."""

import gc
import json

import pytest

import act
from act.options import CompressOptions
from act.profile_data import Measured, Profile, code_variance

KEY = "jit(step)/dot_general#00112233445566aa"


@pytest.fixture
def profile() -> Profile:
    survivors = (
        Measured(KEY, "jit(step)/dot_general", (8, 64), 1, 0.03),
        Measured(KEY[:-1] + "b", "jit(step)/tanh", (4, 4), 6, 0.01),
    )
    return Profile("step", survivors, 2.5, 7, 0.02)


def test_what_is_written_is_read(profile, tmp_path):
    profile.write(tmp_path / "profile.json")
    assert Profile.read(tmp_path / "profile.json") == profile
    assert [path.name for path in tmp_path.iterdir()] == ["profile.json"]


def test_errors_follow_from_contributions(profile):
    assert profile.error() == pytest.approx(0.2)
    assert profile.error(2) == pytest.approx(0.2 * 15 / 3)
    assert code_variance(4) == pytest.approx(1 / 1350)


def test_contributions_are_scaled_from_the_noise_they_were_measured_with(
    profile, tmp_path
):
    document = profile.to_json()
    document["noise"]["variance"] *= 4
    (tmp_path / "p.json").write_text(json.dumps(document))
    assert Profile.read(tmp_path / "p.json").error() == pytest.approx(0.1)


def test_table_has_the_most_sensitive_first(profile):
    lines = str(profile).splitlines()
    assert "2 survivors, 7 passes" in lines[0]
    assert "8x64" in lines[1]
    assert "6 x 4x4" in lines[2]


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["act_profile"], 2, r"expects version 1 \('act_profile'\), got 2"),
        (["act_profile"], None, "expects 'act_profile' of the file to be of type int"),
        (["noise", "variance"], 0, "expects a 'variance' of 'noise' above 0"),
        (["noise"], [], "expects 'noise' of the file to be of type dict, got"),
        (["survivors"], {}, "expects 'survivors' of the file to be of type list"),
        (["survivors", 1], 3, "expects an object for survivor 1, got int"),
        (
            ["survivors", 0, "contribution"],
            float("nan"),
            r"'contribution' of survivor 0 \(jit.* to be a finite number .* got nan",
        ),
        (["survivors", 1, "contribution"], -1, "number of at least 0, got -1"),
        (["survivors", 1, "contribution"], True, "number of at least 0, got True"),
        (["survivors", 1, "key"], KEY, "expects keys that differ, got jit"),
        (["survivors", 1, "copies"], "6", "expects 'copies' of survivor 1"),
        (["gradient_norm"], float("inf"), "expects 'gradient_norm' of the file"),
    ],
)
def test_bad_files_are_refused(profile, tmp_path, path, value, message):
    document = profile.to_json()
    target = document
    for step in path[:-1]:
        target = target[step]
    target[path[-1]] = value
    file = tmp_path / "profile.json"
    file.write_text(json.dumps(document))
    with pytest.raises(act.ActProfileError, match=message) as raised:
        Profile.read(file)
    assert str(file) in str(raised.value)


@pytest.mark.parametrize("name", ["key", "name", "shape", "copies", "contribution"])
def test_entries_of_survivors_are_required(profile, tmp_path, name):
    document = profile.to_json()
    del document["survivors"][1][name]
    (tmp_path / "p.json").write_text(json.dumps(document))
    with pytest.raises(act.ActProfileError, match=f"expects '{name}' in survivor 1"):
        Profile.read(tmp_path / "p.json")


def test_files_that_are_no_profile_are_refused(tmp_path):
    with pytest.raises(act.ActProfileError, match="cannot read profile"):
        Profile.read(tmp_path / "none.json")
    (tmp_path / "text.json").write_text("no JSON")
    with pytest.raises(act.ActProfileError, match="is not JSON"):
        Profile.read(tmp_path / "text.json")
    (tmp_path / "list.json").write_text("[]")
    with pytest.raises(act.ActProfileError, match="expects an object for the file"):
        Profile.read(tmp_path / "list.json")


def test_unwritable_files_are_named(profile, tmp_path):
    with pytest.raises(act.ActProfileError, match="cannot write profile"):
        profile.write(tmp_path / "none" / "profile.json")


def test_options_hold_the_profile_and_its_file(profile, tmp_path):
    options = CompressOptions(average_bits=4, profile=profile)
    text = options.pipeline_options(1)
    file = profile.as_file()
    assert f"profile={file}" in text
    assert Profile.read(file) == profile
    profile.write(tmp_path / "p.json")
    read = CompressOptions(error_budget=0.1, profile=tmp_path / "p.json")
    assert read.profile == profile
    own = read.profile.as_file()
    del read
    gc.collect()
    assert not own.exists()
    assert file.exists()


def test_profile_needs_a_budget(profile):
    with pytest.raises(act.ActOptionError, match="error_budget or memory_budget"):
        CompressOptions(profile=profile)
    with pytest.raises(act.ActProfileError, match="cannot read profile"):
        CompressOptions(average_bits=4, profile="none.json")

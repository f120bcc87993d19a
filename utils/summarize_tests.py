#!/usr/bin/env python3
# Part of act, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds up the results of several test runners.

    summarize_tests.py FOLDER SUITE...

Reads for each suite one of these from FOLDER:

    SUITE.json   written by `lit -o`
    SUITE.xml    written by `pytest --junitxml`
    SUITE.tsv    lines of name, exit status and seconds

and prints a table, the names of failed tests and, as the last line,
`N passed, N failed`. A suite without a file, or without a test, counts as a
failure: its runner died. Needs nothing but Python, so that it works when setting
up the environment is what failed.
"""

import json
import sys
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

PASSED = "passed"
FAILED = "failed"
SKIPPED = "skipped"

_LIT_CODES = {
    "PASS": PASSED,
    "FLAKYPASS": PASSED,
    "XFAIL": PASSED,
    "UNSUPPORTED": SKIPPED,
    "SKIPPED": SKIPPED,
    "EXCLUDED": SKIPPED,
}


class Result(NamedTuple):
    """One test."""

    name: str
    outcome: str
    seconds: float


def read_lit(path: Path) -> list[Result]:
    """Tests of a file that `lit -o` wrote."""
    tests = json.loads(path.read_text())["tests"]
    return [
        Result(
            test["name"],
            _LIT_CODES.get(test["code"], FAILED),
            max(0.0, test.get("elapsed") or 0.0),
        )
        for test in tests
    ]


def read_junit(path: Path) -> list[Result]:
    """Tests of a file that `pytest --junitxml` wrote."""
    results = []
    for case in ElementTree.parse(path).iter("testcase"):
        outcome = PASSED
        if case.find("failure") is not None or case.find("error") is not None:
            outcome = FAILED
        elif case.find("skipped") is not None:
            outcome = SKIPPED
        name = f"{case.get('classname')}::{case.get('name')}"
        results.append(Result(name, outcome, float(case.get("time", 0))))
    return results


def read_statuses(path: Path) -> list[Result]:
    """Tests of a table of names, exit statuses and seconds."""
    results = []
    for line in path.read_text().splitlines():
        name, status, seconds = line.split("\t")
        results.append(
            Result(name, PASSED if status == "0" else FAILED, float(seconds))
        )
    return results


_READERS = {".json": read_lit, ".xml": read_junit, ".tsv": read_statuses}


def read_suite(folder: Path, suite: str) -> list[Result]:
    """Tests of the suite, or one that failed if its runner left none."""
    for suffix, read in _READERS.items():
        path = folder / (suite + suffix)
        if not path.exists():
            continue
        try:
            results = read(path)
        except (ValueError, KeyError, ElementTree.ParseError) as error:
            return [Result(f"(unreadable results: {error})", FAILED, 0.0)]
        return results or [Result("(no test ran)", FAILED, 0.0)]
    return [Result("(no results: the runner did not finish)", FAILED, 0.0)]


def main(arguments: list[str]) -> int:
    """Prints the table and the sum; the result is the exit status."""
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    suites = {name: read_suite(folder, name) for name in arguments[1:]}
    outcomes = (PASSED, FAILED, SKIPPED)
    print(f"{'suite':<16}" + "".join(f"{o:>9}" for o in outcomes) + f"{'seconds':>9}")
    totals = dict.fromkeys(outcomes, 0)
    for name, results in suites.items():
        counts = {o: sum(r.outcome == o for r in results) for o in outcomes}
        seconds = sum(r.seconds for r in results)
        for outcome in outcomes:
            totals[outcome] += counts[outcome]
        numbers = "".join(f"{counts[o]:>9}" for o in outcomes)
        print(f"{name:<16}{numbers}{seconds:>9.1f}")
    for name, results in suites.items():
        for result in results:
            if result.outcome == FAILED:
                print(f"FAILED {name}: {result.name}")
    print(f"{totals[PASSED]} passed, {totals[FAILED]} failed")
    return int(totals[FAILED] > 0 or totals[PASSED] == 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

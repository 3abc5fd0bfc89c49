"""The code that a failure shows is run as a reader would run it, in processes of its own: it must fail."""

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
# What the method itself raises, where the failure is that it raises.
RAISED = {
    "scales-for-a-while": "ValueError",
    "refuses-another-table": "ValueError",
    "promises-to-accept-missing-values": "ValueError",
    "declares-raw-input": "ValueError",
}
# These end the process that checks them: there is no snippet.
ENDING = {"dies-of-many-features", "exits-on-many-classes"}


OTHER_PROCESSES = "hash-seed"


def outcomes_of(module, folder, is_chosen, part=slice(None)):
    bank = importlib.import_module(module).BANK
    names = [row[0] for row in bank if row[0] not in ENDING and is_chosen(row[3])][part]
    path = os.pathsep.join([str(HERE), str(HERE / "broken")])
    run = subprocess.run(
        [sys.executable, str(HERE / "snippet_runner.py"), module, *names],
        env={**os.environ, "PYTHONPATH": path, "HOME": str(folder), "PYTHONHASHSEED": "0"},
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    outcomes = json.loads(run.stdout.splitlines()[-1])
    assert {name: outcome and outcome[1] for name, outcome in outcomes.items()} == {
        name: RAISED.get(name, "AssertionError") for name in names
    }
    return outcomes


@pytest.mark.sampled(3, reason="two processes for each method: a third of those of each module")
@pytest.mark.parametrize("start", range(3))
@pytest.mark.parametrize("module", ["broken_leakage", "broken_determinism", "broken_edges"])
def test_the_snippets_of_broken_methods_fail(module, start, tmp_path):
    outcomes = outcomes_of(module, tmp_path, lambda check: check != OTHER_PROCESSES, slice(start, None, 3))
    assert all(n_lines <= 10 for n_lines, _ in outcomes.values())


@pytest.mark.slow(reason="each snippet starts four processes")
def test_the_snippets_that_start_processes_fail(tmp_path):
    assert outcomes_of("broken_determinism", tmp_path, lambda check: check == OTHER_PROCESSES)

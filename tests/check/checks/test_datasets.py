"""Each mistake of a dataset is found by exactly the check named for it, and its snippet shows it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import unsound_datasets

from mfbench.host.registry import load_registry
from mfbench_check.catalog import CHECKS, all_checks
from mfbench_check.display import CheckOutcome
from mfbench_check.running import UNMET, make_check
from mfbench_check.subjects import Opened, Subject

MODULE = "unsound_datasets"
BROKEN = Path(unsound_datasets.__file__).parent
MISTAKES = [(name, check) for name, _, check, _ in unsound_datasets.MISTAKES]


@pytest.fixture(scope="module")
def verdicts_of():
    registry = load_registry(only=[MODULE])

    def run(name, skip=""):
        opened = Opened(Subject("dataset", name, registry.entry("dataset", name).plugin), registry)
        unmet, verdicts = set(), {}
        for check in all_checks():
            if "dataset" in check.kinds and check.id != skip:
                verdicts[check.id] = verdict = make_check(CHECKS[check.id], opened, unmet)
                unmet |= {check.id} if verdict.outcome in UNMET else set()
        return verdicts

    return run


def execute(snippet):
    variables = {"MFBENCH_LOAD_PLUGINS": MODULE, "PYTHONPATH": os.pathsep.join(map(str, [BROKEN, *sys.path]))}
    command = [sys.executable, "-c", snippet]
    return subprocess.run(command, env={**os.environ, **variables}, capture_output=True, text=True, check=False)


def test_a_mistake_is_caught_by_the_check_named_for_it(verdicts_of):
    verdicts = {
        # This check starts processes: sound datasets show that it finds no other mistake.
        name: verdicts_of(name, skip="" if check == "dataset-checksum" else "dataset-checksum").values()
        for name, check in MISTAKES
    }
    failed = {name: [one for one in own if one.outcome is CheckOutcome.FAIL] for name, own in verdicts.items()}
    assert {name: [one.check for one in own] for name, own in failed.items()} == {n: [check] for n, check in MISTAKES}
    assert [name for name, (one,) in failed.items() if not 1 <= len(one.snippet.splitlines()) <= 10] == []


@pytest.mark.slow(reason="a process for each mistake")
@pytest.mark.sampled(6, reason="a process for each mistake")
@pytest.mark.parametrize(("name", "check"), MISTAKES, ids=[name for name, _ in MISTAKES])
def test_the_snippet_shows_the_mistake(name, check, verdicts_of):
    done = execute(verdicts_of(name)[check].snippet)
    assert done.returncode == 1
    raised = done.stderr.strip().splitlines()[-1]
    assert raised.startswith(("AssertionError", "mfbench.errors.DataError", "RuntimeError")), raised


def test_a_sound_dataset_fails_nothing(verdicts_of):
    verdicts = {(name, one.check): one for name in unsound_datasets.SOUND for one in verdicts_of(name).values()}
    assert not {key: one.seen for key, one in verdicts.items() if one.outcome in UNMET}


def test_the_content_of_remote_data_is_not_applicable(verdicts_of):
    verdicts = verdicts_of("remote")
    others = {check for check, one in verdicts.items() if one.outcome is CheckOutcome.NOT_APPLICABLE}
    assert {"dataset-loads", "dataset-shape", "dataset-checksum"} <= others
    assert verdicts["dataset-provenance"].outcome is CheckOutcome.PASS


def test_the_message_of_a_wrong_label_names_it(verdicts_of):
    assert verdicts_of("a-label-twice")["dataset-shape"].seen == "'x' occurs twice"

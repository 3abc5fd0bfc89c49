"""The plugins of these tests are modules of this folder, which other processes can import."""

import sys
from pathlib import Path

import pytest

from mfbench.host.registry import load_registry
from mfbench_check.display import CheckOutcome
from mfbench_check.running import Options, run_checks
from mfbench_check.subjects import subjects_of

HERE = Path(__file__).parent
# Importing some of them ends the process; pytest imports all modules in search of doctests.
collect_ignore_glob = ["broken/*"]
SLOW_CHECKS = {"scikit-learn", "growth", "hash-seed"}


# Here, not in a fixture: pytest imports the modules when it collects doctests, and child processes inherit the path.
sys.path[:0] = [str(HERE), str(HERE / "broken")]


@pytest.fixture(autouse=True)
def own_process():
    """Some of the broken methods change their process."""
    from opening import restored_process

    with restored_process():
        yield


@pytest.fixture
def verdicts_of(tmp_path, monkeypatch):
    """Return the verdicts on a method of a module: all but the slowest checks, or some.

    Some of the methods leave files in the home folder or the working directory, which are temporary here.
    """
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # of children: two orders of a set can be equal
    monkeypatch.chdir(tmp_path)

    def run(module, name, kind, only=None, named="", **options):
        registry = load_registry(only=[module])
        subjects = [one for one in subjects_of(registry, [name]) if one.kind == kind]
        slow = set() if only else SLOW_CHECKS - {named}
        skip = dict.fromkeys(slow, "too slow for a test of another check")
        return run_checks(subjects, registry, Options(jobs=1, **{"skip": skip, **options}), only)

    return run


@pytest.fixture
def failures_of(verdicts_of):
    """Return the ids of the checks that a method fails."""

    def run(*args, **options):
        return {verdict.check for verdict in verdicts_of(*args, **options) if verdict.outcome is CheckOutcome.FAIL}

    return run

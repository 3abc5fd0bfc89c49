"""The kit is tested itself: each broken method is found by exactly the check named for it, and correct ones pass."""

import importlib
from pathlib import Path

import pytest
from opening import opened, restored_process

from mfbench_check.catalog import CHECKS, all_checks, by_needs
from mfbench_check.display import CheckOutcome
from mfbench_check.running import UNMET, make_check

ORDER = by_needs(all_checks())

BROKEN = Path(__file__).parent / "broken"
BANK = [
    (path.stem, *row) for path in sorted(BROKEN.glob("broken_*.py")) for row in importlib.import_module(path.stem).BANK
]
CORRECT = [("mean-gap", "selector"), ("nearest-mean", "classifier"), ("one-direction", "regressor")]


def needed(check):
    """Return the id of a check and of all that it needs."""
    return {check}.union(*(needed(other) for other in CHECKS[check].needs if other in CHECKS))


PARAMETERS = ("module", "name", "kind", "method", "check", "fields")
NAMES = [row[1] for row in BANK]
# These end the process that checks them.
ENDING = {"dies-of-many-features", "exits-on-many-classes"}
# As another of the same check, which starts four processes.
NIGHTLY = {"takes-the-first-of-a-set"}
# A sample of those that change or search their process.
IN_CHILDREN = {"leaves-a-child", "limits-threads", "reads-labels-in-memory"}


def failures_here(module, name, kind, ids):
    """Return the ids of the checks that a method fails in this process."""
    subject = opened(module, name, kind)
    verdicts = []
    for check in ORDER:
        if check.id in ids and kind in check.kinds:
            unmet = {verdict.check for verdict in verdicts if verdict.outcome in UNMET}
            with restored_process():
                verdicts.append(make_check(check, subject, unmet))
    return {verdict.check for verdict in verdicts if verdict.outcome is CheckOutcome.FAIL}


@pytest.mark.parametrize("module", sorted({row[0] for row in BANK}))
def test_the_broken_methods_of_a_module_are_caught(module, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # of children: two orders of a set can be equal
    monkeypatch.chdir(tmp_path)
    rows = [row for row in BANK if row[0] == module and row[1] not in ENDING | NIGHTLY]
    failed = {name: failures_here(module, name, kind, needed(check)) for _, name, kind, _, check, _ in rows}
    assert failed == {name: {check} for _, name, _, _, check, _ in rows}


@pytest.mark.parametrize("name", sorted(ENDING | IN_CHILDREN))
def test_a_broken_method_is_caught_in_a_child(name, failures_of):
    ((module, _, kind, _, check, _),) = [row for row in BANK if row[1] == name]
    assert failures_of(module, name, kind, needed(check)) == {check}


@pytest.mark.nightly(reason="all checks of a hundred methods")
@pytest.mark.parametrize(PARAMETERS, BANK, ids=NAMES)
def test_a_broken_method_is_caught_by_the_check_named_for_it(module, name, kind, method, check, fields, verdicts_of):
    verdicts = verdicts_of(module, name, kind, named=check)
    failed = [verdict for verdict in verdicts if verdict.outcome is CheckOutcome.FAIL]
    assert {verdict.check for verdict in failed} == {check}, [(v.check, v.expected, v.seen) for v in failed]
    assert failed[0].expected
    assert failed[0].seen


@pytest.mark.parametrize(("name", "kind"), CORRECT)
def test_a_correct_method_passes_every_check(name, kind, failures_of):
    assert not failures_of("correct_methods", name, kind)


@pytest.mark.nightly(reason="fifty seeds of all checks")
@pytest.mark.parametrize(("name", "kind"), CORRECT)
def test_a_correct_method_fails_no_check_in_fifty_seeds(name, kind, failures_of):
    failed = {seed: failures_of("correct_methods", name, kind, seed=seed) for seed in range(1, 51)}
    assert not {seed: ids for seed, ids in failed.items() if ids}

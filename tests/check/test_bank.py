"""The kit is tested itself: each broken method is found by exactly the check named for it, and correct ones pass."""

import importlib
from pathlib import Path

import pytest

from mfbench.check.catalog import CHECKS
from mfbench.check.listing import all_checks
from mfbench.check.verdicts import Outcome

all_checks()

BROKEN = Path(__file__).parent / "broken"
BANK = [
    (path.stem, *row) for path in sorted(BROKEN.glob("broken_*.py")) for row in importlib.import_module(path.stem).BANK
]
CORRECT = [("mean-gap", "selector"), ("nearest-mean", "classifier")]


def needed(check):
    """Return the id of a check and of all that it needs."""
    return {check}.union(*(needed(other) for other in CHECKS[check].needs if other in CHECKS))


PARAMETERS = ("module", "name", "kind", "method", "check", "fields")
NAMES = [row[1] for row in BANK]


@pytest.mark.parametrize(PARAMETERS, BANK, ids=NAMES)
def test_a_broken_method_is_caught(module, name, kind, method, check, fields, failures_of):
    assert failures_of(module, name, kind, needed(check)) == {check}


@pytest.mark.nightly(reason="all checks of a hundred methods")
@pytest.mark.parametrize(PARAMETERS, BANK, ids=NAMES)
def test_a_broken_method_is_caught_by_the_check_named_for_it(module, name, kind, method, check, fields, verdicts_of):
    verdicts = verdicts_of(module, name, kind, named=check)
    failed = [verdict for verdict in verdicts if verdict.outcome is Outcome.FAIL]
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

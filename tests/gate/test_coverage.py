"""What two runs have in common, and a sentence on the rest."""

import numpy as np
import pytest
from stored_runs import TESTED, right

from mfbench.errors import UsageError
from mfbench_gate.stored import lost_trials, one_sided, select, why_folds_differ


def test_patterns_restrict_the_groups_that_they_match():
    groups = [["iris", "wine"], ["RFF", "1NN"]]
    assert select(groups, []) == [{"iris", "wine"}, {"RFF", "1NN"}]
    assert select(groups, ["R*", "wine"]) == [{"wine"}, {"RFF"}]


@pytest.mark.parametrize(
    ("pattern", "sentence"),
    [("vine", "--only 'vine' matches nothing in the two results: did you mean 'wine'?"), ("x*", "in the two results")],
)
def test_a_pattern_that_matches_nothing(pattern, sentence):
    with pytest.raises(UsageError) as raised:
        select([["iris", "wine"]], [pattern])
    assert str(raised.value).endswith(sentence)


def test_a_name_of_one_side_only_is_one_sentence():
    omissions = one_sided("dataset", (["a", "b"], ["b", "c"]), [{}, {"a": "it is too small."}])
    assert [(each.name, each.reason) for each in omissions] == [
        ("a", "This dataset is in base only; head left it out: it is too small."),
        ("c", "This dataset is in head only."),
    ]


def test_failures_and_trials_that_have_not_run(make_run):
    base = make_run("a", {"A": {0: "timeout", 1: "error"}, "B": right, "C": "error", "D": right})
    head = make_run("b", {"A": {2: None}, "B": right, "C": "error", "E": right})
    omissions = lost_trials(base.outcomes, head.outcomes)
    assert [(each.name, each.reason) for each in omissions] == [
        (
            "A/d",
            "2 of 10 trials without a result in base (timeout, error); "
            "1 of 10 trials without a result in head (not run yet); the other 7 trials compared.",
        ),
        (
            "C/d",
            "10 of 10 trials without a result in base (error); 10 of 10 trials without a result in head (error); "
            "nothing compared.",
        ),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, ""),
        ({"sha256": "other"}, "the data differ"),
        ({"protocol": "other"}, "the protocols or their seeds differ"),
        ({"tested": TESTED[:5]}, ""),
        ({"tested": np.arange(40).reshape(-1, 10).T}, "the test rows of the folds differ"),
    ],
)
def test_folds_are_pairs_only_with_the_same_data_protocol_and_rows(make_run, changes, reason):
    base, head = make_run("a", {"A": right}), make_run("b", {"A": right}, **changes)
    assert why_folds_differ(base, head, "d") == reason

"""The built-in splitters against those of scikit-learn, and the sentences with which they refuse."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn import model_selection

from mfbench.errors import DataError
from mfbench.host.registry import load_registry
from mfbench.suite.splitters import made

REGISTRY = load_registry(only=[])
RNG = np.random.default_rng(0)
N = 90
Y = RNG.integers(0, 3, N)
BY = {
    "": None,
    "groups": RNG.integers(0, 12, N),
    "time": RNG.permutation(N).astype(float),
    "split": RNG.integers(-1, 4, N),
}
TEXTS = [*REGISTRY.listed("splitter"), "bootstrap(draws=7)"]


def pairs_of(text, *, y=Y, folds=5, seed=3, **arrays):
    splitter = made(text, REGISTRY)
    needs = splitter.needs
    return splitter.pairs(y, (BY | arrays)[needs], folds, seed)


@pytest.mark.parametrize("text", TEXTS)
def test_what_all_promise(text):
    splitter, pairs = made(text, REGISTRY), pairs_of(text)
    again, other = pairs_of(text), pairs_of(text, seed=4)

    def same(left, right):
        return all(
            np.array_equal(a, b) for one, two in zip(left, right, strict=True) for a, b in zip(one, two, strict=True)
        )

    assert same(pairs, again), "the same seed gives the same splits"
    assert same(pairs, other) != splitter.is_random
    for train, test in pairs:
        assert not set(train) & set(test)
    if splitter.needs == "groups":
        groups = BY["groups"]
        assert not any(set(groups[train]) & set(groups[test]) for train, test in pairs)
    if splitter.resampling == "folds" and splitter.needs != "split":
        assert sorted(np.concatenate([test for _, test in pairs])) == list(range(N)), "each row is tested once"
        assert all(len(train) + len(test) == N for train, test in pairs)


@pytest.mark.parametrize(
    ("text", "oracle"),
    [
        ("stratified", model_selection.StratifiedKFold(5, shuffle=True, random_state=3)),
        ("plain", model_selection.KFold(5, shuffle=True, random_state=3)),
        ("grouped", model_selection.GroupKFold(5, shuffle=True, random_state=3)),
        ("stratified-grouped", model_selection.StratifiedGroupKFold(5, shuffle=True, random_state=3)),
        ("leave-one-group-out", model_selection.LeaveOneGroupOut()),
        ("predefined", model_selection.PredefinedSplit(BY["split"])),
    ],
)
def test_the_rows_are_those_of_scikit_learn(text, oracle):
    theirs = [test.tolist() for _, test in oracle.split(np.empty((N, 0)), Y, BY["groups"])]
    assert [test.tolist() for _, test in pairs_of(text)] == theirs


@pytest.mark.parametrize("folds", [2, 5, 8])
def test_forward_chaining_is_scikit_learns_if_all_times_differ(folds):
    order = np.argsort(BY["time"])
    theirs = model_selection.TimeSeriesSplit(folds).split(order)
    for (train, test), (earlier, later) in zip(pairs_of("forward-chaining", folds=folds), theirs, strict=True):
        assert set(train) == set(order[earlier])
        assert set(test) == set(order[later])


def test_rows_of_one_time_are_in_one_part():
    time = RNG.integers(0, 8, N).astype(float)
    for train, test in pairs_of("forward-chaining", time=time, folds=4):
        assert time[train].max() < time[test].min()


def test_forward_chaining_copes_with_one_crowded_time():
    time = np.array([0.0] + [1.0] * 80 + [2.0, 3.0, 4.0, 5.0] + [6.0] * 5)
    pairs = made("forward-chaining", REGISTRY).made.split(Y, time, 6, 0)
    assert [len(test) for _, test in pairs] == [80, 1, 1, 1, 1, 5]


def test_a_bootstrap_draws_with_replacement_and_tests_the_rest():
    pairs = pairs_of("bootstrap(draws=40)")
    assert len(pairs) == 40
    assert all(len(train) == N and set(test) == set(range(N)) - set(train) for train, test in pairs)
    assert np.mean([len(test) / N for _, test in pairs]) == pytest.approx(np.exp(-1), abs=0.02)


REFUSED = [
    ("grouped", {"groups": np.arange(N) % 3}, "5 folds need 5 groups, there are 3; lower the number"),
    ("stratified-grouped", {"groups": np.arange(N) % 3}, "5 folds need 5 groups, there are 3"),
    ("leave-one-group-out", {"groups": np.zeros(N, int)}, "2 folds need 2 groups, there are 1"),
    ("forward-chaining", {"time": np.arange(N) % 4 * 1.0}, "5 folds need 6 different times, there are 4"),
    ("predefined", {"split": np.full(N, -1)}, "its column tests no row"),
    ("predefined", {"split": np.zeros(N, int)}, "none is left to train on"),
    ("stratified", {"y": np.arange(N)}, "a class of at least 5 rows"),
    ("plain", {"y": np.array([0, 1, 0])}, "5 folds need 5 rows, there are 3"),
]


@pytest.mark.parametrize(("text", "arrays", "sentence"), REFUSED)
def test_what_cannot_be_split_is_said(text, arrays, sentence):
    with pytest.raises(DataError, match=f"the splitter '{text}'.*{sentence}"):
        pairs_of(text, **arrays)


class Wrong:
    def __init__(self, pairs):
        self.pairs = pairs

    def split(self, y, by, folds, seed):
        return self.pairs


ROWS = np.arange(N)


@pytest.mark.parametrize(
    ("pairs", "sentence"),
    [
        ([], "gave no split"),
        (None, "raised TypeError"),
        ([(ROWS[:50], ROWS[40:])], "fold 1 tests a row twice, or a row that it trains on"),
        ([(ROWS[:50], np.array([60, 60]))], "tests a row twice"),
        ([(ROWS[:50], ROWS[:0])], "or is empty"),
        ([(ROWS[:50] * 1.0, ROWS[60:])], "not a list of row numbers"),
        ([(ROWS[:50], ROWS[60:] + 1)], "row numbers that are not from 0 to 89"),
    ],
)
def test_what_a_splitter_of_others_may_get_wrong(pairs, sentence):
    splitter = made("plain", REGISTRY)
    wrong = replace(splitter, made=Wrong(pairs))
    with pytest.raises(DataError, match=sentence):
        wrong.pairs(Y, None, 5, 0)

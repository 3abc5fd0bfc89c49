"""Inner folds and validation rows follow the rule of the outer folds."""

import pickle

import numpy as np
import pytest
from toy_protocols import SPECS

from mfbench.data.prepare import Columns
from mfbench.errors import DataError
from mfbench.host.registry import load_registry
from mfbench.run.trial.folds import Fold
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan
from mfbench.suite.protocols import make_protocol
from mfbench.suite.splitters import Structure, made

REGISTRY, ALL = load_registry(only=[]), load_registry(only=["all"])
RNG = np.random.default_rng(1)
N = 120
Y = RNG.integers(0, 2, N)
GROUPS, TIME = RNG.integers(0, 20, N), RNG.permutation(N) // 2 * 1.0


def structure(outer, inner=None, **arrays):
    return Structure(made(outer, REGISTRY), made(inner or outer, REGISTRY), **arrays)


BY_GROUP = structure("stratified-grouped", groups=GROUPS)
BY_TIME = structure("forward-chaining", time=TIME)


def protocol_of(kind, **changes):
    return make_protocol(SPECS[kind], {"kind": kind, **SPECS[kind].values("sound"), **changes}, 7)


def apart(before, after, by):
    """Whether no row before is of a group after or, for times, as late."""
    return not set(GROUPS[before]) & set(GROUPS[after]) if by is BY_GROUP else TIME[before].max() < TIME[after].min()


@pytest.mark.parametrize("kind", ["repeated-cv", "nested-cv", "holdout"])
@pytest.mark.parametrize("by", [BY_GROUP, BY_TIME], ids=["groups", "time"])
def test_every_part_is_apart(kind, by):
    splits = protocol_of(kind).splits("d", Y, 0, pickle.loads(pickle.dumps(by)))
    again = protocol_of(kind).splits("d", Y, 0, by)
    assert [split.test.tolist() for split in splits] == [split.test.tolist() for split in again], "as workers see them"
    for split in splits:
        assert apart(split.train, split.test, by)
        if split.tuning is not None:
            learn, validation = split.tuning
            assert apart(learn, validation, by)
            assert set(learn) | set(validation) == set(split.train)
            assert len(validation) / len(split.train) == pytest.approx(0.2, abs=0.1)
            continue
        columns = Columns(np.array([False]))
        fold = Fold(np.zeros((N, 1)), Y, columns, *split, "none", 3, 5, structure=by)
        assert len(fold.inner) == 3
        assert all(set(inner.train) | set(inner.test) <= set(split.train) for inner in fold.inner)
        assert all(apart(inner.train, inner.test, by) for inner in fold.inner)


def test_a_third_is_held_out():
    for by in (BY_GROUP, BY_TIME):
        (split,) = protocol_of("holdout").splits("d", Y, 0, by)
        assert len(split.test) / N == pytest.approx(1 / 3, abs=0.05)


def test_repeats_differ_where_chance_decides():
    def tested(by):
        return [protocol_of("holdout").splits("d", Y, repeat, by)[0].test.tolist() for repeat in (0, 1)]

    assert tested(BY_GROUP)[0] != tested(BY_GROUP)[1]
    assert tested(BY_TIME)[0] == tested(BY_TIME)[1]


def test_a_row_drawn_twice_is_in_one_inner_part():
    by = structure("bootstrap", "stratified-grouped")
    split = protocol_of("repeated-cv").splits("d", Y, 0, by)[0]
    assert len(set(split.train)) < len(split.train)
    for train, test in by.within(Y, split.train, 3, 0):
        assert not set(train) & set(test)


def test_sampled_training_rows_are_not_more_than_asked_for():
    protocol = protocol_of("repeated-cv", max_rows=30)
    for by in (structure("bootstrap", "stratified-grouped"), BY_GROUP):
        assert all(len(split.train) == 30 for split in protocol.splits("d", Y, 0, by))


def test_fewer_inner_folds_if_there_are_fewer_groups_or_times():
    rows = np.arange(N)
    few = structure("grouped", groups=np.arange(N) % 3)
    assert len(few.within(Y, rows, 5, 0)) == 3
    assert len(structure("forward-chaining", time=np.arange(N) % 4 * 1.0).within(Y, rows, 5, 0)) == 3
    with pytest.raises(DataError, match="tuning needs two groups in the training part"):
        few.within(Y, rows[::3], 5, 0)


def test_tuning_trains_on_two_classes():
    late = structure("forward-chaining", time=np.arange(N) * 1.0)

    def inner(y):
        columns, rows = Columns(np.zeros(1, dtype=bool)), np.arange(N)
        return Fold(np.zeros((N, 1)), y, columns, rows, rows[:0], "none", 5, 0, structure=late).inner

    assert len(inner(np.repeat([0, 1], N // 2))) == 2, "the inner folds before the second class are left out"
    with pytest.raises(DataError, match="inner folds that train on two values of the target"):
        _ = inner(np.repeat([0, 1], [N - 5, 5]))


def test_an_outer_fold_trains_on_two_classes(tmp_path):
    table = "".join(f"{row},{row * row},{int(row > 30)}\n" for row in range(60))
    (tmp_path / "late.csv").write_text(f"day,a,class\n{table}")
    head = '[suite]\nname = "own"\n[[datasets]]\nuse = ["file:late.csv"]\ntime = "day"\n'
    (tmp_path / "own.toml").write_text(f'{head}[[methods]]\nlabel = "K"\nclassifier = "knn"\n')
    plan = make_plan(load_suite(str(tmp_path / "own.toml"), ALL), ALL)
    assert "fold 1 trains on a single value of the target" in plan.left_out["late.csv"]


def test_validation_rows_of_a_dataset_are_those_of_tuning():
    split = np.tile([0, -1, -1, -2], N)[:N]
    by = structure("predefined", "stratified", split=split)
    ((train, test),) = by.pairs(Y, 5, 0)
    assert sorted([*train, *test]) == list(range(N))
    assert set(test) == set(np.flatnonzero(split == 0))
    ((fitted, scored),) = by.within(Y, train, 5, 0)
    assert fitted.tolist() == np.flatnonzero(split == -1).tolist()
    assert scored.tolist() == np.flatnonzero(split == -2).tolist()
    assert by.summary(protocol_of("repeated-cv").splits("d", Y, 0, by), 1, N, Y, "abc").validation == len(scored)
    holdout = protocol_of("holdout").splits("d", Y, 0, by)[0]
    assert holdout.test.tolist() == test.tolist()
    without = structure("predefined", "stratified", split=np.maximum(split, -1))
    assert len(without.within(Y, train, 5, 0)) == 5
    only = structure("predefined", "stratified", split=np.where(split == 0, 0, -2))
    assert len(only.within(Y, train, 5, 0)) == 5, "no row is left to fit on"


def test_one_test_part_is_not_several():
    with pytest.raises(DataError, match="'leave-one-group-out' gives 20 test parts, but the protocol has one"):
        protocol_of("holdout").splits("d", Y, 0, structure("leave-one-group-out", groups=GROUPS))
    by = structure("predefined", "stratified", split=np.where(np.arange(N) % 5, -1, 0))
    (split,) = protocol_of("holdout").splits("d", Y, 0, by)
    assert split.test.tolist() == list(range(0, N, 5))

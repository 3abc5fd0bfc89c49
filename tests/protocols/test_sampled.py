"""Sampled training rows: classes and parts keep their proportions, and the test rows are those of the whole splits."""

import numpy as np
import pytest
from toy_protocols import SPECS

from mfbench.errors import DataError
from mfbench.suite.protocols import make_protocol

Y = np.repeat([0, 1, 2], [600, 290, 10])


def made(kind, max_rows, **changes):
    return make_protocol(SPECS[kind], {"kind": kind, **SPECS[kind].values("sound"), **changes, "max_rows": max_rows}, 7)


@pytest.mark.parametrize("changes", [{}, {"refit": True}, {"refit": False}], ids=str)
@pytest.mark.parametrize("kind", [kind for kind in SPECS if SPECS[kind].samples])
def test_training_rows_are_a_stratified_part_and_test_rows_stay(kind, changes):
    changes = {key: value for key, value in changes.items() if key in SPECS[kind].keys}
    whole, sample = made(kind, None, **changes), made(kind, 100, **changes)
    for before, after in zip(whole.splits("d", Y, 1), sample.splits("d", Y, 1), strict=True):
        assert np.array_equal(before.test, after.test)
        assert set(after.train) < set(before.train)
        learned = set(after.train)
        if before.tuning is not None:
            for old, new in zip(before.tuning, after.tuning, strict=True):
                assert set(new) < set(old)
                assert len(new) / 100 == pytest.approx(len(old) / sum(map(len, before.tuning)), abs=0.04)
            learned |= set(after.tuning[0]) | set(after.tuning[1])
            assert np.array_equal(before.tuning[0], before.train) == np.array_equal(after.tuning[0], after.train)
        assert len(learned) == 100
        counts = np.bincount(Y[sorted(learned)])
        assert counts[:2] == pytest.approx([66, 32], abs=4)
        assert counts[2] >= 2


def test_the_sample_is_a_function_of_seed_dataset_repeat_and_fold_alone():
    one, again = (made("repeated-cv", 50).splits("d", Y, 0) for _ in range(2))
    other = made("repeated-cv", 50).splits("d", Y, 1)
    assert all(np.array_equal(a.train, b.train) for a, b in zip(one, again, strict=True))
    assert not any(np.array_equal(a.train, b.train) for a, b in zip(one, other, strict=True))


def test_a_training_part_that_is_small_enough_stays():
    whole, sample = (made("nested-cv", rows).splits("d", Y, 0) for rows in (None, 720))
    assert all(np.array_equal(a.train, b.train) for a, b in zip(whole, sample, strict=True))


def test_too_few_rows_for_the_classes_say_how_many_it_takes():
    y = np.repeat(np.arange(8), 20)
    with pytest.raises(DataError, match="max_rows = 10 keeps no two rows of each class; use at least 16"):
        made("repeated-cv", 10).splits("d", y, 0)


def test_it_says_what_it_is():
    whole, sample = made("holdout", None), made("holdout", 2000)
    assert sample.describe() == f"{whole.describe()}, training rows sampled (at most 2,000 in a fold)"
    assert sample.describe_tuning() == whole.describe_tuning()
    assert sample.identity == f"{whole.identity}:2000"
    assert (sample.kind, sample.task, sample.test_train_ratio) == ("holdout", whole.task, whole.test_train_ratio)

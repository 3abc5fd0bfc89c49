"""Repeated cross-validation: stratified folds that are a function of seed, dataset and repeat alone."""

import numpy as np
import pytest

from mfbench_protocols.splits import RepeatedCV

Y = np.repeat([0, 1, 2], [40, 25, 10])


def rows_tested(splits):
    return [test.tolist() for _, test in splits]


class TestRepeatedCV:
    def test_equal_questions_get_equal_folds_in_any_order(self):
        forward, backward = RepeatedCV(5, 3, 7), RepeatedCV(5, 3, 7)
        one = {repeat: rows_tested(forward.splits("d", Y, repeat)) for repeat in (0, 1, 2)}
        np.random.seed(1)  # noqa: NPY002 - the global state must not matter
        other = {repeat: rows_tested(backward.splits("d", Y, repeat)) for repeat in (2, 0, 1)}
        assert one == other

    def test_asking_leaves_the_global_state_alone(self):
        before = np.random.get_state()[1].tolist()  # noqa: NPY002
        RepeatedCV(5, 1, 7).splits("d", Y, 0)
        assert np.random.get_state()[1].tolist() == before  # noqa: NPY002

    def test_the_number_of_repeats_does_not_change_the_first_ones(self):
        assert rows_tested(RepeatedCV(5, 1, 7).splits("d", Y, 0)) == rows_tested(
            RepeatedCV(5, 100, 7).splits("d", Y, 0)
        )

    @pytest.mark.parametrize(
        "other",
        [
            lambda: RepeatedCV(5, 3, 7).splits("d", Y, 1),
            lambda: RepeatedCV(5, 3, 7).splits("e", Y, 0),
            lambda: RepeatedCV(5, 3, 8).splits("d", Y, 0),
        ],
        ids=["repeat", "dataset", "seed"],
    )
    def test_another_coordinate_gives_other_folds(self, other):
        assert rows_tested(other()) != rows_tested(RepeatedCV(5, 3, 7).splits("d", Y, 0))

    def test_coordinates_are_all_pairs_in_order(self):
        assert list(RepeatedCV(2, 3, 0).coordinates()) == [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0), (2, 1)]

    @pytest.mark.parametrize("folds", [2, 5, 10])
    def test_the_ratio_is_that_of_the_folds(self, folds):
        y = np.repeat([0, 1], 50)
        ratios = [len(test) / len(train) for train, test in RepeatedCV(folds, 1, 0).splits("d", y, 0)]
        assert RepeatedCV(folds, 1, 0).test_train_ratio == pytest.approx(np.mean(ratios))

"""Repeated cross-validation: stratified folds that are a function of seed, dataset and repeat alone."""

import inspect
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbench.errors import DataError
from mfbench.suite.forms import COMMON, KINDS
from mfbench.suite.protocols import PROTOCOLS, RepeatedCV, make_protocol, stratified_splits

Y = np.repeat([0, 1, 2], [40, 25, 10])


def rows_tested(splits):
    return [test.tolist() for _, test in splits]


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(0, 3), min_size=8, max_size=60), st.integers(2, 6), st.integers(0, 2**32 - 1))
def test_folds_part_the_rows_and_keep_the_shares_of_the_classes(labels, folds, seed):
    y = np.array(labels)
    if np.bincount(y).max() < folds:
        with pytest.raises(DataError, match=f"{folds} folds"):
            stratified_splits(y, folds, seed)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        splits = stratified_splits(y, folds, seed)
    assert len(splits) == folds
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(len(y)))
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(len(y)))
    for code, count in enumerate(np.bincount(y)):
        shares = [int((y[test] == code).sum()) for _, test in splits]
        assert max(shares) - min(shares) <= 1
        assert sum(shares) == count


def test_the_error_says_how_large_the_largest_class_is():
    with pytest.raises(DataError, match=r"5 folds need a class of at least 5 rows, the largest has 4"):
        stratified_splits(np.repeat([0, 1], 4), 5, 0)


def test_a_rare_class_is_allowed():
    splits = stratified_splits(np.repeat([0, 1], [20, 2]), 5, 0)
    assert sum(bool((test >= 20).any()) for _, test in splits) == 2


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


class TestEveryProtocol:
    """What all of them promise, whatever they are."""

    @pytest.fixture(params=[(kind, form) for kind in KINDS for form in ("sound", "published")], ids=" ".join)
    def protocol(self, request):
        kind, form = request.param
        return make_protocol({"kind": kind, **KINDS[kind].values(form)}, 7)

    def test_it_is_registered_under_its_name_and_takes_the_keys_of_the_schema(self, protocol):
        cls = PROTOCOLS[protocol.kind]
        assert type(protocol) is cls
        assert set(PROTOCOLS) == set(KINDS)
        parameters = set(inspect.signature(cls).parameters)
        assert parameters == {"seed", *KINDS[protocol.kind].sound} - {"selection", *COMMON}

    def test_splits_are_a_function_of_seed_dataset_and_repeat_alone(self, protocol):
        again = type(protocol)(
            **{name: getattr(protocol, name) for name in inspect.signature(type(protocol)).parameters}
        )
        np.random.seed(1)  # noqa: NPY002 - the global state must not matter
        one, other = protocol.splits("d", Y, 1), again.splits("d", Y, 1)
        assert len(one) == len(other) == protocol.folds
        assert all(same_rows(a, b) for a, b in zip(one, other, strict=True))
        if not KINDS[protocol.kind].predicts:
            return  # every row trains; what differs are the data
        for changed in (protocol.splits("e", Y, 1), protocol.splits("d", Y, 0)):
            assert not all(same_rows(a, b) for a, b in zip(one, changed, strict=True))

    def test_no_row_is_tested_that_is_fitted_on_or_chosen_by(self, protocol):
        for split in protocol.splits("d", Y, 0):
            parts = [split.train, split.test]
            if split.tuning is not None:
                learn, validation = split.tuning
                assert not set(learn) & set(validation)
                assert not set(validation) & set(split.test)
                assert set(learn) <= set(split.train)
                parts = [*parts, *split.tuning]
            for rows in parts:
                assert len(rows) == len(set(rows.tolist()))
                assert set(rows.tolist()) <= set(range(len(Y)))
            assert not set(split.train) & set(split.test)

    def test_it_says_what_it_is(self, protocol):
        assert protocol.describe()
        assert protocol.describe_tuning()
        assert protocol.identity.startswith(f"{protocol.kind}:")
        assert protocol.test_train_ratio >= 0


def same_rows(one, other):
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))

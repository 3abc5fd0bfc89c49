"""SiLA against a plain loop, update by update."""

import numpy as np
import pytest
from in_turn import in_turn
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_similarity import RBS, SiLA

FORMS = ["diagonal", "symmetric", "square"]
NEIGHBOURS = ["fixed-targets", "fixed", "adaptive"]


def course(fitted):
    return [(w, np.diag(A) if A.ndim == 1 else A) for w, A in fitted.voters_[0]]


def voted(k=1, form="square", epochs=3, **parameters):
    return SiLA(k, form, "voted", max_iter=epochs, max_matrices=10_000, **parameters)


def assert_same_course(fitted, expected, **tolerance):
    got = course(fitted)
    assert [w for w, _ in got] == [w for _, w in expected]
    for (_, A), (B, _) in zip(got, expected, strict=True):
        assert_allclose(A, B, **tolerance)
    assert fitted.n_updates_ == [len(expected)]
    assert fitted.vote_share_ == [1.0]


@in_turn("form", FORMS)
@in_turn("neighbours", NEIGHBOURS)
@in_turn("k", [1, 3])
def test_equals_the_plain_loop_update_by_update(oracles, make_numbers, form, neighbours, k):
    X, y = make_numbers(k, n=20, p=5, n_classes=3)
    expected = oracles.sila(X, y, k, form, 3, oracles.product_of_norms, neighbours)
    assert len(expected) > 5
    assert_same_course(voted(k, form, neighbours=neighbours).fit(X, y), expected, atol=1e-12)


@in_turn("form", FORMS)
@in_turn("neighbours", NEIGHBOURS)
@in_turn("seed", range(3))
def test_equals_the_plain_loop_with_ties(oracles, make_ties, form, neighbours, seed):
    """Whole numbers without factors: both are exact."""
    X, y = make_ties(seed, n=16)
    expected = oracles.sila(X, y, 1 + seed, form, 2, neighbours=neighbours)
    fitted = voted(1 + seed, form, 2, neighbours=neighbours, normalization="none").fit(X, y)
    assert_same_course(fitted, expected, atol=0)


def dice(X, Y):
    return ((X**2).sum(axis=1)[:, None] + (Y**2).sum(axis=1)) / 2


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_own_function_equals_the_plain_loop(oracles, make_numbers, neighbours, monkeypatch):
    monkeypatch.setattr("mfbench_similarity._nearest.lists.BLOCK", 6)
    X, y = make_numbers(4, n=20)
    expected = oracles.sila(X, y, 2, "square", 2, oracles.dice, neighbours)
    assert_same_course(voted(2, epochs=2, neighbours=neighbours, normalization=dice).fit(X, y), expected, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
def test_tiles_change_nothing(oracles, make_numbers, form, monkeypatch):
    X, y = make_numbers(5, n=700, p=6)
    fitted = voted(2, form, 1).fit(X, y)
    # One epoch over more rows than a tile holds, against matrices made the same way in plain NumPy.
    unit = X / np.linalg.norm(X, axis=1)[:, None]
    start = unit @ unit.T
    np.fill_diagonal(start, -np.inf)
    A, updates = np.zeros((6, 6)), 0
    for i in range(len(X)):
        hits = np.argsort(-np.where(y == y[i], start[i], -np.inf), kind="stable")[:2]
        scores = unit[i] @ A @ unit.T if A.any() else start[i]
        misses = np.argsort(-np.where(y != y[i], scores, -np.inf), kind="stable")[:2]
        v = unit[hits].sum(axis=0) - unit[misses].sum(axis=0)
        if unit[i] @ A @ v <= 1e-12:
            f = np.outer(unit[i], v)
            A = A + {"diagonal": np.diag(np.diag(f)), "symmetric": f + f.T, "square": f}[form]
            updates += 1
    assert fitted.n_updates_ == [updates]
    assert_allclose(course(fitted)[-1][1], A, atol=1e-10)


def test_the_mean_matrix_votes_like_the_mean_of_similarities(oracles, make_numbers):
    X, y = make_numbers(6, n=20)
    expected = oracles.sila(X, y, 1, "square", 3, oracles.product_of_norms)
    mean = sum(w * A for A, w in expected)
    averaged = SiLA(max_iter=3).fit(X, y)
    assert_allclose(averaged.matrix_, mean, atol=1e-10)
    assert_allclose(SiLA(max_iter=3, prediction="last").fit(X, y).matrix_, expected[-1][0], atol=1e-12)
    assert averaged.voters_ == [[]]


def test_votes_equal_definition(oracles, make_numbers):
    for n_classes in (2, 3):
        X, y = make_numbers(7, n=20, n_classes=n_classes)
        queries, _ = make_numbers(8, n=30)
        expected = oracles.sila(X, y, 3, "square", 2, oracles.product_of_norms)
        fitted = voted(3, epochs=2).fit(X, y)
        winners = []
        for q in queries:
            votes = np.zeros(n_classes)
            for A, w in expected:
                values = [oracles.similarity(q, x, A, oracles.product_of_norms) for x in X]
                votes[oracles.predict(values, list(y), 3, "knn-a")] += w
            winners.append(votes.argmax())
        assert_array_equal(fitted.predict(queries), winners)


def test_a_class_with_one_matrix_has_a_share_like_the_others(make_numbers):
    X, y = make_numbers(9, n_classes=3)
    fitted = SiLA(prediction="voted", mode="one-vs-rest", max_iter=2).fit(X, y)
    before = fitted.decision_function(X)
    fitted._voters[0] = fitted._voters[0][-1:]
    after = fitted.decision_function(X)
    assert set(after[:, 0]) == {-1.0, 1.0}
    assert_array_equal(after[:, 1:], before[:, 1:])
    assert np.abs(before).max() <= 1


def test_only_the_last_matrices_vote(make_numbers):
    X, y = make_numbers(9)
    every = voted().fit(X, y)
    some = SiLA(prediction="voted", max_iter=3, max_matrices=4).fit(X, y)
    assert len(every.voters_[0]) > 4
    for (w, A), (v, B) in zip(some.voters_[0], every.voters_[0][-4:], strict=True):
        assert w == v
        assert_allclose(A, B)
    share = sum(w for w, _ in every.voters_[0][-4:]) / sum(w for w, _ in every.voters_[0])
    assert_allclose(some.vote_share_, [share])
    assert_allclose(some.matrix_, every.matrix_)


@pytest.mark.parametrize("neighbours", NEIGHBOURS)
def test_ends_when_every_sample_is_right(oracles, neighbours):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    X = np.column_stack([np.where(y == 0, 1, -1) * rng.uniform(0.5, 1, 30), 0.1 * rng.normal(size=30)])
    expected = oracles.sila(X, y, 1, "square", 20, oracles.product_of_norms, neighbours)
    fitted = voted(epochs=20, neighbours=neighbours).fit(X, y)
    assert fitted.converged_
    assert fitted.n_iter_ < 20
    assert_same_course(fitted, expected, atol=1e-12)


def test_one_correction_makes_the_mean_that_matrix(make_numbers):
    X, y = np.array([[1.0, 0], [2, 0.1], [-1, 0], [-2, 0.1]]), [0, 0, 1, 1]
    averaged, last = (SiLA(prediction=how).fit(X, y) for how in ("averaged", "last"))
    assert averaged.n_updates_ == [1]
    assert_allclose(averaged.matrix_ / np.linalg.norm(averaged.matrix_), last.matrix_ / np.linalg.norm(last.matrix_))


def test_symmetric_matrices_are_symmetric_and_diagonal_ones_diagonal(make_numbers):
    X, y = make_numbers(10)
    A = SiLA(matrix="symmetric").fit(X, y).matrix_
    assert_allclose(A, A.T, atol=1e-10)
    fitted = SiLA(matrix="diagonal").fit(X, y)
    assert_array_equal(fitted.matrix_, np.diag(np.diag(fitted.matrix_)))
    assert_allclose(fitted.feature_importances_, np.diag(fitted.matrix_) / np.linalg.norm(fitted.matrix_))


def test_margins_are_those_of_the_matrix(oracles, make_numbers):
    X, y = make_numbers(11)
    fitted = SiLA(2).fit(X, y)
    assert_allclose(fitted.margins_, oracles.margins(X, y, 2, fitted.matrix_, oracles.product_of_norms), atol=1e-9)


def test_equal_hits_and_misses_leave_the_identity():
    for prediction in ("averaged", "voted", "last"):
        with pytest.warns(RuntimeWarning, match="do not differ"):
            fitted = SiLA(prediction=prediction).fit([[1.0, 2]] * 4, [0, 1, 0, 1])
        assert_allclose(fitted.matrix_, np.eye(2) / np.sqrt(2))
        assert fitted.predict([[1.0, 0]]).shape == (1,)


def test_corrects_what_the_total_margin_misses():
    """A few samples with huge margins mislead RBS but not SiLA."""
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 3)) * [0.3, 0.3, 1.0]
    X[:, 0] += np.where(y == 0, 1, -1)
    X[:, 2] *= 5
    sila = SiLA(3, normalization="none", max_iter=30).fit(X, y)
    rbs = RBS(3, normalization="none").fit(X, y)
    assert np.mean(sila.margins_ > 0) > np.mean(rbs.margins_ > 0)

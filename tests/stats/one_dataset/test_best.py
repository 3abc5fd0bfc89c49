"""The best of several methods: what is called worse than it, and how often that is an error."""

import numpy as np
import pytest
from toy_metrics import SCORES

from mfbench.stats.cells import CellResults, ComparisonSettings
from mfbench.stats.paired import corrected_t_test, moderated_p_values
from mfbench.stats.rules import against_best, compare, evidence, ratio_without_repeats

SETTINGS = ComparisonSettings("accuracy", SCORES, None, "corrected-t", 0.05, 1 / 9)


def cell(scores, repeats=1, right=None):
    scores = np.asarray(scores, dtype=float)
    folds = len(scores) // repeats
    decisions = [np.asarray(right, dtype=bool)] if right is not None else []
    return CellResults(scores, np.repeat(np.arange(repeats), folds), np.ones(len(scores), bool), lambda: decisions)


def folds_of(means, folds=10, repeats=1, sd=0.02, seed=0):
    rng = np.random.default_rng(seed)
    return [cell(mean + rng.normal(0, sd, folds * repeats), repeats) for mean in means]


def test_two_methods_in_one_repeat_are_the_corrected_test():
    first, second = folds_of([0.9, 0.88])
    expected = corrected_t_test(first.scores, second.scores, 1 / 9).p_value
    assert against_best([first, second], 0, SETTINGS).tolist() == [1.0, pytest.approx(expected)]
    assert against_best([second, first], 1, SETTINGS).tolist() == [pytest.approx(expected), 1.0]


def test_p_values_are_holms_over_all_pairs():
    cells = folds_of([0.9, 0.86, 0.87])
    scores = np.array([one.scores for one in cells])
    p = dict(
        zip(
            [(0, 1), (0, 2), (1, 2)],
            moderated_p_values(scores, np.array([(0, 1), (0, 2), (1, 2)]), 1 / 9)[1],
            strict=False,
        )
    )
    assert p[0, 1] < p[0, 2] < p[1, 2]
    found = against_best(cells, 0, SETTINGS)
    assert found.tolist() == pytest.approx([1.0, min(1, 3 * p[0, 1]), min(1, max(3 * p[0, 1], 2 * p[0, 2]))])


def test_repeats_test_the_same_rows_again():
    assert ratio_without_repeats(cell(np.zeros(10)), 1 / 9) == pytest.approx(1 / 9)
    assert 1 / 100 + ratio_without_repeats(cell(np.zeros(100), 10), 1 / 9) == pytest.approx(1 / 10 + 1 / 9)
    assert ratio_without_repeats(cell(np.zeros(10), 10), 1.0) == 1.0, "each random split tests other rows"
    one, ten = folds_of([0.9, 0.88], repeats=10), 10
    corrected = corrected_t_test(one[0].scores, one[1].scores, 1 / 9 + 1 / 10 - 1 / 100)
    assert len(one[0].scores) == 10 * ten
    assert against_best(one, 0, SETTINGS)[1] == pytest.approx(corrected.p_value)


def test_without_a_spread_there_is_a_p_value_if_other_pairs_have_one():
    first, second = folds_of([0.9, 0.88])
    ahead = cell(first.scores - 0.01)
    assert np.isfinite(against_best([first, second, ahead], 0, SETTINGS)).all()
    assert np.isnan(against_best([first, ahead], 0, SETTINGS)[1])
    assert against_best([first, cell(first.scores)], 0, SETTINGS).tolist() == [1.0, 1.0]


def test_a_single_method_and_none():
    assert against_best(folds_of([0.9]), 0, SETTINGS).tolist() == [1.0]
    assert against_best([], 0, SETTINGS).tolist() == []


def test_evidence_of_other_rules():
    first, second = folds_of([0.9, 0.84])
    posterior = compare(first, second, SETTINGS, "bayes-t")
    assert evidence(posterior, "bayes-t") == pytest.approx(1 - posterior.first)
    a = cell([0.75], right=[1] * 15 + [0] * 5)
    b = cell([0.5], right=[1] * 5 + [0] * 5 + [1] * 5 + [0] * 5)
    for rule, factor in (("s-test-exact", 2), ("mcnemar", 1)):
        comparison = compare(a, b, SETTINGS, rule)
        assert evidence(comparison, rule) == pytest.approx(factor * comparison.p_value)


def test_a_test_of_decisions_may_favour_another_method_than_the_score_does():
    best = cell([0.9], right=[0] * 12 + [1] * 8)
    other = cell([0.8], right=[1] * 20)
    assert against_best([best, other], 0, SETTINGS)[1] == 1.0


@pytest.mark.parametrize("methods", [2, 5, 20])
@pytest.mark.parametrize("repeats", [1, 3])
def test_equal_methods_are_rarely_called_worse_than_the_best(methods, repeats):
    """Folds with the correlation between repeats that testing the same rows again gives, and some more."""
    rng = np.random.default_rng(3)
    wrong, draws = 0, 150
    for _ in range(draws):
        rows = rng.random((methods, 100)) < 0.7
        scores = []
        for _ in range(repeats):
            flipped = rows ^ (rng.random(rows.shape) < 0.1)
            scores.append(flipped[:, rng.permutation(100)].reshape(methods, 10, 10).mean(axis=2))
        cells = [cell(values, repeats) for values in np.concatenate(scores, axis=1)]
        best = int(np.argmax([one.scores.mean() for one in cells]))
        wrong += bool((against_best(cells, best, SETTINGS) < 0.05).any())
    # The limit is the 0.999 quantile of the number of errors at an exact level of 5 %.
    assert wrong <= 17


def fold_scores(rng, learner, repeats, methods=20, rows=100, folds=10):
    """Accuracies of shape (folds * repeats, methods): one learner on equal views, stratified folds."""
    y = np.arange(rows) % 2
    views = rng.normal(size=(methods, rows, 5)) + 0.5 * y[:, None]
    distances = ((views[:, :, None] - views[:, None]) ** 2).sum(axis=3)
    scores = []
    for _ in range(repeats):
        fold = np.empty(rows, dtype=int)
        for code in (0, 1):
            fold[rng.permutation(np.flatnonzero(y == code))] = np.arange(rows // 2) % folds
        if learner == "1NN":
            nearest = np.where(fold[:, None] == fold, np.inf, distances).argmin(axis=2)
            right = y[nearest] == y
        else:
            right = np.empty((methods, rows), dtype=bool)
            for number in range(folds):
                test = fold == number
                far = [
                    ((views[:, test] - views[:, ~test & (y == code)].mean(axis=1)[:, None]) ** 2).sum(axis=2)
                    for code in (0, 1)
                ]
                right[:, test] = (far[1] < far[0]) == y[test]
        scores += [right[:, fold == number].mean(axis=1) for number in range(folds)]
    return np.array(scores)


def share_called_worse(learner, repeats, sizes=(2, 5, 20), draws=300):
    """Return, for each number of equal methods, the share of datasets on which one is called worse than the best."""
    rng = np.random.default_rng(5)
    wrong = {size: [] for size in sizes}
    for _ in range(draws):
        scores = fold_scores(rng, learner, repeats)
        for size in sizes:
            for start in range(0, 20 - size + 1, size):
                part = [cell(column, repeats) for column in scores[:, start : start + size].T]
                best = int(np.argmax([one.scores.mean() for one in part]))
                wrong[size].append((against_best(part, best, SETTINGS) < 0.05).any())
    return {size: float(np.mean(errors)) for size, errors in wrong.items()}


@pytest.mark.slow(reason="300 datasets with twenty methods each")
@pytest.mark.parametrize("learner", ["centroid", "1NN"])
@pytest.mark.parametrize("repeats", [1, 10])
def test_the_measured_levels_hold(learner, repeats):
    shares = share_called_worse(learner, repeats)
    print(learner, repeats, shares)
    assert max(shares.values()) <= 0.05

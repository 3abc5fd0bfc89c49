"""The rule of a race: its statistic against SciPy's, and its error over whole suites."""

import numpy as np
import pytest
from scipy import stats
from simulated import QUICK, measured_folds, realistic, replay, winner_remains

from mfbench_race.rule import Race


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def endless(n_datasets, methods=("a", "b")):
    """A race whose plan has so many folds that those that have run are a sample of them."""
    datasets = [str(place) for place in range(n_datasets)]
    return Race(methods, dict.fromkeys(datasets, 10**9), dict.fromkeys(datasets, 0.0), "plan")


def test_one_dataset_is_a_paired_t_test(rng):
    scores = rng.normal([[0.9], [0.5]], 0.1, size=(2, 20))
    race = endless(1)
    (drop,) = race.look(20, {"0": scores})
    assert drop.p_value == pytest.approx(stats.ttest_rel(*scores, alternative="greater").pvalue, rel=1e-6)
    assert (drop.method, drop.leader, drop.look, race.alive) == ("b", "a", 20, ["a"])
    assert drop.gap == pytest.approx(scores[0].mean() - scores[1].mean())


def test_two_datasets_are_welchs_test(rng):
    first = rng.normal([[0.9], [0.5]], [[0.1], [0.1]], size=(2, 20))
    second = rng.normal([[0.9], [0.5]], [[0.3], [0.1]], size=(2, 20))
    (drop,) = endless(2).look(20, {"0": first, "1": second})
    one, other = first[0] - first[1], second[1] - second[0]  # the mean of two differences is half of theirs
    oracle = stats.ttest_ind(one, other, equal_var=False, alternative="greater")
    assert drop.p_value == pytest.approx(oracle.pvalue, rel=1e-6)


@pytest.mark.parametrize(("target", "factor"), [("plan", 1 / 10 - 1 / 50), ("truth", 1 / 10 + 1 / 9)])
def test_the_target_determines_the_variance(rng, target, factor):
    scores = rng.normal([[0.9], [0.5]], 0.1, size=(2, 10))
    (drop,) = Race(["a", "b"], {"x": 50}, {"x": 1 / 9}, target).look(10, {"x": scores})
    difference = scores[0] - scores[1]
    t = difference.mean() / np.sqrt(difference.var(ddof=1) * factor)
    assert drop.p_value == pytest.approx(stats.t.sf(t, 9))


def test_the_level_is_that_of_all_looks_and_methods():
    gaps = np.linspace(-1, 1, 10)

    def scores(p_value):  # of the one-sided test of a difference with mean 1
        spread = 1 / (stats.t.isf(p_value, 9) * np.sqrt((1 / 10 - 1 / 50) * gaps.var(ddof=1)))
        return np.array([1 + spread * gaps, 0 * gaps, 0 * gaps - 1e6])

    level = 0.05 / (8 * 2)
    for p_value, remaining in ((0.99 * level, ["a"]), (1.01 * level, ["a", "b"])):
        race = Race(["a", "b", "c"], {"x": 50}, {"x": 1 / 9}, "plan")
        assert len(race.looks) == 8
        race.look(10, {"x": scores(p_value)})
        assert race.alive == remaining


@pytest.mark.parametrize(
    ("folds", "looks"),
    [(5, [2, 3, 4]), (10, [2, 3, 5]), (50, [2, 3, 5, 10, 15, 20, 30, 40]), (2, []), (3, [2]), (1, [])],
)
def test_the_looks_are_fixed_by_the_plan(folds, looks):
    assert Race(["a", "b"], {"x": folds, "y": 1}, {}, "plan").looks == looks


def test_no_method_is_dropped_without_spread():
    rounding = np.array([[0.9, 0.8], [0.9 - 0.1, 0.8 - 0.1]])  # the differences are 0.1 up to rounding
    race = Race(["a", "b"], {"x": 5}, {"x": 0.25}, "plan")
    assert race.look(2, {"x": rounding}) == []
    assert race.look(2, {"x": np.array([[1.0, 1.0], [0.0, 0.0]])}) == []


def test_a_method_with_a_failure_neither_leads_nor_is_dropped(rng):
    scores = rng.normal([[0.99], [0.9], [0.1], [0.1]], 0.01, size=(4, 10))
    scores[0, 3] = scores[3, 3] = np.nan
    race = Race(["a", "b", "c", "d"], {"x": 50}, {"x": 1 / 9}, "plan")
    (drop,) = race.look(10, {"x": scores})
    assert (drop.method, drop.leader, race.alive) == ("c", "b", ["a", "b", "d"])
    scores[1:] = np.nan
    assert Race(["a", "b", "c", "d"], {"x": 50}, {"x": 1 / 9}, "plan").look(10, {"x": scores}) == []


def test_folds_that_have_all_run_are_certain(rng):
    complete, sample = np.array([[0.9, 0.1], [0.2, 0.3]]), rng.normal([[0.9], [0.5]], 0.1, size=(2, 10))
    race = Race(["a", "b"], {"x": 2, "y": 50}, {"x": 1.0, "y": 1 / 9}, "plan")
    (drop,) = race.look(10, {"x": complete, "y": sample})
    difference = sample[0] - sample[1]
    t = (0.25 + difference.mean()) / np.sqrt(difference.var(ddof=1) * (1 / 10 - 1 / 50))
    assert drop.p_value == pytest.approx(stats.t.sf(t, 9))


def counts(rng, n_datasets, n_methods, n_folds):
    """Accuracies of equal methods on small test parts: few values, many of them equal."""
    rows = rng.integers(10, 40, size=(n_datasets, 1, 1))
    shares = np.clip(rng.uniform(0.6, 0.98, (n_datasets, 1, 1)) + rng.normal(0, 0.02, (n_datasets, 1, n_folds)), 0, 1)
    shape = (n_datasets, n_methods, n_folds)
    return rng.binomial(np.broadcast_to(rows, shape), np.broadcast_to(shares, shape)) / rows


@pytest.mark.parametrize(("n_datasets", "n_methods", "n_folds"), [(13, 27, 50), (3, 27, 50), (1, 8, 50), (3, 5, 5)])
def test_a_race_keeps_the_winner_of_the_plan_if_all_methods_are_equal(rng, n_datasets, n_methods, n_folds):
    suites = [counts(rng, n_datasets, n_methods, n_folds) for _ in range(300)]
    lost = [not winner_remains(replay(scores, "plan")[0], scores) for scores in suites]
    assert np.mean(lost) <= 0.03


@pytest.mark.skipif(not QUICK.exists(), reason="the published run is part of a checkout only")
def test_a_race_keeps_the_winner_and_saves_three_quarters_of_a_realistic_plan(rng):
    measured, lost, saved = measured_folds(), [], []
    for _ in range(60):
        scores = realistic(measured, 13, 50, rng)
        race, share = replay(scores, "plan")
        lost.append(not winner_remains(race, scores))
        saved.append(share)
    assert np.mean(lost) <= 0.03 and np.mean(saved) >= 0.75
    truth = [replay(realistic(measured, 13, 50, rng), "truth")[1] for _ in range(20)]
    assert 0.5 < np.mean(truth) < np.mean(saved)

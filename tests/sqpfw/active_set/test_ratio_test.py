"""The ratio test with deadlines finds the same steps as without."""

import numpy as np
from numpy.testing import assert_array_equal

from mfbench_sqpfw import SQPFeatureWeighting
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import ALIVE, RECHECKS, with_more_ties


def test_working_set_changes_nothing(oracles, few_seeds):
    """Every step is bit-identical, whatever the number of watched members."""
    X, y, kappa, lam, theta, _ = oracles.problem(few_seeds)
    runs = []
    for working_set in (None, 1, kappa + 1, 10):
        s = begin(oracles.prepared(X, y, kappa, lam, working_set))
        runs.append([(value, *oracles.weights(s)) for value in oracles.run(s, theta)])
    for other in runs[1:]:
        assert other == runs[0]


def test_working_set_on_wdbc():
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    full, watched = (SQPFeatureWeighting(theta=0.01, working_set=q, n_restarts=0).fit(X, y) for q in (None, 4))
    assert watched.n_rechecks_ > 0 == full.n_rechecks_
    assert_array_equal(full.objective_history_, watched.objective_history_)
    assert_array_equal(full.weights_, watched.weights_)
    assert full.certificate_.optimal


def test_returning_features_on_wide_data(oracles):
    """Features that return keep the deadlines of all rows, and every step is still exact."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 200)), np.arange(24) % 2
    X[:, :3] += y[:, None]
    s = with_more_ties(with_more_ties(begin(oracles.prepared(X, y, 1, 1))))
    alive, returned = len(s.w), 0
    for step, _ in enumerate(oracles.run(s, 1.0)):
        returned += int(s.counts[ALIVE]) > alive
        alive = int(s.counts[ALIVE])
        if step % 5 == 0:
            worst, sizes = oracles.inconsistency(s)
            assert sizes
            assert worst < 1e-8
    assert returned > 0
    assert s.counts[RECHECKS] == 0

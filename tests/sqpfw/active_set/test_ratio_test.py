"""The ratio test with deadlines finds the same steps as without."""

from numpy.testing import assert_array_equal

from mfbench_sqpfw import SQPFeatureWeighting
from mfbench_sqpfw._active_set.ranking import begin


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

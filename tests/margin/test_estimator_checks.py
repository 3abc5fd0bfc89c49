from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_margin import LFE, Relief, ReliefF


@parametrize_with_checks([LFE(), LFE(output="metric"), Relief(), ReliefF()])
def test_estimator(estimator, check):
    check(estimator)

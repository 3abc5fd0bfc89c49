from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_margin import Relief, ReliefF


@parametrize_with_checks([Relief(), ReliefF()])
def test_estimator(estimator, check):
    check(estimator)

from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_margin import IM4E, ImbalancedIM4E, IRelief, Relief, ReliefF

TARGETS_ONLY = "a weight counts for a sample as a target; as a neighbour of others it always counts once"


def expected_failures(estimator):
    if isinstance(estimator, IM4E):
        return {"check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY}
    return {}


@parametrize_with_checks(
    [IM4E(), ImbalancedIM4E(), IRelief(), Relief(), ReliefF()], expected_failed_checks=expected_failures
)
def test_estimator(estimator, check):
    check(estimator)

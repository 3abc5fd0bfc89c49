from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_margin import (
    IM4E,
    IM4EIMMIGRATE,
    IMMIGRATE,
    LFE,
    BoostedIM4EIMMIGRATE,
    BoostedIMMIGRATE,
    ImbalancedIM4E,
    IRelief,
    MulRelief,
    NCADiagonal,
    Relief,
    ReliefF,
    Simba,
)

TARGETS_ONLY = "a weight counts for a sample as a target; as a neighbour of others it always counts once"


def expected_failures(estimator):
    if isinstance(estimator, IM4E | IMMIGRATE | IM4EIMMIGRATE):
        return {"check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY}
    return {}


@parametrize_with_checks(
    [
        BoostedIM4EIMMIGRATE(n_estimators=5),
        BoostedIM4EIMMIGRATE(n_estimators=3, screen="per-round"),
        BoostedIMMIGRATE(n_estimators=5),
        IM4E(),
        IM4EIMMIGRATE(),
        IMMIGRATE(),
        IMMIGRATE(solver="published", cone="psd", prune=True),
        IMMIGRATE(output="metric"),
        ImbalancedIM4E(),
        IRelief(),
        LFE(),
        LFE(output="metric"),
        MulRelief(),
        MulRelief(3, n_samples=20),
        NCADiagonal(),
        NCADiagonal("nca", n_random_starts=0),
        Relief(),
        ReliefF(),
        Simba(),
        Simba("batch"),
    ],
    expected_failed_checks=expected_failures,
)
def test_estimator(estimator, check):
    check(estimator)

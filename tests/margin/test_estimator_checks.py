from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_margin import LFE, MulRelief, NCADiagonal, Relief, ReliefF, Simba


@parametrize_with_checks(
    [
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
    ]
)
def test_estimator(estimator, check):
    check(estimator)

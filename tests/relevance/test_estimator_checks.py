from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_relevance import FVM, PSVM, RFVM, KernelRanking


@parametrize_with_checks(
    [
        RFVM(),
        RFVM("paper"),
        RFVM("paper", kernel="linear"),
        RFVM(algorithm="sequential", kernel="rbf"),
        FVM(n_folds=3),
        FVM("paper", penalty=0.1),
        PSVM(tuning="kernel", n_folds=3),
        PSVM(kernel="polynomial", tuning="null"),
        KernelRanking(),
        KernelRanking("paper", kernel="rbf"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)

from sklearn.utils.estimator_checks import parametrize_with_checks

from mfbench_similarity import RBS, RBSPSD, SRBS, SRBSPSD, ReliefPSD, ReliefSimilarity, SiLA, SimilarityKNN


@parametrize_with_checks(
    [
        RBS(),
        RBS(3, "diagonal", rule="sknn-a", mode="one-vs-rest"),
        RBSPSD(),
        ReliefPSD(),
        ReliefSimilarity(n_samples=20),
        SRBS(),
        SRBS(matrix="symmetric", solver="lbfgs"),
        SRBSPSD(),
        SiLA(),
        SiLA(matrix="diagonal", prediction="voted", max_iter=2),
        SimilarityKNN(),
        SimilarityKNN("euclidean", 3, mode="one-vs-rest"),
    ]
)
def test_estimator(estimator, check):
    check(estimator)

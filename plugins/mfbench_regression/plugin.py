"""The regressors that this plugin registers. Importing this module loads no numeric library."""

from __future__ import annotations

from typing import Any

from mfbench import RegressorSpec, hookimpl

_TREES = {"n_estimators": 100, "n_jobs": 1}
_DRAWS = "each tree draws as many rows as there are, so a row of weight 2 is not drawn like two rows"
_DIRECT = "it is solved directly, without iterations to count"
_OTHER_WORDS = "XGBoost refuses such weights, with another message"
_SINGLE = "XGBoost computes in single precision"
_SOLVER = "libsvm stops elsewhere if a row of weight 2 replaces two rows"
_WEIGHTS = "scikit-learn:check_sample_weight_equivalence_on_{}_data"
_EQUIVALENCE = {_WEIGHTS.format(kind): _DRAWS for kind in ("dense", "sparse")}
# Name, summary, factory, paper, and what the spec says beyond that.
_REGRESSORS: list[tuple[str, str, str, str, dict[str, Any]]] = [
    (
        "knn",
        "k-NN: mean target of the k nearest neighbours",
        "sklearn.neighbors:KNeighborsRegressor",
        "T. Cover, Estimation by the nearest neighbor rule, IEEE Transactions on Information Theory 14(1), 1968",
        {
            "defaults": {"n_jobs": 1},
            "grid": {"n_neighbors": (1, 3, 5, 9, 15)},
            "tags": ("baseline", "neighbours"),
            "complexity": "1e-3 + 1e-9 * n**2",
        },
    ),
    (
        "ridge",
        "Ridge: linear regression with an L2 penalty",
        "sklearn.linear_model:Ridge",
        "A. E. Hoerl, R. W. Kennard, Ridge regression: biased estimation for nonorthogonal problems, Technometrics "
        "12(1), 1970",
        {
            "grid": {"alpha": (0.01, 0.1, 1.0, 10.0, 100.0, 1000.0)},
            "tags": ("baseline", "linear"),
            "expected_failures": {"scikit-learn:check_non_transformer_estimators_n_iter": _DIRECT},
            "complexity": "1e-3 + 2e-10 * n * p**2",
        },
    ),
    (
        "lasso",
        "Lasso: linear regression with an L1 penalty, for a target scaled to unit variance",
        "mfbench_regression.regressors:ElasticNet",
        "R. Tibshirani, Regression shrinkage and selection via the lasso, Journal of the Royal Statistical Society B "
        "58(1), 1996",
        {
            "defaults": {"l1_ratio": 1.0},
            "grid": {"alpha": (0.001, 0.003, 0.01, 0.03, 0.1, 0.3)},
            "tags": ("baseline", "linear", "embedded"),
            "complexity": "2e-3 + 5e-8 * n * p",
        },
    ),
    (
        "elastic-net",
        "Elastic net: linear regression with an L1 and an L2 penalty, for a target scaled to unit variance",
        "mfbench_regression.regressors:ElasticNet",
        "H. Zou, T. Hastie, Regularization and variable selection via the elastic net, Journal of the Royal "
        "Statistical Society B 67(2), 2005",
        {
            "grid": {"alpha": (0.003, 0.01, 0.03, 0.1, 0.3), "l1_ratio": (0.2, 0.5, 0.8)},
            "tags": ("baseline", "linear", "embedded"),
            "complexity": "2e-3 + 5e-8 * n * p",
        },
    ),
    (
        "svr-linear",
        "SVR (linear): support vector regression, squared loss beyond epsilon",
        "mfbench_regression.regressors:LinearSVR",
        "C.-H. Ho, C.-J. Lin, Large-scale linear support vector regression, Journal of Machine Learning Research 13, "
        "2012",
        {
            "grid": {"C": (0.001, 0.01, 0.1, 1.0, 10.0), "epsilon": (0.01, 0.1)},
            "tags": ("baseline", "svm", "linear"),
            "complexity": "2e-3 + 1e-7 * n * p",
        },
    ),
    (
        "svr-rbf",
        "SVR (RBF): support vector regression, Gaussian kernel",
        "mfbench_regression.regressors:SVR",
        "H. Drucker, C. J. C. Burges, L. Kaufman, A. Smola, V. Vapnik, Support vector regression machines, NIPS 9, "
        "1996",
        {
            "grid": {"C": (0.1, 1.0, 10.0, 100.0), "gamma": ("scale", 0.01, 0.1)},
            "tags": ("baseline", "svm"),
            "expected_failures": {_WEIGHTS.format("dense"): _SOLVER},
            "complexity": "2e-3 + 5e-9 * n**2 * p**0.5",
        },
    ),
    (
        "random-forest",
        "Random forest: 100 trees",
        "sklearn.ensemble:RandomForestRegressor",
        "L. Breiman, Random forests, Machine Learning 45(1), 2001",
        {
            "defaults": _TREES,
            "grid": {"max_features": ("sqrt", 0.33, 1.0), "min_samples_leaf": (1, 5)},
            "tags": ("baseline", "ensemble", "tree"),
            "expected_failures": _EQUIVALENCE,
            "complexity": "5e-2 + 1e-5 * n * p * log(n)",
            "check_parameters": {"n_estimators": 5},
        },
    ),
    (
        "extra-trees",
        "Extra trees: 100 extremely randomised trees",
        "sklearn.ensemble:ExtraTreesRegressor",
        "P. Geurts, D. Ernst, L. Wehenkel, Extremely randomized trees, Machine Learning 63(1), 2006",
        {
            "defaults": _TREES,
            "grid": {"max_features": ("sqrt", 0.33, 1.0), "min_samples_leaf": (1, 5)},
            "tags": ("baseline", "ensemble", "tree"),
            "complexity": "5e-2 + 4e-6 * n * p * log(n)",
            "check_parameters": {"n_estimators": 5},
        },
    ),
    (
        "hist-boosting",
        "Histogram boosting: gradient-boosted trees on histograms",
        "sklearn.ensemble:HistGradientBoostingRegressor",
        "G. Ke et al., LightGBM: A highly efficient gradient boosting decision tree, NIPS 30, 2017",
        {
            "grid": {"learning_rate": (0.03, 0.1, 0.3), "max_leaf_nodes": (7, 31)},
            "tags": ("baseline", "ensemble", "tree"),
            "complexity": "2e-1 + 2e-6 * n * p",
            "check_parameters": {"max_iter": 5},
        },
    ),
    (
        "xgboost",
        "XGBoost: gradient-boosted trees",
        "xgboost:XGBRegressor",
        "T. Chen, C. Guestrin, XGBoost: A scalable tree boosting system, KDD 2016",
        {
            "defaults": {"n_jobs": 1, "n_estimators": 100},
            "grid": {"max_depth": (2, 4, 6), "learning_rate": (0.05, 0.1, 0.3)},
            "tags": ("baseline", "ensemble", "tree"),
            "expected_failures": {
                "scikit-learn:check_all_zero_sample_weights_error": _OTHER_WORDS,
                "scikit-learn:check_regressor_multioutput": _SINGLE,
                "columns": "of splits that are equally good it takes that of the first column",
            },
            "complexity": "2e-2 + 3e-6 * n * p",
            "check_parameters": {"n_estimators": 5},
        },
    ),
    (
        "gaussian-process",
        "Gaussian process: learned scales and noise; at most 2,000 rows",
        "mfbench_regression.regressors:GaussianProcess",
        "C. E. Rasmussen, C. K. I. Williams, Gaussian Processes for Machine Learning, MIT Press, 2006",
        {"tags": ("baseline", "kernel"), "complexity": "2e-2 + 1e-6 * n**2 + 1e-8 * n**3"},
    ),
    (
        "constant",
        "Constant guess: always the mean of the training part, the control to beat",
        "sklearn.dummy:DummyRegressor",
        "",
        {"tags": ("baseline", "control"), "complexity": "2e-4"},
    ),
]


@hookimpl
def mfbench_regressors() -> list[RegressorSpec]:
    """Return the usual regressors, all single-threaded and with grids of at most 15 points."""
    return [
        RegressorSpec(name=name, summary=summary, factory=factory, paper=paper, **facts)
        for name, summary, factory, paper, facts in _REGRESSORS
    ]

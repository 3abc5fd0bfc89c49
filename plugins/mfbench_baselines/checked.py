"""What these methods declare to ``mfbench check``: growth, quick parameters, and failures with their reasons."""

from __future__ import annotations

from typing import Any

DRAWS = "each tree draws as many rows as there are, so a row of weight 2 is not drawn like two rows"
GREEDY = "features are chosen one after the other, and the copy of a chosen one adds nothing"
INTERCEPT = "to the linear model a constant is a second intercept with a coefficient of its own"
JITTER = "scikit-learn adds noise against ties, so the estimate for a constant is not exactly zero"
RANDOM = "its weights are random"
SOLVER = "scikit-learn declares it: liblinear and libsvm stop elsewhere if a row of weight 2 replaces two rows"

SELECTORS: dict[str, dict[str, Any]] = {
    "variance": {"complexity": "n * p", "invariance": "affine"},
    "anova-f": {"complexity": "n * p", "invariance": "affine"},
    "mutual-info": {
        "complexity": "p * n * log(n)",
        "invariance": "affine",
        "expected_failures": {"constant-column": JITTER},
    },
    "columns": {"complexity": "p", "invariance": "monotone"},
    "random-forest": {
        "complexity": "p**0.5 * n * log(n)**2",
        "check_parameters": {"n_estimators": 10},
        "invariance": "monotone",
    },
    "xgboost": {
        "complexity": "n * p",
        "check_parameters": {"n_estimators": 5},
        "invariance": "monotone",
        "expected_failures": {"equal-columns": GREEDY},
    },
    "lasso-cv": {"complexity": "n * p", "check_parameters": {"cv": 2}},
    "lasso-path": {"complexity": "n * p", "check_parameters": {"n_penalties": 10}},
    "rfe": {"complexity": "n * p**2", "expected_failures": {"constant-column": INTERCEPT, "equal-columns": GREEDY}},
    "sequential-forward": {
        "complexity": "n**2 * p",
        "check_parameters": {"n_ranked": 2, "cv": 2},
        "expected_failures": {"equal-columns": GREEDY},
    },
    "mrmr": {"complexity": "n * p**2", "invariance": "affine", "expected_failures": {"equal-columns": GREEDY}},
    "boruta": {
        "complexity": "p**0.5 * n * log(n)**2",
        "check_parameters": {"max_iter": 2, "n_estimators": 3},
        "invariance": "monotone",
    },
    "surf": {"complexity": "n**2 * p", "invariance": "affine"},
    "surf-star": {"complexity": "n**2 * p", "invariance": "affine"},
    "multisurf": {"complexity": "n**2 * p", "invariance": "affine"},
    "multisurf-star": {"complexity": "n**2 * p", "invariance": "affine"},
    "random": {"complexity": "p", "invariance": "monotone", "expected_failures": {"constant-column": RANDOM}},
    "lasso": {"complexity": "n * p"},
    "elastic-net": {"complexity": "n * p"},
    "soda": {"complexity": "n * p**2", "expected_failures": {"equal-columns": GREEDY}},
    "hiernet": {
        "complexity": "n * p**2 + p**2 * log(p)",
        "check_parameters": {"relative_penalty": 0.2},
        "invariance": "affine",
    },
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "knn": {"complexity": "n * p"},
    "svm-rbf": {
        "complexity": "n**2 * p",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
        },
    },
    "svm-sigmoid": {
        "complexity": "n**2 * p",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
        },
    },
    "svm-linear": {
        "complexity": "n * p",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
        },
    },
    "decision-tree": {"complexity": "p * n * log(n)"},
    "naive-bayes": {"complexity": "n * p"},
    "nearest-centroid": {"complexity": "n * p"},
    "lda": {"complexity": "n * p**2 + p**3"},
    "adaboost": {"complexity": "p * n * log(n)", "check_parameters": {"n_estimators": 5}},
    "random-forest": {
        "complexity": "p**0.5 * n * log(n)**2",
        "check_parameters": {"n_estimators": 10},
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": DRAWS,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": DRAWS,
        },
    },
    "xgboost": {"complexity": "n * p", "check_parameters": {"n_estimators": 5}},
    "xgboost-interactions": {"complexity": "n * p**2", "check_parameters": {"n_estimators": 10}},
    "lmnn": {"complexity": "n**2 * p + n * p**2", "check_parameters": {"max_iter": 20}},
    "nca": {"complexity": "n**2 * p"},
    "rbf-network": {"complexity": "n * p"},
    "logistic-interactions": {"complexity": "n * p**4 + p**6"},
    "dummy": {"complexity": "n"},
    "lasso": {"complexity": "n * p"},
    "elastic-net": {"complexity": "n * p"},
    "soda": {"complexity": "n * p**2"},
    "hiernet": {"complexity": "n * p**2 + p**2 * log(p)", "check_parameters": {"relative_penalty": 0.2}},
}

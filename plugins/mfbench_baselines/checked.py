"""What these methods declare: the seconds of a fit, quick parameters for checks, and failures with their reasons."""

from __future__ import annotations

from typing import Any

DRAWS = "each tree draws as many rows as there are, so a row of weight 2 is not drawn like two rows"
GREEDY = "features are chosen one after the other, and the copy of a chosen one adds nothing"
INTERCEPT = "to the linear model a constant is a second intercept with a coefficient of its own"
JITTER = "scikit-learn adds noise against ties, so the estimate for a constant is not exactly zero"
RANDOM = "its weights are random"
SOLVER = "scikit-learn declares it: liblinear and libsvm stop elsewhere if a row of weight 2 replaces two rows"

SELECTORS: dict[str, dict[str, Any]] = {
    "variance": {"complexity": "2.5e-4 + 2.5e-7 * n + 6.4e-10 * n * p**1.5", "invariance": "affine"},
    "anova-f": {"complexity": "6.1e-4 + 4.3e-7 * n + 1.2e-9 * n * p**1.5", "invariance": "affine"},
    "mutual-info": {
        "complexity": "2.7e-3 + 1.2e-3 * p + 1e-6 * n * p * k",
        "invariance": "affine",
        "expected_failures": {"constant-column": JITTER},
    },
    "columns": {"complexity": "4.7e-5 + 1.2e-7 * p + 4.2e-5 * k", "invariance": "monotone"},
    "random-forest": {
        "complexity": "3.2e-1 + 2.4e-4 * n + 1.9e-6 * n**1.5 * p**0.5",
        "check_parameters": {"n_estimators": 10},
        "invariance": "monotone",
    },
    "xgboost": {
        "complexity": "8.4e-7 * n * p + 2.5e-2 * k",
        "check_parameters": {"n_estimators": 5},
        "invariance": "monotone",
        "expected_failures": {"equal-columns": GREEDY},
    },
    "lasso-cv": {
        "complexity": "1.8e-1 + 3.6e-6 * n * p + 1.2e-9 * n**2 * p + 2.6e-1 * k",
        "check_parameters": {"cv": 2},
    },
    "lasso-path": {
        "complexity": "1.2e-10 * n**2 * p + 3.1e-10 * n * p**2 + 9.8e-3 * k + 2.4e-6 * n * k",
        "check_parameters": {"n_penalties": 10},
    },
    "rfe": {
        "complexity": "1.1e-2 + 8.3e-5 * p + 3.4e-7 * n * p * k",
        "expected_failures": {"constant-column": INTERCEPT, "equal-columns": GREEDY},
    },
    "sequential-forward": {
        "complexity": "2.6e-5 * n + 7.2e-9 * n**2 * p",
        "check_parameters": {"n_ranked": 2, "cv": 2},
        "expected_failures": {"equal-columns": GREEDY},
    },
    "mrmr": {
        "complexity": "1.2e-3 + 3.6e-6 * p + 1e-7 * n * p",
        "invariance": "affine",
        "expected_failures": {"equal-columns": GREEDY},
    },
    "boruta": {
        "complexity": "2e-1 + 4e-5 * n * p**0.5 * log(n)",
        "check_parameters": {"max_iter": 2, "n_estimators": 3},
        "invariance": "monotone",
    },
    "random": {"complexity": "3.2e-4", "invariance": "monotone", "expected_failures": {"constant-column": RANDOM}},
    "lasso": {"complexity": "4.3e-8 * n * p + 1.9e-3 * k + 2.4e-7 * n * k"},
    "elastic-net": {"complexity": "9.8e-4 + 2.5e-7 * n * p * k"},
    "soda": {"complexity": "1.3e-6 * n * p + 5e-3 * k", "expected_failures": {"equal-columns": GREEDY}},
    "hiernet": {
        "complexity": "1e-4 * n * k + 7e-6 * n * p * k",
        "check_parameters": {"relative_penalty": 0.2},
        "invariance": "affine",
    },
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "knn": {"complexity": "1.7e-3 + 7.9e-10 * n**2"},
    "svm-rbf": {
        "complexity": "1.2e-3 + 7.4e-6 * n + 4.9e-10 * n**2 * p",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
        },
    },
    "svm-sigmoid": {
        "complexity": "1.4e-3 + 5.5e-7 * n**1.5",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
        },
    },
    "svm-linear": {
        "complexity": "2e-3 + 5.5e-8 * n * p",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": SOLVER,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": SOLVER,
        },
    },
    "decision-tree": {"complexity": "1.3e-3 + 9e-9 * n**1.5 * p"},
    "naive-bayes": {"complexity": "1.2e-3 + 2.3e-8 * n * p"},
    "nearest-centroid": {"complexity": "2.3e-3 + 9.6e-8 * n**1.5 + 3e-12 * p**3"},
    "lda": {"complexity": "1.8e-11 * n**2 * p + 1.4e-9 * n * p**2 + 7.4e-4 * k"},
    "adaboost": {"complexity": "2.5e-4 * n + 2.8e-3 * p", "check_parameters": {"n_estimators": 5}},
    "random-forest": {
        "complexity": "9.6e-2 + 1.4e-7 * n**1.5 * p",
        "check_parameters": {"n_estimators": 10},
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": DRAWS,
            "scikit-learn:check_sample_weight_equivalence_on_sparse_data": DRAWS,
        },
    },
    "xgboost": {
        "complexity": "1.1e-2 + 2.5e-7 * n**1.5 * p**0.5 + 2.2e-8 * p**3",
        "check_parameters": {"n_estimators": 5},
    },
    "xgboost-interactions": {
        "complexity": "8.1e-7 * n * p + 2.5e-2 * k + 2.1e-5 * n * k",
        "check_parameters": {"n_estimators": 10},
    },
    "lmnn": {
        "complexity": "2.5e-3 * p + 1.6e-6 * n**1.5 * p**0.5 + 3.5e-6 * p**3",
        "check_parameters": {"max_iter": 20},
    },
    "nca": {"complexity": "3.2e-7 * n**2 * p"},
    "rbf-network": {"complexity": "9.4e-3 + 1.2e-11 * n**2 * p**2"},
    "logistic-interactions": {"complexity": "3.6e-8 * n * p**2 + 1.1e-3 * k"},
    "dummy": {"complexity": "5.3e-4"},
    "lasso": {"complexity": "1.1e-7 * n * p + 1.6e-3 * k"},
    "elastic-net": {"complexity": "3.3e-5 * p + 1.4e-7 * n * p + 1e-3 * k"},
    "soda": {"complexity": "1.3e-6 * n * p + 5e-3 * k"},
    "hiernet": {"complexity": "1e-4 * n * k + 7e-6 * n * p * k", "check_parameters": {"relative_penalty": 0.2}},
}

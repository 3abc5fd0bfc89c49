"""What these methods declare: the seconds of a fit, quick parameters for checks, and failures with their reasons."""

from __future__ import annotations

from typing import Any

TARGETS_ONLY = "a weight counts for a sample as a target; as a neighbour of others it always counts once"

SELECTORS: dict[str, dict[str, Any]] = {
    "relief": {"complexity": "9.2e-4 + 8.4e-8 * n * p + 2.1e-9 * n**2", "invariance": "affine"},
    "relieff": {"complexity": "9.9e-4 + 9e-8 * n * p + 3.5e-9 * n**2", "invariance": "affine"},
    "surf": {"complexity": "1e-3 + 1e-9 * n**2 * p + 3e-9 * n**2", "invariance": "affine"},
    "surf-star": {"complexity": "1e-3 + 1e-9 * n**2 * p + 3e-9 * n**2", "invariance": "affine"},
    "multisurf": {"complexity": "1e-3 + 6e-10 * n**2 * p + 3e-9 * n**2", "invariance": "affine"},
    "multisurf-star": {"complexity": "1e-3 + 6e-10 * n**2 * p + 3e-9 * n**2", "invariance": "affine"},
    "turf": {"complexity": "5e-3 + 2.4e-9 * n**2 * p + 1e-8 * n**2", "invariance": "affine"},
    "vls-relief": {
        "complexity": "5e-2 + 9e-9 * n**2 * p + 1.5e-7 * n**2",
        "check_parameters": {"n_subsets": 5},
        "invariance": "affine",
    },
    "mulrelief": {"complexity": "4e-6 * n**1.5 + 2.1e-6 * n**1.5 * p**0.5 + 7.2e-12 * p**3"},
    "simba": {"complexity": "3.5e-3 + 3.4e-5 * n + 1.9e-4 * p + 2.9e-9 * n**2 * p"},
    "irelief": {"complexity": "1.2e-9 * n**2 * p + 5.2e-10 * n * p**2 + 1.9e-8 * n**2 + 1.2e-3 * k"},
    "nca-diag": {"complexity": "2.6e-2 + 1.5e-8 * n**2 * p + 3.2e-11 * p**3 + 3.6e-7 * n**2"},
    "lfe": {"complexity": "1.3e-3 + 7.7e-8 * n * p + 7.8e-11 * n**2 * p + 7.5e-10 * n**2"},
    "im4e": {
        "complexity": "2.1e-3 + 2.9e-8 * n * p + 3.9e-10 * n**2 * p + 1.8e-8 * n**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "imim4e": {
        "complexity": "2e-3 + 3.9e-8 * n * p + 3.3e-10 * n**2 * p + 1.8e-8 * n**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "immigrate": {
        "complexity": "1.7e-9 * n**2 * p**2",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY,
        },
    },
    "im4e-immigrate": {
        "complexity": "2.8e-9 * n**2 * p + 1.1e-9 * n * p**2 + 5.5e-8 * n**2 + 1.9e-3 * k",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "bim": {
        "complexity": "3e-2 + 2e-7 * n**2 * p + 5e-7 * p**3",
        "check_parameters": {"n_estimators": 5},
    },
    "boosted-im4e-immigrate": {"complexity": "1.9e-2 * k", "check_parameters": {"n_estimators": 5}},
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "mulrelief": {"complexity": "3.3e-5 * n + 2.4e-6 * n**1.5 * p**0.5 + 7.4e-12 * p**3"},
    "simba": {"complexity": "3.5e-3 + 3.4e-5 * n + 1.9e-4 * p + 2.9e-9 * n**2 * p"},
    "irelief": {"complexity": "4.1e-3 + 1.2e-9 * n**2 * p + 5.4e-10 * n * p**2 + 2.3e-8 * n**2"},
    "nca-diag": {"complexity": "2.6e-2 + 1.5e-8 * n**2 * p + 3.2e-11 * p**3 + 3.6e-7 * n**2"},
    "lfe": {"complexity": "1.6e-3 + 7.8e-8 * n * p + 1.7e-10 * n**2 * p"},
    "im4e": {
        "complexity": "2.1e-3 + 1.2e-9 * n**2 * p + 2e-8 * n**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "imim4e": {
        "complexity": "2.3e-3 + 4.4e-10 * n**2 * p + 2.4e-13 * n**2 * p**2 + 2e-8 * n**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "immigrate": {
        "path": ("prune", "with_prune"),
        "complexity": "2.1e-3 + 3.8e-10 * n**2 * p**2 + 9.8e-8 * n**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "im4e-immigrate": {
        "path": ("prune", "with_prune"),
        "complexity": "2.9e-3 + 4.8e-7 * n * p + 8.8e-12 * n**2 * p**2 + 7.9e-8 * n**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "bim": {"complexity": "3e-2 + 2e-7 * n**2 * p + 5e-7 * p**3", "check_parameters": {"n_estimators": 5}},
    "boosted-im4e-immigrate": {"complexity": "1.9e-2 * k", "check_parameters": {"n_estimators": 5}},
}

"""What these methods declare to ``mfbench check``: growth, quick parameters, and failures with their reasons."""

from __future__ import annotations

from typing import Any

TARGETS_ONLY = "a weight counts for a sample as a target; as a neighbour of others it always counts once"

SELECTORS: dict[str, dict[str, Any]] = {
    "relief": {"complexity": "n**2 * p", "invariance": "affine"},
    "relieff": {"complexity": "n**2 * p", "invariance": "affine"},
    "mulrelief": {"complexity": "n**2 * p"},
    "simba": {"complexity": "n**2 * p"},
    "irelief": {"complexity": "n**2 * p"},
    "nca-diag": {"complexity": "n**2 * p"},
    "lfe": {"complexity": "n**2 * p + n * p**2 + p**3"},
    "im4e": {
        "complexity": "n**2 * p",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "imim4e": {
        "complexity": "n**2 * p",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "immigrate": {
        "complexity": "n**2 * p**2",
        "expected_failures": {
            "scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY,
        },
    },
    "im4e-immigrate": {
        "complexity": "n**2 * p",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "bim": {
        "complexity": "n**2 * p**2",
        "check_parameters": {"n_estimators": 5},
    },
    "boosted-im4e-immigrate": {"complexity": "n**2 * p", "check_parameters": {"n_estimators": 5}},
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "mulrelief": {"complexity": "n**2 * p"},
    "simba": {"complexity": "n**2 * p"},
    "irelief": {"complexity": "n**2 * p"},
    "nca-diag": {"complexity": "n**2 * p"},
    "lfe": {"complexity": "n**2 * p + n * p**2 + p**3"},
    "im4e": {
        "complexity": "n**2 * p",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "imim4e": {
        "complexity": "n**2 * p",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "immigrate": {
        "complexity": "n**2 * p**2",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "im4e-immigrate": {
        "complexity": "n**2 * p",
        "expected_failures": {"scikit-learn:check_sample_weight_equivalence_on_dense_data": TARGETS_ONLY},
    },
    "bim": {"complexity": "n**2 * p**2", "check_parameters": {"n_estimators": 5}},
    "boosted-im4e-immigrate": {"complexity": "n**2 * p", "check_parameters": {"n_estimators": 5}},
}

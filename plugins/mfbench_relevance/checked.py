"""What these methods declare: the seconds of a fit, quick parameters for checks, and failures with their reasons."""

from __future__ import annotations

from typing import Any

THRESHOLD = "a weight is the relevance above a permutation threshold, so that of a constant is minus the threshold"

SELECTORS: dict[str, dict[str, Any]] = {
    "rfvm": {"complexity": "3.1e-7 * n * p**2 + 3.1e-7 * p**3", "invariance": "monotone"},
    "rvm-linear": {"complexity": "1.4e-7 * n * p**2 + 1.4e-7 * p**3", "invariance": "affine"},
    "fvm": {"complexity": "2.9e-6 * n * p**2", "check_parameters": {"n_folds": 3}, "invariance": "monotone"},
    "psvm": {
        "complexity": "3e-6 * n * p**2",
        "check_parameters": {"tuning": "kernel", "n_folds": 3},
        "invariance": "monotone",
    },
    "kernel-ranking": {
        "complexity": "1.6e-3 + 9.6e-6 * p + 1.3e-8 * n * p * log(n)",
        "invariance": "monotone",
        "expected_failures": {"constant-column": THRESHOLD},
    },
}

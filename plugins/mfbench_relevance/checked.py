"""What these methods declare: the seconds of a fit, quick parameters for checks, and failures with their reasons."""

from __future__ import annotations

from typing import Any

THRESHOLD = "a weight is the relevance above a permutation threshold, so that of a constant is minus the threshold"

SELECTORS: dict[str, dict[str, Any]] = {
    "rfvm": {
        "complexity": "4e-3 + 1e-7 * n * p + 4e-10 * n * p**2 + 2.5e-7 * p**2 + 2.5e-10 * p**3",
        "invariance": "monotone",
    },
    "rvm-linear": {"complexity": "4e-2 + 1e-4 * p + 1e-7 * n * p + 2e-10 * n * p**2", "invariance": "affine"},
    "fvm": {
        "complexity": "5e-2 + 2e-3 * p + 1e-6 * n * p + 5e-9 * n * p**2 + 5e-6 * p**2",
        "check_parameters": {"n_folds": 3},
        "invariance": "monotone",
    },
    "psvm": {
        "complexity": "5e-2 + 2e-3 * p + 1e-6 * n * p + 5e-9 * n * p**2 + 8e-6 * p**2",
        "check_parameters": {"tuning": "kernel", "n_folds": 3},
        "invariance": "monotone",
    },
    "kernel-ranking": {
        "complexity": "1.6e-3 + 9.6e-6 * p + 1.3e-8 * n * p * log(n)",
        "invariance": "monotone",
        "expected_failures": {"constant-column": THRESHOLD},
    },
}

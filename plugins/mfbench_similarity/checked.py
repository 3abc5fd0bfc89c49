"""What these methods declare: the seconds of a fit, quick parameters for checks, and failures with their reasons."""

from __future__ import annotations

from typing import Any

ONLINE = "it learns row by row, in the order of the table"
PRODUCTS = "similarity is a product of values, not of differences, so a constant other than zero counts"

SELECTORS: dict[str, dict[str, Any]] = {
    "sila": {
        "complexity": "2e-3 + 1e-5 * n + 3e-7 * n * p + 7e-10 * n**2 * p",
        "expected_failures": {"rows": ONLINE},
    },
    "rbs": {"complexity": "1e-3 + 1.9e-6 * p + 2.3e-7 * n**1.5"},
    "rbs-psd": {"complexity": "9.6e-4 + 1.4e-6 * p + 1.8e-7 * n**1.5"},
    "srbs": {
        "complexity": "9e-3 + 1.8e-5 * n + 8.4e-7 * n * p + 1.2e-10 * n**2 * p",
        "expected_failures": {"constant-column": PRODUCTS},
    },
    "srbs-psd": {
        "complexity": "5.1e-3 + 2.1e-7 * n**1.5 + 1.2e-11 * p**3 + 1.5e-7 * n * p * k",
        "expected_failures": {"constant-column": PRODUCTS},
    },
    "relief-psd": {
        "complexity": "1.6e-3 + 3.8e-10 * n**2 * p + 2.6e-13 * n**2 * p**2 + 2.4e-9 * n**2",
        "invariance": "affine",
    },
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "sila": {"complexity": "2e-3 + 1e-5 * n + 3e-7 * n * p + 7e-10 * n**2 * p"},
    "rbs": {"complexity": "1.4e-3 + 1.7e-11 * p**3 + 1.8e-10 * n * p**2 + 3.1e-9 * n**2"},
    "rbs-psd": {"complexity": "9.6e-4 + 1.4e-6 * p + 1.8e-7 * n**1.5"},
    "srbs": {"complexity": "9e-3 + 1.8e-5 * n + 8.4e-7 * n * p + 1.2e-10 * n**2 * p"},
    "srbs-psd": {"complexity": "5.1e-3 + 2.1e-7 * n**1.5 + 1.2e-11 * p**3 + 1.5e-7 * n * p * k"},
    "relief-psd": {"complexity": "1.9e-3 + 3.7e-10 * n**2 * p + 2.8e-13 * n**2 * p**2 + 3.3e-9 * n**2"},
    "relief-similarity": {
        "complexity": "1.3e-3 + 3.4e-6 * n + 4.4e-10 * n**2 * p + 1.6e-11 * n * p**2",
        "check_parameters": {"n_samples": 20},
    },
    "knn-cosine": {"complexity": "9.4e-4 + 5.8e-8 * n**1.5 + 3.5e-10 * n * p**1.5"},
    "knn-euclidean": {"complexity": "1.2e-3 + 7.2e-11 * n**2 * p + 4.4e-14 * n**2 * p**2 + 1.6e-9 * n**2"},
}

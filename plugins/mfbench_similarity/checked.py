"""What these methods declare to ``mfbench check``: growth, quick parameters, and failures with their reasons."""

from __future__ import annotations

from typing import Any

ONLINE = "it learns row by row, in the order of the table"
PRODUCTS = "similarity is a product of values, not of differences, so a constant other than zero counts"

SELECTORS: dict[str, dict[str, Any]] = {
    "sila": {"complexity": "n**2 * p", "expected_failures": {"rows": ONLINE}},
    "rbs": {"complexity": "n**2 * p"},
    "rbs-psd": {"complexity": "n**2 * p"},
    "srbs": {"complexity": "n**2 * p", "expected_failures": {"constant-column": PRODUCTS}},
    "srbs-psd": {"complexity": "n**2 * p", "expected_failures": {"constant-column": PRODUCTS}},
    "relief-psd": {"complexity": "n**2 * p", "invariance": "affine"},
}

CLASSIFIERS: dict[str, dict[str, Any]] = {
    "sila": {"complexity": "n**2 * p + n * p**2"},
    "rbs": {"complexity": "n**2 * p + n * p**2"},
    "rbs-psd": {"complexity": "n**2 * p + n * p**2 + p**3"},
    "srbs": {"complexity": "n**2 * p + n * p**2"},
    "srbs-psd": {"complexity": "n**2 * p + n * p**2 + p**3"},
    "relief-psd": {"complexity": "n**2 * p"},
    "relief-similarity": {"complexity": "n**2 * p", "check_parameters": {"n_samples": 20}},
    "knn-cosine": {"complexity": "n * p"},
    "knn-euclidean": {"complexity": "n * p"},
}

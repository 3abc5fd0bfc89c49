"""Similarities x'Ay / N(x, y) learned for nearest-neighbour classification, and their baselines.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_similarity.histograms import margin_histogram
    from mfbench_similarity.neighbours import SimilarityKNN
    from mfbench_similarity.rbs import RBS, RBSPSD
    from mfbench_similarity.relief import ReliefPSD, ReliefSimilarity
    from mfbench_similarity.sila import SiLA
    from mfbench_similarity.srbs import SRBS, SRBSPSD

_MODULES = {
    "RBS": "mfbench_similarity.rbs",
    "RBSPSD": "mfbench_similarity.rbs",
    "ReliefPSD": "mfbench_similarity.relief",
    "ReliefSimilarity": "mfbench_similarity.relief",
    "SRBS": "mfbench_similarity.srbs",
    "SRBSPSD": "mfbench_similarity.srbs",
    "SiLA": "mfbench_similarity.sila",
    "SimilarityKNN": "mfbench_similarity.neighbours",
    "margin_histogram": "mfbench_similarity.histograms",
}

__all__ = [
    "RBS",
    "RBSPSD",
    "SRBS",
    "SRBSPSD",
    "ReliefPSD",
    "ReliefSimilarity",
    "SiLA",
    "SimilarityKNN",
    "margin_histogram",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_similarity' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

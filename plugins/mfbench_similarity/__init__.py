"""Similarities x'Ay / N(x, y) learned for nearest-neighbour classification, and their baselines.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench_learners.exports import lazy_names

if TYPE_CHECKING:
    from mfbench_similarity.histograms import margin_histogram as margin_histogram
    from mfbench_similarity.neighbours import SimilarityKNN as SimilarityKNN
    from mfbench_similarity.rbs import RBS as RBS
    from mfbench_similarity.rbs import RBSPSD as RBSPSD
    from mfbench_similarity.relief import ReliefPSD as ReliefPSD
    from mfbench_similarity.relief import ReliefSimilarity as ReliefSimilarity
    from mfbench_similarity.sila import SiLA as SiLA
    from mfbench_similarity.srbs import SRBS as SRBS
    from mfbench_similarity.srbs import SRBSPSD as SRBSPSD

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "histograms": "margin_histogram",
        "neighbours": "SimilarityKNN",
        "rbs": "RBS RBSPSD",
        "relief": "ReliefPSD ReliefSimilarity",
        "sila": "SiLA",
        "srbs": "SRBS SRBSPSD",
    },
)

"""Nonlinear feature selection in example space: RFVM, FVM and P-SVM on a kernel between features.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench_learners.exports import lazy_names

if TYPE_CHECKING:
    from mfbench_relevance.fvm import FVM as FVM
    from mfbench_relevance.hsic import HSICLasso as HSICLasso
    from mfbench_relevance.kernels import FeatureKernel as FeatureKernel
    from mfbench_relevance.kernels import feature_kernel as feature_kernel
    from mfbench_relevance.psvm import PSVM as PSVM
    from mfbench_relevance.ranking import KernelRanking as KernelRanking
    from mfbench_relevance.rfvm import RFVM as RFVM

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "fvm": "FVM",
        "hsic": "HSICLasso",
        "kernels": "FeatureKernel feature_kernel",
        "psvm": "PSVM",
        "ranking": "KernelRanking",
        "rfvm": "RFVM",
    },
)

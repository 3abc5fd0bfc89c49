"""SQP-FW: target-neighbour-consistent feature weighting, its regularisation path, and its tuning by cross-validation.

The estimators are imported on first use, so registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench_learners.exports import lazy_names

if TYPE_CHECKING:
    from mfbench_sqpfw.certificate import Certificate as Certificate
    from mfbench_sqpfw.cv import SQPFeatureWeightingCV as SQPFeatureWeightingCV
    from mfbench_sqpfw.path import SQPFeatureWeightingPath as SQPFeatureWeightingPath
    from mfbench_sqpfw.path import sqpfw_path as sqpfw_path
    from mfbench_sqpfw.path import toy_data as toy_data
    from mfbench_sqpfw.weight_path import WeightPath as WeightPath
    from mfbench_sqpfw.weighting import SQPFeatureWeighting as SQPFeatureWeighting

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "certificate": "Certificate",
        "cv": "SQPFeatureWeightingCV",
        "path": "SQPFeatureWeightingPath sqpfw_path toy_data",
        "weight_path": "WeightPath",
        "weighting": "SQPFeatureWeighting",
    },
)

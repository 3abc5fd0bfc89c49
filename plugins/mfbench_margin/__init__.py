"""Margin-based feature weighting: the Relief family, and learners with soft neighbours that also classify.

The estimators are loaded on first use, so that registering the plugin loads neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_margin.im4e import IM4E, ImbalancedIM4E
    from mfbench_margin.irelief import IRelief
    from mfbench_margin.relief import Relief
    from mfbench_margin.relieff import ReliefF

_HOMES = {
    "IM4E": "mfbench_margin.im4e",
    "IRelief": "mfbench_margin.irelief",
    "ImbalancedIM4E": "mfbench_margin.im4e",
    "Relief": "mfbench_margin.relief",
    "ReliefF": "mfbench_margin.relieff",
}

__all__ = ["IM4E", "IRelief", "ImbalancedIM4E", "Relief", "ReliefF"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        value = getattr(import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_margin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

"""Margin-based feature weighting, from Relief to Boosted IMMIGRATE.

The estimators are imported on first use: registering the plugin imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mfbench_margin.boosted import BoostedIMMIGRATE
    from mfbench_margin.im4e import IM4E, ImbalancedIM4E
    from mfbench_margin.im4e_immigrate import IM4EIMMIGRATE, BoostedIM4EIMMIGRATE
    from mfbench_margin.immigrate import IMMIGRATE
    from mfbench_margin.irelief import IRelief
    from mfbench_margin.lfe import LFE
    from mfbench_margin.mulrelief import MulRelief
    from mfbench_margin.nca_diagonal import NCADiagonal
    from mfbench_margin.relief import Relief
    from mfbench_margin.relieff import ReliefF
    from mfbench_margin.simba import Simba
    from mfbench_margin.surf import SURF, MultiSURF, MultiSURFStar, SURFStar
    from mfbench_margin.turf import TuRF
    from mfbench_margin.vls import VLSRelief

_MODULES = {
    "BoostedIM4EIMMIGRATE": "mfbench_margin.im4e_immigrate",
    "BoostedIMMIGRATE": "mfbench_margin.boosted",
    "IM4E": "mfbench_margin.im4e",
    "IM4EIMMIGRATE": "mfbench_margin.im4e_immigrate",
    "IMMIGRATE": "mfbench_margin.immigrate",
    "IRelief": "mfbench_margin.irelief",
    "ImbalancedIM4E": "mfbench_margin.im4e",
    "LFE": "mfbench_margin.lfe",
    "MulRelief": "mfbench_margin.mulrelief",
    "MultiSURF": "mfbench_margin.surf",
    "MultiSURFStar": "mfbench_margin.surf",
    "NCADiagonal": "mfbench_margin.nca_diagonal",
    "Relief": "mfbench_margin.relief",
    "ReliefF": "mfbench_margin.relieff",
    "SURF": "mfbench_margin.surf",
    "SURFStar": "mfbench_margin.surf",
    "Simba": "mfbench_margin.simba",
    "TuRF": "mfbench_margin.turf",
    "VLSRelief": "mfbench_margin.vls",
}

__all__ = [
    "IM4E",
    "IM4EIMMIGRATE",
    "IMMIGRATE",
    "LFE",
    "SURF",
    "BoostedIM4EIMMIGRATE",
    "BoostedIMMIGRATE",
    "IRelief",
    "ImbalancedIM4E",
    "MulRelief",
    "MultiSURF",
    "MultiSURFStar",
    "NCADiagonal",
    "Relief",
    "ReliefF",
    "SURFStar",
    "Simba",
    "TuRF",
    "VLSRelief",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        value = getattr(import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'mfbench_margin' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

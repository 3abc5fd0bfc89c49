"""Margin-based feature weighting, from Relief to Boosted IMMIGRATE.

The estimators are imported on first use: registering the plugin imports neither NumPy nor scikit-learn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbench_learners.exports import lazy_names

if TYPE_CHECKING:
    from mfbench_margin.boosted import BoostedIMMIGRATE as BoostedIMMIGRATE
    from mfbench_margin.im4e import IM4E as IM4E
    from mfbench_margin.im4e import ImbalancedIM4E as ImbalancedIM4E
    from mfbench_margin.im4e_immigrate import IM4EIMMIGRATE as IM4EIMMIGRATE
    from mfbench_margin.im4e_immigrate import BoostedIM4EIMMIGRATE as BoostedIM4EIMMIGRATE
    from mfbench_margin.immigrate import IMMIGRATE as IMMIGRATE
    from mfbench_margin.irelief import IRelief as IRelief
    from mfbench_margin.lfe import LFE as LFE
    from mfbench_margin.mulrelief import MulRelief as MulRelief
    from mfbench_margin.nca_diagonal import NCADiagonal as NCADiagonal
    from mfbench_margin.relief import Relief as Relief
    from mfbench_margin.relieff import ReliefF as ReliefF
    from mfbench_margin.rrelieff import RReliefF as RReliefF
    from mfbench_margin.simba import Simba as Simba
    from mfbench_margin.surf import SURF as SURF
    from mfbench_margin.surf import MultiSURF as MultiSURF
    from mfbench_margin.surf import MultiSURFStar as MultiSURFStar
    from mfbench_margin.surf import SURFStar as SURFStar
    from mfbench_margin.turf import TuRF as TuRF
    from mfbench_margin.vls import VLSRelief as VLSRelief

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {
        "boosted": "BoostedIMMIGRATE",
        "im4e": "IM4E ImbalancedIM4E",
        "im4e_immigrate": "IM4EIMMIGRATE BoostedIM4EIMMIGRATE",
        "immigrate": "IMMIGRATE",
        "irelief": "IRelief",
        "lfe": "LFE",
        "mulrelief": "MulRelief",
        "nca_diagonal": "NCADiagonal",
        "relief": "Relief",
        "relieff": "ReliefF",
        "rrelieff": "RReliefF",
        "simba": "Simba",
        "surf": "SURF MultiSURF MultiSURFStar SURFStar",
        "turf": "TuRF",
        "vls": "VLSRelief",
    },
)

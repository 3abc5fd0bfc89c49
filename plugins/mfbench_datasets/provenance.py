"""Where each dataset comes from and what to cite: one table for the specs and for the loaded datasets.

Light on purpose: `mfbench_datasets.plugin` imports it, and it imports nothing but the standard library.
"""

from __future__ import annotations

from typing import TypedDict


class Provenance(TypedDict):
    """The three provenance fields that `mfbench.DatasetSpec` and `mfbench.Dataset` share."""

    source: str
    license: str
    citation: str


LICENSE = "CC BY 4.0"

_MONKS = "70 (MONK's Problems), generated from the published concept"
_MONKS_CITATION = (
    "S. B. Thrun et al.: The MONK's problems: a performance comparison of different learning algorithms. "
    "CMU-CS-91-197, Carnegie Mellon University, 1991; "
    "J. Wnek: MONK's Problems. UCI Machine Learning Repository, 1993"
)
_LED = "57 (LED Display Domain), generated from the published definition"
_LED_CITATION = (
    "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone: Classification and regression trees. Wadsworth 1984, "
    "section 2.6.1; L. Breiman, C. J. Stone: LED Display Domain. UCI Machine Learning Repository, 1988"
)
_WAVEFORM_CITATION = (
    "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone: Classification and regression trees. Wadsworth 1984, "
    "section 2.6.2; L. Breiman, C. J. Stone: Waveform Database Generator. UCI Machine Learning Repository, 1988, "
)

_WINE_CITATION = "S. Aeberhard, M. Forina: Wine. UCI Machine Learning Repository, 1992, doi:10.24432/C5PC7J"

# name: (UCI number and what was done to it, citation)
_TABLE = {
    "iris": (
        "53 (Iris), as bundled with scikit-learn: two values of the UCI file corrected to Fisher's",
        "R. A. Fisher: The use of multiple measurements in taxonomic problems. Annals of Eugenics 7(2):179-188, 1936, "
        "doi:10.24432/C56C76",
    ),
    "wine": ("109 (Wine), as bundled with scikit-learn", _WINE_CITATION),
    "wine-igt": ("109 (Wine), classes 1 and 2, as bundled with scikit-learn", _WINE_CITATION),
    "wdbc": (
        "17 (Breast Cancer Wisconsin, Diagnostic), as bundled with scikit-learn",
        "W. Wolberg, O. Mangasarian, N. Street, W. Street: Breast Cancer Wisconsin (Diagnostic). "
        "UCI Machine Learning Repository, 1993, doi:10.24432/C5DW2B",
    ),
    "optdigits": (
        "80 (Optical Recognition of Handwritten Digits), test part, as bundled with scikit-learn",
        "E. Alpaydin, C. Kaynak: Optical Recognition of Handwritten Digits. UCI Machine Learning Repository, 1998, "
        "doi:10.24432/C50P49",
    ),
    "monks-1": (_MONKS, _MONKS_CITATION),
    "monks-2": (_MONKS, _MONKS_CITATION),
    "monks-3": (_MONKS, _MONKS_CITATION),
    "balance-scale": (
        "12 (Balance Scale), generated from the torque rule",
        "R. S. Siegler: Three aspects of cognitive development. Cognitive Psychology 8:481-520, 1976, "
        "doi:10.24432/C5488X",
    ),
    "tic-tac-toe": (
        "101 (Tic-Tac-Toe Endgame), generated from the rules of the game",
        "D. W. Aha: Tic-Tac-Toe Endgame. UCI Machine Learning Repository, 1991, doi:10.24432/C5688J",
    ),
    "waveform-21": (
        "107 (Waveform Database Generator, version 1), generated from the published definition",
        _WAVEFORM_CITATION + "doi:10.24432/C5CS3C",
    ),
    "waveform-40": (
        "108 (Waveform Database Generator, version 2), generated from the published definition",
        _WAVEFORM_CITATION + "doi:10.24432/C56014",
    ),
    "led-7": (_LED, _LED_CITATION),
    "led-24": (_LED, _LED_CITATION),
}


def provenance(name: str) -> Provenance:
    """Return source, license and citation of one of the datasets.

    Parameters
    ----------
    name : str
        As registered.

    Returns
    -------
    dict
        Keywords for `mfbench.DatasetSpec` and `mfbench.Dataset`.

    Examples
    --------
    >>> provenance("monks-1")["source"]
    "UCI 70 (MONK's Problems), generated from the published concept; https://archive.ics.uci.edu/dataset/70"
    >>> provenance("iris")["license"]
    'CC BY 4.0'
    """
    what, citation = _TABLE[name]
    number = what.split()[0]
    return Provenance(
        source=f"UCI {what}; https://archive.ics.uci.edu/dataset/{number}", license=LICENSE, citation=citation
    )

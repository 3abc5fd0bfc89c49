"""The similarity learners and their baselines, as mfbench registers them.

Every learner is a classifier. In its diagonal form it is also a selector and is registered as both under one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench import ClassifierSpec, SelectorSpec, hookimpl
from mfbench_similarity.checked import CLASSIFIERS, SELECTORS

NEIGHBOURS = {"n_neighbors": [1, 3, 5, 7, 9]}
# The paper states no grid. Margins grow with k, so a steepness that suits one neighbour is too large for nine.
STRICT: dict[str, list[Any]] = {"n_neighbors": [1, 5, 9], "beta": [0.1, 1.0, 10.0, 100.0]}
_PAPER = (
    "A. M. Qamar, E. Gaussier: RELIEF algorithm and similarity learning for k-NN. International Journal of Computer "
    "Information Systems and Industrial Management Applications 4, 2012"
)
_SILA = (
    "A. M. Qamar, E. Gaussier, J.-P. Chevallet, J. H. Lim: Similarity learning for nearest neighbor classification. "
    "ICDM 2008, 983-988"
)


@dataclass(frozen=True)
class _Learner:
    """A similarity learner: what its specs have in common, and the parameters that the selector sets."""

    name: str
    summary: str
    factory: str
    tags: tuple[str, ...]
    grid: Mapping[str, list[Any]] = field(default_factory=lambda: dict(NEIGHBOURS))
    paper: str = _PAPER
    diagonal: Mapping[str, Any] | None = field(default_factory=lambda: {"matrix": "diagonal"})


_LEARNERS = [
    _Learner(
        "sila",
        "SiLA: a perceptron that corrects the similarity at each sample whose impostors are too similar",
        "mfbench_similarity.sila:SiLA",
        ("similarity", "perceptron"),
        paper=_SILA,
    ),
    _Learner(
        "rbs",
        "RBS: the similarity of largest total margin, in closed form",
        "mfbench_similarity.rbs:RBS",
        ("similarity", "margin"),
    ),
    _Learner(
        "rbs-psd",
        "RBS-PSD: RBS among positive semi-definite matrices",
        "mfbench_similarity.rbs:RBSPSD",
        ("similarity", "margin", "psd"),
    ),
    _Learner(
        "srbs",
        "sRBS: the similarity with few margins below zero, by gradient descent",
        "mfbench_similarity.srbs:SRBS",
        ("similarity", "margin"),
        STRICT,
    ),
    _Learner(
        "srbs-psd",
        "sRBS-PSD: sRBS among positive semi-definite matrices",
        "mfbench_similarity.srbs:SRBSPSD",
        ("similarity", "margin", "psd"),
        STRICT,
    ),
    _Learner(
        "relief-psd",
        "RELIEF-PSD: the positive weights of Relief as the diagonal of a similarity",
        "mfbench_similarity.relief:ReliefPSD",
        ("similarity", "margin", "psd"),
        diagonal={},
    ),
    _Learner(
        "relief-similarity",
        "The weights of Relief, including negative ones, as the diagonal of a similarity",
        "mfbench_similarity.relief:ReliefSimilarity",
        ("similarity", "margin"),
        diagonal=None,
    ),
]


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return the learners in their diagonal form."""
    return [
        SelectorSpec(
            name=learner.name,
            summary=learner.summary,
            factory=learner.factory,
            paper=learner.paper,
            defaults=dict(learner.diagonal),
            grid=dict(learner.grid),
            tags=learner.tags,
            warm_up=True,
            **SELECTORS[learner.name],
        )
        for learner in _LEARNERS
        if learner.diagonal is not None
    ]


@hookimpl
def mfbench_classifiers() -> list[ClassifierSpec]:
    """Return the learners and the two baselines."""
    return [
        *(
            ClassifierSpec(
                name=learner.name,
                summary=learner.summary,
                factory=learner.factory,
                paper=learner.paper,
                grid=dict(learner.grid),
                tags=learner.tags,
                warm_up=True,
                **CLASSIFIERS[learner.name],
            )
            for learner in _LEARNERS
        ),
        *(
            ClassifierSpec(
                name=f"knn-{measure}",
                summary=f"Nearest neighbours by {name}, with the rules and modes of the similarity learners",
                factory="mfbench_similarity.neighbours:SimilarityKNN",
                paper=_PAPER,
                defaults={"measure": measure},
                grid=dict(NEIGHBOURS),
                tags=("similarity", "neighbours", "baseline"),
                warm_up=True,
                **CLASSIFIERS[f"knn-{measure}"],
            )
            for measure, name in (("cosine", "cosine"), ("euclidean", "Euclidean distance"))
        ),
    ]

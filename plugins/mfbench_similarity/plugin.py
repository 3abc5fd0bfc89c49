"""The similarity learners and their baselines, as mfbench registers them.

Every learner is a classifier. In its diagonal form it is also a selector and is registered as both under one name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench import ClassifierSpec, SelectorSpec, hookimpl

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

ONLINE = "it learns row by row, in the order of the table"
PRODUCTS = "similarity is a product of values, not of differences, so a constant other than zero counts"


@dataclass(frozen=True)
class _Learner:
    """A similarity learner: what its specs share, what only one has, and the parameters that the selector sets."""

    name: str
    summary: str
    factory: str
    tags: tuple[str, ...]
    grid: Mapping[str, list[Any]] = field(default_factory=lambda: dict(NEIGHBOURS))
    paper: str = _PAPER
    diagonal: Mapping[str, Any] | None = field(default_factory=lambda: {"matrix": "diagonal"})
    selector: Mapping[str, Any] = field(default_factory=dict)
    classifier: Mapping[str, Any] = field(default_factory=dict)


_LEARNERS = [
    _Learner(
        "sila",
        "SiLA: a perceptron that corrects the similarity at each sample whose impostors are too similar",
        "mfbench_similarity.sila:SiLA",
        ("similarity", "perceptron"),
        paper=_SILA,
        selector={
            "complexity": "2e-3 + 1e-5 * n + 3e-7 * n * p + 7e-10 * n**2 * p",
            "expected_failures": {"rows": ONLINE},
        },
        classifier={"complexity": "2e-3 + 1e-5 * n + 3e-7 * n * p + 7e-10 * n**2 * p"},
    ),
    _Learner(
        "rbs",
        "RBS: the similarity of largest total margin, in closed form",
        "mfbench_similarity.rbs:RBS",
        ("similarity", "margin"),
        selector={"complexity": "1e-3 + 1.9e-6 * p + 2.3e-7 * n**1.5"},
        classifier={"complexity": "1.4e-3 + 1.7e-11 * p**3 + 1.8e-10 * n * p**2 + 3.1e-9 * n**2"},
    ),
    _Learner(
        "rbs-psd",
        "RBS-PSD: RBS among positive semi-definite matrices",
        "mfbench_similarity.rbs:RBSPSD",
        ("similarity", "margin", "psd"),
        selector={"complexity": "9.6e-4 + 1.4e-6 * p + 1.8e-7 * n**1.5"},
        classifier={"complexity": "9.6e-4 + 1.4e-6 * p + 1.8e-7 * n**1.5"},
    ),
    _Learner(
        "srbs",
        "sRBS: the similarity with few margins below zero, by gradient descent",
        "mfbench_similarity.srbs:SRBS",
        ("similarity", "margin"),
        STRICT,
        selector={
            "complexity": "9e-3 + 1.8e-5 * n + 8.4e-7 * n * p + 1.2e-10 * n**2 * p",
            "expected_failures": {"constant-column": PRODUCTS},
        },
        classifier={"complexity": "9e-3 + 1.8e-5 * n + 8.4e-7 * n * p + 1.2e-10 * n**2 * p"},
    ),
    _Learner(
        "srbs-psd",
        "sRBS-PSD: sRBS among positive semi-definite matrices",
        "mfbench_similarity.srbs:SRBSPSD",
        ("similarity", "margin", "psd"),
        STRICT,
        selector={
            "complexity": "5.1e-3 + 2.1e-7 * n**1.5 + 1.2e-11 * p**3 + 1.5e-7 * n * p * k",
            "expected_failures": {"constant-column": PRODUCTS},
        },
        classifier={"complexity": "5.1e-3 + 2.1e-7 * n**1.5 + 1.2e-11 * p**3 + 1.5e-7 * n * p * k"},
    ),
    _Learner(
        "relief-psd",
        "RELIEF-PSD: the positive weights of Relief as the diagonal of a similarity",
        "mfbench_similarity.relief:ReliefPSD",
        ("similarity", "margin", "psd"),
        diagonal={},
        selector={
            "complexity": "1.6e-3 + 3.8e-10 * n**2 * p + 2.6e-13 * n**2 * p**2 + 2.4e-9 * n**2",
            "invariance": "affine",
        },
        classifier={"complexity": "1.9e-3 + 3.7e-10 * n**2 * p + 2.8e-13 * n**2 * p**2 + 3.3e-9 * n**2"},
    ),
    _Learner(
        "relief-similarity",
        "RELIEF: its weights, including negative ones, as the diagonal of a similarity",
        "mfbench_similarity.relief:ReliefSimilarity",
        ("similarity", "margin"),
        diagonal=None,
        classifier={
            "complexity": "1.3e-3 + 3.4e-6 * n + 4.4e-10 * n**2 * p + 1.6e-11 * n * p**2",
            "check_parameters": {"n_samples": 20},
        },
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
            **learner.selector,
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
                **learner.classifier,
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
                complexity=complexity,
            )
            for measure, name, complexity in (
                ("cosine", "cosine", "9.4e-4 + 5.8e-8 * n**1.5 + 3.5e-10 * n * p**1.5"),
                (
                    "euclidean",
                    "Euclidean distance",
                    "1.2e-3 + 7.2e-11 * n**2 * p + 4.4e-14 * n**2 * p**2 + 1.6e-9 * n**2",
                ),
            )
        ),
    ]

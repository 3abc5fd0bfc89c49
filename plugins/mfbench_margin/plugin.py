"""The selectors and classifiers that this plugin registers with mfbench.

The Relief family are selectors; every other learner also classifies and is registered as both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbench import ClassifierSpec, SelectorSpec, hookimpl

SIGMAS = [4.0, 2.0, 1.0, 0.5, 0.25, 0.125]
NEIGHBOURS = {"n_neighbors": [1, 3, 5]}
_IMMIGRATE = (
    "R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms. "
    "Entropy 22(3):291, 2020"
)
_REBATE = (
    "R. J. Urbanowicz, R. S. Olson, P. Schmitt, M. Meeker, J. H. Moore: Benchmarking relief-based feature selection "
    "methods for bioinformatics data mining. Journal of Biomedical Informatics 85:168-188, 2018"
)
BOTH = {"classification": {}, "regression": {"target": "numbers"}}
TARGETS_ONLY = {
    "expected_failures": {
        "scikit-learn:check_sample_weight_equivalence_on_dense_data": "a weight counts for a sample as a target; as a "
        "neighbour of others it always counts once"
    }
}
# Name, summary, class, seconds of a fit and paper of the methods whose neighbours are all rows within some distance.
_WITHIN_A_DISTANCE = [
    (
        "surf",
        "SURF: Relief with all neighbours within the mean distance",
        "SURF",
        "1e-3 + 1e-9 * n**2 * p + 3e-9 * n**2",
        "C. S. Greene, N. M. Penrod, J. Kiralis, J. H. Moore: Spatially uniform ReliefF (SURF) for "
        "computationally-efficient filtering of gene-gene interactions. BioData Mining 2:5, 2009",
    ),
    (
        "surf-star",
        "SURF*: SURF that also learns from far rows",
        "SURFStar",
        "1e-3 + 1e-9 * n**2 * p + 3e-9 * n**2",
        "C. S. Greene, D. S. Himmelstein, J. Kiralis, J. H. Moore: The informative extremes: using both nearest and "
        "farthest individuals can improve Relief algorithms in the domain of human genetics. EvoBIO 2010, LNCS "
        "6023:182-193",
    ),
    (
        "multisurf",
        "MultiSURF: SURF with a separate distance for each row",
        "MultiSURF",
        "1e-3 + 6e-10 * n**2 * p + 3e-9 * n**2",
        _REBATE,
    ),
    (
        "multisurf-star",
        "MultiSURF*: MultiSURF that also learns from far rows",
        "MultiSURFStar",
        "1e-3 + 6e-10 * n**2 * p + 3e-9 * n**2",
        "D. Granizo-Mackenzie, J. H. Moore: Multiple threshold spatially uniform ReliefF for the genetic analysis of "
        "complex human diseases. EvoBIO 2013, LNCS 7833:1-10",
    ),
]


@dataclass(frozen=True)
class _Learner:
    """A learner that is both selector and classifier: what its two specs share, and what only one of them has."""

    name: str
    summary: str
    factory: str
    paper: str
    tags: tuple[str, ...]
    grid: Mapping[str, list[Any]] = field(default_factory=dict)
    classifier_grid: Mapping[str, list[Any]] = field(default_factory=dict)
    selector: Mapping[str, Any] = field(default_factory=dict)
    classifier: Mapping[str, Any] = field(default_factory=dict)


_LEARNERS = [
    _Learner(
        "mulrelief",
        "MulRelief: Relief repeated with neighbours in the learned metric",
        "mfbench_margin.mulrelief:MulRelief",
        "I. Takeuchi, M. Sugiyama: Target neighbor consistent feature weighting for nearest neighbor classification. "
        "NIPS 2011",
        ("margin", "filter"),
        {"max_iter": [1, 10, 100]},
        NEIGHBOURS,
        selector={"complexity": "4e-6 * n**1.5 + 2.1e-6 * n**1.5 * p**0.5 + 7.2e-12 * p**3"},
        classifier={"complexity": "3.3e-5 * n + 2.4e-6 * n**1.5 * p**0.5 + 7.4e-12 * p**3"},
    ),
    _Learner(
        "simba",
        "Simba: gradient ascent on the margin, with neighbours under the current weights",
        "mfbench_margin.simba:Simba",
        "R. Gilad-Bachrach, A. Navot, N. Tishby: Margin based feature selection - theory and algorithms. ICML 2004",
        ("margin", "embedded"),
        {"utility": ["linear", "sigmoid"]},
        NEIGHBOURS,
        selector={"complexity": "3.5e-3 + 3.4e-5 * n + 1.9e-4 * p + 2.9e-9 * n**2 * p"},
        classifier={"complexity": "3.5e-3 + 3.4e-5 * n + 1.9e-4 * p + 2.9e-9 * n**2 * p"},
    ),
    _Learner(
        "irelief",
        "I-Relief: margins of soft neighbours under the learned weights; outliers count less",
        "mfbench_margin.irelief:IRelief",
        "Y. Sun, J. Li: Iterative RELIEF for feature weighting. ICML 2006, 913-920; Y. Sun: Iterative RELIEF for "
        "feature weighting: algorithms, theories, and applications. IEEE TPAMI 29(6):1035-1051, 2007",
        ("margin", "embedded"),
        {"sigma": SIGMAS},
        selector={"complexity": "1.2e-9 * n**2 * p + 5.2e-10 * n * p**2 + 1.9e-8 * n**2 + 1.2e-3 * k"},
        classifier={"complexity": "4.1e-3 + 1.2e-9 * n**2 * p + 5.4e-10 * n * p**2 + 2.3e-8 * n**2"},
    ),
    _Learner(
        "nca-diag",
        "NCA-D: feature weights that make random neighbours be of the right class",
        "mfbench_margin.nca_diagonal:NCADiagonal",
        "J. Goldberger et al.: Neighbourhood components analysis. NIPS 2004; I. Takeuchi, M. Sugiyama, NIPS 2011",
        ("margin", "embedded"),
        {"objective": ["margin", "nca"], "sigma": [0.125, 0.5, 1.0, 4.0]},
        NEIGHBOURS,
        selector={"complexity": "2.6e-2 + 1.5e-8 * n**2 * p + 3.2e-11 * p**3 + 3.6e-7 * n**2"},
        classifier={"complexity": "2.6e-2 + 1.5e-8 * n**2 * p + 3.2e-11 * p**3 + 3.6e-7 * n**2"},
    ),
    _Learner(
        "lfe",
        "LFE: full metric from nearest hits and misses, in closed form",
        "mfbench_margin.lfe:LFE",
        "Y. Sun, D. Wu: A RELIEF based feature extraction algorithm. SDM 2008, 188-195",
        ("margin", "metric", "interactions"),
        {"n_components": [None, 1, 3]},
        NEIGHBOURS,
        selector={"complexity": "1.3e-3 + 7.7e-8 * n * p + 7.8e-11 * n**2 * p + 7.5e-10 * n**2"},
        classifier={"complexity": "1.6e-3 + 7.8e-8 * n * p + 1.7e-10 * n**2 * p"},
    ),
    _Learner(
        "im4e",
        "IM4E: margins of soft neighbours under max-min entropy, predicts by expected distance",
        "mfbench_margin.im4e:IM4E",
        "Y. Bei, P. Hong: Maximizing margin quality and quantity. MLSP 2015, 1-6",
        ("margin", "embedded"),
        {"sigma": SIGMAS},
        selector={"complexity": "2.1e-3 + 2.9e-8 * n * p + 3.9e-10 * n**2 * p + 1.8e-8 * n**2", **TARGETS_ONLY},
        classifier={"complexity": "2.1e-3 + 1.2e-9 * n**2 * p + 2e-8 * n**2", **TARGETS_ONLY},
    ),
    _Learner(
        "imim4e",
        "imIM4E: IM4E with a factor for the margins of each class",
        "mfbench_margin.im4e:ImbalancedIM4E",
        "R. Zhao, P. Hong, J. S. Liu: IMMIGRATE: a margin-based feature selection method with interaction terms. "
        "Manuscript, 2019",
        ("margin", "embedded"),
        {"sigma": SIGMAS, "rho": [1.1, 1.05, 1.0, 0.95, 0.9]},
        selector={"complexity": "2e-3 + 3.9e-8 * n * p + 3.3e-10 * n**2 * p + 1.8e-8 * n**2", **TARGETS_ONLY},
        classifier={"complexity": "2.3e-3 + 4.4e-10 * n**2 * p + 2.4e-13 * n**2 * p**2 + 2e-8 * n**2", **TARGETS_ONLY},
    ),
    _Learner(
        "immigrate",
        "IMMIGRATE: margins under a distance with a weight for every pair of features",
        "mfbench_margin.immigrate:IMMIGRATE",
        _IMMIGRATE,
        ("margin", "embedded", "interactions"),
        {"sigma": SIGMAS, "prune": [False, True]},
        selector={"complexity": "1.7e-9 * n**2 * p**2", **TARGETS_ONLY},
        classifier={
            "path": ("prune", "with_prune"),
            "complexity": "2.1e-3 + 3.8e-10 * n**2 * p**2 + 9.8e-8 * n**2",
            **TARGETS_ONLY,
        },
    ),
    _Learner(
        "im4e-immigrate",
        "IM4E-IMMIGRATE: IMMIGRATE among the features with the largest weights in IM4E",
        "mfbench_margin.im4e_immigrate:IM4EIMMIGRATE",
        _IMMIGRATE,
        ("margin", "embedded", "interactions"),
        {"sigma": SIGMAS, "prune": [False, True]},
        selector={"complexity": "2.8e-9 * n**2 * p + 1.1e-9 * n * p**2 + 5.5e-8 * n**2 + 1.9e-3 * k", **TARGETS_ONLY},
        classifier={
            "path": ("prune", "with_prune"),
            "complexity": "2.9e-3 + 4.8e-7 * n * p + 8.8e-12 * n**2 * p**2 + 7.9e-8 * n**2",
            **TARGETS_ONLY,
        },
    ),
    _Learner(
        "bim",
        "Boosted IMMIGRATE: BIM, with a sigma that decreases from round to round",
        "mfbench_margin.boosted:BoostedIMMIGRATE",
        _IMMIGRATE,
        ("margin", "ensemble", "interactions"),
        selector={"complexity": "3e-2 + 1.6e-7 * n**2 * p + 5e-7 * p**3", "check_parameters": {"n_estimators": 5}},
        classifier={"complexity": "3e-2 + 1.6e-7 * n**2 * p + 5e-7 * p**3", "check_parameters": {"n_estimators": 5}},
    ),
    _Learner(
        "boosted-im4e-immigrate",
        "Boosted IM4E-IMMIGRATE: B4G, for many features",
        "mfbench_margin.im4e_immigrate:BoostedIM4EIMMIGRATE",
        _IMMIGRATE,
        ("margin", "ensemble", "interactions"),
        selector={"complexity": "1.9e-2 * k", "check_parameters": {"n_estimators": 5}},
        classifier={"complexity": "1.9e-2 * k", "check_parameters": {"n_estimators": 5}},
    ),
]


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return the margin-based feature selectors."""
    return [
        SelectorSpec(
            name="relief",
            summary="Relief: difference to the nearest miss minus difference to the nearest hit",
            factory="mfbench_margin.relief:Relief",
            paper=(
                "K. Kira, L. A. Rendell: The feature selection problem: traditional methods and a new algorithm. "
                "AAAI 1992, 129-134"
            ),
            grid={"diff": ["abs", "sq"], "metric": ["euclidean", "manhattan"]},
            tags=("margin", "filter"),
            warm_up=True,
            complexity="9.2e-4 + 8.4e-8 * n * p + 2.1e-9 * n**2",
            invariance="affine",
        ),
        SelectorSpec(
            name="relieff",
            summary="ReliefF: k nearest hits and misses per class, with categories and missing values",
            factory="mfbench_margin.relieff:ReliefF",
            paper=(
                "I. Kononenko: Estimating attributes: analysis and extensions of RELIEF. ECML 1994, 171-182; "
                "M. Robnik-Sikonja, I. Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. "
                "Machine Learning 53:23-69, 2003"
            ),
            grid={"n_neighbors": [1, 3, 5, 10, 30]},
            path=("n_neighbors", "importances_at"),
            tasks=BOTH,
            tags=("margin", "filter"),
            warm_up=True,
            raw_input=True,
            complexity="9.9e-4 + 9e-8 * n * p + 3.5e-9 * n**2",
            invariance="affine",
        ),
        SelectorSpec(
            name="rrelieff",
            summary="RReliefF: Relief for numbers, by how much the targets of near rows differ",
            factory="mfbench_margin.rrelieff:RReliefF",
            paper=(
                "M. Robnik-Sikonja, I. Kononenko: Theoretical and empirical analysis of ReliefF and RReliefF. "
                "Machine Learning 53:23-69, 2003"
            ),
            grid={"n_neighbors": [10, 30, 70]},
            tasks=("regression",),
            targets="numbers",
            tags=("margin", "filter"),
            warm_up=True,
            complexity="1e-3 + 2e-9 * n**2 * p + 1e-7 * n**2",
            invariance="affine",
        ),
        *(
            SelectorSpec(
                name=name,
                summary=summary,
                factory=f"mfbench_margin.surf:{class_name}",
                paper=paper,
                tasks=BOTH,
                tags=("margin", "filter"),
                warm_up=True,
                raw_input=True,
                complexity=complexity,
                invariance="affine",
            )
            for name, summary, class_name, complexity, paper in _WITHIN_A_DISTANCE
        ),
        SelectorSpec(
            name="turf",
            summary="TuRF: a Relief method, repeated without the features that it ranked last",
            factory="mfbench_margin.turf:TuRF",
            paper=(
                "J. H. Moore, B. C. White: Tuning ReliefF for genome-wide genetic analysis. EvoBIO 2007, LNCS "
                "4447:166-175"
            ),
            grid={"base": ["multisurf", "relieff"], "removed": [0.1, 0.25, 0.5]},
            tags=("margin", "filter"),
            warm_up=True,
            raw_input=True,
            complexity="5e-3 + 2.4e-9 * n**2 * p + 1e-8 * n**2",
            invariance="affine",
        ),
        SelectorSpec(
            name="vls-relief",
            summary="VLS-Relief: a Relief method on random subsets of the features",
            factory="mfbench_margin.vls:VLSRelief",
            paper=(
                "M. J. Eppstein, P. Haake: Very large scale ReliefF for genome-wide association analysis. CIBCB 2008, "
                "112-119"
            ),
            grid={"base": ["multisurf", "relieff"], "combine": ["max", "mean"]},
            tags=("margin", "filter"),
            warm_up=True,
            raw_input=True,
            complexity="5e-2 + 9e-9 * n**2 * p + 1.5e-7 * n**2",
            check_parameters={"n_subsets": 5},
            invariance="affine",
        ),
        *(
            SelectorSpec(
                name=learner.name,
                summary=learner.summary,
                factory=learner.factory,
                paper=learner.paper,
                grid=dict(learner.grid),
                tags=learner.tags,
                warm_up=True,
                **learner.selector,
            )
            for learner in _LEARNERS
        ),
    ]


@hookimpl
def mfbench_classifiers() -> list[ClassifierSpec]:
    """Return the margin-based learners that also classify."""
    return [
        ClassifierSpec(
            name=learner.name,
            summary=learner.summary,
            factory=learner.factory,
            paper=learner.paper,
            grid={**learner.grid, **learner.classifier_grid},
            tags=learner.tags,
            warm_up=True,
            **learner.classifier,
        )
        for learner in _LEARNERS
    ]

"""The selectors of this plugin. Importing this module loads no numeric library; factories are imported on first use."""

from __future__ import annotations

from mfbench import SelectorSpec, hookimpl

_BOTH = {"classification": {}, "regression": {"target": "numbers"}}
_BINS = {"bins": (3, 5, 10)}
_COPIES = "features are chosen one after the other, and the copy of a chosen one adds nothing"
_REMOVED = "of two equal features the second is removed"
_BROWN = (
    "compared in: G. Brown, A. Pocock, M.-J. Zhao, M. Luján, Conditional likelihood maximisation: a unifying framework "
    "for information theoretic feature selection, Journal of Machine Learning Research 13, 2012"
)
_BENNASAR = (
    "M. Bennasar, Y. Hicks, R. Setchi, Feature selection using joint mutual information maximisation, Expert Systems "
    "with Applications 42(22), 2015"
)
_QUINLAN = "J. R. Quinlan, C4.5: Programs for Machine Learning, Morgan Kaufmann, 1993"

_GREEDY = {
    "jmi": (
        "JMI: joint mutual information of pairs of features; selects 50 features",
        "H. H. Yang, J. Moody, Data visualization and feature selection: new algorithms for nongaussian data, NIPS 12, "
        f"1999; {_BROWN}",
    ),
    "jmim": ("JMIM: smallest joint information with a selected feature; selects 50 features", _BENNASAR),
    "njmim": ("NJMIM: JMIM divided by the joint entropy; selects 50 features", _BENNASAR),
    "cmim": (
        "CMIM: smallest information that remains given a selected feature; selects 50 features",
        "F. Fleuret, Fast binary feature selection with conditional mutual information, Journal of Machine Learning "
        "Research 5, 2004",
    ),
    "disr": (
        "DISR: joint information of pairs of features over their entropy; selects 50 features",
        "P. E. Meyer, G. Bontempi, On the use of variable complementarity for feature selection in cancer "
        "classification, EvoWorkshops 2006",
    ),
    "cife": (
        "CIFE: relevance, less redundancy, plus redundancy within the classes; selects 50 features",
        "D. Lin, X. Tang, Conditional infomax learning: an integrated framework for feature extraction and fusion, "
        "ECCV 2006",
    ),
    "icap": (
        "ICAP: relevance less the redundancy that the classes do not explain; selects 50 features",
        "A. Jakulin, Machine learning based on attribute interactions, thesis, University of Ljubljana, 2005",
    ),
    "mifs": (
        "MIFS: relevance less the sum of redundancies; selects 50 features",
        "R. Battiti, Using mutual information for selecting features in supervised neural net learning, IEEE "
        "Transactions on Neural Networks 5(4), 1994",
    ),
}
_MEASURES = {
    "information-gain": ("gain", "Information gain: entropy of the target that a binned feature explains", _QUINLAN),
    "gain-ratio": ("gain-ratio", "Gain ratio: information gain over the entropy of the feature", _QUINLAN),
    "symmetric-uncertainty": (
        "symmetric-uncertainty",
        "Symmetric uncertainty: information gain over the mean entropy of feature and target",
        "W. H. Press et al., Numerical Recipes in C, Cambridge University Press, 1992",
    ),
    "chi2": (
        "chi2",
        "χ²: Pearson's statistic of the levels of a feature and the classes",
        "H. Liu, R. Setiono, Chi2: feature selection and discretization of numeric attributes, ICTAI 1995",
    ),
    "gini": (
        "gini",
        "Gini: decrease of the Gini impurity by the levels of a feature",
        "L. Breiman, J. H. Friedman, R. A. Olshen, C. J. Stone, Classification and Regression Trees, Wadsworth, 1984",
    ),
}


@hookimpl
def mfbench_selectors() -> list[SelectorSpec]:
    """Return the selectors that count: filters, greedy criteria, and subsets."""
    return [
        *(
            SelectorSpec(
                name=name,
                summary=summary,
                factory="mfbench_information.filters:InformationFilter",
                defaults={"measure": measure},
                paper=paper,
                grid=_BINS,
                targets="numbers",
                tasks=_BOTH,
                tags=("information", "filter"),
                warm_up=True,
                complexity="1.1e-3 + 1e-7 * n * p",
                invariance="monotone",
            )
            for name, (measure, summary, paper) in _MEASURES.items()
        ),
        SelectorSpec(
            name="fisher-score",
            summary="Fisher score: spread of the class means over the spread within the classes",
            factory="mfbench_information.filters:FisherScore",
            paper="R. O. Duda, P. E. Hart, D. G. Stork, Pattern Classification, 2nd edition, Wiley, 2001",
            tags=("information", "filter", "linear"),
            complexity="7e-4 + 2e-8 * n * p",
            invariance="affine",
        ),
        *(
            SelectorSpec(
                name=name,
                summary=summary,
                factory="mfbench_information.greedy:GreedyInformation",
                defaults={"criterion": name},
                paper=paper,
                grid=_BINS,
                targets="numbers",
                tasks=_BOTH,
                tags=("information", "filter", "multivariate"),
                warm_up=True,
                complexity="1.5e-3 + 2e-7 * n * p",
                invariance="monotone",
                expected_failures={"equal-columns": _COPIES},
            )
            for name, (summary, paper) in _GREEDY.items()
        ),
        SelectorSpec(
            name="fcbf",
            summary="FCBF: features that no better feature makes redundant",
            factory="mfbench_information.subsets:FCBF",
            paper="L. Yu, H. Liu, Feature selection for high-dimensional data: a fast correlation-based filter "
            "solution, ICML 2003",
            targets="numbers",
            tasks=_BOTH,
            tags=("information", "filter", "multivariate"),
            warm_up=True,
            complexity="1.2e-3 + 1.4e-7 * n * p",
            invariance="monotone",
            expected_failures={"equal-columns": _REMOVED},
        ),
        SelectorSpec(
            name="cfs",
            summary="CFS: subset related to the target and little to itself, by best-first search",
            factory="mfbench_information.subsets:CFS",
            paper="M. A. Hall, Correlation-based feature selection for machine learning, thesis, University of "
            "Waikato, 1999",
            targets="numbers",
            tasks=_BOTH,
            tags=("information", "filter", "multivariate"),
            warm_up=True,
            complexity="1.5e-3 + 1.5e-7 * n * p",
            invariance="monotone",
            expected_failures={"equal-columns": _COPIES},
        ),
        SelectorSpec(
            name="mdr",
            summary="MDR: pairs whose joint levels predict held-out samples; weighs every pair of features",
            factory="mfbench_information.mdr:MDR",
            paper="M. D. Ritchie et al., Multifactor-dimensionality reduction reveals high-order interactions among "
            "estrogen-metabolism genes in sporadic breast cancer, American Journal of Human Genetics 69(1), 2001",
            grid=_BINS,
            tags=("information", "filter", "interactions"),
            warm_up=True,
            complexity="3e-3 + 2e-9 * n * p**2",
            check_parameters={"n_folds": 3},
        ),
    ]

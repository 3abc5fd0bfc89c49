"""Specifications of methods whose packages are not installed with this one."""

from __future__ import annotations

from mfbench import ClassifierSpec, SelectorSpec

_TASKS = {"classification": {}, "regression": {"target": "numbers"}}
_PENALTIES = {
    "mcp": (
        "MCP: linear regression with the minimax concave penalty, its strength by BIC",
        "C.-H. Zhang, Nearly unbiased variable selection under minimax concave penalty, Annals of Statistics 38(2), "
        "2010",
    ),
    "scad": (
        "SCAD: linear regression with the smoothly clipped absolute deviation, its strength by BIC",
        "J. Fan, R. Li, Variable selection via nonconcave penalized likelihood and its oracle properties, Journal of "
        "the American Statistical Association 96(456), 2001",
    ),
    "slope": (
        "SLOPE: linear regression with the sorted L1 norm, its strength by BIC",
        "M. Bogdan, E. van den Berg, C. Sabatti, W. Su, E. J. Candès, SLOPE: adaptive variable selection via convex "
        "optimization, Annals of Applied Statistics 9(3), 2015",
    ),
}


def selectors() -> list[SelectorSpec]:
    """Return linear models with penalties of skglm."""
    return [
        SelectorSpec(
            name=name,
            summary=summary,
            factory="mfbench_baselines.nonconvex:PenalisedLinear",
            defaults={"penalty": name},
            paper=paper,
            targets="numbers",
            tasks=_TASKS,
            tags=("baseline", "embedded", "linear"),
            warm_up=True,
            complexity="3e-2 * k + 1e-7 * n * p * k",
            requires=("skglm",),
        )
        for name, (summary, paper) in _PENALTIES.items()
    ]


def classifiers() -> list[ClassifierSpec]:
    """Return gradient boosting of other packages."""
    return [
        ClassifierSpec(
            name="lightgbm",
            summary="LightGBM: gradient-boosted trees, leaf by leaf",
            factory="mfbench_baselines.boosting:LightGBM",
            paper="G. Ke et al., LightGBM: A highly efficient gradient boosting decision tree, NIPS 30, 2017",
            grid={"num_leaves": (7, 15, 31), "learning_rate": (0.05, 0.1, 0.3)},
            tags=("baseline", "ensemble", "tree"),
            complexity="3e-2 * k + 1e-6 * n * p",
            check_parameters={"n_estimators": 20},
            requires=("lightgbm",),
        ),
        ClassifierSpec(
            name="catboost",
            summary="CatBoost: ordered boosting of symmetric trees",
            factory="mfbench_baselines.boosting:CatBoost",
            paper="L. Prokhorenkova et al., CatBoost: unbiased boosting with categorical features, NeurIPS 31, 2018",
            grid={"depth": (4, 6), "learning_rate": (0.03, 0.1)},
            tags=("baseline", "ensemble", "tree"),
            complexity="5e-1 * k + 1e-5 * n * p",
            check_parameters={"n_estimators": 20},
            requires=("catboost",),
        ),
        ClassifierSpec(
            name="ebm",
            summary="EBM: explainable boosting machine, a sum of functions of features and pairs",
            factory="mfbench_baselines.boosting:ExplainableBoosting",
            paper="Y. Lou, R. Caruana, J. Gehrke, G. Hooker, Accurate intelligible models with pairwise interactions, "
            "KDD 2013",
            grid={"n_pairs": (0, 10)},
            tags=("baseline", "ensemble", "interactions"),
            complexity="2 + 1e-4 * n * p",
            check_parameters={"outer_bags": 1, "max_rounds": 100},
            requires=("interpret",),
        ),
    ]

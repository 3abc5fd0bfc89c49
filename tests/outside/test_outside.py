"""Selectors and learners of PyPI that nobody here wrote: each runs in a suite by its import path.

Only .ci/outside installs them (the extra ``outside``); none is licensed under the GPL.
"""

import numpy as np
import pytest

import mfbench

SUITE = """
[suite]
name = "outside"
title = "Methods of other packages"
description = "Each by its import path"

[protocol]
kind = "repeated-cv"
folds = 2
repeats = 1
metrics = ["accuracy", "log_loss"]

[[datasets]]
use = ["waveform-21(n_samples=150)"]

[[methods]]
label = "1NN"
classifier = "knn(n_neighbors=1)"
"""
FOREST = "sklearn.ensemble:RandomForestClassifier(n_estimators=20, max_depth=3)"
TREE = "sklearn.tree:DecisionTreeClassifier(max_depth=3)"
ENGINE = "feature_engine.selection"
SELECTORS = {
    "boruta": f"boruta:BorutaPy(estimator={FOREST}, n_estimators=20, max_iter=10)",
    "catboost": "catboost:CatBoostClassifier(iterations=10, verbose=0, allow_writing_files=False) -> top 5",
    "celer": "celer:LogisticRegression(C=1.0)",
    "engine-correlated": f"{ENGINE}:DropCorrelatedFeatures(threshold=0.8)",
    "engine-eliminate": f"{ENGINE}:RecursiveFeatureElimination(estimator={TREE}, cv=2, scoring='accuracy')",
    "engine-shuffle": f"{ENGINE}:SelectByShuffling(estimator={TREE}, cv=2, scoring='accuracy')",
    "group-lasso": "group_lasso:LogisticGroupLasso(group_reg=0.01, l1_reg=0.01, supress_warning=True)",
    "imodels": "imodels:FIGSClassifier(max_rules=5)",
    "lightgbm": "lightgbm:LGBMClassifier(verbose=-1, n_estimators=10, n_jobs=1) -> top 0.5",
    "mlxtend": f"mlxtend.feature_selection:SequentialFeatureSelector(estimator={TREE}, k_features=3, cv=2)",
    "rebate-multisurf": "skrebate:MultiSURF(n_jobs=1) -> top 5",
    "skglm": "skglm:SparseLogisticRegression(alpha=0.01)",
}
LEARNERS = {
    "balanced forest": "imblearn.ensemble:BalancedRandomForestClassifier(n_estimators=20, n_jobs=1)",
    "catboost learner": "catboost:CatBoostClassifier(iterations=20, verbose=0, allow_writing_files=False)",
    "explainable boosting": "interpret.glassbox:ExplainableBoostingClassifier(interactions=0, n_jobs=1, outer_bags=2)",
    "lightgbm learner": "lightgbm:LGBMClassifier(verbose=-1, n_estimators=20, n_jobs=1)",
    "mlxtend vote": f"mlxtend.classifier:EnsembleVoteClassifier(clfs=[{TREE}, {FOREST}])",
}
pytestmark = pytest.mark.outside(reason="needs packages that nothing else needs")


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outside")
    (folder / "outside.toml").write_text(SUITE)
    add = [f"{label} = {text} -> knn" for label, text in SELECTORS.items()]
    add += [f"{label} = {text}" for label, text in LEARNERS.items()]
    run = mfbench.run_suite(str(folder / "outside.toml"), add=add, out=str(folder / "reports"), jobs=2)
    return run.trials


@pytest.mark.parametrize("label", [*SELECTORS, *LEARNERS])
def test_it_runs_in_every_trial(outcomes, label):
    own = outcomes[outcomes["method"] == label]
    assert list(own["status"]) == ["ok"] * 2, own[["error_type", "error_message"]].to_dict("records")
    assert own["accuracy"].min() > 0.4  # a guess among three classes is right in a third


@pytest.mark.parametrize("label", SELECTORS)
def test_a_selector_selects_features_that_matter(outcomes, label):
    """The first and the last feature of waveform are noise around 0 alone."""
    for weights in outcomes.loc[outcomes["method"] == label, "weights"]:
        assert len(weights) == 21 and np.isfinite(weights).all()
        assert weights[[0, 20]].max() <= weights[1:20].max()

"""The metrics that this plugin registers. Importing this module loads neither NumPy nor scikit-learn."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mfbench import MetricSpec, hookimpl

# (name, summary, what the spec says beyond that); each is a function of `mfbench_metrics.scores`.
_OWN: list[tuple[str, str, dict[str, Any]]] = [
    ("accuracy", "Share of correct predictions", {"counts_decisions": True}),
    ("balanced_accuracy", "Mean recall over the classes", {}),
    ("f1_macro", "Mean F1 score of the classes", {}),
    ("mcc", "Matthews correlation coefficient", {"percent": False, "lowest": -1.0, "highest": 1.0}),
    (
        "log_loss",
        "Mean negative log-likelihood",
        {"needs": "probabilities", "greater_is_better": False, "percent": False, "lowest": 0.0},
    ),
    ("roc_auc", "Area under the ROC curve; one-vs-rest mean with more than two classes", {"needs": "scores"}),
    (
        "one_vs_rest_accuracy",
        "Mean accuracy of the decisions for and against each class",
        {"needs": "predictions", "counts_decisions": True, "is_one_vs_rest": True},
    ),
    ("balanced_error_rate", "1 minus the balanced accuracy", {"greater_is_better": False}),
    ("fbeta", "Mean F score of the classes, in which recall counts beta times as much as precision", {}),
    ("cohen_kappa", "Agreement beyond chance", {"percent": False, "lowest": -1.0, "highest": 1.0}),
    ("average_precision", "Average precision; one-vs-rest mean with more than two classes", {"needs": "scores"}),
    (
        "brier_score",
        "Mean squared error of the probabilities, from 0 to 1",
        {"needs": "probabilities", "greater_is_better": False, "percent": False, "lowest": 0.0, "highest": 1.0},
    ),
    (
        "expected_calibration_error",
        "Mean gap between confidence and accuracy, over bins of the confidence",
        {"needs": "probabilities", "greater_is_better": False},
    ),
]
# Scorers of scikit-learn for classes, by what they need of a classifier; a share unless `_UNITS` says otherwise.
_SCORERS = {
    "predictions": (
        "accuracy", "balanced_accuracy", "f1", "f1_macro", "f1_micro", "f1_weighted", "jaccard", "jaccard_macro",
        "jaccard_micro", "jaccard_weighted", "matthews_corrcoef", "precision", "precision_macro", "precision_micro",
        "precision_weighted", "recall", "recall_macro", "recall_micro", "recall_weighted",
    ),
    "scores": ("average_precision", "roc_auc", "top_k_accuracy"),
    "probabilities": (
        "neg_brier_score", "neg_log_loss", "roc_auc_ovo", "roc_auc_ovo_weighted", "roc_auc_ovr", "roc_auc_ovr_weighted",
    ),
}  # fmt: skip
_UNITS = {
    "matthews_corrcoef": (-1.0, 1.0),
    "neg_brier_score": (None, 0.0),
    "neg_log_loss": (None, 0.0),
}
_DECISIONS = ("accuracy",)


# The same for numbers. A loss is in the units of its dataset's target.
_LOSS = {"greater_is_better": False, "percent": False, "lowest": 0.0, "in_units": True}
_OF_NUMBERS: list[tuple[str, str, dict[str, Any]]] = [
    ("r2", "Share of the target's variance that is predicted", {"percent": False, "highest": 1.0}),
    ("rmse", "Root of the mean squared error", _LOSS),
    ("mae", "Mean absolute error", _LOSS),
    ("spearman", "Spearman's rank correlation", {"percent": False, "lowest": -1.0, "highest": 1.0}),
    ("pinball", "Mean pinball loss of a quantile, by default the median", _LOSS),
]


@hookimpl
def mfbench_metrics() -> Iterable[MetricSpec]:
    """Return the metrics."""
    for name, summary, facts in _OWN:
        yield MetricSpec(name=name, summary=summary, function=f"mfbench_metrics.scores:{name}", **facts)
    for name, summary, facts in _OF_NUMBERS:
        function = f"mfbench_metrics.scores:{name}"
        yield MetricSpec(name=name, summary=summary, function=function, tasks=("regression",), **facts)
    for needs, names in _SCORERS.items():
        for name in names:
            lowest, highest = _UNITS.get(name, (None, None))
            yield MetricSpec(
                name=f"sklearn:{name}",
                summary=f"scikit-learn's scorer {name!r}",
                function="mfbench_metrics.scores:sklearn_score",
                needs=needs,  # type: ignore[arg-type]
                defaults={"name": name},
                percent=name not in _UNITS,
                lowest=lowest,
                highest=highest,
                counts_decisions=name in _DECISIONS,
            )

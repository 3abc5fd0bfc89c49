"""Keys and scores of protocols that other rooms know: the keys of all of them, and the scores of detection."""

from mfbench.model.evaluation import Score

DETECTION_METRICS: dict[str, Score] = {
    "area": Score(percent=False),  # area under the curve of detection over false alarms, from the weights
    "detection": Score(percent=False),  # relevant features selected, over all relevant features
    "false_alarm": Score(percent=False, greater_is_better=False),  # irrelevant features selected, over all irrelevant
    # Irrelevant and relevant features selected, over all selected features; 0 if none is selected.
    "fdp": Score(percent=False, greater_is_better=False),
    "precision": Score(percent=False),
    "f1": Score(percent=False),  # harmonic mean of detection and precision
    "pair_detection": Score(percent=False),  # share of the t true pairs among the t pairs with the largest weights
}
"""Scores of a round of generated data, in report order."""
# Keys of every protocol: they determine how a trial is run and scored, not its rows.
COMMON = ("kind", "form", "scale", "classes", "metrics", "grid_values", "timeout", "memory")

"""Other scores: balanced accuracy and the like on datasets with one large class, where accuracy misleads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from mfbench.model.sections import Section
from mfbench.report.cells import rows_by_dataset, score_cell, table_of, with_unit
from mfbench.stats.companions import FLATTERED, LARGE
from mfbench.stats.results import Run
from mfbench.suite.scores import METRICS


def other_scores(run: Run) -> Section:
    """Return the section on datasets whose largest class is large: a table of means for each other score."""
    methods, tables = list(run.methods), []
    for metric, frame in run.companions.groupby("metric", sort=False):
        percent = METRICS[str(metric)].percent
        shares = dict(zip(frame["dataset"], frame["largest_class"], strict=True))
        first = {dataset: [dataset, f"{100 * share:.0f} %"] for dataset, share in shares.items()}
        rows = rows_by_dataset(frame, first, methods, partial(score_cell, percent=percent))
        title = f"{with_unit(str(metric), percent)}, where one class exceeds {100 * LARGE:.0f} % of the rows"
        tables.append(table_of(["dataset", "largest class", *methods], rows, title))
    return Section("Other scores", tables, notes=_notes(run), data={"companions": lambda: run.companions})


def flattered(largest_classes: Mapping[str, float], metric: str) -> str:
    """Return on which datasets a constant guess does well by a metric, without a period; empty if on none."""
    skewed = [name for name, share in largest_classes.items() if share > LARGE]
    if metric not in FLATTERED or not skewed:
        return ""
    large = f"One class exceeds {100 * LARGE:.0f} % of the rows of {', '.join(skewed)}"
    return f"{large}: a constant prediction has a high {metric}"


def _notes(run: Run) -> list[str]:
    start = flattered(run.largest_classes, run.settings.metric)
    if not start:
        return []
    if not len(run.companions):
        return [
            f"{start}. No other score was measured; add balanced_accuracy, log_loss or roc_auc to metrics in "
            "[protocol]."
        ]
    rule = "corrected resampled t-test" if run.protocol.test_train_ratio else "paired t-test"
    marks = f" Marks: {rule}." if run.folds_per_dataset > 1 else ""
    return [f"{start}; the other scores show whether a method does better than that.{marks}"]

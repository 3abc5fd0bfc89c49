"""What a report adds where accuracy flatters: other scores on datasets whose largest class is large."""

from __future__ import annotations

from mfbench.analysis.companions import FLATTERED, LARGE
from mfbench.analysis.results import Run
from mfbench.report.tables import MISSING, Cell, Table, score_cell
from mfbench.run.trial.metrics import METRICS


def companion_tables(run: Run) -> list[Table]:
    """Return, for each other score, the datasets with one large class by methods: mean ± sd."""
    tables = []
    for metric, scores in run.companions.groupby("metric", sort=False):
        percent = METRICS[str(metric)].percent
        cells = {(row["dataset"], row["method"]): row for row in scores.to_dict("records")}
        shares = dict(zip(scores["dataset"], scores["largest_class"], strict=True))
        table = Table(
            f"{metric}{', percent' if percent else ''}, where one class exceeds {100 * LARGE:.0f} % of the rows",
            ["dataset", "largest class", *run.methods],
        )
        for dataset, share in shares.items():
            found = [cells.get((dataset, method)) for method in run.methods]
            drawn = [Cell("–", MISSING) if cell is None else score_cell(cell, percent) for cell in found]
            table.rows.append([Cell(str(dataset)), Cell(f"{100 * share:.0f} %"), *drawn])
        tables.append(table)
    return tables


def companion_notes(run: Run) -> list[str]:
    """Return the sentence on datasets with one large class."""
    metric = run.settings.metric
    skewed = [name for name, share in run.largest_classes.items() if share > LARGE]
    if metric not in FLATTERED or not skewed:
        return []
    names = ", ".join(skewed)
    begin = f"One class exceeds {100 * LARGE:.0f} % of the rows of {names}, so that a constant guess has a high "
    if len(run.companions):
        rule = "corrected resampled t-test" if run.protocol.test_train_ratio else "paired t-test"
        marks = f", with the marks of the {rule}" if run.folds_per_dataset > 1 else ""
        return [f"{begin}{metric}: the tables of other scores show what is behind it{marks}."]
    return [
        f"{begin}{metric}. No other score was measured; name balanced_accuracy, log_loss or roc_auc in [protocol] "
        "metrics."
    ]

"""The report as CSV."""

from __future__ import annotations

import pandas as pd

from mfbench.base.untrusted import csv_cell
from mfbench.model.sections import Report

KEYS = ["dataset", "method", "figure"]


def to_csv(report: Report) -> str:
    """Return the rows of the first section that has any, with the columns of later rows that have the same keys."""
    # That is one line per dataset and method, or, for the protocol `ground-truth`, per dataset, method and figure.
    frames = [frame for section in report.sections if section.rows is not None for frame in section.rows()]
    body, *others = frames
    keys = [key for key in KEYS if key in body]
    for frame in others:
        if [key for key in KEYS if key in frame] == keys:
            body = body.merge(frame, on=keys, how="left")
    return frame_to_csv(body)


def frame_to_csv(frame: pd.DataFrame) -> str:
    """Return a frame as CSV in which no text is a formula."""
    texts = frame.select_dtypes(exclude=["number", "bool"]).columns
    safe = frame.assign(**{name: frame[name].map(csv_cell) for name in texts}).rename(columns=csv_cell)
    return str(safe.to_csv(index=False, lineterminator="\n"))

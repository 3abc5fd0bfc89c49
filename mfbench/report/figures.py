"""Pictures of a run of ``ground-truth``, by matplotlib, which is an optional extra."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mfbench.analysis.results import Run
from mfbench.errors import MfbenchError, UsageError

# Fixed, so that the same run gives the same file to the byte.
_STYLE: Any = {
    "svg.hashsalt": "mfbench",
    "svg.fonttype": "none",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
}
_RELEVANT, _IRRELEVANT = "#c44e52", "#8c8c8c"
_PANELS_PER_ROW = 4


def write_figures(run: Run, folder: Path) -> list[Path]:
    """Write two SVG files for each dataset: detection and false alarms per round, and the weights of the features.

    Parameters
    ----------
    run : Run
        Of the protocol ``ground-truth``.
    folder : Path
        Made if needed.

    Returns
    -------
    list of Path

    Raises
    ------
    UsageError
        If the run is of another protocol.
    MfbenchError
        If matplotlib is not installed, or nothing can be written.
    """
    if not run.detects:
        raise UsageError("there are figures of runs of the protocol 'ground-truth' only; --svg draws any report")
    try:
        import matplotlib
    except ImportError:
        raise MfbenchError("figures need matplotlib; install it with: pip install 'mfbench[figures]'") from None
    from matplotlib.figure import Figure

    written = []
    good = run.trials[run.trials["status"] == "ok"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with matplotlib.rc_context(_STYLE):
            for number, (dataset, cells) in enumerate(good.groupby("dataset", sort=False), 1):
                for kind, picture in (
                    ("rounds", rounds_figure(Figure, str(dataset), cells)),
                    ("weights", weights_figure(Figure, str(dataset), cells, run.relevant(str(dataset)))),
                ):
                    path = folder / f"{kind}-{number:02d}-{_file_name(str(dataset))}.svg"
                    picture.savefig(path, format="svg", metadata={"Date": None})
                    written.append(path)
    except OSError as error:
        raise MfbenchError(f"cannot write figures to {folder}: {error.strerror or error}") from error
    return written


def rounds_figure(make: Any, dataset: str, cells: pd.DataFrame) -> Any:
    """Return two panels, detection and false-alarm rate: a dot for each round of each method, and its mean."""
    methods = list(dict.fromkeys(cells["method"]))
    figure = make(figsize=(9, 1.2 + 0.28 * len(methods)), layout="constrained")
    figure.suptitle(dataset)
    panels = figure.subplots(1, 2, sharey=True)
    for panel, (column, title) in zip(
        panels, (("detection", "detection rate"), ("false_alarm", "false-alarm rate")), strict=True
    ):
        for place, method in enumerate(methods):
            values = cells.loc[cells["method"] == method, column].dropna().to_numpy(dtype=float)
            # Rounds stand above each other in their order, so that equal values do not hide each other.
            offsets = np.linspace(-0.3, 0.3, len(values)) if len(values) > 1 else np.zeros(len(values))
            panel.plot(values, place + offsets, ".", color="black", markersize=3, zorder=3)
            if len(values):
                panel.plot([values.mean()] * 2, [place - 0.4, place + 0.4], color=_RELEVANT, linewidth=2)
        panel.set(xlim=(-0.03, 1.03), xlabel=f"{title}, a dot per round")
    panels[0].set_yticks(range(len(methods)), methods)
    panels[0].invert_yaxis()
    return figure


def weights_figure(make: Any, dataset: str, cells: pd.DataFrame, relevant: Sequence[int]) -> Any:
    """Return a panel per method: the weight of each feature over the largest one, mean over rounds."""
    methods = list(dict.fromkeys(cells["method"]))
    rows = -(-len(methods) // _PANELS_PER_ROW)
    figure = make(figsize=(11, 0.6 + 1.5 * rows), layout="constrained")
    figure.suptitle(f"{dataset}: absolute weight over the largest one, mean over rounds; relevant features in red")
    panels = figure.subplots(rows, min(_PANELS_PER_ROW, len(methods)), squeeze=False, sharex=True, sharey=True)
    for panel in panels.flat[len(methods) :]:
        panel.set_axis_off()
    for panel, method in zip(panels.flat, methods, strict=False):
        weights = np.abs(np.stack(list(cells.loc[cells["method"] == method, "weights"])))
        largest = weights.max(axis=1, keepdims=True)
        heights = (weights / np.where(largest > 0, largest, 1.0)).mean(axis=0)
        is_relevant = np.isin(np.arange(len(heights)), np.asarray(relevant))
        for mask, colour in ((~is_relevant, _IRRELEVANT), (is_relevant, _RELEVANT)):
            panel.bar(np.flatnonzero(mask) + 1, heights[mask], width=1.0, color=colour)
        panel.set_title(method, fontsize=9)
    for panel in panels[-1]:
        panel.set_xlabel("feature")
    return figure


def _file_name(dataset: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", dataset.lower()).strip("-")[:80]

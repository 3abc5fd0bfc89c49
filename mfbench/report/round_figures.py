"""Figures of a run of ``ground-truth``: what happened in each round, and how features were weighed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mfbench.analysis.results import Run
from mfbench.errors import MfbenchError, UsageError
from mfbench.report.svg import LETTER, document, line, text

RELEVANT, IRRELEVANT = "#d55e00", "#999999"
_PANEL, _GAP, _TOP, _ROW = 300.0, 30.0, 56.0, 26.0
_BARS, _BARS_HEIGHT, _PER_ROW = 230.0, 80.0, 4
_PANELS = (("detection", "detection rate"), ("false_alarm", "false-alarm rate"))


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
        If nothing can be written.
    """
    if not run.detects:
        raise UsageError("--figures draws runs of the protocol 'ground-truth' only; --svg draws any report")
    written = []
    good = run.trials[run.trials["status"] == "ok"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, (dataset, cells) in enumerate(good.groupby("dataset", sort=False), 1):
            name = str(dataset)
            drawn = {
                "rounds": rounds_figure(name, cells),
                "weights": weights_figure(name, cells, run.relevant(name)),
            }
            for kind, figure in drawn.items():
                path = folder / f"{kind}-{number:02d}-{_file_name(name)}.svg"
                path.write_text(figure, encoding="utf-8")
                written.append(path)
    except OSError as error:
        raise MfbenchError(f"cannot write figures to {folder}: {error.strerror or error}") from error
    return written


def rounds_figure(dataset: str, cells: pd.DataFrame) -> str:
    """Return two panels, detection and false-alarm rate: a dot for each round of each method, a bar for the mean.

    Parameters
    ----------
    dataset : str
        Heading.
    cells : DataFrame
        The trials of one dataset, as `mfbench.analysis.results.Run.trials`.

    Returns
    -------
    str
        An SVG document.
    """
    methods = list(dict.fromkeys(cells["method"]))
    left = 24.0 + LETTER * max(len(method) for method in methods)
    bottom = _TOP + _ROW * len(methods)
    width, height = left + 2 * _PANEL + _GAP + 24.0, bottom + 52.0
    told = "a dot for each round, a bar for their mean"
    body = [
        text(width / 2, 22, dataset, "middle", font_weight="bold"),
        text(width / 2, 42, told, "middle", font_size="11", fill="#444"),
    ]
    body += [text(left - 10, _TOP + _ROW * (k + 0.5) + 4, method, "end") for k, method in enumerate(methods)]
    for panel, (column, title) in enumerate(_PANELS):
        start = left + panel * (_PANEL + _GAP)
        body += _axis(start, bottom, title)
        for row, method in enumerate(methods):
            values = cells.loc[cells["method"] == method, column].dropna().to_numpy(dtype=float)
            body += _dots(values, start, _TOP + _ROW * (row + 0.5))
    return document(width, height, f"{dataset}: detection and false alarms per round", body)


def _axis(start: float, bottom: float, title: str) -> list[str]:
    drawn = [line(start, bottom, start + _PANEL, bottom), text(start + _PANEL / 2, bottom + 38, title, "middle")]
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = start + share * _PANEL
        drawn += [line(x, _TOP, x, bottom + 5, 0.5, "#cccccc"), text(x, bottom + 18, f"{share:g}", "middle")]
    return drawn


def _dots(values: np.ndarray[tuple[int], np.dtype[np.float64]], start: float, middle: float) -> list[str]:
    """Draw rounds above each other in their order, so that equal values do not hide each other."""
    if not len(values):
        return []
    x = start + values.mean() * _PANEL
    offsets = np.linspace(-0.3, 0.3, len(values)) * _ROW if len(values) > 1 else np.zeros(1)
    drawn = [line(x, middle - 0.42 * _ROW, x, middle + 0.42 * _ROW, 3, RELEVANT)]
    return drawn + [
        f'<circle cx="{start + value * _PANEL:.1f}" cy="{middle + offset:.1f}" r="1.6"/>'
        for value, offset in zip(values, offsets, strict=True)
    ]


def weights_figure(dataset: str, cells: pd.DataFrame, relevant: Sequence[int]) -> str:
    """Return a panel per method: the weight of each feature over the largest one, mean over rounds.

    A negative weight says that a feature is not wanted, and counts as 0.

    Parameters
    ----------
    dataset : str
        Heading.
    cells : DataFrame
        The trials of one dataset, as `mfbench.analysis.results.Run.trials`.
    relevant : sequence of int
        Features drawn in another colour.

    Returns
    -------
    str
        An SVG document.
    """
    methods = list(dict.fromkeys(cells["method"]))
    rows = -(-len(methods) // _PER_ROW)
    width = 24.0 + min(_PER_ROW, len(methods)) * (_BARS + _GAP)
    width = max(width, 24.0 + LETTER * (len(dataset) + 60))
    height = 66.0 + rows * (_BARS_HEIGHT + 34.0)
    body = [
        text(width / 2, 22, dataset, "middle", font_weight="bold"),
        text(
            width / 2, 42, "weight over the largest one, 0 if negative, mean over rounds; relevant features in colour",
            "middle", font_size="11", fill="#444",
        ),
    ]  # fmt: skip
    for place, method in enumerate(methods):
        weights = np.maximum(np.stack(list(cells.loc[cells["method"] == method, "weights"])), 0.0)
        largest = weights.max(axis=1, keepdims=True)
        heights = (weights / np.where(largest > 0, largest, 1.0)).mean(axis=0)
        start = 24.0 + place % _PER_ROW * (_BARS + _GAP)
        bottom = 66.0 + place // _PER_ROW * (_BARS_HEIGHT + 34.0) + _BARS_HEIGHT
        body.append(text(start + _BARS / 2, bottom + 18, str(method), "middle"))
        body += _bars(heights, set(relevant), start, bottom)
        body.append(line(start, bottom, start + _BARS, bottom))
    return document(width, height, f"{dataset}: weights of the features", body)


def _bars(
    heights: np.ndarray[tuple[int], np.dtype[np.float64]], relevant: set[int], start: float, bottom: float
) -> list[str]:
    step = _BARS / len(heights)
    return [
        f'<rect x="{start + step * j:.2f}" y="{bottom - height * _BARS_HEIGHT:.2f}" width="{step:.2f}" '
        f'height="{height * _BARS_HEIGHT:.2f}" fill="{RELEVANT if j in relevant else IRRELEVANT}"/>'
        for j, height in enumerate(heights)
        if height > 0
    ]


def _file_name(dataset: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", dataset.lower()).strip("-")[:80]

"""Draw the paper's figures 2 and 3 on the toy data: ``python -m mfbench_sqpfw.toy_charts OUT_DIR``.

``toy-path.svg`` shows both weights over the breakpoints and over theta; ``toy-spaces.svg`` shows the seven points in
the weighted feature space at four breakpoints. The paper does not print its coordinates, so the pictures have its shape
but not its numbers.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mfbench_sqpfw.charts import exit_code_of, weights_over_theta
from mfbench_sqpfw.path import sqpfw_path, toy_data
from mfbench_sqpfw.weight_path import WeightPath

KAPPA, THETA_MAX = 2, 2.0  # the paper's neighbourhood, and an end beyond the last breakpoint


def toy_path() -> WeightPath:
    """Return the path of the toy data from equal weights to a single feature.

    Examples
    --------
    >>> path = toy_path()
    >>> path.after[0].round(3).tolist(), path.after[-1].round(3).tolist()
    ([0.5, 0.5], [1.0, 0.0])
    """
    return sqpfw_path(*toy_data(), theta_max=THETA_MAX, kappa=KAPPA)


def snapshots(path: WeightPath) -> list[int]:
    """Return the breakpoints of figure 3: the start, the changes at about one and two thirds of the way, and the end.

    Examples
    --------
    >>> path = toy_path()
    >>> chosen = snapshots(path)
    >>> chosen[0], len(chosen), path.after[chosen[-1]].round(3).tolist()
    (0, 4, [1.0, 0.0])
    """
    last = int(np.argmax(path.after[:, 0] == path.after[:, 0].max()))
    return [0, round(last / 3), round(2 * last / 3), last]


def draw_weights(path: WeightPath) -> Any:
    """Return figure 2: the weights over the breakpoints, and over theta.

    Parameters
    ----------
    path : WeightPath

    Returns
    -------
    altair.HConcatChart
    """
    import altair as alt

    names = [f"feature {number}" for number in range(1, path.after.shape[1] + 1)]
    steps = [
        {"breakpoint": step, "weight": float(weight), "feature": name}
        for step, row in enumerate(path.after)
        for name, weight in zip(names, row, strict=True)
    ]
    y, colour = alt.Y("weight:Q"), alt.Color("feature:N", title=None)
    left = alt.Chart(alt.Data(values=steps), title="(a) over the breakpoints").mark_line(point=True)
    right = alt.Chart(alt.Data(values=weights_over_theta(path, names)), title="(b) over theta").mark_line()
    return alt.hconcat(
        left.encode(alt.X("breakpoint:Q"), y, colour).properties(width=340, height=260),
        right.encode(alt.X("theta:Q"), y, colour, order="order:Q").properties(width=340, height=260),
    )


def draw_spaces(path: WeightPath) -> Any:
    """Return figure 3: the points with each axis multiplied by the root of its weight.

    Parameters
    ----------
    path : WeightPath

    Returns
    -------
    altair.ConcatChart
    """
    import altair as alt

    X, y = toy_data()
    panels = []
    for letter, step in zip("abcd", snapshots(path), strict=True):
        weights = path.after[step]
        rows = [
            {"first": float(a), "second": float(b), "class": int(label), "number": number}
            for number, ((a, b), label) in enumerate(zip(X * np.sqrt(weights), y, strict=True))
        ]
        title = f"({letter}) theta = {path.thetas[step]:.3f}: weights {weights[0]:.3f} and {weights[1]:.3f}"
        # The same scale on both axes: distances are what the picture is about.
        ends = float(np.abs(X).max()) * 1.05
        scale = alt.Scale(domain=[-ends if X.min() < 0 else 0.0, ends])
        base = alt.Chart(alt.Data(values=rows), title=title).encode(
            alt.X("first:Q", title="feature 1 × √weight", scale=scale),
            alt.Y("second:Q", title="feature 2 × √weight", scale=scale),
        )
        points = base.mark_point(size=220, filled=True, opacity=1.0).encode(
            alt.Color("class:N"), alt.Shape("class:N", scale=alt.Scale(range=["circle", "square"]))
        )
        numbers = base.mark_text(color="white", fontSize=10).encode(alt.Text("number:Q"))
        panels.append(alt.layer(points, numbers).properties(width=300, height=300))
    return alt.concat(*panels, columns=2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw both pictures.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Arguments of the command line; None means those of the process.

    Returns
    -------
    int
        Exit code: 0; 1 if a file cannot be written.
    """
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m mfbench_sqpfw.toy_charts", description=__doc__.split("\n\n")[1])
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="folder for toy-path.svg and toy-spaces.svg")
    options = parser.parse_args(arguments)
    from mfbench import Chart, save_chart

    def draw() -> None:
        path = toy_path()
        options.out.mkdir(parents=True, exist_ok=True)
        weights = Chart("toy-path", "Weights of the toy data", spec=lambda: draw_weights(path))
        spaces = Chart("toy-spaces", "The toy data in the weighted space", spec=lambda: draw_spaces(path))
        for chart in (weights, spaces):
            save_chart(chart, options.out / f"{chart.name}.svg")

    return exit_code_of(draw)


if __name__ == "__main__":
    sys.exit(main())

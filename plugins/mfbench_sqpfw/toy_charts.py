"""Draw the paper's figures 2 and 3 on the toy data: ``python -m mfbench_sqpfw.toy_charts OUT_DIR``.

``toy-path.svg`` shows both weights over the breakpoints and over theta; ``toy-spaces.svg`` shows the seven points in
the weighted feature space at four breakpoints. The paper does not print its coordinates, so the pictures have its shape
but not its numbers. Needs matplotlib (the extra ``figures``).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mfbench_sqpfw import toy
from mfbench_sqpfw.charts import exit_code_of
from mfbench_sqpfw.path import sqpfw_path
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
    return sqpfw_path(*toy.data(), theta_max=THETA_MAX, kappa=KAPPA)


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
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4), layout="constrained")
    steps, thetas = figure.subplots(1, 2, sharey=True)
    # Each theta twice, with the weights before and after it, so that a jump is a vertical line.
    twice = np.repeat(path.thetas, 2)
    weights = np.stack([path.before, path.after], axis=1).reshape(len(twice), -1)
    for feature in range(path.after.shape[1]):
        steps.plot(path.after[:, feature], "o-", markersize=3, label=f"feature {feature + 1}")
        thetas.plot(twice, weights[:, feature], label=f"feature {feature + 1}")
    steps.set(xlabel="breakpoint", ylabel="weight", title="(a) over the breakpoints")
    thetas.set(xlabel="theta", title="(b) over theta")
    steps.legend()
    return figure


def draw_spaces(path: WeightPath) -> Any:
    """Return figure 3: the points with each axis multiplied by the root of its weight.

    Parameters
    ----------
    path : WeightPath

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    X, y = toy.data()
    figure = Figure(figsize=(9, 8), layout="constrained")
    panels = figure.subplots(2, 2).ravel()
    for panel, letter, step in zip(panels, "abcd", snapshots(path), strict=True):
        weights = path.after[step]
        points = X * np.sqrt(weights)
        for label, colour, marker in ((0, "#c0504d", "o"), (1, "#4f81bd", "s")):
            panel.scatter(*points[y == label].T, s=160, c=colour, marker=marker)
        for number, point in enumerate(points):
            panel.text(*point, str(number), ha="center", va="center", color="white", fontsize=8)
        panel.set_aspect("equal", adjustable="datalim")
        title = f"({letter}) theta = {path.thetas[step]:.3f}: weights {weights[0]:.3f} and {weights[1]:.3f}"
        panel.set(title=title, xlabel="feature 1 × √weight", ylabel="feature 2 × √weight")
    return figure


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw both pictures.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Arguments of the command line; None means those of the process.

    Returns
    -------
    int
        Exit code: 0; 1 if matplotlib is missing or a file cannot be written.
    """
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m mfbench_sqpfw.toy_charts", description=__doc__.split("\n\n")[1])
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="folder for toy-path.svg and toy-spaces.svg")
    options = parser.parse_args(arguments)

    def draw() -> None:
        path = toy_path()
        options.out.mkdir(parents=True, exist_ok=True)
        draw_weights(path).savefig(options.out / "toy-path.svg")
        draw_spaces(path).savefig(options.out / "toy-spaces.svg")

    return exit_code_of(draw)


if __name__ == "__main__":
    sys.exit(main())

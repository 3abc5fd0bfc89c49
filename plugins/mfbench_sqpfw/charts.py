"""Draw charts of SQP-FW: ``python -m mfbench_sqpfw.charts [--data-dir DIR] OUT_DIR``.

``path.svg`` shows the weights of a dataset's features over theta, with the breakpoints and the jumps; ``scaling.svg``
shows the time of a step of Algorithm 1 over the number of samples. Like `plugin`, this module is not an estimator: it
loads data and draws through mfbench.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mfbench_sqpfw._active_set.descent import descend
from mfbench_sqpfw._active_set.problem import prepare
from mfbench_sqpfw._active_set.ranking import begin
from mfbench_sqpfw._active_set.state import STEPS
from mfbench_sqpfw.path import sqpfw_path
from mfbench_sqpfw.weight_path import WeightPath

SIZES = (250, 500, 1000, 2000, 4000, 8000)
# Possible tick labels of the time axis, in milliseconds.
_TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0)


def step_cost(n: int, n_features: int = 20, steps: int = 200, repeats: int = 3, working_set: int | None = 20) -> float:
    """Return the seconds per step of Algorithm 1 on two overlapping Gaussian classes.

    Parameters
    ----------
    n : int
        Number of samples.
    n_features : int, default=20
    steps : int, default=200
        Number of steps to average over, after 50 steps that are not timed.
    repeats : int, default=3
        Number of measurements, of which the smallest is returned; disturbances only make a measurement larger.
    working_set : int or None, default=20

    Returns
    -------
    float
    """
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(n, n_features)), np.arange(n) % 2
    X[:, 0] += codes
    problem = prepare(X, codes, kappa=1, lam=1, working_set=working_set)
    best = np.inf
    for _ in range(repeats):
        state, _, _ = descend(begin(problem), theta=1.0, tolerance=1e-10, max_steps=50)
        before = int(state.counts[STEPS])
        started = time.process_time()
        state, _, _ = descend(state, theta=1.0, tolerance=1e-10, max_steps=steps)
        best = min(best, (time.process_time() - started) / max(1, int(state.counts[STEPS]) - before))
    return float(best)


def weights_over_theta(path: WeightPath, names: Sequence[str]) -> list[dict[str, Any]]:
    """Return a row per feature and theta: each theta twice, with the weights before and after it, as a jump needs.

    Parameters
    ----------
    path : WeightPath
    names : sequence of str
    """
    thetas = np.repeat(path.thetas, 2)
    weights = np.stack([path.before, path.after], axis=1).reshape(len(thetas), -1)
    return [
        {"theta": float(theta), "weight": float(row[feature]), "feature": str(name), "number": feature, "order": order}
        for feature, name in enumerate(names)
        for order, (theta, row) in enumerate(zip(thetas, weights, strict=True))
    ]


def draw_path(path: WeightPath, names: Sequence[str]) -> Any:
    """Return a chart of the weights over theta, with marks below it at the breakpoints and the jumps.

    Parameters
    ----------
    path : WeightPath
    names : sequence of str
        Names of the features; the legend shows the eight with the largest final weights.

    Returns
    -------
    altair.VConcatChart
    """
    import altair as alt

    named = np.argsort(-path.after_last(), kind="stable")[:8].tolist()
    rows = weights_over_theta(path, names)
    large = alt.Data(values=[row for row in rows if row["number"] in named])
    small = alt.Data(values=[row for row in rows if row["number"] not in named])
    x = alt.X("theta:Q", title=None, scale=alt.Scale(domain=[0.0, float(path.thetas[-1])], nice=False))
    y, order, each = alt.Y("weight:Q"), alt.Order("order:Q"), alt.Detail("number:N")
    colour = alt.Color("feature:N", title=None, scale=alt.Scale(domain=[str(names[index]) for index in named]))
    lines = alt.layer(
        alt.Chart(small).mark_line(color="#cccccc", strokeWidth=0.6).encode(x, y, order, each),
        alt.Chart(large)
        .mark_line(strokeWidth=1.4)
        .encode(x, y, order, each, colour, tooltip=[alt.Tooltip("feature:N"), alt.Tooltip("weight:Q")]),
    ).properties(width=560, height=300)
    kinds = [("breakpoints", path.thetas[1:]), ("jumps", path.thetas[path.jumps])]
    marks = [{"theta": float(theta), "kind": kind} for kind, thetas in kinds for theta in thetas]
    ticks = (
        alt.Chart(alt.Data(values=marks))
        .mark_tick(thickness=0.5, color="#777777")
        .encode(x.title("theta"), alt.Y("kind:N", title=None))
        .properties(width=560, height=alt.Step(18))
    )
    return alt.vconcat(lines, ticks, spacing=6)


def draw_scaling(sizes: Sequence[int], seconds: Sequence[float]) -> Any:
    """Return a chart of the time of a step over the number of samples, on logarithmic axes.

    Parameters
    ----------
    sizes : sequence of int
    seconds : sequence of float

    Returns
    -------
    altair.Chart
    """
    import altair as alt

    rows = [{"samples": int(n), "milliseconds": 1e3 * float(s)} for n, s in zip(sizes, seconds, strict=True)]
    ticks = [tick for tick in _TICKS if 0.7 * min(seconds) < 1e-3 * tick < 1.5 * max(seconds)]
    return (
        alt.Chart(alt.Data(values=rows))
        .mark_line(point=True)
        .encode(
            alt.X("samples:Q", scale=alt.Scale(type="log", padding=10)).axis(values=list(sizes), format=","),
            alt.Y("milliseconds:Q", title="milliseconds per step", scale=alt.Scale(type="log", padding=10)).axis(
                values=ticks, format="~g"
            ),
        )
        .properties(width=420, height=300)
    )


def scaling_title(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """Return the exponents of the time of a step. Fixed costs dominate small problems, so there are two.

    Examples
    --------
    >>> scaling_title([100, 200, 400], [0.001, 0.002, 0.004])
    'Time of a step, 20 features: ~ n^1.00 over all sizes, n^1.00 at the largest'
    """
    overall, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    last, _ = np.polyfit(np.log(sizes[-2:]), np.log(seconds[-2:]), 1)
    return f"Time of a step, 20 features: ~ n^{overall:.2f} over all sizes, n^{last:.2f} at the largest"


def _sizes(text: str) -> list[int]:
    sizes = [int(size) for size in text.split(",") if size.strip().isdecimal()]
    if len(sizes) != text.count(",") + 1 or len(set(sizes)) < 2 or min(sizes) < 8:
        raise argparse.ArgumentTypeError(
            "expected at least two different numbers of samples, each at least 8, separated by commas"
        )
    return sizes


def main(arguments: Sequence[str] | None = None) -> int:
    """Draw both charts.

    Parameters
    ----------
    arguments : sequence of str or None, default=None
        Arguments of the command line; None means those of the process.

    Returns
    -------
    int
        Exit code: 0; 1 if data are unavailable or a file cannot be written; 2 for invalid arguments.
    """
    parser = argparse.ArgumentParser(prog="python -m mfbench_sqpfw.charts", description=__doc__.split("\n\n")[1])
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="folder for path.svg and scaling.svg")
    parser.add_argument("--data-dir", type=Path, help="folder that mirrors datasets")
    parser.add_argument("--offline", action="store_true", help="do not use the network")
    parser.add_argument(
        "--dataset", default="wdbc", help="dataset of the path chart, numeric features only (default: wdbc)"
    )
    parser.add_argument("--kappa", type=int, default=1, help="kappa and lambda of the path (default: 1)")
    parser.add_argument("--theta-max", type=float, default=0.1, help="end of the path (default: 0.1)")
    parser.add_argument("--sizes", type=_sizes, default=SIZES, metavar="N,N,…", help="numbers of samples to time")
    options = parser.parse_args(arguments)
    from mfbench import Chart, load_dataset, save_chart

    def draw() -> None:
        data = load_dataset(options.dataset, data_dir=options.data_dir, offline=options.offline)
        spread = data.X.std(axis=0)
        X = (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        path = sqpfw_path(X, data.y, options.theta_max, kappa=options.kappa)
        options.out.mkdir(parents=True, exist_ok=True)
        title = f"{options.dataset}: {len(path.events)} breakpoints, {int(np.sum(path.jumps))} jumps"
        save_chart(Chart("path", title, spec=lambda: draw_path(path, data.feature_names)), options.out / "path.svg")
        step_cost(64, steps=20)
        costs = [step_cost(n) for n in options.sizes]
        title = scaling_title(options.sizes, costs)
        scaling = Chart("scaling", title, spec=lambda: draw_scaling(options.sizes, costs))
        save_chart(scaling, options.out / "scaling.svg")

    return exit_code_of(draw)


def exit_code_of(draw: Callable[[], None]) -> int:
    """Call a function that draws files, and print in one sentence what goes wrong.

    Parameters
    ----------
    draw : callable

    Returns
    -------
    int
        Exit code: 0; 1 if data are unavailable or a file cannot be written; 2 for invalid parameters.
    """
    from mfbench.errors import MfbenchError

    try:
        draw()
    except (MfbenchError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        # A ValueError means an invalid parameter.
        return int(getattr(error, "exit_code", 2 if isinstance(error, ValueError) else 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Draw charts of SQP-FW: ``python -m mfbench_sqpfw.charts [--data-dir DIR] OUT_DIR``.

``path.svg`` shows the weights of a dataset's features over theta, with the breakpoints and the jumps; ``scaling.svg``
shows the time of a step of Algorithm 1 over the number of samples. Needs matplotlib (the extra ``figures``). Like
`plugin`, this module is not an estimator: it loads data through mfbench.
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


def draw_path(path: WeightPath, names: Sequence[str], title: str) -> Any:
    """Return a chart of the weights over theta.

    Parameters
    ----------
    path : WeightPath
    names : sequence of str
        Names of the features; the legend shows the eight with the largest final weights.
    title : str

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    named = set(np.argsort(-path.rows[-1], kind="stable")[:8].tolist())
    # Each theta twice, with the weights before and after it, so that a jump is a vertical line.
    thetas = np.repeat(path.thetas, 2)
    weights = np.stack([path.before, path.after], axis=1).reshape(len(thetas), -1)
    for feature, name in enumerate(names):
        style: dict[str, Any] = (
            {"label": name, "linewidth": 1.4} if feature in named else {"color": "0.75", "linewidth": 0.6}
        )
        axes.plot(thetas, weights[:, feature], **style)
    _, top = axes.get_ylim()
    axes.vlines(path.thetas[1:], -0.03 * top, -0.01 * top, color="0.6", linewidth=0.3)
    jumps = path.thetas[path.jumps]
    axes.vlines(jumps, -0.06 * top, -0.04 * top, color="#c0504d", linewidth=0.3)
    axes.set(
        xlabel="theta",
        ylabel="weight",
        title=f"{title}: {len(path.events)} breakpoints (grey marks), {len(jumps)} jumps (red marks)",
    )
    axes.legend(fontsize="small")
    return figure


def draw_scaling(sizes: Sequence[int], seconds: Sequence[float]) -> Any:
    """Return a chart of the time of a step over the number of samples, with its exponents.

    Parameters
    ----------
    sizes : sequence of int
    seconds : sequence of float

    Returns
    -------
    matplotlib.figure.Figure
    """
    from matplotlib.figure import Figure

    # Fixed costs dominate small problems, so the fit over all sizes understates the growth.
    overall, _ = np.polyfit(np.log(sizes), np.log(seconds), 1)
    last, _ = np.polyfit(np.log(sizes[-2:]), np.log(seconds[-2:]), 1)
    title = f"Time of a step, 20 features: ~ n^{overall:.2f} over all sizes, n^{last:.2f} at the largest"
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.loglog(sizes, 1e3 * np.asarray(seconds), "o-")
    axes.set(xlabel="samples", ylabel="milliseconds per step", title=title)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ticks = [tick for tick in _TICKS if 0.7 * min(seconds) < 1e-3 * tick < 1.5 * max(seconds)]
    axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.grid(True, linewidth=0.3)
    return figure


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
        Exit code: 0; 1 if data or matplotlib are unavailable or a file cannot be written; 2 for invalid arguments.
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
    from mfbench import load_dataset

    def draw() -> None:
        data = load_dataset(options.dataset, data_dir=options.data_dir, offline=options.offline)
        spread = data.X.std(axis=0)
        X = (data.X - data.X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        path = sqpfw_path(X, data.y, options.theta_max, kappa=options.kappa)
        options.out.mkdir(parents=True, exist_ok=True)
        draw_path(path, data.feature_names, options.dataset).savefig(options.out / "path.svg")
        step_cost(64, steps=20)
        costs = [step_cost(n) for n in options.sizes]
        draw_scaling(options.sizes, costs).savefig(options.out / "scaling.svg")

    return exit_code_of(draw)


def exit_code_of(draw: Callable[[], None]) -> int:
    """Call a function that draws files, and print in one sentence what goes wrong.

    Parameters
    ----------
    draw : callable

    Returns
    -------
    int
        Exit code: 0; 1 if data or matplotlib are unavailable or a file cannot be written; 2 for invalid parameters.
    """
    from mfbench.errors import MfbenchError

    try:
        import matplotlib  # noqa: F401

        draw()
    except ImportError:
        print("error: matplotlib is missing; install it with: pip install 'mfbench[figures]'", file=sys.stderr)  # noqa: T201
        return 1
    except (MfbenchError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)  # noqa: T201
        # A ValueError means an invalid parameter.
        return int(getattr(error, "exit_code", 2 if isinstance(error, ValueError) else 1))
    return 0


if __name__ == "__main__":
    sys.exit(main())

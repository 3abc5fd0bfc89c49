"""How often a gate cries wolf and how much it finds, with noise that was recorded on a real machine.

``python tests/benchmarks/gate_study.py record FILE [--blocks 60] [--profile gate]`` measures one environment against
itself, block by block, and writes every cost in the order of time. ``… replay FILE`` cuts comparisons out of the
record, multiplies the costs of the head, and lets the gate and the rules of other programs judge them: minutes of
computing instead of days. ``… live BASE SLOW SUITE`` runs real gates: BASE against itself, and against SLOW, an
interpreter whose environment has a planted slowdown.

A replayed comparison takes consecutive blocks from a random place, so that slow drifts stay in it. In each block it
draws which two of the four processes are the base; all four ran the same code.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from mfbench.host.registry import load_registry
from mfbench.model.trials import Trial
from mfbench.run.forecast.order import parse_duration
from mfbench.stats.calibration import share
from mfbench.suite.loading import load_suite
from mfbench_gate import judge
from mfbench_gate.api import PROFILE
from mfbench_gate.comparison import CellVerdict, Comparison, MeasuredCase
from mfbench_gate.gate.environments import PreparedSide, prepare_side
from mfbench_gate.gate.gate import Gate, run_gate
from mfbench_gate.gate.measure import BASE, HEAD, Blocks, GatePlan, Measurements, TimedCell, plan_gate
from mfbench_gate.gate.side import staged

MEASURES = ("fit", "predict", "memory")
# Processes of a block: base, head, head, base, or with the two sides exchanged.
FLIPPED = (1, 0, 3, 2)
FACTORS = (1.05, 1.10, 1.15, 1.30)
# Measurements of each side that the rules of other programs get: as many as a gate takes to its first analysis.
N_OTHERS = 16


@dataclass
class Record:
    """Recorded costs.

    Attributes
    ----------
    cells : list of str
    costs : dict of str to ndarray of shape (n_blocks, n_cells, 4)
        By measure; the last axis is the position of the process in its block.
    seconds : ndarray of shape (n_blocks,)
    """

    cells: list[str]
    costs: dict[str, np.ndarray]
    seconds: np.ndarray


def record(path: Path, suite: str, profile: str, only: list[str], n_blocks: int) -> None:
    """Measure this environment against itself and write the costs after every block."""
    registry = load_registry()
    plan = plan_gate(load_suite(suite, registry, profile), registry, only)
    python = Path(sys.executable)
    with staged(plan.suite) as start:
        blocks, known = Blocks(lambda side: start(python), "cpu", seed=0), Measurements()
        blocks.pilot(plan.cells, known)
        cells = [cell for cell in plan.cells if cell.name not in known.omissions]
        rows: dict[str, list[list[list[float]]]] = {measure: [] for measure in MEASURES}
        seconds = []
        for number in range(n_blocks):
            own = Measurements(rounds=known.rounds)
            blocks.run(cells, own)
            for measure in MEASURES:
                own_rows = [own.costs[cell.place, measure] for cell in cells]
                rows[measure].append([[c.base[0], c.head[0], c.head[1], c.base[1]] for c in own_rows])
            seconds.append(own.seconds)
            content = {"cells": [cell.name for cell in cells], "costs": rows, "seconds": seconds}
            path.write_text(json.dumps(content))
            print(f"block {number + 1} of {n_blocks}: {own.seconds:.1f} s", flush=True)


def read(path: Path) -> Record:
    """Read a record."""
    content = json.loads(path.read_text())
    costs = {measure: np.array(rows) for measure, rows in content["costs"].items()}
    return Record(content["cells"], costs, np.array(content["seconds"]))


class Replay:
    """Replicates that answer with recorded costs, and the clock that these costs would have taken.

    Parameters
    ----------
    recorded : Record
    n_cells : int
        Cells of the comparison, drawn at random.
    factors : dict of int to float
        What the head's time of a cell is multiplied by, by its position.
    rng : Generator
    """

    def __init__(self, recorded: Record, n_cells: int, factors: dict[int, float], rng: np.random.Generator) -> None:
        self._recorded, self._factors, self._rng = recorded, factors, rng
        self.columns = rng.choice(len(recorded.cells), n_cells, replace=n_cells > len(recorded.cells))
        self._first = int(rng.integers(len(recorded.seconds)))
        self._n_started = -2  # a pilot has two processes
        self._order = (0, 1, 2, 3)
        self.seconds = 0.0

    def start(self, side: str) -> ReplayedProcess:
        """Return the next process of a block."""
        number = self._n_started
        self._n_started += 1
        if number < 0:
            return ReplayedProcess(self, side, None, 0)
        block, position = divmod(number, 4)
        if position == 0:
            self._order = FLIPPED if self._rng.integers(2) else (0, 1, 2, 3)
            self.seconds += float(self._recorded.seconds[self._block(block)])
        return ReplayedProcess(self, side, self._block(block), self._order[position])

    def now(self) -> float:
        """Return the time that has passed."""
        return self.seconds

    def answer(self, side: str, block: int | None, position: int, cell: int) -> dict[str, Any]:
        """Return the answer of a process on a cell."""
        at = (0 if block is None else block, self.columns[cell], position)
        fit, predict, memory = (float(self._recorded.costs[measure][at]) for measure in MEASURES)
        factor = self._factors.get(cell, 1.0) if side == HEAD else 1.0
        costs = {"fit_cpu": fit * factor, "predict_cpu": predict * factor, "memory": memory, "duration": fit + predict}
        return {"status": "ok", "scores": {"accuracy": 1.0}, "predictions": [0], **costs}

    def _block(self, number: int) -> int:
        return (self._first + number) % len(self._recorded.seconds)


class ReplayedProcess:
    """A process of a replayed block."""

    is_alive = True

    def __init__(self, replay: Replay, side: str, block: int | None, position: int) -> None:
        self._replay, self._at, self.missing, self.judged = replay, (side, block, position), {}, {}

    def __enter__(self) -> ReplayedProcess:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing is left behind."""

    def versions(self) -> dict[str, str]:
        """Both sides have the same."""
        return {}

    def run(self, trial: Trial, rounds: int, left: float = math.inf) -> dict[str, Any]:
        """Answer with what was recorded."""
        return self._replay.answer(*self._at, int(trial.method))


def replayed(recorded: Record, plan: GatePlan, replay: Replay, budget: float) -> Comparison:
    """Run a gate on a replay."""
    side = PreparedSide("replay", Path(), "")
    return Gate(plan, side, side, replay.start, lambda sentence: None, budget=budget, now=replay.now).run()


def empty_plan(n_cells: int) -> GatePlan:
    """Return a plan with numbered cells; its dataset is never used."""
    registry = load_registry()
    plan = plan_gate(load_suite("timing", registry, "gate"), registry).suite
    plan.datasets["d"] = next(iter(plan.datasets.values()))
    trials = [Trial("", "d", str(number), 0, 0, 0) for number in range(n_cells)]
    return GatePlan(plan, tuple(TimedCell(MeasuredCase(trial.method, "d"), (trial,)) for trial in trials))


def others() -> dict[str, Callable[[np.ndarray, np.ndarray], bool]]:
    """Return the rules of other programs: from the times of base and head to an alarm."""

    def asv(base: np.ndarray, head: np.ndarray) -> bool:
        p_value = stats.mannwhitneyu(base, head, alternative="two-sided").pvalue
        return bool(p_value < 0.002 and np.median(head) > 1.1 * np.median(base))

    def fixed(base: np.ndarray, head: np.ndarray) -> bool:
        return bool(head.mean() > 1.1 * base.mean())

    def bencher(base: np.ndarray, head: np.ndarray) -> bool:
        # One new value against the history of the base: Student's t with an upper boundary of 0.99.
        boundary = base.mean() + stats.t.ppf(0.99, len(base) - 1) * base.std(ddof=1)
        return bool(head[0] > boundary)

    return {"asv: Mann-Whitney p < 0.002 and 1.1 ×": asv, "fixed 10 % of the mean": fixed, "Bencher: t, 0.99": bencher}


def times(recorded: Record, replay: Replay, cell: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return fit times of one cell on both sides, as the other rules see them."""
    base: list[float] = []
    head: list[float] = []
    replay.start(BASE), replay.start(HEAD)
    while len(base) < n:
        answers = [replay.start(side).run(Trial("", "d", str(cell), 0, 0, 0), 1) for side in (BASE, HEAD, HEAD, BASE)]
        base += [answers[0]["fit_cpu"], answers[3]["fit_cpu"]]
        head += [answers[1]["fit_cpu"], answers[2]["fit_cpu"]]
    return np.array(base), np.array(head)


def replay_all(path: Path, n_cells: int, n_equal: int, n_slow: int, budget: float) -> None:
    """Print both tables: false alarms in comparisons of equal versions, and power against the size of a slowdown."""
    recorded, plan = read(path), empty_plan(n_cells)
    judge.interval = lambda values, level: (math.nan, math.nan)  # slow, and no verdict depends on it
    rules = others()
    print(f"record: {len(recorded.seconds)} blocks, {len(recorded.cells)} cells; budget {budget:g} s")
    print("| rule | comparisons with a false alarm | 95 % interval |\n| --- | ---: | ---: |")
    alarms = dict.fromkeys(["mfbench gate", *rules], 0)
    for seed in range(n_equal):
        comparison = replayed(recorded, plan, Replay(recorded, n_cells, {}, np.random.default_rng(seed)), budget)
        alarms["mfbench gate"] += bool(comparison.with_verdict(CellVerdict.WORSE))
        for name, rule in rules.items():
            alarms[name] += any(
                rule(*times(recorded, Replay(recorded, n_cells, {}, np.random.default_rng(seed)), cell, N_OTHERS))
                for cell in range(n_cells)
            )
    for name, count in alarms.items():
        low, high = share(count, n_equal)
        print(f"| {name} | {count} of {n_equal} ({count / n_equal:.1%}) | {low:.1%} to {high:.1%} |")
    print("\n| slowdown of one cell | found | pairs | minutes | " + " | ".join(rules) + " |")
    print("| --- " * (4 + len(rules)) + "|")
    for factor in FACTORS:
        print(_power_row(recorded, plan, n_cells, factor, n_slow, budget, rules), flush=True)


def _power_row(
    recorded: Record, plan: GatePlan, n_cells: int, factor: float, n_slow: int, budget: float, rules: dict[str, Any]
) -> str:
    found, pairs, minutes, by_rule = 0, [], [], dict.fromkeys(rules, 0)
    for seed in range(n_slow):
        replay = Replay(recorded, n_cells, {0: factor}, np.random.default_rng(10_000 + seed))
        comparison = replayed(recorded, plan, replay, budget)
        (cell,) = [cell for cell in comparison.cells if cell.method == "0" and cell.measure == "fit"]
        found += cell.verdict is CellVerdict.WORSE
        pairs.append(cell.n_pairs)
        minutes.append(replay.seconds / 60)
        for name, rule in rules.items():
            again = Replay(recorded, n_cells, {0: factor}, np.random.default_rng(10_000 + seed))
            by_rule[name] += rule(*times(recorded, again, 0, N_OTHERS))
    shares = " | ".join(f"{count / n_slow:.0%}" for count in by_rule.values())
    return f"| {factor - 1:.0%} | {found / n_slow:.1%} | {np.median(pairs):g} | {np.median(minutes):.1f} | {shares} |"


def live(base: str, slow: str, suite: str, n_runs: int, budget: float, only: list[str]) -> None:
    """Run real gates and print how many were right."""
    registry = load_registry()
    plan = plan_gate(load_suite(suite, registry, preferred=PROFILE), registry, only)
    sides = [prepare_side(text, Path()) for text in (base, slow)]
    right = {"equal": 0, "slow": 0}
    for seed in range(n_runs):
        for name, head in (("equal", sides[0]), ("slow", sides[1])):
            comparison = run_gate(plan, sides[0], head, lambda sentence: None, budget=budget, seed=seed)
            worse = sorted(f"{cell.name} {cell.measure}" for cell in comparison.with_verdict(CellVerdict.WORSE))
            right[name] += bool(worse) == (name == "slow")
            pairs = max(cell.n_pairs for cell in comparison.cells)
            took = f"{comparison.seconds:.0f} s, at most {pairs} pairs"
            print(f"{name}: {right[name]} of {seed + 1} right; {took}; worse: {worse or 'nothing'}", flush=True)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    own = commands.add_parser("record")
    own.add_argument("file", type=Path)
    own.add_argument("--suite", default="timing")
    own.add_argument("--profile", default="gate")
    own.add_argument("--only", action="append", default=[])
    own.add_argument("--blocks", type=int, default=60)
    own = commands.add_parser("replay")
    own.add_argument("file", type=Path)
    own.add_argument("--cells", type=int, default=20)
    own.add_argument("--equal", type=int, default=400)
    own.add_argument("--slow", type=int, default=200)
    own.add_argument("--budget", type=parse_duration, default="20m")
    own = commands.add_parser("live")
    own.add_argument("base")
    own.add_argument("slow")
    own.add_argument("suite")
    own.add_argument("--runs", type=int, default=10)
    own.add_argument("--budget", type=parse_duration, default="5m")
    own.add_argument("--only", action="append", default=[])
    return parser.parse_args()


def main() -> None:
    """Run the command."""
    options = _arguments()
    if options.command == "record":
        record(options.file, options.suite, options.profile, options.only, options.blocks)
    elif options.command == "replay":
        replay_all(options.file, options.cells, options.equal, options.slow, options.budget)
    else:
        live(options.base, options.slow, options.suite, options.runs, options.budget, options.only)


if __name__ == "__main__":
    main()

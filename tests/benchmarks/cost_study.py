"""How well costs are predicted, and what the order of trials is worth: a study of a run that is stored.

    mfbench suite uci --jobs 1 --data-dir MIRROR --out REPORTS
    python tests/benchmarks/cost_study.py uci --data-dir MIRROR --out REPORTS

The run may be incomplete: the study uses the trials that ended well. Predicted are the seconds of a trial
(1) as plugins declare them, (2) learned from the run's other datasets, (3) learned from all datasets and, on the same
dataset, from the first fold. An error is the difference of predicted and real seconds over the real ones. The makespans
come from a simulation with the real durations.
"""

from __future__ import annotations

import argparse
import heapq
import shutil
import sqlite3
import tempfile
from collections import deque
from pathlib import Path

import numpy as np

from mfbench.api import Request, prepare_suite
from mfbench.run.forecast.costs import LearnedCosts, earlier_trials
from mfbench.run.forecast.order import longest_first
from mfbench.run.store.file import FILE_NAME
from mfbench.run.trial.steps import selector_key
from mfbench.suite.costs import DeclaredCosts


def durations(folder):
    """Return the real seconds of each trial by its coordinates."""
    with sqlite3.connect(f"file:{folder / FILE_NAME}?mode=ro", uri=True) as db:
        rows = db.execute(
            "SELECT p.dataset, p.method, p.repeat, p.fold, t.duration FROM plan p JOIN trials t ON t.key = p.key "
            "WHERE t.status = 'ok' AND t.duration > 0"
        ).fetchall()
    db.close()
    return {row[:4]: row[4] for row in rows}


def coordinates(trial):
    return trial.dataset, trial.method, trial.repeat, trial.fold


def report(name, trials, real, predict):
    """Print the errors of a prediction, trial by trial, by dataset and method, and in total."""
    predicted = np.array([predict(trial) for trial in trials])
    actual = np.array([real[coordinates(trial)] for trial in trials])
    cells = {}
    for trial, guess, truth in zip(trials, predicted, actual, strict=True):
        cells.setdefault((trial.dataset, trial.method), []).append((guess, truth))
    sums = np.array([np.sum(pairs, axis=0) for pairs in cells.values()])
    errors = np.abs(sums[:, 0] - sums[:, 1]) / sums[:, 1]
    print(
        f"{name:34s} {len(trials):5d} trials, median error {np.median(np.abs(predicted - actual) / actual):4.0%} "
        f"of a trial, {np.median(errors):4.0%} of a method on a dataset; "
        f"total {predicted.sum():6.0f} s predicted, {actual.sum():6.0f} s real"
    )
    return cells


def worst(cells, count=8):
    ranked = sorted(cells.items(), key=lambda item: -abs(np.log(np.divide(*np.sum(item[1], axis=0)))))
    for (dataset, method), pairs in ranked[:count]:
        guess, truth = np.mean(pairs, axis=0)
        print(f"    {method:4s} on {dataset:28s} {guess:8.3f} s predicted {truth:8.3f} s real")


def learned_from_others(plan, declared, folder):
    measured = earlier_trials(plan, declared, folder)
    models = {
        dataset: LearnedCosts(declared, [one for one in measured if one.dataset != dataset])
        for dataset in plan.datasets
    }
    return lambda trial: models[trial.dataset].of(trial).seconds


def learned_from_first_fold(plan, declared, folder):
    with tempfile.TemporaryDirectory() as name:
        part = Path(name) / "suite" / "run"
        part.mkdir(parents=True)
        shutil.copy(folder / FILE_NAME, part)
        with sqlite3.connect(part / FILE_NAME) as db:
            db.execute("DELETE FROM plan WHERE fold > 0")
        db.close()
        return LearnedCosts(declared, earlier_trials(plan, declared, part))


def makespan(trials, methods, real, workers):
    """Return when the last trial ends if workers take trials in this order; a shared fit is made by the first."""
    waiting, followers = deque(), {}
    for trial in trials:
        key = selector_key(methods[trial.method])
        group = (trial.dataset, trial.repeat, trial.fold, key)
        if key and group in followers:
            followers[group].append(trial)
        else:
            waiting.append((trial, group if key else None))
            if key:
                followers[group] = []
    ready, running, now = deque(), [], 0.0
    number = 0
    while waiting or ready or running:
        while (ready or waiting) and len(running) < workers:
            trial, group = ready.popleft() if ready else waiting.popleft()
            heapq.heappush(running, (now + real[coordinates(trial)], number, group))
            number += 1
        now, _, group = heapq.heappop(running)
        if group is not None:
            ready.extend((trial, None) for trial in followers.pop(group, ()))
    return now


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite")
    parser.add_argument("--profile")
    parser.add_argument("--data-dir")
    parser.add_argument("--out", default="reports")
    parser.add_argument("--workers", type=int, default=8)
    words = parser.parse_args()
    plan, folder, registry = prepare_suite(
        Request(words.suite, profile=words.profile, out=words.out, data_dir=words.data_dir, offline=True)
    )
    real = durations(folder)
    trials = [trial for trial in plan.trials if coordinates(trial) in real]
    print(f"{len({t.dataset for t in trials})} datasets, {len({t.method for t in trials})} methods")
    declared = DeclaredCosts(plan, registry)
    worst(report("declared", trials, real, lambda trial: declared.of(trial).seconds))
    report("learned from other datasets", trials, real, learned_from_others(plan, declared, folder))
    first = learned_from_first_fold(plan, declared, folder)
    later = [trial for trial in trials if trial.fold > 0]
    report("learned from the first fold too", later, real, lambda trial: first.of(trial).seconds)

    total, longest = sum(real[coordinates(t)] for t in trials), max(real[coordinates(t)] for t in trials)
    print(f"makespan on {words.workers} workers; at least {max(total / words.workers, longest):.1f} s")
    for name, order in (
        ("in the plan's order", trials),
        ("longest first, as declared", longest_first(trials, declared, words.workers, plan.methods)),
        ("longest first, first fold known", longest_first(trials, first, words.workers, plan.methods)),
    ):
        print(f"    {name:34s} {makespan(order, plan.methods, real, words.workers):7.1f} s")


if __name__ == "__main__":
    main()

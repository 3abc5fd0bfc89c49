"""How often the history raises a false alarm, and which changes it detects: simulated series with a known answer.

Run: ``python tests/benchmarks/history_study.py [SERIES]``. It prints the tables of docs/gate.md as Markdown; the
constant of the penalty in ``plugins/mfbench_gate/history/trends.py`` was chosen by the first one.
"""

import sys

import numpy as np
from scipy import stats

from mfbench_gate.history.trends import FACTOR, TIME_RESOLUTION, change_points

LENGTHS = (20, 50, 100)
FACTORS = (1.5, 2.0, 2.5, 3.0)
DEVIATION = 0.02
STEPS = (0.05, 0.10, 0.15, 0.30)
DEVIATIONS = (0.02, 0.05)
N_BEFORE, N_AFTER = 20, (3, 5, 10)


def normal(rng, n):
    return rng.normal(size=n)


def heavy_tailed(rng, n):
    return rng.standard_t(3, size=n) / np.sqrt(3.0)


def disturbed(rng, n):
    """One run in ten is slower, by five standard deviations on average."""
    return rng.normal(size=n) + (rng.random(n) < 0.1) * rng.exponential(5.0, size=n)


def two_values(rng, n):
    """One run in eight has another value: memory that is allocated in blocks."""
    return 2.5 * (rng.random(n) < 0.125)


def drifting(rng, n, correlation=0.3):
    """Each run resembles the one before it."""
    values = rng.normal(size=n + 50)
    for position in range(1, len(values)):
        values[position] += correlation * values[position - 1]
    return values[50:] * np.sqrt(1.0 - correlation**2)


NOISES = {
    "normal": normal,
    "heavy tails (t, 3 degrees of freedom)": heavy_tailed,
    "one run in ten disturbed": disturbed,
    "two values only": two_values,
    "correlated (0.3)": drifting,
}


def detect(values, factor=FACTOR):
    return change_points(values, TIME_RESOLUTION, factor)


def false_alarms(n_series):
    """Print the share of stationary series with a change, for each constant of the penalty."""
    print(f"| noise | runs | {' | '.join(f'c = {c:g}' for c in FACTORS)} | 95 % interval at c = {FACTOR:g} |")
    print("| --- | ---: |" + " ---: |" * (len(FACTORS) + 1))
    for name, draw in NOISES.items():
        for n in LENGTHS:
            rng = np.random.default_rng([n, len(name)])
            series = [DEVIATION * draw(rng, n) for _ in range(n_series)]
            alarms = {c: sum(bool(detect(values, c)) for values in series) for c in FACTORS}
            low, high = stats.binomtest(alarms[FACTOR], n_series).proportion_ci(0.95, "exact")
            shares = " | ".join(f"{100 * count / n_series:.1f} %" for count in alarms.values())
            print(f"| {name} | {n} | {shares} | {100 * low:.1f} to {100 * high:.1f} % |")


def steps(n_series):
    """Print how often a step is detected within two runs, how often at the exact run, and what else is reported."""
    detected = " | ".join(f"detected, {n} runs after it" for n in N_AFTER)
    print(f"| noise | step | {detected} | at the exact run | mean error, runs | other changes |")
    print("| ---: | ---: |" + " ---: |" * (len(N_AFTER) + 3))
    for deviation in DEVIATIONS:
        for step in STEPS:
            rng = np.random.default_rng([int(1000 * deviation), int(1000 * step)])
            shares = []
            for n_after in N_AFTER:
                n = N_BEFORE + n_after
                shift = np.log1p(step) * (np.arange(n) >= N_BEFORE)
                positions_of = [detect(shift + rng.normal(0.0, deviation, n)) for _ in range(n_series)]
                errors = [min((abs(p - N_BEFORE) for p in positions), default=n) for positions in positions_of]
                shares.append(np.mean(np.array(errors) <= 2))
            near = np.array([error for error in errors if error <= 2])  # with the most runs after the step
            others = np.mean([len(positions) > 1 for positions in positions_of])
            texts = [f"{100 * share:.0f} %" for share in shares]
            exact = f"{100 * np.mean(near == 0):.0f} %" if len(near) else "–"
            print(
                f"| {100 * deviation:.0f} % | {100 * step:.0f} % | {' | '.join(texts)} | {exact} | "
                f"{near.mean() if len(near) else np.nan:.2f} | {100 * others:.1f} % |"
            )


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    print(f"{number} series per row of the first table, {number // 2} per number of the second.\n")
    false_alarms(number)
    print()
    steps(number // 2)

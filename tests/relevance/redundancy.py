"""Operating curves on redundant designs: detection at equal false-alarm rates, compared with plain ranking.

Run as ``python tests/relevance/redundancy.py [rounds]``. Each round draws the second simulation of the paper with equal
ranges and two noisy copies of each relevant feature. All methods use the same corrected kernel, and each is swept over
its main parameter: the noise of RFVM, the penalty of FVM and P-SVM, the threshold of the ranking. Detection at a
false-alarm rate is the largest along the sweep at that rate or below. Copies count as relevant or as false alarms.
"""

import sys
import warnings

import numpy as np

from mfbench_datasets.ground_truth.rfvm import rfvm_regression_2
from mfbench_relevance import feature_kernel
from mfbench_relevance._box.descent import path
from mfbench_relevance._evidence.ascent import fixed_point
from mfbench_relevance._evidence.posterior import GramProblem
from mfbench_relevance.kernels import repaired

RATES = (0.0125, 0.05, 0.1)
STEPS = 40


def sweeps(X, y, seed):
    """Return the selections of every method along its sweep, as boolean tables of shape (n_values, n_features)."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        kernel = repaired(feature_kernel(X, y, bias="null", random_state=seed), "clip")
    K, k, kyy, m = kernel.features, kernel.cross[0], float(kernel.target[0]), kernel.n_features
    thresholds = np.geomspace(k.max(), 0.002, STEPS)
    diagonal = np.median(np.diagonal(K))
    noise = [GramProblem(k, kyy, float(len(y)), t**2 / diagonal, False, K) for t in thresholds]
    bound = 0.2 * (k / np.diagonal(K)).max()
    return {
        "ranking": k >= np.sort(k)[::-1, None],
        "RFVM": np.array([(fixed_point(p, np.full(m, 10.0), 200, 1e-4).mean != 0) & (k > 0) for p in noise]),
        "FVM": path(K, k, thresholds, np.inf, tol=1e-6) > 0,
        "P-SVM": path(K, k, thresholds, bound, tol=1e-6) > 0,
    }


def detection(selected, good, bad):
    """Return the largest share of good features selected at each rate of bad ones."""
    found, false = selected[:, good].mean(axis=1), selected[:, bad].mean(axis=1)
    return [found[false <= rate].max(initial=0.0) for rate in RATES]


def main(rounds):
    """Print mean detection, and its difference from the ranking with a 95 % interval over rounds."""
    for copy_noise in (0.1, 0.3):
        results = {}
        for seed in range(rounds):
            raw = rfvm_regression_2(n_samples=1000, equal_ranges=True, copies=2, copy_noise=copy_noise, seed=seed)
            place = np.arange(raw.X.shape[1])
            original, copy = place < 20, place >= 100
            for name, selected in sweeps(raw.X, raw.y, seed).items():
                one = detection(selected, original | copy, ~original & ~copy)
                other = detection(selected, original, ~original)
                results.setdefault(name, []).append([one, other])
        table = {name: np.array(values) for name, values in results.items()}
        for i, truth in enumerate(("copies relevant", "copies false alarms")):
            print(f"copy noise {copy_noise}, {truth}; false-alarm rates {RATES}")
            for name, values in table.items():
                gain = values[:, i] - table["ranking"][:, i]
                half = 1.96 * gain.std(axis=0, ddof=1) / np.sqrt(rounds)
                columns = zip(values[:, i].mean(axis=0), gain.mean(axis=0), half, strict=True)
                cells = [f"{a:.3f} ({b:+.3f} ± {c:.3f})" for a, b, c in columns]
                print(f"  {name:8}", *cells, sep="   ", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20)

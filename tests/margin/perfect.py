"""Boosted IMMIGRATE with learners that make no error on the training rows: kept or discarded.

Run as ``python tests/margin/perfect.py DATA_DIR [name ...]``; the folder is a mirror. Prints accuracy in five folds and
the mean number of learners kept, for each dataset; 25 rounds, standardised columns.
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold
from sklearn.preprocessing import StandardScaler

from mfbench_margin import BoostedIMMIGRATE

NAMES = (
    "monk1", "monk2", "monk3", "corral", "mofn_3_7_10", "mux6", "cryotherapy", "immunotherapy", "iris", "wine",
    "user_knowledge", "parkinsons", "soybean_small", "glass", "haberman", "statlog_heart",
)  # fmt: skip


def table(path):
    """Return rows and class codes of a file of the mirror, without classes of fewer than five rows."""
    frame = pd.read_csv(path).dropna()
    y = pd.factorize(frame["class"])[0]
    X = pd.get_dummies(frame.drop(columns="class")).to_numpy(dtype=np.float64)
    kept = np.isin(y, np.flatnonzero(np.bincount(y) >= 5))
    return X[kept], y[kept]


def main(folder, names):
    """Print a row for each dataset."""
    for name in names or NAMES:
        X, y = table(folder / f"{name}.csv.gz")
        results = {"discard": [], "keep": []}
        for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
            scaler = StandardScaler().fit(X[train])
            for perfect, outcomes in results.items():
                boosted = BoostedIMMIGRATE(n_estimators=25, perfect=perfect)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    boosted.fit(scaler.transform(X[train]), y[train])
                outcomes.append((boosted.score(scaler.transform(X[test]), y[test]), len(boosted.estimators_)))
        cells = [f"{perfect} {a:.3f} ({n:.1f} learners)" for perfect, v in results.items() for a, n in [np.mean(v, 0)]]
        print(f"{name}, {len(X)} × {X.shape[1]}:", ", ".join(cells), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])

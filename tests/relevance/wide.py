"""The evidence of the linear RVM on tables of more features than rows, by algorithm.

Run as ``python tests/relevance/wide.py DATA_DIR [n_features]`` to print the table of docs/methods.md; the folder is a
mirror with the gene data. Without a number of features, all genes are used.
"""

import sys
import warnings

import numpy as np

import mfbench
from mfbench_relevance import RFVM

ALGORITHMS = ("fixed-point", "sequential", "both")


def tables(data_dir, n_features):
    """Yield name, rows and response: two simulated tables and three of genes, the first features of each."""
    for noise in (1, 3):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(100, n_features or 600))
        yield f"simulated, noise {noise}", X, X[:, :3] @ [2, -1.5, 1] + noise * rng.normal(size=100)
    for name in ("colon", "prostate", "leukemia"):
        dataset = mfbench.load_dataset(name, data_dir=data_dir, offline=True)
        yield name, np.asarray(dataset.X, dtype=np.float64)[:, :n_features], dataset.y


def main(data_dir, n_features):
    """Print a row of a Markdown table for each table."""
    for name, X, y in tables(data_dir, n_features):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fits = [RFVM("paper", kernel="linear", algorithm=algorithm).fit(X, y) for algorithm in ALGORITHMS]
        cells = [f"{fit.evidence_:.1f} ({fit.support_.sum()} selected)" for fit in fits]
        print("|", " | ".join([f"{name}, {len(X)} × {X.shape[1]}", *cells]), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)

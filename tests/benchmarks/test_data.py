"""What cached data cost: loading against pandas, and trials on a large dataset against trials on a small one.

Run: ``pytest tests/benchmarks/test_data.py --benchmark-only``. The ratios are in each benchmark's ``extra_info``;
nothing here asserts a time.
"""

import time

import numpy as np
import pandas as pd
from sklearn.metrics import recall_score
from sklearn.preprocessing import OneHotEncoder

from mfbench import Dataset, load_run
from mfbench.api import Request, prepare_suite
from mfbench.data.cache import Cache
from mfbench.data.prepare import Columns, Encoder
from mfbench.report.progress import Silent
from mfbench.run.runner import RunOptions, execute
from mfbench_metrics.scores import balanced_accuracy

SUITE = """
[suite]
name = "noop"
[protocol]
folds = 5
repeats = {repeats}
scale = "none"
[profiles.quick]
folds = 5
repeats = {repeats}
[[datasets]]
use = ["import:{name}"]
[[methods]]
label = "N"
classifier = "dummy"
"""


def made(name, n_samples, n_features):
    """Return normal noise in two classes."""
    return Dataset(
        name=name,
        X=np.random.default_rng(0).normal(size=(n_samples, n_features)),
        y=np.arange(n_samples) % 2,
        class_names=("a", "b"),
        feature_names=tuple(f"x{i}" for i in range(n_features)),
        categorical=np.zeros(n_features, bool),
    )


def seconds(call, rounds=1):
    begin = time.perf_counter()
    for _ in range(rounds):
        call()
    return (time.perf_counter() - begin) / rounds


def test_loading_a_cached_dataset(benchmark, tmp_path):
    cache = Cache(tmp_path)
    cache.put("import:noise", made("noise", 10_000, 30), {})
    (table,) = (tmp_path / "content").iterdir()
    pd.read_parquet(table)
    benchmark.pedantic(cache.get, args=("import:noise",), rounds=20, warmup_rounds=2)
    pairs = [
        (seconds(lambda: cache.get("import:noise"), 5), seconds(lambda: pd.read_parquet(table), 5)) for _ in range(15)
    ]
    benchmark.extra_info |= {
        "ours_ms": 1000 * float(np.median([ours for ours, _ in pairs])),
        "pandas_ms": 1000 * float(np.median([peer for _, peer in pairs])),
        "ratio": float(np.median([ours / peer for ours, peer in pairs])),
    }


def bare(data, trials, copies):
    """Cut the same folds and fit and score the same classifier in this process; return the seconds.

    The harness lends the arrays of a fold to all its trials; `copies` shows what one for each trial would cost.
    """
    from sklearn.dummy import DummyClassifier
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.model_selection import StratifiedKFold

    begin = time.perf_counter()
    for repeat in range(trials // 5):
        for train, test in StratifiedKFold(5, shuffle=True, random_state=repeat).split(data.X, data.y):
            a, b = data.X[train], data.X[test]
            given = (a.copy(), b.copy()) if copies else (a, b)
            predicted = DummyClassifier().fit(given[0], data.y[train]).predict(given[1])
            accuracy_score(data.y[test], predicted)
            balanced_accuracy_score(data.y[test], predicted)
    return time.perf_counter() - begin


def test_overhead_per_trial_with_a_large_dataset(benchmark, tmp_path, monkeypatch):
    """Workers map arrays that the main process wrote once: what a trial costs besides its work must not grow."""
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "cache"))
    cache = Cache(tmp_path / "cache")
    sizes = {"small": made("small", 150, 4), "large": made("large", 150, 17_500), "tall": made("tall", 25_000, 100)}

    def run(name, trials):
        path = tmp_path / f"{name}.toml"
        path.write_text(SUITE.format(repeats=trials // 5, name=name))
        plan, folder, registry = prepare_suite(Request(str(path), out=tmp_path / "out", offline=True))
        return seconds(lambda: execute(plan, folder, registry, RunOptions(jobs=1, fresh=True), Silent()))

    for name, data in sizes.items():
        cache.put(f"import:{name}", data, {})
    run("small", 10)  # starts the process that workers are forked from
    benchmark.pedantic(run, args=("tall", 200), rounds=1)
    for name, data in sizes.items():
        # The difference of two lengths takes out what is paid once per run, such as writing the arrays.
        more, less = min(run(name, 300) for _ in range(2)), min(run(name, 100) for _ in range(2))
        work, copied = ((bare(data, 300, copies) - bare(data, 100, copies)) / 200 for copies in (False, True))
        benchmark.extra_info |= {
            f"megabytes_{name}": data.X.nbytes / 1e6,
            f"trial_ms_{name}": 1000 * (more - less) / 200,
            f"bare_ms_{name}": 1000 * work,
            f"overhead_ms_{name}": 1000 * ((more - less) / 200 - work),
            f"copy_ms_{name}": 1000 * (copied - work),
        }


WIDE = """
[[methods]]
label = "F"
selector = "anova-f"
top = 0.5
classifier = "svm-linear"
[[methods]]
label = "RF"
selector = "random-forest"
top = 100
classifier = "random-forest"
"""


def test_a_wide_table(benchmark, tmp_path, monkeypatch):
    """200 rows of 100,000 features: the memory of a trial above its worker's, and the bytes that it stores."""
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "cache"))
    Cache(tmp_path / "cache").put("import:wide", made("wide", 200, 100_000), {})
    path = tmp_path / "wide.toml"
    path.write_text(SUITE.format(repeats=1, name="wide") + WIDE)
    plan, folder, registry = prepare_suite(Request(str(path), out=tmp_path / "out", offline=True))
    options = RunOptions(jobs=1, fresh=True)
    benchmark.pedantic(execute, args=(plan, folder, registry, options, Silent()), rounds=1)
    done = load_run(folder)
    assert done.failures.empty
    stored = (folder / "results.sqlite").stat().st_size
    benchmark.extra_info |= {
        "megabytes": done.trials["peak_memory"].max() / 2**20,
        "stored_megabytes_per_trial": stored / len(done.trials) / 1e6,
    }


def test_encoding_of_24_categorical_columns(benchmark):
    """Fit on 200 rows and encode them and 40 others; scikit-learn's encoder has the same result."""
    X = np.random.default_rng(0).integers(0, 5, (240, 24)) * 1.0

    def ours():
        encoder = Encoder(Columns(np.ones(24, bool)), "standard").fit(X[:200])
        return [encoder.transform(part) for part in (X[:200], X[200:])]

    def peer():
        encoder = OneHotEncoder(drop="if_binary", handle_unknown="ignore", sparse_output=False).fit(X[:200])
        return [encoder.transform(part) for part in (X[:200], X[200:])]

    assert all(np.array_equal(own, other) for own, other in zip(benchmark(ours), peer(), strict=True))
    benchmark.extra_info["scikit_learn_over_ours"] = seconds(peer, 20) / seconds(ours, 20)


def test_balanced_accuracy_of_100_rows(benchmark):
    """The mean recall over classes, which every trial computes."""
    y_true, y_pred = np.random.default_rng(0).integers(0, 3, (2, 100))

    def peer():
        return recall_score(y_true, y_pred, average="macro")

    assert benchmark(balanced_accuracy, y_true, y_pred) == peer()
    ratio = seconds(peer, 50) / seconds(lambda: balanced_accuracy(y_true, y_pred), 50)
    benchmark.extra_info["scikit_learn_over_ours"] = ratio

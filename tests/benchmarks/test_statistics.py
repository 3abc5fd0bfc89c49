"""All statistics and the page of a run of 25 methods, 40 datasets and 100 folds: 100,000 results read from the store.

Run: ``pytest tests/benchmarks/test_statistics.py --benchmark-only``. Seconds and peak memory are in ``extra_info``.
The single tests are compared with SciPy, and with baycomp if it is installed.
"""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import stats
from toy_protocols import SPECS, completed

from mfbench.model.trials import Trial, TrialResult
from mfbench.run.store.store import Store
from mfbench.stats.bayesian import signed_rank_test
from mfbench.stats.paired import corrected_t_test, wilcoxon_test
from mfbench.suite.protocols import make_protocol

METHODS, DATASETS, FOLDS, REPEATS, ROWS = 25, 40, 10, 10, 300

ALL_STATISTICS = """
import json, resource, sys, time
from pathlib import Path
from mfbench.stats.results import Run
from mfbench.report.contents import report_of
begin, cpu = time.perf_counter(), time.process_time()
run = Run(Path(sys.argv[1]))
run.scores, run.summary(), run.wins_ties_losses()
overall = run.overall()
overall.friedman, overall.groups, overall.against_reference, overall.pairs, overall.wins, run.time_ratios
overall.claims.these, overall.claims.like_these
opened = time.perf_counter() - begin, time.process_time() - cpu
run.wins_ties_losses(test="s-test"), run.wins_ties_losses(test="mcnemar"), run.wins_ties_losses(test="bayes-t")
decided = time.perf_counter() - begin, time.process_time() - cpu
report_of(run, statistics=True)
reported = time.perf_counter() - begin, time.process_time() - cpu
print(json.dumps({
    "seconds": opened[0], "cpu_seconds": opened[1],
    "with_decisions_seconds": decided[0], "with_decisions_cpu_seconds": decided[1],
    "with_report_seconds": reported[0], "with_report_cpu_seconds": reported[1],
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""

PAGE = """
import json, resource, sys, time
from pathlib import Path
begin = time.perf_counter()
from mfbench.stats.results import Run
from mfbench.report.present import write_page
path = write_page(Run(Path(sys.argv[1])))
print(json.dumps({
    "seconds": time.perf_counter() - begin,
    "page_mb": path.stat().st_size / 1e6,
    "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
}))
"""


@pytest.fixture(scope="module")
def stored(tmp_path_factory, make_metadata):
    """A store as a run leaves it, with predictions, weights and selections."""
    folder = tmp_path_factory.mktemp("large")
    rng = np.random.default_rng(0)
    datasets, methods = [f"d{i}" for i in range(DATASETS)], [f"m{i}" for i in range(METHODS)]
    settings = completed(folds=FOLDS, repeats=REPEATS)
    protocol = make_protocol(SPECS[settings.kind], settings.model_dump(), 0)
    metadata = make_metadata(
        methods=dict.fromkeys(methods, "knn"), protocol=settings, protocol_key=protocol.identity, profile="full"
    )
    described = [
        {
            "label": name, "sha256": name, "n_samples": ROWS, "n_features": 20, "class_names": ["no", "yes"],
            "feature_names": [f"f{j}" for j in range(20)], "relevant": None, "interactions": None, "collections": {},
            "source": "", "truth": rng.integers(0, 2, ROWS),
        }
        for name in datasets
    ]  # fmt: skip
    with Store(folder) as store:
        store.begin(metadata, described, [])
        plan = []
        store._db.execute("BEGIN")
        for known in described:
            for repeat in range(REPEATS):
                for fold, (_, test) in enumerate(protocol.splits(known["label"], known["truth"], repeat)):
                    for number, method in enumerate(methods):
                        trial = Trial(
                            f"{known['label']}/{method}/{repeat}/{fold}", known["label"], method, repeat, fold, 1
                        )
                        plan.append(trial)
                        store.add(trial, _result(trial.key, known["truth"][test], 0.2 + 0.004 * number, number, rng))
        store._db.execute("COMMIT")
        for known in described:
            for repeat in range(REPEATS):
                splits = protocol.splits(known["label"], known["truth"], repeat)
                store.add_splits(known["sha256"], f"{protocol.identity}:{known['label']}", repeat, splits, (ROWS, 20))
        store.set_plan(plan)
    return folder


def _result(key, truth, error, number, rng):
    predictions = np.where(rng.random(len(truth)) < error, 1 - truth, truth)
    scores = dict.fromkeys(("accuracy", "balanced_accuracy"), float((predictions == truth).mean()))
    return TrialResult(
        key=key, scores=scores, duration=0.1, fit_wall=0.01 * (number + 1), predict_wall=0.01, peak_memory=10**6,
        n_selected=5, selected=np.arange(5), weights=rng.random(20), predictions=predictions,
    )  # fmt: skip


@pytest.mark.parametrize("script", [ALL_STATISTICS, PAGE], ids=["statistics", "page"])
def test_all_results_from_the_store(benchmark, stored, script):
    def whole():
        done = subprocess.run([sys.executable, "-c", script, str(stored)], check=True, capture_output=True, text=True)
        return json.loads(done.stdout)

    measured = [benchmark.pedantic(whole, rounds=1), whole(), whole()]
    benchmark.extra_info |= {name: min(run[name] for run in measured) for name in measured[0]}
    benchmark.extra_info["results"] = METHODS * DATASETS * FOLDS * REPEATS


def best(function, rounds=5):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return min(times)


def test_corrected_t_against_scipys_paired_t(benchmark):
    a, b = np.random.default_rng(0).random((2, 100))
    benchmark(corrected_t_test, a, b, 1 / 9)
    ours, peer = (best(lambda f=f: [f() for _ in range(300)]) for f in (
        lambda: corrected_t_test(a, b, 1 / 9), lambda: stats.ttest_rel(a, b).confidence_interval()
    ))  # fmt: skip
    benchmark.extra_info |= {"peer": "scipy.stats.ttest_rel", "ratio": peer / ours}


def test_wilcoxon_with_interval_against_scipys_without(benchmark):
    a, b = np.random.default_rng(0).random((2, 40))
    benchmark(wilcoxon_test, a, b)
    ours, peer = (best(lambda f=f: [f() for _ in range(100)]) for f in (
        lambda: wilcoxon_test(a, b), lambda: stats.wilcoxon(a, b)
    ))  # fmt: skip
    benchmark.extra_info |= {"peer": "scipy.stats.wilcoxon", "ratio": peer / ours}


def test_signed_rank_against_baycomp(benchmark):
    baycomp = pytest.importorskip("baycomp", reason="baycomp is not installed")
    a, b = np.random.default_rng(0).random((2, 40)) / 20 + 0.8
    benchmark.pedantic(signed_rank_test, args=(a, b), rounds=5, warmup_rounds=1)
    ours = best(lambda: signed_rank_test(a, b))
    # Its result is remembered between calls: one call each, with other data.
    peer = min(best(lambda c=c: baycomp.SignedRankTest.probs(b, a + c, rope=0.01), 1) for c in (0.0, 1e-4))
    benchmark.extra_info |= {"peer": "baycomp.SignedRankTest", "ratio": peer / ours}

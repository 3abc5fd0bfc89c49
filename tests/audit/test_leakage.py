"""The protocol ``leakage``: honest scores stay as they are, leaked ones are those of selecting on all rows."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.feature_selection import f_classif
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import mfbench
from mfbench.report.contents import kind_of
from mfbench_audit.designs import audit_design
from mfbench_audit.leakage_report import choice_frame, corrected_interval, optimism_frame, sections_of

SUITE = """
[suite]
name = "leaks"
seed = 5
[protocol]
kind = "{kind}"
folds = 5
repeats = 1
inner_folds = 3
[[datasets]]
use = ["audit-design(kind='null', n_samples=60, n_features=400)"]
[[methods]]
label = "F"
selector = "anova-f"
classifier = "knn"
top = 5
[[methods]]
label = "tuned"
selector = "anova-f"
classifier = "knn"
tune = {{ top = [1, 5] }}
[[methods]]
label = "all"
classifier = "knn"
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same suite with leakage, and without."""
    folder, runs = tmp_path_factory.mktemp("leaks"), {}
    for kind in ("leakage", "repeated-cv"):
        path = folder / f"{kind}.toml"
        path.write_text(SUITE.format(kind=kind), encoding="utf-8")
        runs[kind] = mfbench.run_suite(str(path), out=folder / "out", jobs=1)
    return runs


def test_the_honest_score_is_that_of_cross_validation(runs):
    scores = [
        run.trials.set_index(["method", "fold"])["accuracy"].sort_index()
        for run in (runs["leakage"], runs["repeated-cv"])
    ]
    assert scores[0].tolist() == scores[1].tolist()


def test_the_leaked_score_is_that_of_selecting_on_all_rows(runs):
    trials = runs["leakage"].trials
    data = audit_design("null", n_samples=60, n_features=400)
    chosen = np.argsort(-f_classif(data.X, data.y)[0], kind="stable")[:5]
    rows = runs["leakage"].test_rows(trials["dataset"].iloc[0])
    for trial in trials[trials["method"] == "F"].to_dict("records"):
        test = rows[trial["repeat"], trial["fold"]]
        train = np.setdiff1d(np.arange(60), test)
        scale = StandardScaler().fit(data.X[np.ix_(train, chosen)])
        learner = KNeighborsClassifier().fit(scale.transform(data.X[np.ix_(train, chosen)]), data.y[train])
        score = learner.score(scale.transform(data.X[np.ix_(test, chosen)]), data.y[test])
        assert trial["leaked"] == pytest.approx(score)
        assert trial["optimism"] == pytest.approx(trial["leaked"] - trial["accuracy"])


def test_noise_looks_good_to_those_who_select_first(runs):
    frame = optimism_frame(runs["leakage"]).set_index("method")
    assert list(frame.index) == ["F", "tuned"]
    assert frame["honest"].max() < 0.7
    assert frame["optimism"].min() > 0.1


def test_no_result_is_that_of_an_honest_run(runs):
    leaking, honest = (set(runs[kind].trials["key"]) for kind in ("leakage", "repeated-cv"))
    assert len(leaking) == len(honest) == 15
    assert not leaking & honest
    with pytest.raises(mfbench.errors.MfbenchError):
        mfbench.merge([runs["leakage"].path, runs["repeated-cv"].path], runs["leakage"].path.parent / "merged")


def test_the_report_says_what_it_is(runs):
    run = runs["leakage"]
    assert kind_of(run) == "own"
    (section,) = sections_of(run)
    assert "belong in no comparison" in section.notes[0]
    assert section.charts[0].spec().to_dict()
    assert "more features than rows: +" in section.charts[0].alt()
    assert section.tables[0].title == "Mean over datasets"
    assert sections_of(runs["repeated-cv"]) == []


def test_intervals_are_corrected_for_shared_rows():
    values = np.array([0.1, 0.3, 0.2, 0.4, 0.0])
    mean, low, high = corrected_interval(values, 5, 0.25)
    half = 2.776445105 * values.std(ddof=1) * np.sqrt(1 / 5 + 0.25)
    assert (mean, low, high) == pytest.approx((0.2, 0.2 - half, 0.2 + half))
    twice = corrected_interval(np.tile(values, 2), 5, 0.25)
    assert twice[2] - twice[1] > 0.7 * 2 * half  # repeats make the interval hardly narrower
    assert np.isnan(corrected_interval(values[:1], 5, 0.25)[1])


def test_the_choice_is_made_without_the_fold():
    class Fake:
        metrics = ("accuracy",)
        outcomes = pd.DataFrame(
            [("d", m, 0, f, score) for m, scores in {"a": (1.0, 0.0, 0.5), "b": (0.0, 1.0, 0.6)}.items()
             for f, score in enumerate(scores)],
            columns=["dataset", "method", "repeat", "fold", "accuracy"],
        )  # fmt: skip

        meta = SimpleNamespace(scores={"accuracy": mfbench.Score()})

    (row,) = choice_frame(Fake).to_dict("records")
    # Fold 0: b is better on the others, with 0.0; fold 1: a, with 0.0; fold 2: a and b are equal, the first is chosen.
    assert row["reported"] == pytest.approx(1.6 / 3)
    assert row["chosen_without_the_fold"] == pytest.approx(0.5 / 3)
    assert row["optimism"] == pytest.approx(1.1 / 3)


def test_a_bundle_of_a_run_is_accepted(runs, tmp_path):
    bundle = mfbench.bundle_run(runs["leakage"], tmp_path / "claim.zip")
    assert optimism_frame(mfbench.load_run(bundle)).equals(optimism_frame(runs["leakage"]))

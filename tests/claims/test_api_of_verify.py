"""Verifying bundles from Python: honest ones, forged ones, and those that can be verified here in part only."""

import base64
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import mfbench
from mfbench.api.request import opened_runs
from mfbench.errors import ExitCode, UsageError
from mfbench.report.brief import problems
from mfbench.report.sections.remarks import remarks
from mfbench_claims import api as verifying
from mfbench_claims.agreement import AgreementKind
from mfbench_claims.api import OTHER_KEY, OTHER_MACHINE
from mfbench_claims.verification import verification_lines

sys.path.append(str(Path(__file__).parent / "run"))
from forgery import forged, perfected, rescored
from small_claims import in_process, small_claim, small_run

__all__ = ["in_process", "small_claim", "small_run"]  # fixtures


def verify(claim, **options):
    return mfbench.verify_bundle(claim, **{"sample": None, "jobs": 1, **options})


def test_an_honest_bundle(small_claim, in_process):
    verification = verify(small_claim)
    assert verification.counts == {**dict.fromkeys(map(str, AgreementKind), 0), "equal": 12}
    assert (verification.planned, verification.results, verification.unplanned) == (12, 12, 0)
    assert verification.differences == {} and verification.changed == [] and verification.verdicts == 6
    assert verification.exit_code == ExitCode.OK and verification.largest_share == 0.0
    assert (verification.part, verification.only) == ("", [])
    assert len(verification.code) == 1 and verification.code[0].startswith("mfbench ")
    assert verification.suite_differences == ["no suite of this name is installed here"]


def test_a_sample_can_be_repeated(small_claim, in_process):
    one = verify(small_claim, sample=4)
    assert len(one.trials) == 4 and verify(small_claim, sample=4, seed=one.seed) == one
    assert 0 < one.largest_share < 0.7


def test_a_forged_score_is_named(small_claim, tmp_path, in_process):
    def improve(rows):
        rows[3] |= perfected(small_claim)[rows[3]["key"]]

    verification = verify(forged(small_claim, tmp_path / "claim.zip", trials=improve))
    (trial,) = [trial for trial in verification.trials if trial.outcome is AgreementKind.DIFFERENT]
    assert trial.detail.startswith("accuracy is 1.0 in the bundle and 0.9")
    assert verification.exit_code == ExitCode.FAILED and verification.counts["equal"] == 11


def test_verdicts_that_would_change(tmp_path, in_process):
    from small_runs import SUITE

    text = SUITE.replace("folds = 3\nrepeats = 1", "folds = 5\nrepeats = 4").replace('"iris"', '"monks-1", "iris"')
    (tmp_path / "own.toml").write_text(text)
    run = mfbench.run_suite(str(tmp_path / "own.toml"), out=tmp_path / "out", only=["monks-1", "A", "D"], jobs=1)
    own = {key for key, method in zip(run.trials["key"], run.trials["method"], strict=True) if method == "A"}

    honest = mfbench.bundle_run(run, tmp_path / "own.zip")

    def improve(rows):
        for row in rows:
            if row["key"] in own:
                row.update(perfected(honest)[row["key"]])

    claim = forged(honest, tmp_path / "claim.zip", trials=improve)
    verification = verify(claim, sample=None)
    assert verification.counts["different"] == 20 and verification.verdicts >= 1
    assert [clause.rpartition(":")[0] for clause in verification.changed] == [
        "A against D on monks-1", "A against D on monks-1, by the rule to trust",
    ]  # fmt: skip

    # A claimed limit keeps a result out of the claimed verdicts, but not out of those with the repeated results.
    def stop(rows):
        for row in rows:
            if row["key"] in own:
                row |= {"status": "timeout", "scores": None, "predictions": None, "weights": None, "selected": None}

    verification = verify(forged(tmp_path / "own.zip", tmp_path / "claim.zip", trials=stop), sample=None)
    assert verification.counts["different"] == 20
    assert verification.changed[0].startswith("A against D on monks-1: no verdict becomes ")


def test_sampled_training_rows_are_stated_and_drawn_again(tmp_path, in_process):
    from small_runs import SUITE

    (tmp_path / "own.toml").write_text(SUITE)
    run = mfbench.run_suite(str(tmp_path / "own.toml"), out=tmp_path / "out", max_rows=30, jobs=1)
    assert set(run.sizes["n_train"]) == {30} and set(run.sizes["n_test"]) == {50}
    said = "Training rows are sampled in each fold (max_rows): 30 of 100 of iris."
    assert said in remarks(run).notes and said in problems(run)
    claim = mfbench.bundle_run(run, tmp_path / "claim.zip")
    with opened_runs([str(claim)], tmp_path) as stored:
        assert said in remarks(stored).notes
    verification = verify(claim)
    assert verification.counts["equal"] == 12 and verification.max_rows == 30
    sentence = "Training rows are sampled, in the bundle and here: at most 30 in a fold."
    assert sentence in verification_lines(verification)


def test_other_versions_and_machines_are_named(small_claim, tmp_path, in_process):
    def age(meta):
        meta["code"]["libraries"]["numpy"] = "1.0"
        meta["environment"]["cpu"] = "another one"

    verification = verify(forged(small_claim, tmp_path / "claim.zip", metadata=age))
    assert verification.differences[OTHER_MACHINE] == 12
    assert any(
        clause.startswith("numpy ") and clause.endswith(" instead of 1.0") for clause in verification.differences
    )

    def rename(rows):
        for row in rows:
            row["key"] = row["key"][::-1]

    verification = verify(forged(small_claim, tmp_path / "claim.zip", plan=rename, trials=rename))
    assert verification.differences == {OTHER_KEY: 12} and verification.exit_code == ExitCode.OK


def test_results_taken_from_a_run_on_another_machine_are_counted(small_claim, tmp_path, in_process):
    keys = []

    def reuse(meta):
        meta["reused"] = {"keys": {"there": keys[:4], "here": keys[4:]}, "differences": {"there": "another processor"}}

    def read(rows):
        keys.extend(row["key"] for row in rows[:5])

    verification = verify(forged(small_claim, tmp_path / "claim.zip", trials=read, metadata=reuse))
    assert verification.differences == {OTHER_MACHINE: 4}
    assert verification.counts["equal"] == 12


def test_what_cannot_be_run_here_is_named(small_claim, tmp_path, in_process):
    def change(meta):
        for method in meta["suite"]["methods"]:
            if method["label"] == "A":
                method["classifier"] = "not-installed"
            if method["label"] == "B":
                method["classifier"] = "os.path:Evil"

    verification = verify(forged(small_claim, tmp_path / "claim.zip", metadata=change))
    assert verification.counts["not run"] == 6 and verification.counts["equal"] == 6
    details = {trial.method: trial.detail for trial in verification.trials}
    assert "the classifier not-installed is not installed here" in details["A"] and "--import-classes" in details["B"]

    from forgery import members_of, sealed, write_zip

    members = members_of(small_claim)
    sha256 = json.loads(members["datasets.jsonl"])[1]
    other = {name: content.replace(sha256.encode(), b"0" * 64) for name, content in members.items()}
    verification = verify(write_zip(sealed(other), tmp_path / "claim.zip"))
    assert verification.exit_code == ExitCode.NOTHING_MEASURED and verification.counts["not run"] == 12
    assert verification.trials[0].detail.startswith("iris has other data here (sha256 abab2a6e")


def test_missing_results_are_named_and_are_a_failure(small_claim, tmp_path, in_process):
    claim = forged(small_claim, tmp_path / "claim.zip", trials=lambda rows: rows.pop(0))
    verification = verify(claim, sample=2)
    assert len(verification.missing) == 1 and verification.results == 11
    assert verification.exit_code == ExitCode.FAILED


def test_a_cherry_picked_bundle_is_not_verified(subtests, small_claim, tmp_path, in_process):
    def only(meta):
        meta["only"] = ["A", "B", "C"]

    def share(meta):
        meta["shard"] = {"numbers": [1], "of": 2, "run": "full-1a", "n_trials": 12}

    def unsuited(meta):  # knn is not for two classes alone
        meta["unsuited"] = {"D": ["iris"]}

    for leaves_out, metadata, dropped, unplanned in [
        (lambda row: row["method"] == "D", unsuited, ["the method D"], 3),
        (lambda row: row["method"] == "D", None, ["the method D"], 3),
        (lambda row: row["fold"] == 1, None, ["repeat 0, fold 1 of every dataset and method"], 4),
        (lambda row: row["method"] == "D", only, [], 0),
        (lambda row: row["method"] == "D", share, [], 3),
    ]:
        with subtests.test(dropped=dropped, metadata=metadata):
            verification = verify(without(small_claim, tmp_path / "claim.zip", leaves_out, metadata), sample=2)
            assert (verification.dropped, verification.unplanned) == (dropped, unplanned)
            assert verification.exit_code == (ExitCode.FAILED if dropped else ExitCode.OK)
    assert verification.share == "Shard 1 of 2: 9 of 12 trials."


def without(claim, path, leaves_out, metadata=None):
    """Write a bundle without some trials."""
    gone = set()

    def drop_planned(rows):
        gone.update(row["key"] for row in rows if leaves_out(row))
        rows[:] = [row for row in rows if row["key"] not in gone]

    def drop_results(rows):
        rows[:] = [row for row in rows if row["key"] not in gone]

    changes = {} if metadata is None else {"metadata": metadata}
    return forged(claim, path, plan=drop_planned, trials=drop_results, **changes)


def reaching(status):
    """Return a function that gives the first result of a bundle another status."""

    def stop(rows):
        values = dict.fromkeys(("scores", "predictions", "weights", "selected"))
        rows[0] |= {"status": status, "error_type": None, **values}

    return stop


@pytest.mark.parametrize("status", ["timeout", "memory"])
def test_an_invented_limit_is_different(status, small_claim, tmp_path, in_process):
    def large(meta):
        meta["environment"]["memory_limit_bytes"] = 2**40

    verification = verify(forged(small_claim, tmp_path / "claim.zip", metadata=large, trials=reaching(status)))
    assert verification.counts["different"] == 1 and verification.exit_code == ExitCode.FAILED
    (trial,) = [trial for trial in verification.trials if trial.outcome is AgreementKind.DIFFERENT]
    assert trial.detail.startswith(f"it reached the {'time' if status == 'timeout' else 'memory'} limit in the bundle")
    assert trial.detail.endswith(" of 600 s" if status == "timeout" else " of 1.02e+03 GiB")


def test_lowered_limits_are_named_and_a_limit_that_was_nearly_reached_is_not_comparable(
    small_claim, tmp_path, in_process
):
    def lower(meta):
        meta["protocol"]["timeout"] = 0.001
        meta["environment"]["memory_limit_bytes"] = 2**20

    claim = forged(small_claim, tmp_path / "claim.zip", metadata=lower, trials=reaching("timeout"))
    verification = verify(claim)
    assert verification.limits == ["0.001 s instead of 600 s", "0.000977 GiB instead of 1 GiB"]
    assert verification.counts["not comparable"] == 1 and verification.exit_code == ExitCode.OK


def test_labels_and_folds_of_the_bundle_are_compared(small_claim, tmp_path, in_process):
    from mfbench.run.store.formats import pack

    def relabel(rows):
        rows[0]["truth"] = base64.b64encode(pack(np.zeros(150, int))).decode()

    verification = verify(rescored(forged(small_claim, tmp_path / "claim.zip", datasets=relabel)))
    assert verification.exit_code == ExitCode.FAILED and verification.counts["different"] == 12
    assert verification.trials[0].detail.startswith("the bundle's data of iris are not those here: truth; accuracy is")

    def exchange(rows):
        rows[0]["test"], rows[1]["test"] = rows[1]["test"], rows[0]["test"]

    verification = verify(rescored(forged(small_claim, tmp_path / "claim.zip", splits=exchange)))
    assert (
        "iris are not those here: rows of repeat 0, fold 0, rows of repeat 0, fold 1" in verification.trials[0].detail
    )


@pytest.mark.parametrize("test", ["s-test", "mcnemar"])
def test_results_on_other_folds_do_not_count_with_the_data_here(test, small_claim, tmp_path, in_process):
    """Predictions of results that were not repeated may be too few for the rows here."""
    from mfbench.run.store.formats import pack, unpack

    def cut(text):
        return base64.b64encode(pack(unpack(base64.b64decode(text))[:10])).decode()

    first = set()

    def shorten(rows):
        rows[0]["test"] = cut(rows[0]["test"])

    def find(rows):
        first.update(row["key"] for row in rows if row["fold"] == 0)

    def shorten_predictions(rows):
        for row in rows:
            if row["key"] in first:
                row["predictions"] = cut(row["predictions"])

    def rule(meta):
        meta["suite"]["report"]["test"] = test

    tables = {"metadata": rule, "splits": shorten, "plan": find, "trials": shorten_predictions}
    verification = verify(rescored(forged(small_claim, tmp_path / "claim.zip", **tables)), sample=6, seed=3)
    assert verification.counts["different"] == 6 and verification.exit_code == ExitCode.FAILED
    assert "rows of repeat 0, fold 0" in verification.trials[0].detail
    assert verification.changed and all(clause.endswith("becomes no verdict") for clause in verification.changed)


def test_verdicts_that_cannot_be_computed_hide_nothing_else(small_claim, tmp_path, in_process, monkeypatch):
    def improve(rows):
        rows[3] |= perfected(small_claim)[rows[3]["key"]]

    def rule(meta):
        meta["suite"]["report"]["test"] = "s-test"

    claim = forged(small_claim, tmp_path / "claim.zip", trials=improve, metadata=rule)
    monkeypatch.setattr(verifying, "with_repeated", lambda *_: 1 / 0)
    verification = verify(claim)
    reason = "because none can be computed with the repeated results (ZeroDivisionError: division by zero)"
    assert verification.changed == [f"A against {name} on iris: tie becomes no verdict, {reason}" for name in "BCD"]
    assert verification.counts["different"] == 1 and verification.exit_code == ExitCode.FAILED


def test_bad_requests(small_claim, tmp_path):
    with pytest.raises(UsageError, match="a sample is a whole number from 1, not 0"):
        verify(small_claim, sample=0)
    with pytest.raises(UsageError, match="a seed is a whole number from 0, not -1"):
        verify(small_claim, seed=-1)
    with pytest.raises(UsageError, match="the number of workers is a whole number, not '2'"):
        verify(small_claim, jobs="2")
    with pytest.raises(UsageError, match="is refused as a bundle: it cannot be read"):
        verify(tmp_path / "missing.zip")


def test_results_that_no_report_can_be_made_of(small_claim, tmp_path):
    claim = without(small_claim, tmp_path / "claim.zip", lambda row: (row["method"], row["fold"]) == ("D", 1))
    with pytest.raises(UsageError, match="is refused as a bundle: no report can be made of its results"):
        verify(claim)


METHODS = """
[[methods]]
label = "A"
selector = "relieff"
classifier = "knn"
top = 2
[[methods]]
label = "B"
selector = "anova-f"
classifier = "knn"
"""
TUNED = "tune = { n_neighbors = [1, 3] }\n"
GRID = """
[[methods]]
label = "A"
classifier = "knn"
tune = { n_neighbors = [1, 3] }
selection = "per-dataset"
[[methods]]
label = "B"
classifier = "lda"
"""
DETECTORS = """
[[methods]]
label = "A"
selector = "relieff"
[[methods]]
label = "B"
classifier = "random-forest(n_estimators=5)"
"""
FORMS = {
    "nested-cv": ('kind = "nested-cv"\nfolds = 2\nrepeats = 1', "iris", METHODS + TUNED),
    "three-way": ('kind = "three-way"\nrepeats = 2', "iris", METHODS + TUNED),
    "holdout": ('kind = "holdout"\nrepeats = 2', "iris", METHODS),
    "timing": ('kind = "timing"\nrepeats = 1\nsteps = 2', "wine", METHODS),
    "ground-truth": ('kind = "ground-truth"\nrounds = 2', "xor(n_samples=40, n_noise=3)", DETECTORS),
    "per dataset": ("folds = 2\nrepeats = 1", "iris", GRID),
    "one against the rest": ('kind = "nested-cv"\nfolds = 2\nrepeats = 1\ndecisions = "one-vs-rest"', "iris", METHODS),
    "curves": ("folds = 2\nrepeats = 1\ncurve = { count = 3 }", "iris", METHODS.replace("top = 2\n", "")),
}


def test_every_form_of_a_run_can_be_bundled_and_verified(subtests, tmp_path, in_process):
    for form in FORMS:
        with subtests.test(form=form):
            protocol, dataset, methods = FORMS[form]
            text = f'[suite]\nname = "own"\n[protocol]\n{protocol}\n[[datasets]]\nuse = ["{dataset}"]\n{methods}'
            (tmp_path / "own.toml").write_text(text)
            run = mfbench.run_suite(str(tmp_path / "own.toml"), out=tmp_path / "out", jobs=1)
            assert set(run.outcomes["status"]) == {"ok"}
            verification = verify(mfbench.bundle_run(run, tmp_path / "claim.zip"))
            assert verification.counts["equal"] == verification.planned == len(run.outcomes), verification.trials
            assert verification.differences == {}


def test_a_verdict_that_only_the_repetition_has_counts(small_claim, tmp_path, in_process, monkeypatch):
    def improve(rows):
        rows[3] |= perfected(small_claim)[rows[3]["key"]]

    verdicts = iter([{"A against B": "win"}, {"A against B": "tie", "A against C": "tie"}])
    monkeypatch.setattr(verifying, "verdicts_of", lambda run: next(verdicts))
    verification = verify(forged(small_claim, tmp_path / "claim.zip", trials=improve))
    assert (len(verification.changed), verification.verdicts) == (2, 2)


def test_a_sample_is_a_whole_number(subtests, small_claim):
    for sample in ["3", 2.5, True]:
        with (
            subtests.test(sample=sample),
            pytest.raises(UsageError, match=f"a sample is a whole number.*, not {sample!r}"),
        ):
            verify(small_claim, sample=sample)

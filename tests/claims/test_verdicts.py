"""Verdicts before and after repeated results take the place of claimed ones."""

import json
import shutil

from tampering import changed

from mfbench.run.store.store import Store
from mfbench.stats.results import Run
from mfbench_claims.verdicts import changed_verdicts, verdicts_of, with_repeated


def test_the_verdicts_of_a_run(small_run):
    verdicts = verdicts_of(Run(small_run))
    # Both rules, also where they agree: no verdict appears because the other rule's changes.
    rules = ("", ", by the rule to trust")
    assert set(verdicts) == {f"A against {method} on iris{rule}" for method in "BCD" for rule in rules}
    assert changed_verdicts(verdicts, verdicts) == []
    assert changed_verdicts({}, {"A against B": "win"}) == ["A against B: no verdict becomes win"]


def test_repeated_results_take_the_place_of_claimed_ones(small_run, tmp_path):
    better = tmp_path / "better"
    shutil.copytree(small_run, better)
    with changed(better) as db:
        db.execute("UPDATE trials SET scores = ?", [json.dumps({"accuracy": 1.0, "balanced_accuracy": 1.0})])
    with Store(small_run, read_only=True) as store:
        keys = [key for (key,) in store.raw("SELECT key FROM plan WHERE method = 'B' AND fold > 0")]
    run = with_repeated(small_run, better, {key: key for key in keys}, tmp_path / "repeated")
    assert sorted(run.outcomes.query("method == 'B'")["accuracy"])[1:] == [1.0, 1.0]
    others = run.outcomes.query("method != 'B'").reset_index(drop=True)
    assert others.equals(Run(small_run).outcomes.query("method != 'B'").reset_index(drop=True))
    assert not run.remarks


def test_data_of_the_repetition_take_the_place_of_claimed_ones(small_run, tmp_path):
    forged = tmp_path / "forged"
    shutil.copytree(small_run, forged)
    with changed(forged) as db:
        db.execute("UPDATE datasets SET truth = NULL, relevant = '[0]'")
        db.execute("UPDATE splits SET test = x'00'")
    with_repeated(forged, small_run, {}, tmp_path / "repeated")
    columns = "SELECT truth, relevant FROM datasets", "SELECT test FROM splits"
    with Store(small_run, read_only=True) as one, Store(tmp_path / "repeated", read_only=True) as other:
        assert [list(one.raw(query)) for query in columns] == [list(other.raw(query)) for query in columns]

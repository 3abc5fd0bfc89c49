"""A claim from its run to its verification, by the real command line: an honest one, a forged one, and a new method."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "run"))
from forgery import forged, perfected

PLUGIN = """
    import numpy as np
    from mfbench import SelectorSpec, hookimpl
    from sklearn.base import BaseEstimator

    class Spread(BaseEstimator):
        def __init__(self, factor=1.0):
            self.factor = factor

        def fit(self, X, y):
            self.feature_importances_ = self.factor * np.ptp(X, axis=0) + np.arange(X.shape[1])
            return self

    @hookimpl
    def mfbench_selectors():
        return [SelectorSpec(name="spread", summary="Spread of values", factory=Spread)]
"""
SUITE = """
    [suite]
    name = "claimed"
    [protocol]
    folds = 3
    repeats = 2
    [[datasets]]
    use = ["iris", "wine"]
    [[methods]]
    label = "SPREAD"
    selector = "spread(factor=2.0)"
    classifier = "knn"
    top = 2
    [[methods]]
    label = "FOREST"
    classifier = "random-forest(n_estimators=5)"
    [[methods]]
    label = "FAILS"
    selector = "anova-f"
    classifier = "knn(n_neighbors=1000)"
"""


@pytest.fixture
def claim(host):
    """The bundle of a run, in an otherwise empty folder of runs."""
    host.in_process = True
    host.plugin("claim_plugin", PLUGIN)
    host.suite(SUITE)
    answer = host.run("suite", "own.toml")
    assert answer.returncode == 1 and "12 failed" in answer.stdout  # a method that fails belongs to a claim
    answer = host.run("bundle", "claimed", "-o", "claim.zip")
    assert answer.returncode == 0, answer.stderr
    assert answer.stdout.startswith("Wrote claim.zip: 36 results.")
    return host.folder / "claim.zip"


def test_from_a_run_to_its_verification(host, claim):
    host.in_process = False  # workers must give what the process of the run has given
    answer = host.run("verify", "claim.zip", "--all", "--jobs", "2")
    assert (answer.returncode, answer.stderr) == (0, "")
    assert "     36 equal to the bit\n" in answer.stdout and "Every result of the bundle was compared." in answer.stdout
    assert str(host.folder) not in claim.read_bytes().decode("latin-1")

    names = []

    def improve(rows):
        (row,) = [row for row in rows if row["key"] == names[0]]
        row |= perfected(claim)[row["key"]]

    def choose(rows):
        names.append(next(r["key"] for r in rows if (r["dataset"], r["method"], r["fold"]) == ("wine", "SPREAD", 2)))

    forged(claim, host.folder / "forged.zip", plan=choose, trials=improve)
    host.in_process = True
    answer = host.run("verify", "forged.zip", "--all", "--jobs", "2", "--json")
    assert answer.returncode == 1
    content = json.loads(answer.stdout)
    (different,) = [trial for trial in content["trials"] if trial["outcome"] == "different"]
    place = {"dataset": "wine", "method": "SPREAD", "repeat": 0, "fold": 2}
    assert different.items() >= place.items()
    assert "accuracy is 1.0 in the bundle and 0." in different["detail"] and content["counts"]["equal"] == 35


def test_a_new_method_is_compared_with_a_claim(host, claim):
    words = ["--add", "MINE = spread -> top 3 -> knn", "--reference", "MINE", "--jobs", "2"]
    answer = host.run("suite", "own.toml", *words, "--reuse", "claim.zip", "--out", "elsewhere")
    assert "36 done before" in answer.stdout
    assert "36 of 48 results are from unverified bundles, and so are their times: 36 from claim.zip (sha256 " in (
        " ".join(answer.stdout.split())
    )
    # An edit of the plugin changes its keys: its trials run here, and the report says why.
    host.plugin("claim_plugin", PLUGIN + "\n    # edited\n")
    answer = host.run("suite", "own.toml", *words, "--reuse", "claim.zip", "--out", "again")
    text = " ".join(answer.stdout.split())
    assert "24 done before" in answer.stdout and "24 of 48 results are from unverified bundles" in text
    assert "could not be used here, where these differ: claim_plugin with other code" in text
    answer = host.run("verify", "claim.zip", "--all", "--jobs", "2")
    assert answer.returncode == 0
    assert "Differences here: claim_plugin with other code (12 trials)." in answer.stdout


def test_a_claim_of_a_class_is_not_imported_unless_the_reader_says_so(host):
    host.in_process = True
    (host.folder / "mine.py").write_text(
        "from sklearn.neighbors import KNeighborsClassifier\n\nopen('imported', 'a').close()\n\n"
        "class Mine(KNeighborsClassifier):\n    pass\n"
    )
    host.suite(SUITE)
    host.plugin("claim_plugin", PLUGIN)
    host.run("suite", "own.toml", "--only", "iris", "--only", "SPREAD", "--add", "MINE = mine:Mine(n_neighbors=3)")
    host.run("bundle", "claimed", "-o", "claim.zip")
    (host.folder / "imported").unlink()
    answer = host.run("verify", "claim.zip", "--all")
    assert answer.returncode == 0 and "6 could not be run here" in answer.stdout
    assert "  6 trials: it is the class mine:Mine, which is imported only with" in answer.stdout
    assert not (host.folder / "imported").exists()
    answer = host.run("verify", "claim.zip", "--all", "--import-classes")
    assert answer.returncode == 0 and "     12 equal to the bit" in answer.stdout
    assert (host.folder / "imported").exists()


def test_a_hostile_file_leaves_one_sentence(host):
    (host.folder / "claim.zip").write_bytes(b"PK\x05\x06" + bytes(18))
    for words in (["verify", "claim.zip"], ["suite", "uci", "--reuse", "claim.zip", "--only", "iris"]):
        answer = host.run(*words)
        assert answer.returncode == 2 and answer.stdout == ""
        assert (
            answer.stderr.startswith("mfbench: claim.zip is refused as a bundle: ") and answer.stderr.count("\n") == 1
        )

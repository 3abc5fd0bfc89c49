"""The protocol ground-truth compares the interactions that methods of different plugins report."""

import pytest

import mfbench

SUITE = """
[suite]
name = "own"
seed = 1
[protocol]
kind = "ground-truth"
rounds = 2
[[datasets]]
use = ["xor(n_samples=200, n_noise=4)"]
[[methods]]
label = "IGT"
selector = "immigrate(cone='psd')"
[[methods]]
label = "SOD"
selector = "soda(gamma=0)"
[[methods]]
label = "hIN"
selector = "hiernet(relative_penalty=0.1)"
[[methods]]
label = "XGP"
classifier = "xgboost-interactions"
top = "relevant"
[[methods]]
label = "MI"
selector = "mutual-info"
top = "relevant"
"""


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    path = tmp_path_factory.mktemp("suite") / "own.toml"
    path.write_text(SUITE, encoding="utf-8")
    return mfbench.run_suite(str(path), out=tmp_path_factory.mktemp("out"), jobs=1)


def test_all_who_weigh_pairs_have_the_same_figures(run):
    assert not len(run.failures)
    found = run.detection.query("figure == 'pair_detection'").set_index("method")["mean"]
    assert found.drop("MI").notna().all() and found.isna()["MI"]
    assert found["hIN"] == found["XGP"] == 1.0
    told = run.true_interactions.set_index("method")
    assert list(told.index) == ["IGT", "SOD", "hIN", "XGP"]
    assert (told["n_pairs"] == 15).all() and (told["rank"][["hIN", "XGP"]] == 1).all()
    assert told["share"].between(0, 0.71).all()

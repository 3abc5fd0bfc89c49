"""Probes on any dataset: what each kind keeps of the columns, how datasets are named, and the figures of a report."""

import numpy as np
import pytest

import mfbench
from mfbench.data.catalog import check_exists, needs_lookup
from mfbench.data.reference import parse_reference
from mfbench.errors import DataUnavailableError, UsageError
from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset
from mfbench_datasets.probes import probed
from mfbench_datasets.probes_report import cost_frame, kind_of, probe_area, probe_sections, selection_frame, size_frame


def _table(n=400, seed=0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.normal(2.0, 3.0, size=n), rng.normal(size=n), rng.integers(3, size=n)])
    X[0, 1] = np.nan
    return Dataset(
        name="table",
        X=X,
        y=np.arange(n) % 2,
        class_names=("0", "1"),
        feature_names=("a", "b", "c"),
        categorical=np.array([False, False, True]),
        categories={"c": ("x", "y", "z")},
    )


@pytest.mark.parametrize("kind", ["permuted", "random", "corrupted", "second-order"])
def test_own_features_stay_and_probes_follow(kind):
    table = _table()
    data = probed(table, kind=kind, share=0.6)
    count = round(3 * 0.6 / 0.4)
    assert data.X.shape == (400, 3 + count)
    np.testing.assert_array_equal(data.X[:, :3], table.X)
    assert data.feature_names[3:] == tuple(f"probe-{j}" for j in range(1, count + 1))
    assert data.relevant == (0, 1, 2)
    assert np.array_equal(data.X, probed(table, kind=kind, share=0.6).X, equal_nan=True)
    if kind != "second-order":  # two columns of numbers have one product
        assert not np.array_equal(data.X[:, 3:], probed(table, kind=kind, share=0.6, seed=1).X[:, 3:], equal_nan=True)


def test_permuted_probes_have_the_values_of_columns():
    table = _table()
    data = probed(table)
    assert sorted(map(str, np.sort(data.X[:, 3:], axis=0).T.tolist())) == sorted(
        map(str, np.sort(table.X, axis=0).T.tolist())
    )
    assert data.categorical.sum() == 2
    (name,) = {name for name in data.categories if name != "c"}
    assert data.categories[name] == ("x", "y", "z")
    own, probe = data.X[:, 0], data.X[:, 3 + int(np.argmax(np.nanmax(data.X[:, 3:], axis=0)))]
    assert abs(np.corrcoef(own, probe)[0, 1]) < 0.2


def test_corrupted_probes_are_noisy_copies():
    data = probed(_table(), kind="corrupted", share=0.75)
    numbers = [j for j in range(3, data.n_features) if not data.categorical[j]]
    best = [max(abs(np.corrcoef(data.X[1:, j], data.X[1:, k])[0, 1]) for k in (0, 1)) for j in numbers]
    assert np.allclose(best, np.sqrt(0.5), atol=0.12)
    (category, *_) = [j for j in range(3, data.n_features) if data.categorical[j]]
    # Half are kept, and a third of the others agree by chance.
    assert np.mean(data.X[:, category] == data.X[:, 2]) == pytest.approx(2 / 3, abs=0.1)


def test_second_order_probes_are_products():
    data = probed(_table(), kind="second-order", share=0.25)
    a, b = ((column - np.nanmean(column)) / np.nanstd(column) for column in data.X[:, :2].T)
    np.testing.assert_allclose(data.X[:, 3], a * b)


def test_mistakes():
    table = _table()
    for change, sentence in [
        ({"kind": "shuffled"}, "'kind' of dataset 'probed' is 'shuffled'; use one of permuted,"),
        ({"share": 0.0}, "'share' of dataset 'probed'"),
        ({"share": 0.99}, "from 0 to 0.95"),
    ]:
        with pytest.raises(UsageError, match=sentence):
            probed(table, **change)
    categories = mfbench.load_dataset("monks-1")
    with pytest.raises(UsageError, match="has no numeric columns"):
        probed(categories, kind="second-order")


def test_any_dataset_by_its_reference(tmp_path):
    assert mfbench.load_dataset("probed").X.shape == (150, 8)
    assert mfbench.load_dataset("probed(of='wine', share=0.2)").X.shape == (178, 16)
    nested = mfbench.load_dataset("probed(of=\"waveform-21(n_samples=50)\", kind='random')")
    assert nested.X.shape == (50, 42)
    path = tmp_path / "own.csv"
    path.write_text("a,b,y\n" + "".join(f"{i},{i % 3},{i % 2}\n" for i in range(30)), encoding="utf-8")
    assert mfbench.load_dataset(f"probed(of='file:{path}')").feature_names == ("a", "b", "probe-1", "probe-2")
    registry = load_registry()
    assert not needs_lookup(parse_reference("probed(of='wine')"), registry)
    assert needs_lookup(parse_reference("probed(of='magic')"), registry)
    with pytest.raises(UsageError, match="unknown dataset 'wien'"):
        check_exists(parse_reference("probed(of='wien')"), registry)
    with pytest.raises(UsageError, match="needs a dataset as 'of'"):
        mfbench.load_dataset("probed(of=3)")


def test_an_unavailable_dataset_is_named(monkeypatch, tmp_path):
    monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path))
    monkeypatch.delenv("MFBENCH_DATA_DIR", raising=False)
    with pytest.raises(DataUnavailableError, match="dataset 'magic' is unavailable"):
        mfbench.load_dataset("probed(of='magic')", offline=True)


def test_area():
    is_probe = np.array([False, False, True, True])
    assert probe_area(np.array([3.0, 2.0, 1.0, 0.0]), is_probe) == 1.0
    assert probe_area(np.array([0.0, 0.0, 0.0, 0.0]), is_probe) == 0.5
    assert probe_area(np.array([3.0, 0.5, 1.0, 0.0]), is_probe) == 0.75


SUITE = """
[suite]
name = "probed-wine"
[protocol]
folds = 3
repeats = 1
[[datasets]]
use = ["wine", "probed(of='wine')", "probed(of='wine', kind='random')"]
[[methods]]
label = "F"
selector = "anova-f"
classifier = "knn"
top = 0.5
[[methods]]
label = "kNN"
classifier = "knn"
"""


def test_report(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text(SUITE, encoding="utf-8")
    run = mfbench.run_suite(str(path), out=tmp_path / "out", jobs=1)
    names = ["probed(of='wine')", "probed(of='wine', kind='random')"]
    assert [kind_of(name) for name in names] == ["permuted", "random"]
    frame = selection_frame(run, names)
    assert list(frame["method"]) == ["F", "F"]
    assert frame["area"].min() > 0.9
    assert frame["share_of_selected"].max() < 0.2
    # As many probes as features, and half of all kept: both shares are the same.
    assert frame["share_of_selected"].tolist() == pytest.approx(frame["probes_selected"].tolist())
    sizes = size_frame(run, names)
    assert np.allclose(sizes.loc[sizes["size"] == 1.0, "probes"], 0.5)
    costs = cost_frame(run, names).set_index(["dataset", "method"])
    means = run.scores.set_index(["dataset", "method"])["mean"]
    for name in names:
        assert costs.loc[(name, "kNN"), "cost"] == pytest.approx(means["wine", "kNN"] - means[name, "kNN"])
    (section,) = probe_sections(run)
    assert len(section.tables) == 2
    assert section.charts[0].spec().to_dict()
    assert "F " in section.charts[0].alt()

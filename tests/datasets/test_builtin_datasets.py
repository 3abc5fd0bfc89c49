"""The datasets that need no network: published counts, rows made by hand, determinism, lightness."""

import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

from mfbench.data.fingerprint import content_hash
from mfbench.errors import UsageError
from mfbench_datasets import generators, installed, rules
from mfbench_datasets.plugin import mfbench_datasets

SPECS = {spec.name: spec for spec in mfbench_datasets()}

# Class counts by label, as UCI publishes them.
COUNTS = {
    "iris": {"setosa": 50, "versicolor": 50, "virginica": 50},
    "wine": {"1": 59, "2": 71, "3": 48},
    "wdbc": {"benign": 357, "malignant": 212},
    "optdigits": dict(zip("0123456789", (178, 182, 177, 183, 181, 182, 181, 179, 174, 180), strict=True)),
    "monks-1": {"0": 216, "1": 216},
    "monks-2": {"0": 290, "1": 142},
    "monks-3": {"0": 204, "1": 228},
    "balance-scale": {"B": 49, "L": 288, "R": 288},
    "tic-tac-toe": {"negative": 332, "positive": 626},
}


def load(name, **params):
    module, function = SPECS[name].loader.split(":")
    return getattr(import_module(module), function)(**params)


def words(dataset, row):
    """A row as a reader of the UCI file would see it."""
    return [
        dataset.categories[name][int(value)] if name in dataset.categories else value
        for name, value in zip(dataset.feature_names, dataset.X[row], strict=True)
    ] + [dataset.class_names[dataset.y[row]]]


def test_plugin_is_light():
    code = "import sys, mfbench_datasets.plugin; print(sorted({'numpy', 'sklearn', 'pandas'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", SPECS)
def test_contract(name):
    spec, dataset = SPECS[name], load(name)
    assert dataset.name == name
    assert (dataset.n_samples, dataset.n_features, dataset.n_classes) == (
        spec.n_samples,
        spec.n_features,
        spec.n_classes,
    )
    assert dataset.X.dtype == np.float64 and dataset.X.flags.c_contiguous and np.isfinite(dataset.X).all()
    assert dataset.y.dtype == np.int64 and set(dataset.y) == set(range(dataset.n_classes))
    assert dataset.categorical.dtype == bool and dataset.categorical.shape == (dataset.n_features,)
    assert len(set(dataset.feature_names)) == dataset.n_features
    assert list(dataset.class_names) == sorted(dataset.class_names)
    assert set(dataset.categories) == {n for n, c in zip(dataset.feature_names, dataset.categorical, strict=True) if c}
    for column, labels in dataset.categories.items():
        codes = dataset.X[:, dataset.feature_names.index(column)]
        assert set(codes) == set(range(len(labels))) and list(labels) == sorted(labels)
    assert spec.license == dataset.license == "CC BY 4.0"
    assert spec.source == dataset.source and "archive.ics.uci.edu/dataset/" in spec.source
    assert spec.citation == dataset.citation != ""


@pytest.mark.parametrize("name", COUNTS)
def test_published_class_counts(name):
    dataset = load(name)
    assert dict(zip(dataset.class_names, np.bincount(dataset.y).tolist(), strict=True)) == COUNTS[name]


def test_rows_of_the_installed_data():
    assert words(installed.iris(), 0) == [5.1, 3.5, 1.4, 0.2, "setosa"]
    assert installed.iris().X[34].tolist() == [4.9, 3.1, 1.5, 0.2], "the corrected row 35"
    assert words(installed.wine(), 0)[:3] == [14.23, 1.71, 2.43] and words(installed.wine(), 0)[-1] == "1"
    assert words(installed.wdbc(), 0)[:2] == [17.99, 10.38] and words(installed.wdbc(), 0)[-1] == "malignant"
    digits = installed.optdigits()
    assert digits.X.min() == 0 and digits.X.max() == 16 and (np.ptp(digits.X, axis=0) == 0).sum() == 3


def test_rows_of_the_rules():
    # The first and the last line of UCI's files monks-*.test.
    for make, first, last in ((rules.monks_1, "1", "1"), (rules.monks_2, "0", "0"), (rules.monks_3, "1", "0")):
        assert words(make(), 0) == ["1", "1", "1", "1", "1", "1", first]
        assert words(make(), -1) == ["3", "3", "2", "3", "4", "2", last]
    assert words(rules.balance_scale(), 0) == [1, 1, 1, 1, "B"]
    assert words(rules.balance_scale(), 1) == [1, 1, 1, 2, "R"]
    assert words(rules.balance_scale(), -5) == [5, 5, 5, 1, "L"]
    assert words(rules.tic_tac_toe(), 0) == [*"xxxxooxoo", "positive"], "the first line of UCI's file"


@pytest.mark.parametrize("number", [1, 2, 3])
def test_monks_concepts_by_hand(number):
    dataset = load(f"monks-{number}")
    for a1, a2, a3, a4, a5, a6, label in ([int(word) for word in words(dataset, i)] for i in range(432)):
        expected = {
            1: a1 == a2 or a5 == 1,
            2: [a1, a2, a3, a4, a5, a6].count(1) == 2,
            3: (a5 == 3 and a4 == 1) or (a5 != 4 and a2 != 3),
        }[number]
        assert label == expected


@pytest.mark.parametrize("name", ["monks-1", "monks-2", "monks-3", "balance-scale"])
def test_relevant_features_are_exactly_those_the_label_depends_on(name):
    dataset = load(name)
    label = {tuple(row): y for row, y in zip(dataset.X, dataset.y, strict=True)}
    depends = {
        j
        for j in range(dataset.n_features)
        for row, y in label.items()
        for value in np.unique(dataset.X[:, j])
        if label[(*row[:j], value, *row[j + 1 :])] != y
    }
    assert dataset.relevant == tuple(sorted(depends))
    assert {j for pair in dataset.interactions for j in pair} <= depends


def test_tic_tac_toe_ends():
    dataset = rules.tic_tac_toe()
    boards = ["".join(words(dataset, i)[:-1]) for i in range(dataset.n_samples)]
    assert len(set(boards)) == 958
    assert sum(board.count("b") == 0 and y == 0 for board, y in zip(boards, dataset.y, strict=True)) == 16, "draws"
    assert {board.count("x") - board.count("o") for board in boards} == {0, 1}
    assert "xxxooobbb" not in boards and "xxxoobbbb" in boards


@pytest.mark.parametrize("name", ["waveform-21", "waveform-40", "led-7", "led-24"])
def test_generators_are_seeded(name):
    a, b, c = load(name, n_samples=60), load(name, n_samples=60, seed=0), load(name, n_samples=60, seed=1)
    assert content_hash(a) == content_hash(b) != content_hash(c)
    assert a.X.shape[0] == 60


def test_streams_are_frozen():
    """RandomState never changes its stream; these values must hold with every NumPy and on every platform."""
    assert generators.waveform_21(n_samples=2).X[0, :4].tolist() == [0.37, 1.88, 0.17, 1.67]
    assert generators.led_24(n_samples=2).X[0].astype(int).tolist() == [
        1,
        1,
        0,
        1,
        0,
        1,
        1,
        1,
        0,
        0,
        0,
        0,
        0,
        1,
        0,
        1,
        0,
        1,
        0,
        0,
        1,
        1,
        0,
        1,
    ]


@pytest.mark.parametrize(
    "params", [{"n_samples": 0}, {"n_samples": 2.5}, {"n_samples": True}, {"seed": -1}, {"seed": "x"}]
)
def test_generators_refuse_nonsense(params):
    with pytest.raises(UsageError, match="must be a whole number") as caught:
        generators.led_7(**params)
    assert next(iter(params)) in str(caught.value)


def test_waveform_means():
    """Mean of a class: the mean of its two waves, as E[u] = 1/2. Standard error below 0.04."""
    dataset = generators.waveform_40(n_samples=9000, seed=3)
    waves = {peak: np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0) for peak in (7, 11, 15)}
    for code, (p, q) in enumerate([(7, 15), (7, 11), (11, 15)]):
        expected = np.concatenate([(waves[p] + waves[q]) / 2, np.zeros(19)])
        assert np.abs(dataset.X[dataset.y == code].mean(axis=0) - expected).max() < 0.15
    noise = sorted(set(range(40)) - set(dataset.relevant))
    assert noise == [0, 20, *range(21, 40)]
    assert np.abs(dataset.X[:, noise].std(axis=0) - 1).max() < 0.05


def test_waveform_bayes_rate():
    """Breiman et al.: the Bayes rule errs in 14 % of the cases."""
    dataset = generators.waveform_21(n_samples=3000, seed=5)
    h7, h15, h11 = (np.maximum(6 - np.abs(np.arange(1, 22) - peak), 0) for peak in (7, 15, 11))
    u = (np.arange(25) + 0.5)[:, None] / 25
    log_density = []
    for first, second in ((h7, h15), (h7, h11), (h15, h11)):
        centres = u * first + (1 - u) * second
        distance = ((dataset.X[:, None, :] - centres) ** 2).sum(axis=2)
        log_density.append(np.logaddexp.reduce(-distance / 2, axis=1))
    assert np.mean(np.argmax(log_density, axis=0) == dataset.y) == pytest.approx(0.86, abs=0.02)


def test_led_bayes_rate_is_74_percent():
    patterns = (np.arange(128)[:, None] >> np.arange(7)) & 1
    inverted = (patterns[:, None, :] != generators.DIGITS).sum(axis=2)
    q = generators.FLIP_PROBABILITY
    assert (q**inverted * (1 - q) ** (7 - inverted) / 10).max(axis=1).sum() == pytest.approx(0.74, abs=0.005)


def test_led_segments():
    dataset = generators.led_24(n_samples=8000, seed=2)
    flipped = dataset.X[:, :7] != generators.DIGITS[dataset.y]
    assert np.abs(flipped.mean(axis=0) - 0.1).max() < 0.02
    assert np.abs(dataset.X[:, 7:].mean(axis=0) - 0.5).max() < 0.03
    lit = {digit: "".join(map(str, generators.DIGITS[digit])) for digit in (1, 4, 7, 8)}
    assert lit == {1: "0010010", 4: "0111010", 7: "1010010", 8: "1111111"}

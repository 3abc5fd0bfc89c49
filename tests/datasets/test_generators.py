"""Waveform and LED data: seeds, frozen streams, moments, Bayes rates."""

import numpy as np
import pytest

from mfbench.data.lookup import content_hash
from mfbench.errors import UsageError
from mfbench_datasets import generators


@pytest.mark.parametrize("make", [generators.waveform_21, generators.waveform_40, generators.led_7, generators.led_24])
def test_generators_are_seeded(make):
    a, b, c = make(n_samples=60), make(n_samples=60, seed=0), make(n_samples=60, seed=1)
    assert content_hash(a) == content_hash(b) != content_hash(c)
    assert a.X.shape[0] == 60


def test_streams_are_frozen():
    """The stream of RandomState is frozen: these values hold with every NumPy, on every platform."""
    assert generators.waveform_21(n_samples=2).X[0, :4].tolist() == [0.37, 1.88, 0.17, 1.67]
    assert generators.led_24(n_samples=2).X[0].astype(int).tolist() == [int(bit) for bit in "110101110000010101001101"]


@pytest.mark.parametrize(
    "params", [{"n_samples": 0}, {"n_samples": 2.5}, {"n_samples": True}, {"seed": -1}, {"seed": "x"}]
)
def test_invalid_arguments(params):
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
    """Breiman et al.: the error rate of the Bayes rule is 14 %."""
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
    q = 0.1
    assert (q**inverted * (1 - q) ** (7 - inverted) / 10).max(axis=1).sum() == pytest.approx(0.74, abs=0.005)


def test_led_segments():
    dataset = generators.led_24(n_samples=8000, seed=2)
    flipped = dataset.X[:, :7] != generators.DIGITS[dataset.y]
    assert np.abs(flipped.mean(axis=0) - 0.1).max() < 0.02
    assert np.abs(dataset.X[:, 7:].mean(axis=0) - 0.5).max() < 0.03
    lit = {digit: "".join(map(str, generators.DIGITS[digit])) for digit in (1, 4, 7, 8)}
    assert lit == {1: "0010010", 4: "0111010", 7: "1010010", 8: "1111111"}


def test_segments_are_inverted_as_often_as_asked_among_as_many_coins():
    clean, noisy = (generators.led_24(20_000, n_noise=2, flip=flip) for flip in (0.0, 0.3))
    assert np.array_equal(clean.X[:, :7], generators.DIGITS[clean.y]) and np.array_equal(clean.X[:, 7:], noisy.X[:, 7:])
    assert np.mean(clean.X[:, :7] != noisy.X[:, :7]) == pytest.approx(0.3, abs=0.01)

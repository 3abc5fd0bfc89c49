"""The exponents of known power laws come back; an exponent that cannot be estimated is NaN."""

import numpy as np
import pandas as pd
import pytest

from mfbench.stats.summary import timing_exponents, timing_profile


def measured(law, *, noise=0.0, repeats=3, steps=4, floor=0.0):
    """Trials and sizes of the protocol ``timing`` whose fits take ``law(n, p)`` seconds; noise only adds."""
    rng = np.random.default_rng(0)
    sizes, trials = [], []
    points = [(800 >> (steps - 1 - i), 64) for i in range(steps)] + [(800, 64 >> i) for i in range(1, steps)]
    for repeat in range(repeats):
        for fold, (n, p) in enumerate(points):
            place = {"dataset": "d", "repeat": repeat, "fold": fold}
            sizes.append({**place, "n_train": n, "n_features": p})
            slow = 1.0 + noise * rng.random() * (repeat != fold % repeats)
            wall = (floor + law(n, p)) * slow
            trials.append(
                {**place, "method": "m", "status": "ok", "select_wall": 0.75 * wall, "fit_wall": 0.25 * wall,
                 "predict_wall": 0.5 * wall}
            )  # fmt: skip
    return pd.DataFrame(trials), pd.DataFrame(sizes)


@pytest.mark.parametrize(("rows", "features"), [(1.0, 1.0), (2.0, 0.5), (0.0, 3.0)])
def test_known_exponents_come_back_whatever_disturbs_single_repeats(rows, features):
    trials, sizes = measured(lambda n, p: 0.01 * n**rows * p**features, noise=5.0)
    found = timing_exponents(timing_profile(trials, sizes)).iloc[0]
    assert found["rows_exponent"] == pytest.approx(rows, abs=1e-9)
    assert found["features_exponent"] == pytest.approx(features, abs=1e-9)
    assert found["seconds"] == pytest.approx(0.01 * 800**rows * 64**features)
    assert (found["n_train"], found["n_features"]) == (800, 64)


def test_selector_and_classifier_both_count_and_the_smallest_time_is_taken():
    trials, sizes = measured(lambda n, p: 1e-4 * n, noise=1.0)
    profile = timing_profile(trials, sizes)
    assert len(profile) == 7
    assert profile["fit_seconds"].min() == pytest.approx(1e-4 * 100)


def test_times_below_a_millisecond_are_no_part_of_a_law():
    trials, sizes = measured(lambda n, p: 1e-8 * n**2, floor=1e-6)
    found = timing_exponents(timing_profile(trials, sizes)).iloc[0]
    kept = [200, 400, 800]  # 4e-4 is not, 1.6e-3 and 6.4e-3 are
    assert 1e-8 * kept[0] ** 2 < 1e-3 < 1e-8 * kept[1] ** 2
    expected = np.log((1e-6 + 6.4e-3) / (1e-6 + 1.6e-3)) / np.log(2)
    assert found["rows_exponent"] == pytest.approx(expected)


def test_one_size_tells_no_exponent():
    trials, sizes = measured(lambda n, p: 0.01)
    trials.loc[trials["fold"] != 3, "status"] = "timeout"
    found = timing_exponents(timing_profile(trials, sizes)).iloc[0]
    assert np.isnan(found["rows_exponent"]) and np.isnan(found["features_exponent"])
    assert found["seconds"] == pytest.approx(0.01)


def test_nothing_completed_is_no_row():
    trials, sizes = measured(lambda n, p: 0.01)
    trials["status"] = "crash"
    assert timing_exponents(timing_profile(trials, sizes)).empty

"""Performance profiles by counting, and what they do with costs that are missing or zero."""

import numpy as np
import pandas as pd
import pytest

from mfbench.stats.across_datasets import performance_profile, performance_ratios

COSTS = pd.DataFrame({"A": [1.0, 4.0, 2.0], "B": [2.0, 1.0, np.nan], "C": [10.0, 2.0, 2.0]})


def test_shares_by_counting():
    ratios = performance_ratios(COSTS)
    assert ratios["A"].tolist() == [1.0, 4.0, 1.0]
    assert ratios["B"].tolist() == [2.0, 1.0, np.inf]
    profile = performance_profile(ratios, (1.0, 2.0, 1e9))
    assert profile.loc["A"].tolist() == pytest.approx([2 / 3, 2 / 3, 1.0])
    assert profile.loc["B"].tolist() == pytest.approx([1 / 3, 2 / 3, 2 / 3])
    assert profile.loc["C"].tolist() == pytest.approx([1 / 3, 2 / 3, 1.0])


def test_it_never_falls_and_a_scale_changes_nothing():
    costs = pd.DataFrame(np.random.default_rng(1).lognormal(size=(9, 4)))
    profile = performance_profile(performance_ratios(costs)).to_numpy()
    assert (np.diff(profile, axis=1) >= 0).all()
    scaled = performance_profile(performance_ratios(costs * 7)).to_numpy()
    np.testing.assert_array_equal(profile, scaled)


def test_what_nobody_ended_and_nothing_at_all():
    table = pd.concat([COSTS, pd.DataFrame({"A": [np.nan], "B": [np.nan], "C": [np.nan]})])
    assert len(performance_ratios(table)) == 3
    assert performance_profile(performance_ratios(COSTS.iloc[:0])).isna().all(axis=None)


def test_a_cost_of_zero_is_refused():
    with pytest.raises(ValueError, match="positive"):
        performance_ratios(pd.DataFrame({"A": [0.0], "B": [1.0]}))

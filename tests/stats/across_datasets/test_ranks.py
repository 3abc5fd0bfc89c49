"""Average ranks: against SciPy, and against those of a published table."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mfbench.stats.across_datasets import complete

TABLES = (
    st.integers(1, 6)
    .flatmap(
        lambda k: st.lists(
            st.lists(st.sampled_from([0.5, 0.6, 0.7, 0.8]), min_size=k, max_size=k), min_size=1, max_size=8
        )
    )
    .map(lambda rows: pd.DataFrame(rows, columns=[f"m{i}" for i in range(len(rows[0]))]))
)


def average_ranks(means, greater_is_better=True):
    """Rank as reports do: over the datasets on which every method has a score."""
    return complete(means, "drop-dataset", greater_is_better=greater_is_better).ranks.mean(axis=0)


@given(TABLES, st.booleans())
def test_ranks_are_scipys_averaged_over_datasets(means, greater):
    found = average_ranks(means, greater_is_better=greater)
    sign = -1 if greater else 1
    expected = stats.rankdata(sign * means.to_numpy(), axis=1).mean(axis=0)
    assert found.to_dict() == pytest.approx(dict(zip(means.columns, expected, strict=True)))
    assert found.mean() == pytest.approx((means.shape[1] + 1) / 2)


@given(TABLES)
def test_a_monotone_change_of_a_dataset_changes_nothing(means):
    changed = means.copy()
    changed.iloc[0] = np.exp(3 * changed.iloc[0]) - 7
    assert average_ranks(changed).equals(average_ranks(means))


def test_rounding_makes_no_rank():
    means = pd.DataFrame({"A": [0.1 + 0.2], "B": [0.3], "C": [0.1]})
    assert average_ranks(means).to_dict() == {"A": 1.5, "B": 1.5, "C": 3.0}


def test_a_dataset_with_a_hole_is_left_out():
    means = pd.DataFrame({"A": [0.9, 0.1, np.nan], "B": [0.8, 0.2, 0.5]})
    assert average_ranks(means).to_dict() == {"A": 1.5, "B": 1.5}
    means.loc[1, "A"] = np.nan
    assert average_ranks(means).to_dict() == {"A": 1.0, "B": 2.0}


def test_without_a_complete_dataset_there_is_no_rank():
    found = average_ranks(pd.DataFrame({"A": [0.9, np.nan], "B": [np.nan, 0.5]}))
    assert list(found.index) == ["A", "B"]
    assert found.isna().all()


def test_the_published_table_of_2020_has_these_ranks():
    """Accuracies of 18 methods on 20 sets as printed in the paper on Immigrate (Entropy 22, 2020), Table 2."""
    table = pd.read_csv(Path(__file__).parents[3] / "suites" / "published" / "immigrate2020_table2.csv")
    means = table.pivot(index="dataset", columns="method", values="value")
    assert means.shape == (20, 18)
    expected = {
        "IGT": 2.55, "hIN": 5.42, "LMN": 6.30, "SV2": 7.42, "LAS": 7.48, "SOD": 7.52, "LDA": 7.55, "3NN": 7.65,
        "DT": 8.93, "IM4": 9.18, "1NN": 9.52, "NBC": 10.35, "LFE": 10.40, "SV1": 13.20, "RFF": 13.32, "RBF": 14.05,
        "SIM": 14.45, "REL": 15.70,
    }  # fmt: skip
    assert average_ranks(means).to_dict() == pytest.approx(expected, abs=0.0051)

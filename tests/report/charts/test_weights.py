"""The chart of weights: a bar for each positive weight, relevant features in colour."""

import numpy as np
import pandas as pd
import pytest

from mfbench.report.charts.drawing import ACCENT, NEUTRAL
from mfbench_protocols.charts import relative_weights, weights_chart


def trials(*weights, methods=None):
    methods = methods or [f"M{k}" for k in range(len(weights))]
    return pd.DataFrame({"method": methods, "weights": list(map(np.array, weights))})


def test_weights_are_divided_by_the_largest_of_each_round(rows_of):
    rounds = trials([2.0, 1.0, 0.0], [1.0, 4.0, 2.0], methods=["A", "A"])
    assert rows_of(weights_chart(1, "xor", rounds, [0]), "method", "feature", "weight", "kind") == [
        ["A", 0, 0.625, "relevant"],
        ["A", 1, 0.75, "irrelevant"],
        ["A", 2, 0.25, "irrelevant"],
    ]


def test_a_negative_weight_counts_as_0():
    frame = relative_weights(trials(*[[0.0, -1.0, -2.0, 0.5, 0.0, 0.0]] * 5), [0, 1])
    assert frame["weight"].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0] * 5
    assert not frame.loc[frame["kind"] == "relevant", "weight"].any()


@pytest.mark.parametrize("weights", [[0.0, 0.0], [-1.0, -2.0]])
def test_a_round_without_a_positive_weight_is_all_0(weights, rows_of):
    assert rows_of(weights_chart(1, "xor", trials(weights), [0]), "weight") == [[0.0], [0.0]]


def test_relevant_features_have_another_colour(drawn):
    colour = drawn(weights_chart(1, "xor", trials([1.0, 0.5]), [0]))["spec"]["encoding"]["color"]
    assert colour["scale"] == {"domain": ["relevant", "irrelevant"], "range": [ACCENT, NEUTRAL]}


def test_many_methods_keep_their_order(words_of):
    words = words_of(weights_chart(1, "xor", trials(*[[1.0, 0.5]] * 27), [0]))
    assert [word for word in words if word.startswith("M")] == [f"M{number}" for number in range(27)]


def test_the_words_state_the_means_of_both_kinds():
    rounds = trials([2.0, 1.0, 0.0], [0.0, 0.0, 1.0])
    assert weights_chart(1, "xor", rounds, [0, 1]).alt() == (
        "xor, mean relative weight of relevant and of irrelevant features: M0 0.75 and 0.00, M1 0.00 and 1.00."
    )


def test_the_words_leave_a_kind_out_that_does_not_exist():
    assert weights_chart(1, "mux6", trials([1.0, 0.5]), [0, 1]).alt().endswith("features: M0 0.75 and –.")
    assert weights_chart(1, "noise", trials([1.0, 0.5]), []).alt().endswith("features: M0 – and 0.75.")


def test_names_are_plain_text(hostile, check_names):
    rounds = trials(*[[1.0, 0.5]] * len(hostile), methods=list(hostile))
    check_names(weights_chart(1, " ".join(hostile), rounds, [0]), [*hostile, " ".join(hostile)])


def test_the_chart_is_named_for_a_file():
    assert weights_chart(2, "xor(n_noise=6)", trials([1.0]), []).name == "weights-02-xor-n-noise-6"

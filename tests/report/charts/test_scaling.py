"""Time to fit by size: the times of full width and of full length, on logarithmic axes."""

import numpy as np
import pandas as pd
import pytest

from mfbench.stats.summary import timing_exponents
from mfbench_protocols.charts import scaling_chart

ROWS, FEATURES = (100, 200, 400), (5, 10)


def profile_of(cells, power=(1.5, 1.0), rows=ROWS, features=FEATURES):
    """Return the times of a power law for each dataset and method."""
    a, b = power
    return pd.DataFrame(
        [
            {"dataset": d, "method": m, "n_train": n, "n_features": p, "fit_seconds": 1e-4 * n**a * p**b}
            for d, m in cells
            for n in rows
            for p in features
        ]
    )


def chart_of(profile):
    return scaling_chart(profile, timing_exponents(profile))


def test_rows_grow_with_all_features_and_features_with_all_rows(rows_of):
    chart = chart_of(profile_of([("d", "A")]))
    assert rows_of(chart, "axis", "size", "seconds") == [
        ["rows", 100, 1.0],
        ["rows", 200, pytest.approx(2**1.5)],
        ["rows", 400, 8.0],
        ["features", 5, 4.0],
        ["features", 10, 8.0],
    ]


def test_the_slope_of_a_line_is_the_exponent_in_words(rows_of):
    chart = chart_of(profile_of([("d", "A")], power=(1.5, 0.8)))
    slopes = {}
    for axis in ("rows", "features"):
        points = np.log([row[1:] for row in rows_of(chart, "axis", "size", "seconds") if row[0] == axis])
        slopes[axis] = np.polyfit(*points.T, 1)[0]
    assert slopes == {"rows": pytest.approx(1.5), "features": pytest.approx(0.8)}
    assert chart.alt() == "Exponents of the time to fit in rows and in features: A on d 1.50 and 0.80."


def test_both_axes_are_logarithmic_and_each_panel_has_sizes_of_its_own(drawn):
    content = drawn(chart_of(profile_of([("d", "A")])))
    encoding = content["spec"]["encoding"]
    assert encoding["x"]["scale"]["type"] == encoding["y"]["scale"]["type"] == "log"
    assert content["resolve"] == {"scale": {"x": "independent"}}


def test_each_dataset_has_full_sizes_of_its_own(rows_of):
    both = pd.concat([profile_of([("d", "A")]), profile_of([("e", "A")], rows=(50, 60), features=(3, 4))])
    rows = rows_of(chart_of(both), "dataset", "axis", "size")
    assert [size for dataset, axis, size in rows if (dataset, axis) == ("e", "rows")] == [50, 60]
    assert [size for dataset, axis, size in rows if (dataset, axis) == ("e", "features")] == [3, 4]


def test_times_of_0_and_unknown_ones_are_left_out(rows_of):
    profile = profile_of([("d", "A"), ("d", "B")], features=(5,))
    profile.loc[profile["n_train"] == 100, "fit_seconds"] = [0.0, np.nan]
    assert rows_of(chart_of(profile), "method", "size") == [["A", 200], ["A", 400], ["B", 200], ["B", 400]]


@pytest.mark.parametrize(
    "profile", [profile_of([("d", "A")], rows=(100,), features=(5,)), profile_of([("d", "A")])[:0]]
)
def test_without_two_sizes_there_is_no_chart(profile):
    assert chart_of(profile) is None


def test_an_exponent_that_cannot_be_estimated_is_a_dash():
    chart = chart_of(profile_of([("d", "A"), ("e", "A")], features=(5,)))
    assert chart.alt().endswith("A on d 1.50 and –, A on e 1.50 and –.")


def test_many_methods_have_a_line_style_each(words_of, drawn):
    methods = [f"M{number}" for number in range(27)]
    chart = chart_of(profile_of([("d", method) for method in methods]))
    encoding = drawn(chart)["spec"]["encoding"]
    assert encoding["color"]["scale"]["domain"] == encoding["strokeDash"]["scale"]["domain"] == methods
    assert set(methods) <= set(words_of(chart))


def test_names_are_plain_text(hostile, check_names):
    check_names(chart_of(profile_of([(name, method) for name in hostile[:2] for method in hostile])), hostile)
    check_names(chart_of(profile_of([(name, "A") for name in hostile])), hostile)

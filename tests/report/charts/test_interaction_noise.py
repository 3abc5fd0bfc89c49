"""The weight of the true interaction against noise: data that differ in their noise alone are one curve."""

import numpy as np
import pandas as pd
import pytest

from mfbench_datasets.noise_chart import by_noise, interaction_noise_chart


def frame_of(rows):
    return pd.DataFrame(rows, columns=["dataset", "method", "share"])


def curve(template, method="A", shares=(0.6, 0.4)):
    return [(template.format(noise), method, share) for noise, share in zip((0.1, 0.2), shares, strict=True)]


def test_curves_are_named_without_their_noise():
    for template, expected in [
        ("d(noise={})", "d"),
        ("d(noise={}, k=2)", "d(k=2)"),
        ("d(k=2, noise={})", "d(k=2)"),
        ("d(a=1, noise={}, k=2)", "d(a=1, k=2)"),
        ("d(n_noise=3, noise={})", "d(n_noise=3)"),
        ("d(noise={}e-2)", "d"),
    ]:
        assert by_noise(frame_of(curve(template)))["data"].tolist() == [expected] * 2


def test_names_without_a_level_of_noise_have_no_curve():
    for name in ["d", "d(n_noise={})", "d(noise=easy{})", "d(noise=--{})", "noise={}", "d(noise={}"]:
        assert not len(by_noise(frame_of(curve(name))))
        assert interaction_noise_chart(frame_of(curve(name))) is None


def test_a_single_level_and_unknown_shares_are_left_out(rows_of):
    rows = [*curve("d(noise={})"), *curve("d(noise={})", "B", (0.5, np.nan)), ("e(noise=0.1)", "A", 0.3)]
    assert rows_of(interaction_noise_chart(frame_of(rows)), "data", "method", "noise", "share") == [
        ["d", "A", 0.1, 0.6],
        ["d", "A", 0.2, 0.4],
        ["d", "B", 0.1, 0.5],
    ]


@pytest.mark.parametrize("rows", [[], [("d(noise=0.1)", "A", 0.5)], curve("d(noise={})", shares=(np.nan, np.nan))])
def test_nothing_to_compare_has_no_chart(rows):
    assert interaction_noise_chart(frame_of(rows)) is None


def test_the_words_state_the_ends_of_each_curve_in_the_order_of_noise():
    rows = [*curve("d(noise={})")[::-1], *curve("d(noise={})", "B", (0.3, 0.1))]
    assert interaction_noise_chart(frame_of(rows)).alt() == (
        "Share of the norm as noise grows: A on d from 0.60 to 0.40; B on d from 0.30 to 0.10."
    )


def test_many_methods_have_a_line_style_each(drawn, words_of):
    rows = [row for number in range(27) for row in curve("d(noise={})", f"M{number}")]
    chart = interaction_noise_chart(frame_of(rows))
    encoding = drawn(chart)["spec"]["encoding"]
    assert encoding["color"]["scale"]["domain"] == encoding["strokeDash"]["scale"]["domain"]
    assert {f"M{number}" for number in range(27)} <= set(words_of(chart))


def test_names_are_plain_text(hostile, check_names):
    rows = [row for name in hostile[:2] for method in hostile for row in curve(f"{escaped(name)}(noise={{}})", method)]
    check_names(interaction_noise_chart(frame_of(rows)), hostile)
    rows = [row for name in hostile for row in curve(f"{escaped(name)}(noise={{}})")]
    check_names(interaction_noise_chart(frame_of(rows)), hostile)


def escaped(name):
    """Return a name as a template that has no fields."""
    return name.replace("{", "{{").replace("}", "}}")

"""The paper's figures 2 and 3 on the toy data, and the command that draws them."""

from xml.etree import ElementTree

import numpy as np
import pytest

from mfbench_sqpfw import toy_charts, toy_data


@pytest.fixture(scope="module")
def path():
    return toy_charts.toy_path()


def texts(file):
    return ["".join(e.itertext()) for e in ElementTree.parse(file).iter() if e.tag.endswith("}text")]


def test_snapshots_are_distinct_and_the_first_weight_grows(path):
    first = path.after[toy_charts.snapshots(path), 0]
    assert first[0] == 0.5 and first[-1] == pytest.approx(1.0)
    assert (first[1:] > first[:-1]).all()


def test_the_weights_over_the_breakpoints_are_those_of_the_path(path):
    content = toy_charts.draw_weights(path).to_dict()
    over_steps, over_theta = (view["data"]["values"] for view in content["hconcat"])
    for number in (1, 2):
        own = [row for row in over_steps if row["feature"] == f"feature {number}"]
        assert [row["breakpoint"] for row in own] == list(range(len(path.after)))
        assert [row["weight"] for row in own] == path.after[:, number - 1].tolist()
    assert {row["theta"] for row in over_theta} == set(path.thetas.tolist())


def test_the_points_are_multiplied_by_the_roots_of_the_weights(path):
    content = toy_charts.draw_spaces(path).to_dict()
    X, y = toy_data()
    for view, step in zip(content["concat"], toy_charts.snapshots(path), strict=True):
        rows = view["data"]["values"]
        np.testing.assert_allclose([[row["first"], row["second"]] for row in rows], X * np.sqrt(path.after[step]))
        assert [row["class"] for row in rows] == y.tolist()
        scales = [view["layer"][0]["encoding"][axis]["scale"]["domain"] for axis in "xy"]
        assert scales[0] == scales[1] and scales[0][1] >= np.abs(X).max()


def test_the_command_draws_both_pictures(tmp_path, capsys, path):
    assert toy_charts.main([str(tmp_path / "new")]) == 0
    weights, spaces = (texts(tmp_path / "new" / f"{name}.svg") for name in ("toy-path", "toy-spaces"))
    assert {"(a) over the breakpoints", "(b) over theta", "feature 1", "feature 2"} <= set(weights)
    assert "(a) theta = 0.000: weights 0.500 and 0.500" in spaces
    assert any(word.startswith("(d) theta = ") and word.endswith("weights 1.000 and 0.000") for word in spaces)
    (tmp_path / "file").write_text("")
    assert toy_charts.main([str(tmp_path / "file")]) == 1
    assert "error:" in capsys.readouterr().err

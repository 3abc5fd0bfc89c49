"""The points of a grid, in its order, and what each sets."""

from mfbench.run.trial.steps import grid_points, parameters, readable

GRID = (("selector", "a,b", ((1, 2), (3, 4))), ("classifier", "b", (5, 6)), ("top", "top", ("all",)))


def test_the_last_key_changes_fastest_and_parameters_may_change_together():
    points = list(grid_points(GRID))
    assert [parameters(point, "selector") for point in points] == [{"a": 1, "b": 2}] * 2 + [{"a": 3, "b": 4}] * 2
    assert [parameters(point, "classifier") for point in points] == [{"b": 5}, {"b": 6}] * 2
    assert readable(points[0]) == {"selector.a": 1, "selector.b": 2, "classifier.b": 5, "top": "all"}


def test_a_method_without_a_grid_has_one_empty_point():
    assert list(grid_points(())) == [{}]

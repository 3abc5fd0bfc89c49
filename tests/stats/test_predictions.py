"""Predictions row by row, and the binary decisions that they imply or that were made class by class."""

import numpy as np

from mfbench.stats.stored import PredictedFold, decision_frame, prediction_frame

TWO = {"truth": np.array([0, 1, 1, 0]), "class_names": ["no", "yes"]}
THREE = {"truth": np.array([0, 1, 2, 0]), "class_names": ["x", "y", "z"]}


def fold(number, test, predictions, decisions=None):
    row = {"predictions": np.array(predictions), "decisions": None if decisions is None else np.array(decisions)}
    return PredictedFold(0, number, np.array(test), row)


def test_each_test_row_has_its_truth():
    frame = prediction_frame(TWO, [fold(0, [0, 2], [0, 0]), fold(1, [1, 3], [1, 0])])
    assert frame.columns.tolist() == ["repeat", "fold", "row", "truth", "prediction"]
    assert frame["row"].tolist() == [0, 2, 1, 3]
    assert frame["truth"].tolist() == [0, 1, 1, 0]
    assert frame["prediction"].tolist() == [0, 0, 1, 0]


def test_two_classes_have_one_decision_for_each_row():
    frame = decision_frame(TWO, [fold(0, [0, 2], [1, 1])])
    assert frame[["row", "class", "truth", "decision"]].to_numpy().tolist() == [[0, 1, 0, 1], [2, 1, 1, 1]]


def test_a_predicted_label_is_one_decision_for_each_class():
    frame = decision_frame(THREE, [fold(0, [2], [1])])
    assert frame["truth"].tolist() == [0, 0, 1]
    assert frame["decision"].tolist() == [0, 1, 0]


def test_decisions_made_class_by_class_are_kept():
    frame = decision_frame(THREE, [fold(0, [2], [1], [[1, 1, 0]])])
    assert frame["decision"].tolist() == [1, 1, 0]


def test_without_folds_there_is_nothing():
    assert len(prediction_frame(TWO, [])) == len(decision_frame(TWO, [])) == 0

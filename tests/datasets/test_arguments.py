"""Checks of arguments: what they return, and errors that name the parameter and the dataset."""

import math

import numpy as np
import pytest
from in_turn import in_turn

from mfbench.errors import UsageError
from mfbench_datasets.arguments import check_flag, check_real, check_whole


def test_valid_arguments_become_python_types():
    assert check_whole("d", "n", np.int64(3), 0, 3) == 3 and type(check_whole("d", "n", np.int64(3), 0)) is int
    assert check_real("d", "x", np.float32(0.5), 0, 1) == 0.5 and type(check_real("d", "x", 1, 0)) is float
    assert check_flag("d", "b", np.True_) is True


@in_turn("value", [True, 2.0, "3", None, -1, 11, math.nan])
def test_not_a_whole_number_in_range(value):
    with pytest.raises(UsageError, match="'n' of dataset 'd' must be a whole number from 0 to 10, got"):
        check_whole("d", "n", value, 0, 10)


@in_turn("value", [True, "3", None, math.nan, math.inf, -0.1, 0, 1.1, 1j])
def test_not_a_number_in_range(value):
    with pytest.raises(UsageError, match=r"'x' of dataset 'd' must be a number from 0 to 1 \(0 excluded\), got"):
        check_real("d", "x", value, 0, 1, without=[0])


@in_turn("value", [0, 1, "True", None])
def test_not_a_flag(value):
    with pytest.raises(UsageError, match="'b' of dataset 'd' must be True or False, got"):
        check_flag("d", "b", value)

"""The projection on the positive semi-definite matrices, and the forms of a matrix."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from mfbench_similarity._learner import in_form, project_psd, symmetric_part


def test_projection_keeps_the_symmetric_part_of_semi_definite_matrices():
    root = np.random.default_rng(1).normal(size=(5, 2))
    A = root @ root.T
    skew = np.triu(np.ones((5, 5)), 1)
    assert_allclose(project_psd(A + skew - skew.T), A, atol=1e-12)
    assert_allclose(project_psd(np.array([2.0, -1, 0])), [2, 0, 0])


@pytest.mark.parametrize("eigenvalues", [[3, 2, 1], [3, 2, -1], [3, 0, 0], [1, -2, -3]])
def test_projection_equals_that_of_the_eigenvalues(eigenvalues):
    turn = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))[0]
    A = turn * eigenvalues @ turn.T
    assert_allclose(project_psd(A), turn * np.maximum(eigenvalues, 0) @ turn.T, atol=1e-12)


def test_forms_keep_their_part_of_a_matrix():
    A = np.array([[1.0, 2.0], [4.0, 3.0]])
    assert_array_equal(in_form(A, "square"), A)
    assert_array_equal(in_form(A, "symmetric"), [[1, 3], [3, 3]])
    assert_array_equal(in_form(A, "diagonal"), [1, 3])
    assert_array_equal(symmetric_part(np.array([1.0, 3.0])), [1, 3])

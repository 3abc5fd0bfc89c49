"""Answers that are compared bit by bit, here and in another process."""

import io
import sys

import numpy as np
from correct_methods import MeanGap
from opening import opened

from mfbench_check import repeating
from mfbench_check.repeating import answer, bits, difference, digest, request_of, result_code, result_of


def test_bits_distinguish_shape_and_type():
    answers = [np.zeros(2), np.zeros((1, 2)), np.zeros(2, dtype=np.int64), np.array([0.0, -0.0])]
    assert len({bits(one) for one in answers}) == 4
    assert bits(np.array(["a", "b"], dtype=object)) == bits(np.array(["a", "b"], dtype=object))


def test_another_process_is_asked_for_the_same_digest(monkeypatch, capsys):
    subject = opened("correct_methods", "nearest-mean", "classifier", seed=3)
    monkeypatch.setattr(sys, "stdin", io.StringIO(request_of(subject)))
    monkeypatch.setattr(sys, "path", list(sys.path))
    repeating.main()
    assert capsys.readouterr().out == f"\n{digest(subject)}\n"


def test_a_result_is_that_of_the_arrays_themselves():
    class Writes(MeanGap):
        def fit(self, X, y):
            super().fit(X, y)
            X[:] = 0.0
            return self

    X, y = opened("correct_methods", "mean-gap", "selector").sample()
    result_of(opened("correct_methods", "mean-gap", "selector"), Writes(), X, y)
    assert not X.any()


def test_differences_are_numbers_a_reader_can_compare():
    selector = opened("correct_methods", "mean-gap", "selector")
    classifier = opened("correct_methods", "nearest-mean", "classifier")
    assert difference(selector, np.array([0.0, 1.0]), np.array([0.5, 1.0])) == "weights differ by up to 0.5"
    assert difference(classifier, np.array([0, 1]), np.array([1, 1])) == "1 of 2 rows get another class"
    assert difference(selector, np.zeros(2), np.zeros(3)).startswith("an array of shape (2,)")


def test_the_code_of_a_snippet_gives_the_answer():
    for name, kind in (("mean-gap", "selector"), ("nearest-mean", "classifier")):
        subject = opened("correct_methods", name, kind)
        X, y = subject.sample()
        names = {"np": np, "X": X, "y": y, "method": subject.make()}
        lines, expression = result_code(subject)
        exec("\n".join([*lines, f"result = {expression}"]), names)
        assert np.array_equal(names["result"], answer(subject))

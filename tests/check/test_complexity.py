import math

import pytest

from mfbench.check.complexity import parse_complexity


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("n", 10.0),
        ("n * p", 30.0),
        ("n**2 * p + k", 302.0),
        ("n * p * log(n)", 30 * math.log(10)),
        ("n**1.5", 10**1.5),
        ("(n + p) * k", 26.0),
        ("100 * n", 1000.0),
    ],
)
def test_a_formula_is_a_function_of_rows_features_and_classes(text, value):
    assert parse_complexity(text)(10, 3, 2) == pytest.approx(value)


@pytest.mark.parametrize(
    "text",
    [
        *("", "n +", "O(n)", "n^2", "2**n", "n / p", "-n", "n and p", "True", "'n'", "n.real", "[n]", "m", "n; p"),
        *("log()", "log(n, 2)", "lambda: n", "9j", "(" * 999, "__import__('os').system('true')"),
    ],
)
def test_anything_but_a_formula_is_refused(text):
    with pytest.raises(ValueError, match="use sums and products of numbers, n, p, k"):
        parse_complexity(text)


def test_the_refusal_names_the_part_that_is_not_understood():
    with pytest.raises(ValueError, match=r"the complexity 'n \* m' contains 'm'"):
        parse_complexity("n * m")

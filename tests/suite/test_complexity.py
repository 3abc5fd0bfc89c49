import math

import pytest

from mfbench.suite.costs import parse_complexity


def test_a_formula_is_a_function_of_rows_features_and_classes(subtests):
    for text, value in [
        ("n", 10.0),
        ("n * p", 30.0),
        ("n**2 * p + k", 302.0),
        ("n * p * log(n)", 30 * math.log(10)),
        ("n**1.5", 10**1.5),
        ("(n + p) * k", 26.0),
        ("100 * n", 1000.0),
    ]:
        with subtests.test(text=text, value=value):
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


def test_numbers_in_front_of_the_terms_make_seconds_of_a_formula(subtests):
    for text in ["2e-3", "2 + 3e-9 * n", "3e-9 * n**2 * p", "n * 3e-9", "1e-9 * (n + p * n)", "1e-6 * 5 * log(n)"]:
        with subtests.test(text=text):
            assert parse_complexity(text).in_seconds


def test_a_formula_without_them_states_growth(subtests):
    for text in ["n", "n**2 * p", "2 * n", "1e-3 + n", "p * log(n + 1)", "0 * n", "1e-6 * n + 3 * p"]:
        with subtests.test(text=text):
            assert not parse_complexity(text).in_seconds


def test_growth_leaves_out_what_is_constant():
    formula = parse_complexity("5 + 2e-9 * n**2 + log(2)")
    assert formula.growth(20, 1, 1) / formula.growth(10, 1, 1) == pytest.approx(4)
    assert formula(0, 1, 1) == pytest.approx(5 + math.log(2))
    assert parse_complexity("5").growth(20, 1, 1) == 5


def test_a_sum_may_be_long():
    assert parse_complexity(" + ".join(["n"] * 900))(2, 1, 1) == 1800


def test_a_sum_too_long_to_read_is_refused():
    with pytest.raises(ValueError, match="use sums and products"):
        parse_complexity(" + ".join(["n"] * 100_000))


@pytest.mark.parametrize("text", ["n**9999", "log(n + n) * (n * n)**999"])
def test_values_that_are_too_large_are_arithmetic_errors(text):
    with pytest.raises(ArithmeticError):
        parse_complexity(text)(10.0, 2, 2)

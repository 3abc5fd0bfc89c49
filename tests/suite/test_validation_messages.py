"""Each mistake is one sentence with the file, the key path, the actual value and what is allowed."""

import re

import pytest

from mfbench.errors import SuiteError
from mfbench.suite.loading import parse_suite

BASE = """
[suite]
name = "x"
[[datasets]]
use = ["iris"]
[[methods]]
label = "a"
classifier = "knn"
"""

MISTAKES = {
    "unknown key": ("top2 = 1", "methods[0].top2", "unknown key", "'top'"),
    "unknown table": ("[repot]\nalpha = 0.1", "repot", "unknown key", "'report'"),
    "text for a number": ('[protocol]\nfolds = "5"', "protocol.folds", "'5'", "a whole number"),
    "fraction for a count": ("[protocol]\nfolds = 5.0", "protocol.folds", "5.0", "a whole number"),
    "number for a string": ("selector = 3", "methods[0].selector", "3", "a string"),
    "truth for a number": ("[protocol]\ntimeout = true", "protocol.timeout", "True", "a number"),
    "text for a list": ('[[datasets]]\nuse = "iris"', "datasets[1].use", "'iris'", "a list"),
    "number in a list": ("[[datasets]]\nuse = [3]", "datasets[1].use[0]", "3", "a string"),
    "number for a table": ("[profiles]\nquick = 3", "profiles.quick", "3", "a table"),
    "too few folds": ("[protocol]\nfolds = 1", "protocol.folds", "found 1", "greater than or equal to 2"),
    "too large alpha": ("[report]\nalpha = 0.7", "report.alpha", "0.7", "less than 0.5"),
    "no such test": ('[report]\ntest = "t"', "report.test", "'t'", "'corrected-t', 'paired-t'"),
    "empty list of datasets": ("[[datasets]]\nuse = []", "datasets[1].use", "empty list", "at least one"),
    "empty text": ('[[datasets]]\nuse = [""]', "datasets[1].use[0]", "''", "at least 1"),
    "missing key": ('[[methods]]\nclassifier = "knn"', "methods[1].label", "missing", "add label"),
    "no subset": ('top = "most"', "methods[0].top", "'most'", "'positive', 'all' or 'all-weighted'"),
    "no grid": ("tune = 3", "methods[0].tune", "3", "'default' or a table"),
    "unknown grid": ('tune = "defaults"', "methods[0].tune", "'defaults'", "'default' or a table"),
    "label with blanks": ('[[methods]]\nlabel = " b"\nclassifier = "knn"', "methods[1].label", "' b'", "blanks"),
    "duplicate label": ('[[methods]]\nlabel = "a"\nclassifier = "knn"', "methods[1].label", "'a'", "methods[0]"),
    "duplicate label in one profile": (
        'profiles = ["quick"]\n[[methods]]\nlabel = "a"\nclassifier = "knn"\nprofiles = ["full", "quick"]',
        "methods[1].label", "'a'", "unique in each profile",
    ),
    "no such weights": ('weights = "cosine"', "methods[0].weights", "'cosine'", "'euclidean' or 'manhattan'"),
    "unknown reference": ('[report]\nreference = "b"', "report.reference", "'b'", "choose from a"),
}  # fmt: skip


def test_a_mistake_is_one_sentence_with_its_place():
    for more, place, found, allowed in MISTAKES.values():
        with pytest.raises(SuiteError) as caught:
            parse_suite(BASE + more, "own.toml")
        message = str(caught.value)
        assert "\n" not in message
        assert message.startswith(f"own.toml: {place}: ")
        assert found in message
        assert allowed in message


@pytest.mark.parametrize(
    ("more", "found"), [("tune = { k = [] }", "empty list"), ("tune = { k = 3 }", "found 3")], ids=["empty", "no list"]
)
def test_a_mistake_in_a_grid_names_the_parameter(more, found):
    with pytest.raises(SuiteError, match=re.escape("own.toml: methods[0].tune.k: ")) as caught:
        parse_suite(BASE + more, "own.toml")
    assert found in str(caught.value)


def test_every_mistake_has_a_line_of_its_own():
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE + "a = 1\nb = 2\n[report]\nalpha = 7", "own.toml")
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["methods[0].a", "methods[0].b", "report.alpha"]


def test_an_empty_file_says_what_a_suite_needs():
    with pytest.raises(SuiteError) as caught:
        parse_suite("", "own.toml")
    places = [line.split(": ")[1] for line in str(caught.value).splitlines()]
    assert places == ["suite", "datasets", "methods"]


def test_long_values_are_cut():
    with pytest.raises(SuiteError) as caught:
        parse_suite(BASE.replace('"a"', '"' + "x" * 500 + '"'), "own.toml")
    assert len(str(caught.value)) < 200

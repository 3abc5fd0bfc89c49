"""What patterns leave of a suite's datasets and methods."""

import pytest

from mfbench.errors import UsageError
from mfbench.suite.loading import Restriction, matching

GROUPS = [["A", "B"], ["wine", "wdbc", "iris"]]


def test_a_group_without_a_match_stays_whole():
    for patterns, kept in [
        ((), [{"A", "B"}, {"wine", "wdbc", "iris"}]),
        (("w*",), [{"A", "B"}, {"wine", "wdbc"}]),
        (("A", "iris", "wine"), [{"A"}, {"wine", "iris"}]),
        (("?",), [{"A", "B"}, {"wine", "wdbc", "iris"}]),
    ]:
        assert Restriction(patterns).kept(GROUPS) == kept


def test_a_pattern_without_a_match_says_where_it_is_and_what_is_near():
    restriction = Restriction(("wine", "wdcb"), "own.toml: parts.small.only:", "nothing here")
    with pytest.raises(UsageError, match=r"^own.toml: parts.small.only: 'wdcb' matches nothing here: did you .*wdbc"):
        restriction.kept(GROUPS)
    there = "'mfbench suites NAME' lists the labels of a suite"
    for pattern, rest in [("x*", f"; {there}"), ("vine*", ": did you mean 'wine'?")]:
        with pytest.raises(UsageError) as caught:
            Restriction((pattern,)).kept(GROUPS)
        assert str(caught.value) == f"--only {pattern!r} matches no dataset and no method of this suite{rest}"


def test_names_match_by_case():
    assert matching(["W*", "[ab]"], ["wine", "W1", "a", "A"]) == {"W1", "a"}

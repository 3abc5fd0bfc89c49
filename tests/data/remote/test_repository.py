"""What the clients of all repositories share: the choice of the label column."""

import pytest

from mfbench.data.repositories import choose_target
from mfbench.errors import UnknownNameError, UsageError


def test_the_label_column():
    assert choose_target("it", ["a"], ["a", "b"], None) == "a"
    assert choose_target("it", [], ["a", "b"], "b") == "b"
    assert choose_target("it", ["a"], [], "unlisted") == "unlisted"
    with pytest.raises(UnknownNameError, match=r"unknown target column 'c'.*in it"):
        choose_target("it", ["a"], ["a", "b"], "c")
    with pytest.raises(UsageError, match=r"it declares no target: name one of its columns as 'target' \(a, b\)"):
        choose_target("it", [], ["a", "b"], None)
    with pytest.raises(UsageError, match="it declares 2 targets: name one of 'a', 'b' as 'target'"):
        choose_target("it", ["a", "b"], ["a", "b"], None)

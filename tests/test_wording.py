"""Small parts of sentences."""

import pytest

from mfbench.wording import counted


@pytest.mark.parametrize(("number", "text"), [(0, "0 folds"), (1, "1 fold"), (2, "2 folds")])
def test_a_number_with_its_noun(number, text):
    assert counted(number, "fold") == text

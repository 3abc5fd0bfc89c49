"""Small parts of sentences."""

from mfbench.base.text import counted


def test_a_number_with_its_noun(subtests):
    for number, text in [(0, "0 folds"), (1, "1 fold"), (2, "2 folds")]:
        with subtests.test(number=number, text=text):
            assert counted(number, "fold") == text

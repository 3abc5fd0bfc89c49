"""What servers answer never reaches the terminal or a message unchecked."""

import pytest

from mfbench.base.text import plain_text
from mfbench.data.download import answer_of, shown
from mfbench.errors import DataError


def test_text_is_one_printable_line():
    assert plain_text("\x1b[31mIris\n  plants ", 9) == "[31mIris…"
    assert plain_text(None) == ""


def test_a_password_is_not_shown():
    assert shown("https://me:secret@example.org/data?id=1") == "https://example.org/data?id=1"


def test_an_undocumented_form_is_one_sentence(subtests):
    for error in [KeyError("id"), TypeError("x"), ValueError("y"), AttributeError("z"), OverflowError("inf")]:
        with (
            subtests.test(error=error),
            pytest.raises(DataError, match=r"^UCI's answer about UCI dataset 1 .*--data-dir\)$"),
            answer_of("UCI", "UCI dataset 1"),
        ):
            raise error


def test_other_errors_pass():
    with pytest.raises(DataError, match=r"^as it is$"), answer_of("UCI", "it"):
        raise DataError("as it is")

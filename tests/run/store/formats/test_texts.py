"""Words of methods in the store: short and harmless."""

import pytest

from mfbench.run.store.formats import LIMITS, stored_text


@pytest.mark.parametrize("name", LIMITS)
def test_a_megabyte_is_cut(name):
    assert len(stored_text("ab" * 500_000, name)) == LIMITS[name]
    assert len(stored_text("\ud800" * 500_000, name)) == LIMITS[name]


def test_the_beginning_of_a_message_and_the_end_of_a_traceback_stay():
    assert stored_text("first" + "x" * 9000, "error_message").startswith("first")
    assert stored_text("x" * 9000 + "last", "error_trace").endswith("last")


def test_lines_stay_and_control_characters_go():
    assert stored_text("a\x1b[31m\r\nb\u202e\0", "error_message") == "a[31m \nb"


def test_a_text_within_the_limits_stays_as_it_is():
    assert stored_text("é" * 500, "error_message") == "é" * 500
    assert stored_text("é" * 5000, "status") == "é" * 5000

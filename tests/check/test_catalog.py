"""The table of checks: every check is described, and what it needs exists and comes before it."""

import pytest

from mfbench_check.catalog import GROUPS, KINDS, Check, all_checks, by_needs, check

TABLE = all_checks()
ORDER = by_needs(TABLE)


def test_every_check_is_described_by_a_sentence():
    summaries = [one.summary for one in TABLE]
    assert [text for text in summaries if not (text.endswith((".", "?")) and 20 < len(text) <= 120)] == []


def test_ids_are_made_of_lower_case_words():
    assert [one.id for one in TABLE if not all(word.isalnum() and word.islower() for word in one.id.split("-"))] == []


def test_what_a_check_needs_is_made_before_it():
    ids = [one.id for one in ORDER]
    late = {one.id: set(one.needs) - set(ids[: ids.index(one.id)]) for one in TABLE}
    assert not any(late.values()), f"a need that is made later never skips anything: {late}"


def test_a_group_or_a_kind_that_does_not_exist_is_refused():
    for group, kinds in (("contrakt", KINDS), ("contract", ("method",))):
        with pytest.raises(ValueError, match="see GROUPS and KINDS"):
            check("new", group=group, kinds=kinds)


def test_an_id_is_taken_once():
    with pytest.raises(ValueError, match="two checks have the id 'fit'"):
        check("fit", group="contract", kinds=KINDS)(lambda subject: None)


def test_the_details_are_the_rest_of_the_docstring():
    def described(subject):
        """First sentence.

        The rest,
        in two lines.
        """

    one = Check("a", "contract", KINDS, described)
    assert (one.summary, one.details) == ("First sentence.", "The rest,\nin two lines.")


def test_every_group_has_a_check():
    assert {one.group for one in TABLE} == set(GROUPS)

"""What a run has not reached: trials, folds and cells, and the command that goes on."""

import pytest

from mfbench import load_run
from mfbench.report.brief import problems, reading_notes
from mfbench.report.pages import page_of
from mfbench.report.sections.remarks import remarks
from mfbench.report.sections.scores import compared_folds, not_run_yet
from mfbench.run.store.store import Store

CELLS = {
    ("iris", "A"): [0.9, 0.8, None],
    ("iris", "B"): [0.5, 0.6, None],
    ("wine", "A"): [0.9, None, None],
    ("wine", "B"): [None, None, None],
    ("vowel", "A"): [None, None, None],
    ("vowel", "B"): [None, None, None],
}
COMMAND = "mfbench suite own --profile quick --budget 1h30m"


@pytest.fixture
def ended(write_run):
    """Return a run that a budget ended."""
    run = write_run(CELLS, folds=3)
    with Store(run.path) as store:
        store.record("ended_budget", 5400.0)
    return load_run(run.path)


def test_a_budget_that_ended_names_what_was_not_reached_and_the_command_that_goes_on(ended):
    assert not_run_yet(ended) == [
        f"Not run yet: 13 of 18 trials, because the budget of 1h30m ended. To go on, run: {COMMAND}",
        "Not reached: B on wine; every method on vowel.",
    ]
    assert compared_folds(ended.coverage, "fold") == [
        "Compared on the folds that all methods have, for scores, tests and times: iris (2 of 3) and wine (1 of 3)."
    ]


def test_every_form_of_the_report_says_so(ended):
    sentences = [*not_run_yet(ended), *compared_folds(ended.coverage, "fold")]
    assert set(sentences) <= set(remarks(ended).notes)
    assert set(sentences) <= {*problems(ended), *reading_notes(ended)}
    page = page_of(ended)
    assert "because the budget of 1h30m ended" in page and "iris (2 of 3)" in page
    data = {key: value() for key, value in remarks(ended).data.items()}
    assert (data["not_run"], data["ended_budget"]) == (13, 5400.0)
    assert data["coverage"]["compared"].tolist() == [2, 1, 0]


def test_an_interrupted_run_has_no_budget(write_run):
    run = write_run(CELLS, folds=3)
    assert not_run_yet(run) == ["Not run yet: 13 of 18 trials."]
    assert remarks(run).data["ended_budget"]() is None


def test_a_complete_run_says_nothing(small_run):
    assert not_run_yet(small_run) == compared_folds(small_run.coverage, "fold") == []
    assert not len(small_run.coverage)


def test_the_next_start_forgets_the_budget(ended):
    meta = ended.meta
    with Store(ended.path) as store:
        store.begin(meta.model_copy(update={"ended_budget": 0.0}), [], [])
    assert load_run(ended.path).meta.ended_budget == 0.0


def test_a_run_of_an_earlier_version_has_no_budget(write_run):
    run = write_run(CELLS, folds=3)
    with Store(run.path) as store, store.writing("meta") as db:
        db.execute("DELETE FROM meta WHERE name = 'ended_budget'")
    assert load_run(run.path).meta.ended_budget == 0.0

"""Each comparison is made once, and a part of the datasets takes what is known of them."""

import gc
import weakref

import numpy as np
import pandas as pd
import pytest

from mfbench.stats import comparisons
from mfbench.stats.comparisons import Comparisons, rows_on

CELLS = {("d", "A"): [0.9, 0.8, 0.95], ("d", "B"): [0.5, 0.6, 0.4], ("e", "A"): [0.7, 0.8, 0.7], ("e", "B"): [0.8] * 3}


@pytest.fixture
def run(write_run):
    return write_run({place: list(scores) for place, scores in CELLS.items()}, folds=3)


def test_a_comparison_is_made_once_for_each_setting(run, monkeypatch):
    calls = []
    for name in ("tabulate", "compare_with_reference", "summarise", "complete_table"):
        made = getattr(comparisons, name)
        monkeypatch.setattr(comparisons, name, lambda *args, _n=name, _f=made: calls.append(_n) or _f(*args))
    found, other = Comparisons(run.compared), run.settings.replace(alpha=0.2)
    for settings in (run.settings, other, run.settings):
        found.scores(settings, run.decisions)
        found.verdicts(settings, run.decisions)
        found.summary(settings, run.decisions, {})
        found.overall(settings, run.decisions, {}, 0)
    assert sorted(calls) == sorted(["tabulate", "compare_with_reference", "summarise", "complete_table"] * 2)


def test_a_part_takes_what_is_known_of_its_datasets_and_nothing_across_datasets(run, monkeypatch):
    whole = Comparisons(run.compared)
    whole.overall(run.settings, run.decisions, {}, 0)
    expected = whole.verdicts(run.settings, run.decisions)
    for name in ("tabulate", "compare_with_reference"):
        monkeypatch.setattr(comparisons, name, lambda *_: pytest.fail("made again"))
    part = whole.restricted(["e"])
    assert part.scores(run.settings, run.decisions)["dataset"].tolist() == ["e", "e"]
    pd.testing.assert_frame_equal(part.verdicts(run.settings, run.decisions), rows_on(expected, ["e"]))
    assert part.overall(run.settings, run.decisions, {}, 0).n_datasets == 1
    assert whole.overall(run.settings, run.decisions, {}, 0).n_datasets == 2


def test_rows_of_some_datasets_are_numbered_anew():
    frame = pd.DataFrame({"dataset": ["d", "e", "d"], "x": [1, 2, 3]})
    assert rows_on(frame, {"e"}).to_dict("list") == {"dataset": ["e"], "x": [2]}
    assert rows_on(frame, ["d"]).index.tolist() == [0, 1]


def test_results_hold_no_run_in_a_cycle(write_run):
    """A run that waits for the garbage collector keeps its files open."""
    rng = np.random.default_rng(0)
    run = write_run({(f"d{i}", m): list(rng.random(5)) for i in range(7) for m in "AB"})
    gc.collect()
    gc.disable()
    try:
        assert len(run.overall().claims.like_these) == 1
        reference = weakref.ref(run)
        del run
        assert reference() is None
    finally:
        gc.enable()

"""An incomplete run is compared on the folds that all methods have; nothing else of it enters a comparison."""

import numpy as np
import pandas as pd

from mfbench.stats.comparisons import common_folds, coverage, on_common_folds


def trials_of(cells):
    """Return trials from {(dataset, method): one letter for each fold}: o ok, f failed, - not run."""
    words = {"o": "ok", "f": "error", "-": None}
    return pd.DataFrame(
        [
            {"dataset": d, "method": m, "repeat": 0, "fold": fold, "status": words[letter]}
            for (d, m), letters in cells.items()
            for fold, letter in enumerate(letters)
        ]
    )


def test_which_folds_are_common():
    for cells, folds in [
        ({"A": "ooo", "B": "ooo"}, None),  # complete
        ({"A": "ooo", "B": "oo-"}, {0, 1}),
        ({"A": "oo-", "B": "-oo"}, {1}),
        ({"A": "ofo", "B": "oo-"}, {0, 1}),  # a failure is a result
        ({"A": "ooo", "B": "---"}, {0, 1, 2}),  # a method that was not reached shortens nothing
        ({"A": "oooo", "B": "oo--"}, {0, 1}),  # half as many folds as the method with most
        ({"A": "ooooo", "B": "oo---"}, {0, 1, 2, 3, 4}),  # less than half: left behind
        ({"A": "o-", "B": "-o"}, None),  # nothing in common
        ({"A": "--", "B": "--"}, None),
        ({"A": "o-"}, None),  # nothing to compare
    ]:
        common = common_folds(trials_of({("d", method): letters for method, letters in cells.items()}))
        assert common == ({} if folds is None else {"d": frozenset((0, fold) for fold in folds)})


def test_each_dataset_has_its_own_folds_and_a_complete_one_keeps_all():
    trials = trials_of({("d", "A"): "oo-", ("d", "B"): "o--", ("e", "A"): "ooo", ("e", "B"): "ooo"})
    kept = on_common_folds(trials, common_folds(trials))
    assert kept[["dataset", "method", "fold"]].values.tolist() == [
        *[["d", method, 0] for method in "AB"],
        *[["e", method, fold] for method in "AB" for fold in range(3)],
    ]
    assert on_common_folds(trials, {}) is trials


def test_coverage_names_folds_and_methods_that_were_not_reached():
    trials = trials_of({("d", "A"): "oo-", ("d", "B"): "o--", ("d", "C"): "---", ("e", "A"): "---", ("f", "A"): "ooo"})
    table = coverage(trials, common_folds(trials))
    assert table.to_dict("records") == [
        {"dataset": "d", "planned": 3, "compared": 1, "not_reached": ["C"]},
        {"dataset": "e", "planned": 3, "compared": 0, "not_reached": ["A"]},
    ]
    complete = trials[trials["dataset"] == "f"]
    assert list(coverage(complete, {}).columns) == list(table.columns)


class TestRun:
    def test_comparisons_are_those_of_a_run_with_the_common_folds_alone(self, write_run):
        """A fold that one method lacks must not move the mean, a test, a rank or a time of another method."""
        rng = np.random.default_rng(0)
        scores = {(d, m): list(rng.normal(mean, 0.01, 6)) for d in ("d", "e") for m, mean in (("A", 0.9), ("B", 0.85))}
        short = {cell: values[:4] for cell, values in scores.items()}
        cut = {cell: [*values[:4], None, None] for cell, values in scores.items()}
        cut["d", "A"][4] = 0.1  # it has run, but B on the same fold has not
        cut["e", "B"][5] = 0.99
        run, reference = write_run(cut, folds=6), write_run(short, folds=4)
        pd.testing.assert_frame_equal(run.scores, reference.scores)
        pd.testing.assert_frame_equal(run.summary(), reference.summary())
        pd.testing.assert_frame_equal(run.wins_ties_losses(), reference.wins_ties_losses())
        pd.testing.assert_series_equal(run.overall().ranks, reference.overall().ranks)
        pd.testing.assert_frame_equal(run.time_ratios, reference.time_ratios)

    def test_what_has_run_is_still_there(self, write_run):
        run = write_run({("d", "A"): [0.9, 0.8, 0.7], ("d", "B"): [0.5, None, None]}, folds=3)
        assert run.outcomes["status"].notna().sum() == 4
        assert run.n_pending == 2

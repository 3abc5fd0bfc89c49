"""Selector fits are made once and shared; seeds do not depend on who makes them."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import RFE
from spies import TUNED, Log, Spy, fold_of, method, run, trial

from mfbench.model.trials import Status
from mfbench.run.trial.steps import seeded, selector_key


class TestSharedSelectorFits:
    def test_classifiers_and_subsets_share_one_fit(self):
        fold, log = fold_of(), Log()
        for label, (classifier, top) in enumerate(
            [("spy", "all"), ("spy(b=2)", 1), ("spy", 0.5), ("spy", "positive"), ("spy", "all-weighted")]
        ):
            result, _ = run(fold, method(classifier=classifier, top=top), log=log, at=trial(label=str(label)))
            assert result.status is Status.OK
        assert len(log.fits("selector")) == 1
        assert len(log.fits("classifier")) == 5

    def test_tuning_the_classifier_or_the_subset_fits_it_once_for_each_fold(self):
        fold, log = fold_of(), Log()
        grid = (("classifier", "b", (1, 2, 3)), ("top", "top", (1, 2, "all")))
        run(fold, method(grid=grid), log=log)
        assert len(log.fits("selector")) == 3 + 1
        assert len(log.fits("classifier")) == 9 * 3 + 1
        run(fold, method(grid=grid[:1]), log=log, at=trial(label="other"))
        assert len(log.fits("selector")) == 3 + 1

    def test_tuning_the_selector_fits_it_for_each_of_its_values(self):
        log = Log()
        run(fold_of(), method(grid=(("selector", "a", (1, 2)), ("classifier", "b", (1, 2, 3)))), log=log)
        assert len(log.fits("selector")) == 2 * 3 + 1
        assert {event.by.a for event in log.fits("selector")} == {1, 2}

    @pytest.mark.parametrize("other", ["spy(a=1)", "spy(b=1)"])
    def test_other_parameters_are_another_fit(self, other):
        fold, log = fold_of(), Log()
        run(fold, method(), log=log)
        run(fold, method(selector=other), log=log)
        assert len(log.fits("selector")) == 2

    def test_another_fold_is_another_fit(self):
        log = Log()
        run(fold_of(fold=0), log=log)
        run(fold_of(fold=1), log=log)
        assert len(log.fits("selector")) == 2

    def test_each_trial_is_charged_the_whole_fit(self):
        fold = fold_of()
        first, second = run(fold)[0], run(fold, at=trial(label="other"))[0]
        assert first.select_wall == second.select_wall > 0
        assert first.select_cpu == second.select_cpu

    def test_a_failure_is_shared_too(self):
        fold, log = fold_of(), Log()
        how = method(selector="spy(raises=1)")
        factory = lambda raises=None, **params: Spy(raises=ValueError("no way") if raises else None, **params)  # noqa: E731
        results = [run(fold, how, log=log, factory=factory, at=trial(label=label))[0] for label in "ab"]
        assert [(r.status, r.error_type, r.error_message) for r in results] == [("error", "ValueError", "no way")] * 2
        assert len(log.fits("selector")) == 1
        assert "no way" in results[1].error_trace

    def test_the_key_of_a_selector_ignores_the_order_of_parameters_and_the_classifier(self):
        assert selector_key(method("spy(a=1, b=2)")) == selector_key(method("spy(b=2, a=1)", "spy(a=9)", top=1))
        assert selector_key(method("spy(a=1)")) != selector_key(method("spy(a=2)"))
        assert selector_key(method(None)) == ""


class TestSeeds:
    def seeds(self, order, **where):
        """Run methods in an order; return the seeds that selector and classifiers got."""
        fold, log = fold_of(**where), Log()
        for label in order:
            run(fold, method(label=label), log=log, at=trial(where.get("repeat", 0), where.get("fold", 0), label))
        (selector,) = log.fits("selector")
        return selector.by.random_state, {event.by.random_state for event in log.fits("classifier")}

    def test_a_shared_fit_has_one_seed_whoever_comes_first(self):
        assert self.seeds("ab") == self.seeds("ba")

    def test_the_selectors_seed_differs_by_fold_and_repeat(self):
        found = {self.seeds("a", repeat=repeat, fold=fold)[0] for repeat in range(2) for fold in range(4)}
        assert len(found) == 8

    def test_another_selector_has_another_seed(self):
        log, fold = Log(), fold_of()
        run(fold, method("spy(a=1)"), log=log)
        run(fold, method("spy(a=2)"), log=log)
        assert len({event.by.random_state for event in log.fits("selector")}) == 2

    def test_the_classifiers_seed_is_the_trials(self):
        _, log = run()
        assert log.fits("classifier")[0].by.random_state == trial().seed

    def test_inner_fits_have_seeds_too(self):
        _, log = run(how=TUNED)
        assert {event.by.random_state for event in log.fits("classifier")} == {trial().seed}
        assert None not in {event.by.random_state for event in log.fits("selector")}

    def test_a_seed_in_the_suite_stays(self):
        _, log = run(how=method("spy(random_state=5)", "spy(random_state=6)"))
        assert log.fits("selector")[0].by.random_state == 5
        assert log.fits("classifier")[0].by.random_state == 6

    def test_a_seed_in_the_grid_stays(self):
        _, log = run(how=method(grid=(("classifier", "random_state", (5, 6)),)))
        assert {event.by.random_state for event in log.fits("classifier")} <= {5, 6}

    def test_running_again_gives_the_same(self):
        one, other = run(how=TUNED)[0], run(how=TUNED)[0]
        assert np.array_equal(one.predictions, other.predictions)
        assert (one.scores, one.chosen) == (other.scores, other.chosen)


def test_parts_without_a_seed_get_one_too_and_estimators_without_parameters_none():
    forest = RandomForestClassifier()
    assert seeded(RFE(forest), 5, {}) and forest.random_state == 5
    assert seeded(RFE(RandomForestClassifier(random_state=1)), 5, {}).estimator.random_state == 1
    assert seeded(RandomForestClassifier(random_state=1), 5, {"random_state": 1}).random_state == 1
    assert seeded(object, 5, {}) is object

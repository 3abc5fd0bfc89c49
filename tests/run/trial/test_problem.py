"""Which grid point wins."""

import numpy as np
import pytest
from spies import N, Scripted, Spy, fold_of, method, numbers, run

from mfbench.model.trials import Status


class TestTuning:
    def chosen(self, grid, factory=Scripted, metrics=("accuracy",), **more):
        result, _ = run(how=method(None, grid=grid, **more), factory=factory, metrics=metrics)
        return result

    def test_the_best_inner_score_wins_and_the_first_among_equals(self):
        result = self.chosen((("classifier", "b", (1, 2, 3, 0)),))
        assert result.chosen == {"classifier.b": 2}
        assert result.scores == {"accuracy": 1.0}
        assert result.tune_wall > 0

    def test_all_equal_takes_the_first_point(self):
        result = self.chosen((("classifier", "a", (7, 8)), ("classifier", "b", (3, 2))))
        assert result.chosen == {"classifier.a": 7, "classifier.b": 3}

    def test_a_score_that_should_be_small_is_made_small(self):
        class Sure(Spy):
            def predict_proba(self, X):
                truth = X[:, 0].round().astype(int) % 2
                return np.where(np.eye(2)[truth] > 0, self.b / 10, 1 - self.b / 10)

        result = self.chosen((("classifier", "b", (2, 9, 5)),), Sure, ("log_loss", "accuracy"))
        assert result.chosen == {"classifier.b": 9}

    @pytest.mark.parametrize(("metrics", "best"), [(("accuracy", "log_loss"), 2), (("log_loss", "accuracy"), 1)])
    def test_the_first_metric_tunes(self, metrics, best):
        """With b = 2 the labels are right and the probabilities wrong, with b = 1 the other way round."""

        class Torn(Scripted):
            def predict_proba(self, X):
                return 0.8 * np.eye(2)[1 - self.predict(X)] + 0.1

        result = self.chosen((("classifier", "b", (1, 2)),), Torn, metrics)
        assert result.chosen == {"classifier.b": best}
        assert set(result.scores) == {"accuracy", "log_loss"}

    def test_chosen_parameters_are_those_of_the_final_fit(self):
        _, log = run(how=method(grid=(("selector", "a", (4,)), ("classifier", "b", (5,)), ("top", "top", (1,)))))
        assert log.fits("selector")[-1].by.a == 4
        assert log.fits("classifier")[-1].by.b == 5
        assert log.fits("classifier")[-1].X.shape[1] == 1

    def test_a_subset_in_the_grid_goes_over_the_methods(self):
        result, _ = run(how=method(top=1, grid=(("top", "top", (2,)),)))
        assert result.n_selected == 2
        assert result.chosen == {"top": 2}

    class Fragile(Scripted):
        def fit(self, X, y):
            if self.a < 0:
                raise ValueError(f"a = {self.a}")
            return super().fit(X, y)

    def test_a_point_that_fails_is_out_and_said_so(self):
        result = self.chosen((("classifier", "a", (-1, 1)), ("classifier", "b", (1, 2))), self.Fragile)
        assert result.status is Status.OK
        assert result.chosen == {"classifier.a": 1, "classifier.b": 2}
        assert result.n_warnings == 2
        assert "{'classifier.a': -1, 'classifier.b': 1} failed: ValueError: a = -1" in result.warning

    def test_if_all_fail_the_trial_does(self):
        result = self.chosen((("classifier", "a", (-1, -2)),), self.Fragile)
        assert (result.status, result.error_type, result.error_message) == ("error", "ValueError", "a = -2")

    def test_a_point_without_a_score_does_not_win(self):
        class Shy(Scripted):
            def __getattr__(self, name):
                if name == "predict_proba" and self.__dict__.get("a") == 1:
                    return lambda X: np.eye(2)[Scripted.predict(self, X)]
                raise AttributeError(name)

        result = self.chosen((("classifier", "a", (0, 1)), ("classifier", "b", (2,))), Shy, ("log_loss",))
        assert result.chosen["classifier.a"] == 1

    def test_an_inner_fold_without_a_score_does_not_end_the_trial(self):
        """Two rows of a class in three inner folds: one of these has one class alone and no area under the curve."""
        X, _ = numbers()
        fold = fold_of()
        y = np.zeros(N, dtype=int)
        y[[*fold.train[:2], fold.test[0]]] = 1

        class Sure(Spy):
            def predict_proba(self, X):
                return np.full((len(X), len(self.classes_)), 1 / len(self.classes_))

        result, _ = run(
            fold_of((X, y)), method(None, grid=(("classifier", "b", (1, 2)),)), factory=Sure, metrics=("roc_auc",)
        )
        assert result.status is Status.OK, result.error_trace
        assert result.chosen == {"classifier.b": 1}


class Stranger(Scripted):
    """Predicts a class that it was never fitted on, in every tenth row."""

    def predict(self, X):
        labels = super().predict(X)
        labels[::10] = 7 if self.a == 1 else labels[::10]
        return labels


class TestPredictedCodes:
    def test_a_class_that_was_never_fitted_is_a_failure_that_names_the_classifier(self):
        result, _ = run(how=method(None, classifier="spy(a=1)"), factory=Stranger)
        assert (result.status, result.error_type, result.scores) == (Status.ERROR, "ValueError", {})
        assert result.error_message == "classifier 'spy' predicted the class code 7, but it was fitted on 0, 1"

    def test_a_class_that_only_the_test_part_has_was_never_fitted(self):
        X, y = numbers()
        fold = fold_of((X, np.where(np.isin(np.arange(N), fold_of().test), 2, y)))

        class Cheat(Spy):
            def predict(self, X):
                return np.full(len(X), 2)

        result, _ = run(fold, method(None), factory=Cheat)
        assert "predicted the class code 2, but it was fitted on 0, 1" in result.error_message

    def test_a_grid_point_that_predicts_one_while_tuning_is_out(self):
        result, _ = run(
            how=method(None, grid=(("classifier", "a", (1, 2)), ("classifier", "b", (2,)))), factory=Stranger
        )
        assert (result.status, result.chosen["classifier.a"]) == (Status.OK, 2)
        assert "predicted the class code 7" in result.warning

    def test_many_classes_are_not_all_listed(self):
        X, _ = numbers()

        class Far(Spy):
            def predict(self, X):
                return np.full(len(X), -1)

        result, _ = run(fold_of((X, np.arange(N) // 2)), method(None), factory=Far)
        assert "0, 1, 2, 3, 4, 5, 6, 7, … (up to 17)" in result.error_message

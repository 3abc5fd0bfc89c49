"""A trial: every failure is a row, and a row has everything."""

import numpy as np
import pytest
from spies import NAN, Spy, fold_of, method, run

from mfbench.model.trials import Status


class TestFailures:
    @pytest.mark.parametrize("selector", [None, "spy"])
    def test_what_a_classifier_raises_is_in_the_row(self, selector):
        class Broken(Spy):
            def predict(self, X):
                raise KeyError("x" * 900)

        result, _ = run(how=method(selector), factory=Broken)
        assert (result.status, result.error_type) == (Status.ERROR, "KeyError")
        assert len(result.error_message) == 500
        assert "in predict" in result.error_trace
        assert (result.scores, result.predictions, result.selected, result.weights) == ({}, None, None, None)
        assert result.duration > 0

    def test_a_message_has_no_control_characters(self):
        class Broken(Spy):
            def predict(self, X):
                raise ValueError("a\x1b[31m\r\u202eb\nc")

        result, _ = run(how=method(None), factory=Broken)
        assert result.error_message == "a[31mb\nc"

    @pytest.mark.parametrize("kind", ["selector", "classifier"])
    def test_memory_is_a_status_of_its_own(self, kind):
        class Greedy(Spy):
            def fit(self, X, y):
                if self.kind == kind:
                    raise MemoryError
                return super().fit(X, y)

        result, _ = run(factory=Greedy)
        assert (result.status, result.error_type) == (Status.MEMORY, "MemoryError")

    def test_memory_while_tuning_ends_the_trial(self):
        class Greedy(Spy):
            def fit(self, X, y):
                if self.b == 2:
                    raise MemoryError
                return super().fit(X, y)

        result, _ = run(how=method(grid=(("classifier", "b", (1, 2, 3)),)), factory=Greedy)
        assert (result.status, result.error_message) == (Status.MEMORY, "the trial's memory limit was reached")

    def test_weights_of_another_shape_are_refused(self, subtests):
        for weights in ["[1.0]", "[1.0, 2.0, 3.0, 4.0]", "[[1.0, 2.0, 3.0]]"]:
            with subtests.test(weights=weights):
                result, _ = run(how=method(f"spy(weights={weights})"))
                assert result.status is Status.ERROR
                assert "'spy' gave feature_importances_ of shape" in result.error_message
                assert "expected 3 numbers" in result.error_message

    def test_weights_that_are_nan_are_refused(self):
        class Unsure(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                self.feature_importances_ = np.array([1.0, NAN, NAN])
                return self

        result, _ = run(factory=Unsure)
        assert "selector 'spy' gave the importance nan to feature 2 and 1 more" in result.error_message

    def test_a_selector_without_weights_is_an_error(self):
        class Silent(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                del self.feature_importances_
                return self

        result, _ = run(factory=Silent)
        assert (result.status, result.error_type) == (Status.ERROR, "AttributeError")
        assert "selector 'spy' has no feature_importances_ after fit" in result.error_message

    def test_predictions_of_another_form_are_refused(self, subtests):
        for predictions in [
            lambda n: np.zeros(n),
            lambda n: np.array(["a"] * n),
            lambda n: np.zeros(n - 1, int),
            lambda n: np.zeros((n, 2), int),
        ]:
            with subtests.test(predictions=predictions):

                class Odd(Spy):
                    def predict(self, X):
                        return predictions(len(X))  # noqa: B023 - called before the next round

                result, _ = run(factory=Odd)
                assert (result.status, result.error_type) == (Status.ERROR, "ValueError")
                assert "classifier 'spy' predicted an array" in result.error_message

    def test_a_column_of_predictions_is_read_as_their_list(self):
        class Column(Spy):
            def predict(self, X):
                return super().predict(X)[:, None]

        assert run(factory=Column)[0].predictions.tolist() == run()[0].predictions.tolist()

    def test_what_would_end_a_process_is_the_methods_own_failure(self, subtests):
        for selector in [True, False]:
            for error in [KeyboardInterrupt, SystemExit, GeneratorExit]:
                with subtests.test(selector=selector, error=error):
                    # In a worker Ctrl-C is ignored, so this can only come from the method.
                    class Ends(Spy):
                        def fit(self, X, y):
                            raise error  # noqa: B023 - called before the next round

                    result, _ = run(factory=Ends) if selector else run(how=method(None), factory=Ends)
                    assert (result.status, result.error_type) == (Status.ERROR, error.__name__)

    def test_warnings_are_counted_and_the_first_is_kept(self):
        import warnings

        class Loud(Spy):
            def fit(self, X, y):
                warnings.warn("first", RuntimeWarning, stacklevel=1)
                warnings.warn("second", UserWarning, stacklevel=1)
                return super().fit(X, y)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            result, _ = run(how=method(None), factory=Loud)
        assert (result.status, result.n_warnings, result.warning) == (Status.OK, 2, "RuntimeWarning: first")

    def test_a_selector_that_writes_into_its_columns_harms_nobody_else(self):
        class Rude(Spy):
            def fit(self, X, y):
                super().fit(X, y)
                if self.kind == "selector":
                    X[:] = 0.0
                return self

        fold = fold_of()
        expected = fold.encoded.train.copy()
        run(fold, method(), factory=Rude)
        assert np.array_equal(fold.encoded.train, expected)

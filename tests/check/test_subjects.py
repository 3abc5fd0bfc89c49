"""Names become subjects, and a subject in its process builds, fits and shows the estimator as checks use it."""

import numpy as np
import pytest

from mfbench.errors import UnknownNameError
from mfbench.host.registry import load_registry
from mfbench_check.display import CheckFailedError
from mfbench_check.subjects import Opened, Subject, subjects_of


@pytest.fixture(scope="module")
def registry():
    return load_registry(only=["correct_methods", "baselines", "datasets", "suites", "unsound_suites"])


def named(subjects):
    return [(one.kind, one.name) for one in subjects]


class TestNames:
    def test_a_plugin_stands_for_everything_that_it_registers(self, registry):
        methods = [("selector", "mean-gap"), ("classifier", "nearest-mean"), ("regressor", "one-direction")]
        assert named(subjects_of(registry, ["correct_methods"])) == [("plugin", "correct_methods"), *methods]

    def test_a_name_that_is_both_kinds_is_checked_as_both(self, registry):
        both = [("selector", "random-forest"), ("classifier", "random-forest")]
        assert named(subjects_of(registry, ["random-forest"])) == both

    def test_a_package_is_found_in_any_spelling(self, registry):
        assert ("selector", "mean-gap") in named(subjects_of(registry, package="Correct-Methods"))
        assert ("selector", "mean-gap") in named(subjects_of(registry, ["correct.methods"]))
        assert ("dataset", "iris") not in named(subjects_of(registry, package="correct_methods"))

    def test_a_suite_belongs_to_the_plugin_that_ships_it(self, registry):
        (subject,) = subjects_of(registry, ["sound-suite"])
        assert (subject.kind, subject.plugin.name) == ("suite", "unsound_suites")

    def test_a_name_that_is_repeated_is_one_subject(self, registry):
        assert len(subjects_of(registry, ["mean-gap", "mean-gap", "correct_methods"])) == 4

    @pytest.mark.parametrize(("words", "package"), [(["mean-gapp"], None), ([], "corect_methods")])
    def test_a_name_that_does_not_exist_is_an_error_with_the_nearest(self, words, package, registry):
        with pytest.raises(UnknownNameError, match=r"did you mean '(mean-gap|correct_methods)'"):
            subjects_of(registry, words, package)

    @pytest.mark.filterwarnings("ignore")
    def test_a_plugin_that_cannot_be_imported_is_a_subject(self):
        registry = load_registry(only=["raising_plugin"])
        assert named(subjects_of(registry, ["raising_plugin"])) == [("plugin", "raising_plugin")]
        assert named(subjects_of(registry, package="raising_plugin")) == [("plugin", "raising_plugin")]


@pytest.fixture
def opened(registry):
    return lambda name, kind="selector": Opened(Subject(kind, name, registry.entry(kind, name).plugin), registry, 7)


class TestOpened:
    def test_the_estimator_has_the_seed_and_the_parameters_of_the_spec(self, opened):
        assert opened("mean-gap").settings(power=3.0) == {"random_state": 7, "power": 3.0}
        assert opened("mean-gap").make().random_state == 7

    def test_the_input_of_a_fit_is_a_copy(self, opened, monkeypatch):
        import correct_methods

        subject = opened("mean-gap")
        X, y = subject.sample()
        before = X.copy()
        monkeypatch.setattr(correct_methods.MeanGap, "fit", lambda self, X, y: X.fill(0))
        subject.fit(X, y)
        assert np.array_equal(X, before)

    def test_what_a_fit_raises_is_a_failure(self, opened):
        X, y = opened("mean-gap").sample()
        with pytest.raises(CheckFailedError, match="fit raised ValueError"):
            opened("mean-gap").fit(X, y[1:])

    def test_what_predict_raises_is_a_failure(self, opened):
        X, y = opened("nearest-mean", "classifier").sample()
        with pytest.raises(CheckFailedError, match="predict raised ValueError"):
            opened("nearest-mean", "classifier").predictions(X, y, X[:, :2])

    def test_a_snippet_runs_as_it_is(self, opened, monkeypatch):
        monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "correct_methods")
        code = opened("mean-gap").snippet("assert method.fit(X, y) is None", power=2.0)
        assert "mean-gap(random_state=7, power=2.0)" in code.replace(
            "power=2.0, random_state=7", "random_state=7, power=2.0"
        )
        with pytest.raises(AssertionError):
            exec(code, {})

    def test_a_snippet_has_ten_lines_at_most(self, opened):
        with pytest.raises(ValueError, match="11 lines"):
            opened("mean-gap").snippet(*["pass"] * 7)

    def test_the_file_of_a_suite_is_found_though_the_name_was_ambiguous_elsewhere(self, registry):
        plugin = next(plugin for plugin in registry.plugins.values() if plugin.name == "unsound_suites")
        subject = Subject("suite", "sound-suite@unsound_suites", plugin)
        assert Opened(subject, registry).path.stem == "sound-suite"

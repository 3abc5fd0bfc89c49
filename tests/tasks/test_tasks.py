"""A task is a value: what a target is, and which methods and metrics suit it; what mixed suites are refused with."""

from dataclasses import replace

import numpy as np
import pytest
from toy_suites import HEAD

from mfbench import TaskSpec, load_dataset
from mfbench.errors import DataError, SuiteError, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.additions import with_additions
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan
from mfbench.suite.tasks import constant_guess, strata_of, task_named

ONE = '[[methods]]\nlabel = "A"\nregressor = "ridge"\n'
TWO = ONE + '[[methods]]\nlabel = "B"\nselector = "relief"\nregressor = "knn"\n'
NUMBERS = '[[datasets]]\nuse = ["diabetes"]\n'


@pytest.fixture(scope="module")
def registry():
    return load_registry(only=["all"])


@pytest.fixture
def loaded(tmp_path, registry):
    def load(text, **options):
        path = tmp_path / "own.toml"
        path.write_text(HEAD + text)
        return load_suite(str(path), registry, **options)

    return load


@pytest.fixture
def table(tmp_path):
    """Return a function that writes a table of two features and a target, and returns its reference."""

    def write(targets):
        path = tmp_path / "mine.csv"
        path.write_text("a,b,price\n" + "".join(f"{row},{row % 7},{value}\n" for row, value in enumerate(targets)))
        return f"file:{path}"

    return write


def test_a_value_says_what_suits_it():
    task = TaskSpec(name="ordinal", summary="", extends="classification")
    assert [task.suits(tasks) for tasks in ((), ("ordinal",), ("classification",), ("regression",))] == [1, 1, 1, 0]
    assert task.parameters({"classification": {"k": 1}, "regression": {}}) == {"k": 1}
    assert task.parameters({"classification": {"k": 1}, "ordinal": {"k": 2}}) == {"k": 2}
    assert task.parameters(("ordinal",)) == {}


@pytest.mark.parametrize(("field", "value"), [("target", "texts"), ("learner", "clusterer"), ("name", "Two words")])
def test_a_wrong_field_is_refused(field, value):
    with pytest.raises(ValueError, match=value):
        TaskSpec(**{"name": "own", "summary": "", field: value})


def test_the_guesses_and_strata_of_the_built_in_tasks(registry):
    classes, numbers = (task_named(name, registry) for name in ("classification", "regression"))
    y = np.array([0, 1, 1, 2])
    guess = constant_guess(classes, y)
    assert guess.y_pred.tolist() == [1] * 4 and guess.y_score[0].tolist() == [0.25, 0.5, 0.25]
    assert strata_of(classes, y).tolist() == y.tolist()
    assert constant_guess(numbers, np.array([1.0, 4.0])).y_pred.tolist() == [2.5, 2.5]
    assert strata_of(numbers, np.array([1.0, 4.0])).tolist() == [0, 0]
    assert constant_guess(TaskSpec(name="own", summary=""), y) is None


@pytest.mark.parametrize("strata", [lambda y: y[1:], lambda y: y - 5, lambda y: y / 2, lambda y: 1 / 0])
def test_strata_that_are_none_are_one_sentence(strata):
    with pytest.raises(DataError, match="task 'own'"):
        strata_of(TaskSpec(name="own", summary="", strata=strata), np.arange(6))


class TestSuites:
    def test_the_task_is_that_of_the_data(self, loaded):
        suite = loaded(NUMBERS + ONE)
        assert (suite.task.name, list(suite.scores)) == ("regression", ["r2", "rmse", "spearman"])

    def test_several_tasks_are_one_sentence_before_anything_runs(self, loaded):
        with pytest.raises(SuiteError, match=r"different tasks, regression \(diabetes\) and classification \(iris\)"):
            loaded('[[datasets]]\nuse = ["diabetes", "iris"]\n' + ONE)

    def test_the_learner_is_that_of_the_task(self, loaded):
        with pytest.raises(SuiteError, match=r"methods\[0\].classifier: .* task regression, which needs a regressor"):
            loaded(NUMBERS + ONE.replace("regressor", "classifier"))
        with pytest.raises(SuiteError, match=r"methods\[0\].regressor: missing; add regressor = …"):
            loaded(NUMBERS + '[[methods]]\nlabel = "A"\nselector = "variance"\n')

    def test_methods_of_other_tasks_are_left_out_with_the_reason(self, loaded, registry):
        plan = make_plan(loaded(NUMBERS + TWO), registry)
        assert list(plan.methods) == ["A"]
        reason = "the selector 'relief' is for classification, and the suite is one of regression"
        assert plan.left_out == {"B": reason}

    def test_a_metric_of_another_task_is_refused(self, loaded):
        with pytest.raises(UsageError, match="'accuracy' is for classification, and the suite is one of regression"):
            loaded(NUMBERS + ONE, metrics=["accuracy"])

    def test_a_selector_gets_the_parameters_of_the_task(self, loaded, registry):
        text = NUMBERS + ONE + '[[methods]]\nlabel = "F"\nselector = "anova-f"\nregressor = "knn"\n'
        plan = make_plan(loaded(text), registry)
        assert plan.methods["F"].selector.task == {"target": "numbers"}
        own = text.replace('"anova-f"', "\"anova-f(target='auto')\"")
        assert make_plan(loaded(own), registry).methods["F"].selector.task == {}

    def test_added_data_have_the_task_of_the_suite(self, loaded, registry, table):
        whole = [value % 40 for value in range(100)]  # whole numbers are numbers here
        suite = with_additions(loaded(NUMBERS + ONE), registry, [], [table(whole)], "price")
        data = make_plan(suite, registry).datasets["mine.csv"].data
        assert (data.task, data.y.dtype, data.n_classes) == ("regression", np.float64, 0)
        assert data.y.tolist() == whole

    def test_added_data_of_another_task_are_refused(self, loaded, registry):
        suite = with_additions(loaded(NUMBERS + ONE), registry, [], ["iris"])
        with pytest.raises(SuiteError, match="'iris' poses the task classification, and the suite is one of regress"):
            make_plan(suite, registry)

    def test_other_strata_are_other_splits_and_other_keys(self, loaded, registry):
        text = '[[datasets]]\nuse = ["iris"]\n[[methods]]\nlabel = "A"\nclassifier = "knn"\n'
        suite = loaded(text)
        plain, equal, halves = (
            make_plan(replace(suite, task=replace(suite.task, strata=strata)), registry)
            for strata in (suite.task.strata, np.asarray, lambda y: (y > 0).astype(int))
        )
        assert [trial.key for trial in plain.trials] == [trial.key for trial in equal.trials]
        assert {trial.key for trial in plain.trials}.isdisjoint(trial.key for trial in halves.trials)
        assert plain.datasets["iris"].sha256 != halves.datasets["iris"].sha256


class TestTargets:
    def test_numbers_offered_as_classes_name_both_ways_out(self, table):
        with pytest.raises(DataError, match=r"400 distinct values .* task 'regression' .* group the values"):
            load_dataset(table([0.5 * row for row in range(400)]), target="price")

    def test_text_is_not_a_number(self, table):
        with pytest.raises(DataError, match="has the value 'dear', and the task 'regression' predicts finite numbers"):
            load_dataset(table(["1.5", "dear", "2"] * 5), target="price", task="regression")

    @pytest.mark.parametrize(
        ("targets", "message"),
        [([3.5] * 9, "single value '3.5'"), ([1.5, "", 2.5] * 3, "is missing in 3 rows, first in row 2")],
    )
    def test_constant_and_missing_targets(self, table, targets, message):
        with pytest.raises(DataError, match=message):
            load_dataset(table(targets), target="price", task="regression")

    def test_a_number_survives_to_its_last_bit(self, table):
        numbers = np.random.default_rng(0).normal(size=60) * 10.0 ** np.arange(-30, 30)
        data = load_dataset(table([repr(float(number)) for number in numbers]), target="price", task="regression")
        assert data.y.tolist() == numbers.tolist()

    def test_a_registered_dataset_has_its_own_task(self):
        assert load_dataset("diabetes").task == "regression"
        with pytest.raises(UsageError, match="'iris' poses the task classification, not regression"):
            load_dataset("iris", task="regression")

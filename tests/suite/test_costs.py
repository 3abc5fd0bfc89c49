"""Declared costs: the same everywhere, finite and positive whatever a plugin declares."""

import math
from dataclasses import replace

import pytest

from mfbench.host.registry import load_registry
from mfbench.suite import costs as module
from mfbench.suite.costs import EVALUATION, LONGEST, TRIAL, DeclaredCosts, parse_complexity
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import Cost, make_plan

SHARED = """
[[methods]]
label = "A"
selector = "weigh"
classifier = "plain"

[[methods]]
label = "B"
selector = "weigh"
classifier = "plain"

[[methods]]
label = "C"
selector = "weigh"
classifier = "plain"
tune = { "classifier.k" = [1, 2, 3] }

[[methods]]
label = "D"
classifier = "plain"
"""


@pytest.fixture
def costs_of(make_plugin, toy_plugin, suite_file):
    """Return a function from two formulas, of a selector and of a classifier, to a plan and its declared costs."""

    def of(selecting="1e-2", classifying="1e-3", methods=SHARED, head=None):
        plugin = make_plugin(
            "costly_plugin",
            selectors=[replace(spec, complexity=selecting) for spec in toy_plugin.mfbench_selectors()],
            classifiers=[replace(spec, complexity=classifying) for spec in toy_plugin.mfbench_classifiers()],
            datasets=toy_plugin.mfbench_datasets,
        )
        registry = load_registry(only=[], extra=[("costly", plugin)])
        file = suite_file(methods=methods, **({"head": head} if head else {}))
        plan = make_plan(load_suite(file, registry), registry)
        return plan, DeclaredCosts(plan, registry)

    return of


def seconds(plan, costs):
    """Return the cost of each method's trial on the first fold."""
    return {t.method: costs.of(t).seconds for t in plan.trials if (t.repeat, t.fold) == (0, 0)}


def test_a_trial_costs_its_fits_and_the_first_method_pays_for_a_shared_selector(costs_of):
    plan, costs = costs_of("1e-2", "1e-3")
    own = 1e-3 + EVALUATION
    assert seconds(plan, costs) == pytest.approx(
        {
            "A": TRIAL + 1e-2 + own,
            "B": TRIAL + own,
            "C": TRIAL + 2 * 1e-2 + 7 * own,  # inner folds of its own: 2, with 3 points each, and the final fit
            "D": TRIAL + own,
        }
    )


def test_sizes_enter_the_formulas(costs_of):
    plan, costs = costs_of("1e-3 * n * p", "1e-4 * n * k")
    sizes = costs.sizes("blobs", 0)
    assert (sizes.rows, sizes.columns, sizes.classes) == (16, 3, 2)
    expected = TRIAL + 1e-3 * 16 * 3 + 1e-4 * 16 * 2 + EVALUATION
    assert seconds(plan, costs)["A"] == pytest.approx(expected)


def test_two_plans_of_a_suite_cost_the_same(costs_of):
    (plan, costs), (again, others) = costs_of("n**2"), costs_of("n**2")
    assert [costs.of(t) for t in plan.trials] == [others.of(t) for t in again.trials]


def test_whatever_is_declared_costs_are_positive_and_finite(costs_of):
    for formula in [
        "",
        "n**2 * p",
        "no formula",
        "0",
        "0 * n",
        "log(1) * 1e-3",
        "1e-3 * log(p + k)**0.5",
        "1e-300 * n",
        "1e-3 * log(log(k)) * n",
    ]:
        plan, costs = costs_of(formula, formula)
        for value in seconds(plan, costs).values():
            assert 0 < value < 1


def test_a_trial_costs_its_time_limit_at_most(costs_of):
    for formula in ["n**9999", "1e-3 * n**9999", "1e-9 * n**200 * n**200", "1e-1 * 2**9999"]:
        plan, costs = costs_of(formula, "1e-3")
        limit = plan.loaded.protocol.timeout
        assert seconds(plan, costs)["A"] == limit
        assert math.isfinite(LONGEST)


def test_memory_grows_with_the_table(costs_of):
    plan, costs = costs_of()
    small = costs.of(plan.trials[0]).memory
    assert small >= module.SMALLEST
    assert isinstance(small, int)


def test_a_cost_is_computed_once_for_folds_of_one_size(costs_of, monkeypatch):
    plan, costs = costs_of()
    calls = []
    monkeypatch.setattr(costs, "_cost", lambda *arguments: calls.append(arguments) or Cost(1.0, 1))
    for trial in plan.trials:
        costs.of(trial)
    assert len(calls) == 4


def test_one_fit_is_that_of_both_steps(costs_of):
    plan, costs = costs_of("1e-3 * n", "1e-4 * n")
    assert costs.one_fit(plan.methods["A"], 100, 2, 2) == pytest.approx(0.11)
    assert costs.one_fit(plan.methods["D"], 100, 2, 2) == pytest.approx(0.01)


@pytest.mark.parametrize("kind", ["selector", "classifier"])
def test_every_built_in_method_states_seconds(kind):
    entries = load_registry().listed(kind).items()
    formulas = {
        name: parse_complexity(entry.spec.complexity)
        for name, entry in entries
        if entry.plugin.distribution == "mfbench"
    }
    assert len(formulas) > 30
    assert [name for name, formula in formulas.items() if not formula.in_seconds] == []
    for name, formula in formulas.items():
        assert 1e-5 < formula(60, 5, 2) < 30, name
        assert formula(60, 5, 2) <= formula(6000, 5, 2) < 1e5, name
        assert formula(60, 5, 2) <= formula(60, 500, 2) < 1e4, name

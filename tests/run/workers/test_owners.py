"""Whose code a trial runs, and which plugins its worker loads."""

import pytest

from mfbench import MetricSpec
from mfbench.host.expressions import Declaration, Plugin, parse
from mfbench.host.registry import load_registry
from mfbench.run.workers.job import BUILT_IN, owners_of_method, shared_owners, visible
from mfbench.suite.methods import ResolvedMethod, Step
from mfbench.suite.schema import ProtocolSettings
from mfbench_claims.rebuilt_plan import code_of_run

BASELINES = Plugin("baselines", "mfbench_baselines.plugin", "mfbench", "0.1.0")
OTHERS = Plugin("rp", "rp.plugin", "my-package", "1.0")
LISTED = Plugin("my_module", "my_module")
ALL = [BASELINES, OTHERS, LISTED]


def test_a_method_belongs_to_the_distributions_of_its_steps(toy_plugin):
    registry = load_registry(only=["baselines"], extra=[("toy", toy_plugin)])
    toy = frozenset(["module toy_plugin"])

    def owners(selector, classifier):
        both = (("selector", selector), ("classifier", classifier))
        steps = [Step(parse(text), kind) if text else None for kind, text in both]
        return owners_of_method(ResolvedMethod("M", *steps, "all"), registry)

    assert owners("anova-f", "knn") == owners(None, "knn") == BUILT_IN
    assert owners("weigh", "knn") == owners("anova-f", "plain") == owners("weigh", None) == toy


def test_metrics_belong_to_their_distributions(toy_plugin, errors_plugin):
    registry = load_registry(only=["baselines"], extra=[("errors", errors_plugin)])
    assert shared_owners(ProtocolSettings(metrics=["accuracy", "area"]), registry) == BUILT_IN
    settings = ProtocolSettings(metrics=["accuracy", "toy_errors"])
    assert shared_owners(settings, registry) == frozenset(["module errors"])


@pytest.fixture(scope="module")
def errors_plugin(make_plugin):
    spec = MetricSpec(name="toy_errors", summary="", function="toys:blobs", greater_is_better=False)
    return make_plugin("errors", metrics=[spec])


def test_whose_code_trials_run(toy_plugin, errors_plugin):
    registry = load_registry(only=["baselines"], extra=[("toy", toy_plugin), ("errors", errors_plugin)])
    declared = Declaration("classifier", "sklearn.dummy:DummyClassifier")
    registry.declare(declared)
    steps = [("anova-f", "knn"), ("weigh", "knn"), (None, declared.name)]
    methods = [
        ResolvedMethod(
            "M",
            *(
                Step(parse(text), kind) if text else None
                for kind, text in zip(("selector", "classifier"), pair, strict=True)
            ),
            "all",
        )
        for pair in steps
    ]
    host = str(registry.entry("selector", "anova-f").plugin.version)
    settings = ProtocolSettings(metrics=["accuracy", "toy_errors"])
    assert code_of_run(methods, settings, registry) == [
        f"mfbench {host} (mfbench_baselines, mfbench_metrics, mfbench_protocols, sklearn)",
        "module errors (toys)",
        "module toy_plugin (toys)",
        "sklearn.dummy:DummyClassifier by its import path",
    ]


def test_a_worker_never_loads_a_plugin_of_another_distribution():
    assert visible(ALL, BUILT_IN) == [BASELINES]
    assert visible(ALL, frozenset(["my-package"])) == [BASELINES, OTHERS]
    assert visible(ALL, frozenset(["module my_module"])) == [BASELINES, LISTED]
    assert visible(ALL, frozenset(["my-package", "module my_module"])) == ALL

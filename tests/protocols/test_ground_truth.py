"""Suites of the protocol ground-truth: what a method may be, what a dataset must know, what keys depend on."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

from mfbench import Dataset, DatasetSpec, SelectorSpec
from mfbench.errors import SuiteError
from mfbench.host.registry import load_registry
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan
from mfbench_protocols.splits import GroundTruth

HEAD = """
[suite]
name = "own"
seed = 7

[protocol]
kind = "ground-truth"
rounds = 4
"""
DATASETS = '[[datasets]]\nuse = ["made(n=30)"]\n'
METHODS = '[[methods]]\nlabel = "A"\nselector = "weigh"\n'


def made(n=20, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    return Dataset(
        name="made",
        X=rng.normal(size=(n, 3)),
        y=y.astype(np.int64),
        class_names=("no", "yes"),
        feature_names=("a", "b", "c"),
        categorical=np.zeros(3, bool),
        relevant=(0, 2),
    )


def moving(seed=0):
    from dataclasses import replace

    return replace(made(seed=seed), relevant=(seed % 2,))


class Fits(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        return self


@pytest.fixture
def registry(toy_plugin, make_plugin):
    more = make_plugin(
        "more_plugin",
        datasets=[
            DatasetSpec(name="made", summary="", loader=made),
            DatasetSpec(name="moving", summary="", loader=moving),
        ],
        selectors=[
            SelectorSpec(name="fits", summary="", factory=Fits),
            SelectorSpec(name="fits-classes", summary="", factory=Fits, targets="classes"),
            SelectorSpec(name="takes-numbers", summary="", factory="sklearn.base:BaseEstimator", targets="numbers"),
        ],
    )
    return load_registry(only=[], extra=[("toy", toy_plugin), ("more", more)])


@pytest.fixture
def plan(suite_file, registry):
    def make(more="", *, head=HEAD, datasets=DATASETS, methods=METHODS):
        loaded = load_suite(suite_file(more, head=head, datasets=datasets, methods=methods), registry)
        return make_plan(loaded, registry)

    return make


def test_a_trial_for_each_round(plan):
    found = plan()
    assert [(t.dataset, t.method, t.repeat, t.fold) for t in found.trials] == [
        ("made(n=30)", "A", round_, 0) for round_ in range(4)
    ]
    assert len({t.key for t in found.trials}) == 4
    assert isinstance(found.protocol, GroundTruth)


def test_mistakes_in_a_method(plan):
    for method, place, sentence in [
        ('selector = "weigh"\nclassifier = "plain"', "methods[0]", "either a selector, or a learner"),
        ("top = 2", "methods[0]", "either a selector, or a learner"),
        ('selector = "weigh"\ntune = "default"', "methods[0].tune", "'ground-truth' does not tune"),
        ('selector = "weigh"\ntop = "all-weighted"', "methods[0].top", "is for prediction"),
        ('selector = "weigh"\nweights = "euclidean"', "methods[0].weights", "is for prediction"),
        ('selector = "wiegh"', "methods[0].selector", "did you mean 'weigh'"),
        ('classifier = "zzz"', "methods[0].classifier", "unknown classifier"),
    ]:
        with pytest.raises(SuiteError) as caught:
            plan(methods=f'[[methods]]\nlabel = "A"\n{method}\n')
        assert place in str(caught.value)
        assert sentence in str(caught.value)


def test_mistakes_in_the_protocol(plan):
    for line, sentence in [
        ("folds = 3", "protocol.folds: the protocol 'ground-truth' has no such key"),
        ('metrics = ["accuracy"]', "does not measure 'accuracy'"),
        ("rounds = 1", "rounds"),
        ("threshold = 1.0", "threshold"),
    ]:
        head = HEAD.replace("rounds = 4", line)
        with pytest.raises(SuiteError, match=sentence.split(":")[0]) as caught:
            plan(head=head)
        assert sentence in str(caught.value)


def test_other_protocols_need_a_classifier_and_reject_relevant(plan):
    head = HEAD.replace("ground-truth", "repeated-cv").replace("rounds = 4", "")
    with pytest.raises(SuiteError, match=r"methods\[0\].classifier: missing; add classifier"):
        plan(head=head)
    with pytest.raises(SuiteError, match="'relevant' is only for the protocol 'ground-truth'"):
        plan(head=head, methods=METHODS + 'classifier = "plain"\ntop = "relevant"\n')
    with pytest.raises(SuiteError, match="does not measure 'detection'"):
        plan(head=head + 'metrics = ["detection"]\n', methods=METHODS + 'classifier = "plain"\n')


def test_datasets_without_a_truth_are_left_out(plan):
    found = plan(datasets='[[datasets]]\nuse = ["made", "blobs", "moving"]\n')
    assert list(found.datasets) == ["made"]
    assert "no known relevant features" in found.left_out["blobs"]
    assert "other relevant with another seed" in found.left_out["moving"]
    assert set(found.failures) == {"blobs", "moving"}


def test_a_seed_in_the_suite_is_refused(plan):
    with pytest.raises(SuiteError, match=r"datasets\[0\].use\[0\].*sets 'seed'"):
        plan(datasets='[[datasets]]\nuse = ["made(seed=3)"]\n')


def test_numbers_by_the_spec_or_by_tags(plan):
    names = ["weigh", "fits", "fits-classes", "takes-numbers"]
    methods = "".join(f'[[methods]]\nlabel = "{name}"\nselector = "{name}"\n' for name in names)
    found = plan(methods=methods).methods
    assert {label: method.selector.numbers for label, method in found.items()} == {
        "weigh": False,
        "fits": True,
        "fits-classes": False,
        "takes-numbers": True,
    }


def keys(found):
    return [trial.key for trial in found.trials]


def test_more_rounds_keep_what_there_is(plan):
    few, many = keys(plan()), keys(plan(head=HEAD.replace("rounds = 4", "rounds = 9")))
    assert many[:4] == few


def test_what_changes_a_result_changes_the_key(plan):
    for changed in [
        {"head": HEAD + "threshold = 0.1\n"},
        {"head": HEAD.replace("seed = 7", "seed = 8")},
        {"methods": METHODS + 'top = "relevant"\n'},
        {"datasets": DATASETS.replace("30", "40")},
    ]:
        assert not set(keys(plan())) & set(keys(plan(**changed)))


def test_a_rule_is_told(plan):
    methods = METHODS + 'top = "relevant"\n[[methods]]\nlabel = "B"\nclassifier = "plain"\ntop = 2\n'
    assert [method.describe() for method in plan(methods=methods).methods.values()] == [
        "weigh → top relevant",
        "plain → top 2",
    ]


def test_rounds_have_seeds_of_their_own():
    protocol = GroundTruth(5, 1e-9, 7)
    seeds = {protocol.round_seed(d, r) for d in ("a", "b") for r in range(5)}
    assert len(seeds) == 10
    assert protocol.round_seed("a", 1) == GroundTruth(99, 0.1, 7).round_seed("a", 1)
    assert protocol.round_seed("a", 1) != GroundTruth(5, 1e-9, 8).round_seed("a", 1)

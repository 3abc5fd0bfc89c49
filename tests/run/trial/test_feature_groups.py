"""Feature groups: the features of a group are selected together, and a group counts as one feature."""

from dataclasses import replace

import numpy as np
import pytest
from small_runs import job_of
from toy_protocols import SPECS

from mfbench.data.columns import drop_columns
from mfbench.data.lookup import content_hash
from mfbench.data.prepare import Columns
from mfbench.data.structure import with_structure
from mfbench.errors import DataError, MfbenchError
from mfbench.host.registry import load_registry
from mfbench.model.specs import Dataset, DatasetSpec, SelectorSpec
from mfbench.model.trials import Status
from mfbench.run.workers.worker import Worker
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan
from mfbench.suite.splitters import structure_of

WEIGHTS = [0.1, 0.9, 0.0, 0.5, 0.3, -1.0]
NAMES = ("lat", "gene_1", "gene_2", "lon", "age", "id")
GROUPED = {"place": ["lat", "lon"]}
SUITE = """
[suite]
name = "own"
[protocol]
folds = 3
repeats = 1
metrics = ["accuracy"]
[[datasets]]
use = ["table"]
{groups}
"""


class Fixed:
    """A selector with these weights."""

    def __init__(self, selects_a_set=False):
        self.selects_a_set = selects_a_set

    def fit(self, X, y):
        self.feature_importances_ = np.array(WEIGHTS)
        return self


def table():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 6)) + y[:, None] * [1, 0.5, 0, 0, 0.3, 0]
    return Dataset(
        name="table", X=X, y=y, class_names=("u", "v"), feature_names=NAMES, categorical=np.zeros(6, dtype=bool)
    )


@pytest.fixture
def results(make_plugin, tmp_path):
    """Return a function from options of a method and feature groups to the results of its folds."""

    def run(method, groups=GROUPED, parameters=""):
        listed = ", ".join(f"{group} = {members}" for group, members in groups.items())
        specs = {
            "datasets": [DatasetSpec(name="table", summary="s", loader=table)],
            "selectors": [SelectorSpec(name="fixed", summary="s", factory=Fixed)],
        }
        registry = load_registry(only=["baselines"], extra=[("p", make_plugin("p", **specs))])
        suite = SUITE.format(groups=f"feature_groups = {{ {listed} }}" if groups else "")
        suite += f"[[methods]]\nlabel = 'm'\nclassifier = 'knn'\nselector = 'fixed{parameters}'\n{method}\n"
        (tmp_path / "own.toml").write_text(suite)
        plan = make_plan(load_suite(str(tmp_path / "own.toml"), registry), registry)
        worker = Worker(job_of(plan, tmp_path / "job"), registry)
        found = [worker.run(trial, {})[0] for trial in plan.trials]
        assert {result.status for result in found} == {Status.OK}, found[0].error_message
        return found

    return run


@pytest.mark.parametrize(
    ("rule", "selected"),
    [
        ("top = 1", [1]),
        ("top = 2", [0, 1, 3]),  # the group weighs as much as its heaviest feature
        ("top = 0.5", [0, 1, 3, 4]),  # of five
        ("top = 'positive'", [0, 1, 3, 4]),
        ("top = 'all'", [0, 1, 2, 3, 4, 5]),
        ("tune = { top = [2] }", [0, 1, 3]),
    ],
)
def test_a_rule_counts_groups(results, rule, selected):
    for result in results(rule):
        assert result.selected.tolist() == selected
        assert result.n_selected == len(selected)
        assert result.weights.tolist() == WEIGHTS


def test_a_curve_counts_groups_and_equals_the_rules(results):
    for result, two in zip(results("curve = [1, 2, 'all']"), results("top = 2"), strict=True):
        assert result.curve.sizes.tolist() == [1, 2, 5]
        assert result.curve.scores[0][1] == two.scores["accuracy"]
        assert result.selected.tolist() == [0, 1, 2, 3, 4, 5]


def test_a_set_ends_with_its_last_group(results):
    for groups, sizes in (({}, [1, 2, 4]), (GROUPED, [1, 2, 3])):
        (result, *_) = results("curve = [1, 2, 'all']", groups, "(selects_a_set=True)")
        assert result.curve.sizes.tolist() == sizes
        assert result.selected.tolist() == [0, 1, 3, 4]


@pytest.mark.parametrize("rule", ["top = 3", "top = 'positive'", "curve = [1, 3, 'all']"])
def test_groups_of_one_feature_change_nothing(results, rule):
    alone = {name: [name] for name in NAMES}
    for one, other in zip(results(rule, {}), results(rule, alone), strict=True):
        np.testing.assert_array_equal(one.predictions, other.predictions)
        np.testing.assert_array_equal(one.selected, other.selected)
        assert one.scores == other.scores


def test_names_and_patterns_and_what_they_may_not_be():
    data = table()

    def grouped(**groups):
        return with_structure(data, {"feature_groups": groups}, "the table")

    assert grouped(genes=["gene_*"], place=["lon", "lat"]).feature_groups == {
        "genes": ("gene_1", "gene_2"),
        "place": ("lat", "lon"),
    }
    odd = replace(data, feature_names=("a[1]", *NAMES[1:]))
    assert with_structure(odd, {"feature_groups": {"g": ["a[1]"]}}, "t").feature_groups == {"g": ("a[1]",)}
    for groups, message in (
        ({"g": ["gen_*"]}, r"unknown feature 'gen_\*'.*in the feature group 'g' of the table"),
        ({"g": ["gene_*"], "h": ["gene_2"]}, "the feature 'gene_2' is in the feature groups 'g' and 'h'; leave it in"),
    ):
        with pytest.raises(MfbenchError, match=message):
            grouped(**groups)
    without = with_structure(data, {"time": "id", "feature_groups": {"rest": ["*"]}}, "the table")
    assert without.feature_groups == {"rest": NAMES[:5]}, "the time does not count as a feature"


def test_they_follow_the_columns_and_are_part_of_the_content():
    data = with_structure(table(), {"feature_groups": {"genes": ["gene_*"], "place": ["lat", "lon"]}}, "t")
    assert Columns.of(data).units.tolist() == [0, 1, 1, 0, 2, 3]
    assert Columns.of(data).subset(np.array([2, 3, 5])).units.tolist() == [1, 0, 2]
    assert Columns.of(drop_columns(data, ["lat", "gene_1"])).units.tolist() == [0, 1, 2, 3]
    renamed = replace(data, feature_groups={"x": ("gene_1", "gene_2"), "y": ("lat", "lon")})
    assert content_hash(data) == content_hash(renamed) != content_hash(table())


def test_a_protocol_without_predictions_takes_none():
    data = replace(table(), feature_groups={"place": ("lat", "lon")})
    with pytest.raises(DataError, match="'ground-truth' takes no account of feature groups; use another, or leave"):
        structure_of(data, SPECS["ground-truth"], None, None)

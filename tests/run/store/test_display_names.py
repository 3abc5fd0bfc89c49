"""What reports call a method: the suite's name, or else what its steps are called, never the same for two methods."""

import pytest

from mfbench import ClassifierSpec, SelectorSpec
from mfbench.base.text import plain
from mfbench.errors import SuiteError
from mfbench.host.registry import load_registry
from mfbench.run.store.metadata import display_names
from mfbench.suite.additions import with_additions
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import Plan
from mfbench.suite.resolve import resolve_methods

SUITE = """
[suite]
name = "own"
[protocol]
classes = "all"
[[datasets]]
use = ["toy"]
[report]
{report}
[profiles.printed]
folds = 3
"""


@pytest.fixture
def registry(make_plugin):
    plugin = make_plugin(
        "toy",
        selectors=[
            SelectorSpec(name="weigh", summary="Weigher: by weight: the heaviest first", factory=object),
            SelectorSpec(name="plain-one", summary="The one without a colon", factory=object),
        ],
        classifiers=[
            ClassifierSpec(name="near", summary="k-NN: neighbours", factory="sklearn.neighbors:KNeighborsClassifier"),
            ClassifierSpec(name="odd", summary="O\u202edd\n: text", factory="sklearn.dummy:DummyClassifier"),
        ],
    )
    return load_registry(only=[], extra=[("toy", plugin)])


def names_of(tmp_path, registry, methods, report="", profile="full"):
    path = tmp_path / "own.toml"
    tables = "".join(f"[[methods]]\n{method}\n" for method in methods)
    path.write_text(SUITE.format(report=report) + tables, encoding="utf-8")
    loaded = load_suite(str(path), registry, profile)
    return display_names(Plan(loaded, resolve_methods(loaded, registry)[0]), registry)


NEAR = "label = 'B'\nclassifier = 'near(n_neighbors=2)'"


def test_names_come_from_the_suite_or_the_summaries(tmp_path, registry):
    methods = [
        "label = 'A'\nselector = 'weigh'\nclassifier = 'near'",
        NEAR,
        "label = 'C'\nselector = 'plain-one'\nclassifier = 'near'\nname = 'Mine'",
        "label = 'D'\nselector = 'plain-one'\nclassifier = 'near'",
    ]
    assert names_of(tmp_path, registry, methods) == {
        "A": "Weigher + k-NN", "B": "k-NN", "C": "Mine", "D": "plain-one + k-NN",
    }  # fmt: skip


def test_equal_names_get_the_label(tmp_path, registry):
    methods = [NEAR, "label = 'C'\nclassifier = 'near'", "label = 'D'\nclassifier = 'near'\nname = 'Other'"]
    assert names_of(tmp_path, registry, methods) == {"B": "k-NN (B)", "C": "k-NN (C)", "D": "Other"}


def test_labels_on_request_in_all_or_some_profiles(tmp_path, registry):
    assert names_of(tmp_path, registry, [NEAR], "labels = true") == {"B": "B"}
    some = "labels = ['printed']"
    assert names_of(tmp_path, registry, [NEAR], some) == {"B": "k-NN"}
    assert names_of(tmp_path, registry, [NEAR], some, "printed") == {"B": "B"}
    with pytest.raises(SuiteError, match=r"report.labels: unknown profile 'prnted': did you mean 'printed'"):
        names_of(tmp_path, registry, [NEAR], "labels = ['prnted']")


def test_an_added_method_keeps_its_label(tmp_path, registry):
    path = tmp_path / "own.toml"
    path.write_text(f"{SUITE.format(report='')}[[methods]]\n{NEAR}\n", encoding="utf-8")
    loaded = with_additions(load_suite(str(path), registry), registry, ["MINE = near"])
    assert display_names(Plan(loaded, resolve_methods(loaded, registry)[0]), registry) == {"B": "k-NN", "MINE": "MINE"}


def test_names_are_plain_text(tmp_path, registry):
    (name,) = names_of(tmp_path, registry, ["label = 'O'\nclassifier = 'odd'"]).values()
    assert name == plain(name)
    assert "\u202e" not in name
    assert "\n" not in name


@pytest.mark.parametrize("wrong", ["''", "' x'", "'" + "x" * 49 + "'"])
def test_a_wrong_name_is_refused(tmp_path, registry, wrong):
    with pytest.raises(SuiteError, match="name"):
        names_of(tmp_path, registry, [f"{NEAR}\nname = {wrong}"])


def test_every_method_of_the_built_in_suites_has_a_name_of_its_own():
    registry = load_registry()
    for suite in registry.suites():
        loaded = load_suite(suite, registry)
        names = display_names(Plan(loaded, resolve_methods(loaded, registry)[0]), registry)
        assert len(set(names.values())) == len(names)
        assert max(map(len, names.values())) <= 48

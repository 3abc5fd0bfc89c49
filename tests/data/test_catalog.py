"""From a reference to a dataset: registered loaders that are careless are refused with the reason."""

from dataclasses import replace

import numpy as np
import pytest

from mfbench import Dataset, DatasetSpec
from mfbench.data.catalog import check_exists, find, load
from mfbench.data.lookup import Lookup
from mfbench.data.reference import parse_reference
from mfbench.errors import DataError, MfbenchError, PluginError, UnknownNameError, UsageError
from mfbench.host.registry import load_registry

GOOD = Dataset(
    name="good",
    X=np.array([[1.0, 0.0], [2.0, 1.0], [np.nan, 2.0]]),
    y=np.array([0, 1, 1]),
    class_names=("a", "b"),
    feature_names=("u", "v"),
    categorical=np.array([False, True]),
)
CSV = "a,b,kind\n1,2,x\n2,3,y\n3,4,x\n"


@pytest.fixture
def registry_of(make_plugin):
    def make(loader, **sizes):
        spec = DatasetSpec(name="thing", summary="", loader=loader, **sizes)
        return load_registry(only=[], extra=[("careless", make_plugin("careless", datasets=[spec]))])

    return make


class TestRegistered:
    def test_by_name_and_by_expression(self, toy_registry):
        assert load("blobs", toy_registry).n_samples == 24
        assert load("blobs(n_samples=10)", toy_registry).n_samples == 10

    def test_unknown_names_and_parameters(self, toy_registry):
        with pytest.raises(UnknownNameError, match="did you mean 'blobs'"):
            load("blob", toy_registry)
        with pytest.raises(UnknownNameError, match="did you mean 'n_samples'"):
            load("blobs(n_smaples=1)", toy_registry)

    def test_options_of_files_are_refused(self, toy_registry):
        for options in ({"target": "y"}, {"categorical": ["a"]}):
            with pytest.raises(UsageError, match="are for 'file:', 'openml:' and 'uci:' datasets"):
                load("blobs", toy_registry, **options)

    def test_checking_loads_nothing(self, registry_of):
        calls = []
        registry = registry_of(lambda n=1: calls.append(n))
        check_exists(parse_reference("thing(n=3)"), registry)
        with pytest.raises(UsageError):
            check_exists(parse_reference("thing(m=3)"), registry)
        assert calls == []

    def test_a_loader_that_raises_is_a_data_error_with_its_plugin(self, registry_of):
        def loader():
            raise OSError("no network")

        with pytest.raises(DataError, match=r"'thing' of careless cannot be loaded: OSError: no network"):
            load("thing", registry_of(loader))

    def test_an_error_of_ours_goes_through(self, registry_of):
        def loader():
            raise DataError("one sentence")

        with pytest.raises(DataError, match=r"^one sentence$"):
            load("thing", registry_of(loader))

    def test_a_loader_that_does_not_exist_names_its_plugin(self, registry_of):
        with pytest.raises(PluginError, match="careless"):
            load("thing", registry_of("no_such_module_anywhere:load"))


CARELESS = {
    "nothing": (None, "is a NoneType, expected mfbench.Dataset"),
    "a tuple": ((GOOD.X, GOOD.y), "is a tuple"),
    "flat X": (replace(GOOD, X=np.ones(3)), "two-dimensional"),
    "float32": (replace(GOOD, X=GOOD.X.astype(np.float32)), "float64"),
    "objects": (replace(GOOD, X=GOOD.X.astype(object)), "float64"),
    "short y": (replace(GOOD, y=np.array([0, 1])), r"y of shape \(2,\), expected an array of 3"),
    "y of labels": (replace(GOOD, y=np.array(["a", "b", "b"])), "whole-number"),
    "y of floats": (replace(GOOD, y=np.array([0.0, 1.0, 1.0])), "whole-number"),
    "names": (replace(GOOD, feature_names=("u",)), "2 columns, but 1 names"),
    "twice a name": (replace(GOOD, feature_names=("u", "u")), "several features of the same name: 'u'$"),
    "names of numbers": (replace(GOOD, feature_names=(1, 2)), "has the name 1, which is not valid text"),
    "mask": (replace(GOOD, categorical=np.array([True])), "True and False for its 2 columns"),
    "no rows": (replace(GOOD, X=np.ones((0, 2)), y=np.array([], dtype=int)), "is empty"),
    "no columns": (
        replace(GOOD, X=np.ones((3, 0)), feature_names=(), categorical=np.array([], bool)),
        "is empty",
    ),
    "negative code": (replace(GOOD, y=np.array([-1, 0, 1])), "outside 0 … 1"),
    "large code": (replace(GOOD, y=np.array([0, 1, 2])), "outside 0 … 1"),
    "groups as a list": (replace(GOOD, feature_groups=["u"]), "feature_groups that do not map"),
    "a group as a text": (replace(GOOD, feature_groups={"g": "u"}), "feature_groups that do not map"),
    "infinity": (replace(GOOD, X=np.array([[np.inf, 0.0], [1.0, 1.0], [1.0, 1.0]])), "infinite"),
}


@pytest.mark.parametrize(("result", "reason"), CARELESS.values(), ids=CARELESS)
def test_a_careless_loader_is_refused_with_the_reason(registry_of, result, reason):
    with pytest.raises(DataError, match=reason) as caught:
        load("thing", registry_of(lambda: result))
    assert "'thing' of careless" in str(caught.value)


def test_a_careful_loader_is_taken(registry_of):
    assert load("thing", registry_of(lambda: GOOD)) is GOOD


@pytest.mark.parametrize("result", [replace(GOOD, X=[[1.0, 0.0]] * 3), replace(GOOD, y=[0, 1, 1])], ids=["X", "y"])
def test_lists_for_arrays_are_refused(registry_of, result):
    with pytest.raises(DataError):
        load("thing", registry_of(lambda: result))


def test_a_mask_of_numbers_is_refused(registry_of):
    """``~`` of 0 and 1 is -1 and -2: every column would count as numeric and as categorical."""
    with pytest.raises(DataError):
        load("thing", registry_of(lambda: replace(GOOD, categorical=np.array([0, 1]))))


def test_an_unknown_encoding_is_refused(registry_of):
    with pytest.raises(DataError):
        load("thing", registry_of(lambda: replace(GOOD, encoding="onehot")))


class TestSize:
    def test_another_size_than_described_is_refused(self, subtests, registry_of):
        for sizes in [{"n_samples": 4}, {"n_features": 1}, {"n_classes": 3}]:
            with (
                subtests.test(sizes=sizes),
                pytest.raises(DataError, match="3 rows, 2 features and 2 classes; its description says"),
            ):
                load("thing", registry_of(lambda: GOOD, **sizes))

    def test_the_described_size_is_taken(self, registry_of):
        assert load("thing", registry_of(lambda: GOOD, n_samples=3, n_features=2, n_classes=2)) is GOOD

    def test_with_a_parameter_any_size_is_taken(self, registry_of):
        registry = registry_of(lambda n=1: GOOD, n_samples=99)
        assert load("thing(n=2)", registry) is GOOD
        with pytest.raises(DataError):
            load("thing", registry)


def load_file(text, registry, **options):
    return find(parse_reference(text, **options), registry, Lookup()).data


class TestFiles:
    def test_relative_paths_are_looked_for_in_the_folder(self, tmp_path, toy_registry, monkeypatch):
        (tmp_path / "own.csv").write_text(CSV)
        found = load_file("file:own.csv", toy_registry, folder=tmp_path)
        assert (found.n_samples, found.feature_names) == (3, ("a", "b"))
        check_exists(parse_reference("file:own.csv", folder=tmp_path), toy_registry)
        monkeypatch.chdir(tmp_path)
        assert load("file:own.csv", toy_registry).n_samples == 3

    def test_absolute_paths_need_no_folder(self, tmp_path, toy_registry):
        (tmp_path / "own.csv").write_text(CSV)
        assert load_file(f"file:{tmp_path / 'own.csv'}", toy_registry, folder=tmp_path / "gone").n_samples == 3

    def test_target_and_categories_reach_the_reader(self, tmp_path, toy_registry):
        (tmp_path / "own.csv").write_text(CSV)
        found = load_file("file:own.csv", toy_registry, folder=tmp_path, target="a", categorical=["b"])
        assert found.feature_names == ("b", "kind")
        assert found.categorical.tolist() == [True, True]

    def test_a_file_that_is_not_there_is_named(self, tmp_path, toy_registry):
        with pytest.raises(UsageError, match=r"gone\.csv does not exist"):
            check_exists(parse_reference("file:gone.csv", folder=tmp_path), toy_registry)
        with pytest.raises(MfbenchError, match=r"gone\.csv"):
            load_file("file:gone.csv", toy_registry, folder=tmp_path)

    def test_a_home_folder_is_understood(self, monkeypatch, tmp_path):
        monkeypatch.setenv("HOME", str(tmp_path))
        assert parse_reference("file:~/own.csv").path == tmp_path / "own.csv"

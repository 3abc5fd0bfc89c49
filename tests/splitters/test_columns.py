"""Columns that say how rows depend on each other leave the features; what they cannot say is one sentence."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mfbench import Dataset, DatasetSpec, load_dataset
from mfbench.data.files import read_file
from mfbench.data.lookup import content_hash
from mfbench.data.prepare import restrict_classes
from mfbench.data.structure import with_structure
from mfbench.errors import DataError, UnknownNameError, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.splitters import structure_of

N = 60
TABLE = {
    "a": np.arange(N) / 7,
    "patient": [f"p{row % 9}" for row in range(N)],
    "date": [f"2024-01-{row % 28 + 1:02d}" for row in range(N)],
    "part": ["test" if row % 4 == 0 else "train" for row in range(N)],
    "outcome": ["yes" if row % 3 else "no" for row in range(N)],
}
COLUMNS = {"groups": "patient", "time": "date", "split": "part"}


@pytest.fixture
def read(tmp_path):
    def load(names=COLUMNS, form="csv", **columns):
        frame, path = pd.DataFrame(TABLE | columns), tmp_path / f"d.{form}"
        frame.to_csv(path, index=False) if form == "csv" else frame.to_parquet(path)
        data = read_file(path, target="outcome", as_written=tuple(names.values()))
        return with_structure(data, names, "'d'")

    return load


def test_they_leave_the_features_and_become_arrays(read):
    data = read()
    assert data.feature_names == ("a",)
    assert data.groups.tolist() == [row % 9 for row in range(N)]
    assert np.diff(data.time[:28]).tolist() == [86400.0] * 27
    assert data.split.tolist() == [0 if row % 4 == 0 else -1 for row in range(N)]


def test_numbers_identifiers_and_dates_of_parquet_will_do(read):
    dates = pd.date_range("2024-01-01", periods=N)
    data = read(form="parquet", patient=np.arange(N) * 10, date=dates, part=np.arange(N) % 3)
    assert data.groups.tolist() == list(range(N)), "a column of identifiers is refused as a feature, not as groups"
    assert (np.diff(data.time) == 86400).all()
    assert data.split.tolist() == [row % 3 for row in range(N)]
    assert read({"time": "patient"}, patient=np.arange(N) / 3).time.tolist() == pytest.approx(list(np.arange(N) / 3))


def test_weights_are_numbers_from_a_column(read):
    weights = np.arange(N) % 5 / 2
    data = read({"weights": "patient"}, patient=weights)
    assert (data.weights.tolist(), data.weights.dtype) == (weights.tolist(), np.float64)
    assert "patient" not in data.feature_names
    three = replace(data, y=np.arange(N) // 20, class_names=("a", "b", "c"))
    assert restrict_classes(three, "two-largest").weights.tolist() == weights[:40].tolist()
    others = (replace(data, weights=None), replace(data, weights=weights + 1))
    assert len({content_hash(each) for each in (data, *others)}) == 3


REFUSED = [
    ({"groups": "patients"}, {}, UnknownNameError, "unknown groups column 'patients': did you mean 'patient'"),
    ({"groups": "outcome"}, {}, UnknownNameError, "unknown groups column 'outcome'"),
    ({"groups": "patient", "time": "patient"}, {}, UsageError, "the column 'patient' is named twice"),
    ({"groups": "patient"}, {"patient": ["p"] * N}, DataError, "the single value 'p': two groups are needed"),
    ({"groups": "patient"}, {"patient": [None, *["p", "q"] * 29, "p"]}, DataError, "missing in 1 row, first in row 1"),
    ({"time": "date"}, {"date": ["Monday"] * N}, DataError, "is in no order: write numbers, or dates such as"),
    ({"time": "date"}, {"date": [3] * N}, DataError, "has one value in all rows, so no row is earlier"),
    ({"split": "part"}, {"part": ["check"] * N}, DataError, "has the value 'check': write 'train', 'valid' and 'test'"),
    ({"split": "part"}, {"part": [-3.0] * N}, DataError, "has the value -3.0: write 'train', 'valid' and"),
    ({"split": "part"}, {"part": [0.5] * N}, DataError, "has the value 0.5"),
    ({"weights": "patient"}, {}, DataError, "has the value 'p0': weights are numbers"),
    ({"weights": "patient"}, {"patient": [None, *[1.5] * 59]}, DataError, "missing in 1 row, first in row 1"),
    (
        {"weights": "patient"},
        {"patient": [1.5, -2.0] * 30},
        DataError,
        "has the value -2 in row 2: weights are numbers",
    ),
    ({"weights": "patient"}, {"patient": ["1", "inf"] * 30}, DataError, "has the value inf in row 2"),
    ({"weights": "patient"}, {"patient": [0] * N}, DataError, "the weights column 'patient' of 'd' is 0 in all rows"),
    ({"groups": "patient", "time": "date", "split": "a"}, {}, DataError, "the split column 'a'"),
]


@pytest.mark.parametrize(("names", "columns", "error", "sentence"), REFUSED)
def test_what_they_cannot_say(read, names, columns, error, sentence):
    with pytest.raises(error, match=sentence):
        read(names, **columns)


def test_a_table_needs_a_feature_besides(read):
    two = with_structure(read({}), {"split": "part", "time": "date"}, "'d'")
    with pytest.raises(DataError, match="'d' has no feature besides patient, a"):
        with_structure(two, {"groups": "patient", "time": "a"}, "'d'")


def test_they_are_content_and_follow_the_rows(read):
    data = read()
    bare = replace(data, groups=None, time=None, split=None)
    changed = [replace(bare, **{name: getattr(data, name)}) for name in COLUMNS]
    assert len({content_hash(each) for each in (bare, data, *changed)}) == 5
    three = replace(data, y=np.arange(N) % 3, class_names=("x", "y", "z"))
    kept = restrict_classes(three, "two-largest")
    assert kept.groups.tolist() == data.groups[three.y < 2].tolist()


class TestStructure:
    """Which splitter a dataset gets."""

    REGISTRY = load_registry(only=[])

    def of(self, data, kind="repeated-cv", text=None):
        return structure_of(data, self.REGISTRY.entry("protocol", kind).spec, text, self.REGISTRY)

    def test_the_column_decides_unless_the_suite_does(self, read):
        bare = replace(read(), groups=None, time=None, split=None)
        assert self.of(bare) is None
        for names, outer, inner in [
            ({"groups": "patient"}, "stratified-grouped", "stratified-grouped"),
            ({"time": "date"}, "forward-chaining", "forward-chaining"),
            ({"split": "part"}, "predefined", "stratified"),
            ({"split": "part", "groups": "patient"}, "predefined", "stratified-grouped"),
        ]:
            structure = self.of(read(names))
            assert (structure.outer.expression.name, structure.inner.expression.name) == (outer, inner)
        assert (
            self.of(read({"groups": "patient"}), text="leave-one-group-out").inner.expression.name
            == "stratified-grouped"
        )
        assert self.of(bare, text="bootstrap(draws=3)").outer.made.draws == 3

    @pytest.mark.parametrize(
        ("names", "kind", "text", "sentence"),
        [
            ({"groups": "patient"}, "three-way", None, "'three-way' takes no account of groups"),
            ({"weights": "a"}, "ground-truth", None, "'ground-truth' takes no account of weights"),
            ({"time": "date"}, "timing", None, "'timing' takes no account of time"),
            ({"groups": "patient", "time": "date"}, "repeated-cv", None, "needs a splitter for both"),
            ({}, "repeated-cv", "grouped", "'grouped' needs a column of a dataset: set groups"),
        ],
    )
    def test_what_does_not_fit(self, read, names, kind, text, sentence):
        with pytest.raises(DataError, match=sentence):
            self.of(read(names), kind, text)

    def test_a_splitter_that_ignores_a_column_is_refused(self, read):
        y = np.arange(N) % 2
        with pytest.raises(DataError, match="'plain': fold 1 has rows of one group in both parts"):
            self.of(read({"groups": "patient"}), text="plain").pairs(y, 4, 0)
        with pytest.raises(DataError, match="'plain': fold 1 trains on rows that are not earlier"):
            self.of(read({"time": "date"}), text="plain").pairs(y, 4, 0)


def test_a_description_names_its_columns(make_plugin):
    def loader():
        return Dataset(
            name="d",
            X=np.column_stack([TABLE["a"], np.arange(N) % 9]),
            y=(np.arange(N) % 2).astype(np.int64),
            class_names=("no", "yes"),
            feature_names=("a", "ward"),
            categorical=np.array([False, False]),
        )

    spec = DatasetSpec(name="stays", summary="", loader=loader, groups="ward", n_features=1)
    registry = load_registry(only=[], extra=[("p", make_plugin("p", datasets=[spec]))])
    data = load_dataset("stays", registry=registry)
    assert data.feature_names == ("a",)
    assert data.groups.tolist() == [row % 9 for row in range(N)]

"""Sparse tables: read, hashed, scaled and refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array, csr_matrix, issparse
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from mfbench.data.catalog import find
from mfbench.data.files import read_file
from mfbench.data.lookup import Lookup, content_hash, import_path
from mfbench.data.prepare import Columns, Encoder
from mfbench.data.reference import parse_reference
from mfbench.data.structure import with_structure
from mfbench.errors import DataError, UsageError
from mfbench.host.registry import load_registry
from mfbench.model.specs import DatasetSpec

TEXT = "1 1:0.5 4:2\n-1 2:1 3:-1 # a remark\n1 qid:3 1:1\n-1 4:3\n"
DENSE = np.array([[0.5, 0, 0, 2], [0, 1, -1, 0], [1, 0, 0, 0], [0, 0, 0, 3.0]])


def written(folder, text, name="docs.svmlight"):
    path = folder / name
    path.write_text(text)
    return path


def test_a_file_is_read_as_it_is_written(tmp_path):
    data = read_file(written(tmp_path, TEXT))
    assert issparse(data.X)
    np.testing.assert_array_equal(data.X.toarray(), DENSE)
    assert (data.name, data.class_names, data.y.tolist()) == ("docs", ("-1", "1"), [1, 0, 1, 0])
    assert data.feature_names == ("1", "2", "3", "4")
    from_zero = read_file(written(tmp_path, "1 0:1 2:2\n2 0:3\n", "a.libsvm"))
    assert from_zero.feature_names == ("0", "1", "2")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1 1:nan\n2 1:1\n", "has a value that is missing or infinite"),
        ("1 1:inf\n2 1:1\n", "has a value that is missing or infinite"),
        ("1 1:x\n2 1:1\n", "cannot be read"),
        ("1,2 1:1\n2 1:1\n", "cannot be read"),
        ("1 2000000000:1\n2 1:1\n", "has the feature 2,000,000,000; there can be 16,777,216"),
        ("1 1:1\n1 2:1\n", "has the single value '1': two are needed"),
        ("", "has no values"),
        ("1\n-1\n", "has no values"),
    ],
)
def test_what_a_file_cannot_hold(tmp_path, text, message):
    with pytest.raises(DataError, match=message):
        read_file(written(tmp_path, text))


def test_its_columns_have_no_names_to_refer_to_and_the_cache_does_not_hold_it(tmp_path):
    path = written(tmp_path, TEXT)
    with pytest.raises(UsageError, match="has no names of columns"):
        read_file(path, target="1")
    with pytest.raises(UsageError, match="is sparse, and the cache holds dense tables"):
        list(import_path(path, Lookup()))


def test_the_hash_depends_on_the_numbers_and_not_on_how_they_are_stored(tmp_path):
    data = read_file(written(tmp_path, TEXT))
    shuffled = written(tmp_path, TEXT.replace("1 1:0.5 4:2", "1 1:0.5 2:0 4:2"), "other.svmlight")
    assert content_hash(read_file(shuffled)) == content_hash(data)
    changed = {
        content_hash(replace(data, X=X))
        for X in (data.X * 2, data.X[:, [1, 0, 2, 3]], csr_array(data.X.toarray() + 0.0), DENSE)
    }
    assert len(changed) == 4, "a copy has the same hash, a dense one another"
    assert content_hash(data) in changed


class TestOfAPlugin:
    @pytest.fixture
    def load(self, make_plugin, tmp_path):
        def load(X, **changes):
            data = replace(read_file(written(tmp_path, TEXT)), X=X, **changes)
            spec = DatasetSpec(name="docs", summary="s", loader=lambda: data)
            registry = load_registry(only=[], extra=[("p", make_plugin("p", datasets=[spec]))])
            return find(parse_reference("docs"), registry, Lookup()).data

        return load

    def test_any_format_becomes_sorted_rows_without_zeros(self, load):
        rows, columns, values = np.array([0, 0, 0, 1]), np.array([3, 0, 0, 1]), np.array([1.0, 2.0, 3.0, 0.0])
        X = load(coo_array((values, (rows, columns)), shape=(4, 4))).X
        assert type(X) is csr_array
        assert (X.indices.tolist(), X.data.tolist()) == ([0, 3], [5.0, 1.0])
        assert type(load(csr_matrix(DENSE)).X) is csr_array

    def test_missing_values_categories_and_infinite_numbers_are_refused(self, load):
        for value, message in ((np.nan, "sparse and has missing values"), (np.inf, "infinite values")):
            with pytest.raises(DataError, match=message):
                load(csr_array(np.where(DENSE > 2, value, DENSE)))
        with pytest.raises(DataError, match="sparse and has missing values or categories"):
            load(csr_array(DENSE), categorical=np.ones(4, dtype=bool))

    def test_a_column_can_leave_the_features(self, load):
        data = with_structure(load(csr_array(DENSE + 1.0)), {"weights": "4"}, "it")
        assert data.weights.tolist() == [3.0, 1.0, 1.0, 4.0]
        assert issparse(data.X)
        assert data.X.shape == (4, 3)


@pytest.mark.parametrize(
    ("scale", "oracle"), [("standard", StandardScaler(with_mean=False)), ("range", MaxAbsScaler())]
)
def test_scaling_keeps_zeros(tmp_path, scale, oracle):
    data = read_file(written(tmp_path, TEXT))
    encoder = Encoder(Columns.of(data), scale).fit(data.X[:3])
    encoded = encoder.transform(data.X)
    assert issparse(encoded)
    np.testing.assert_allclose(encoded.toarray(), oracle.fit(DENSE[:3]).transform(DENSE))
    assert encoder.groups_.tolist() == [0, 1, 2, 3]

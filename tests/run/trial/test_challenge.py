"""Training, validation and test files of the NIPS 2003 challenge, in its three forms."""

import numpy as np
import pytest
from scipy.sparse import issparse
from sklearn.model_selection import GridSearchCV, PredefinedSplit
from sklearn.neighbors import KNeighborsClassifier
from small_runs import job_of

from mfbench.data.cache import DataOptions
from mfbench.data.files import read_file
from mfbench.data.lookup import Lookup, import_path
from mfbench.errors import DataError, UsageError
from mfbench.host.registry import load_registry
from mfbench.run.workers.worker import Worker
from mfbench.suite.loading import load_suite
from mfbench.suite.plan import make_plan

RNG = np.random.default_rng(0)
SIZES = {"train": 40, "valid": 20, "test": 30}
LABELS = {part: np.where(np.arange(n) % 2, 1, -1) for part, n in SIZES.items()}
ROWS = {part: RNG.integers(0, 3, (n, 5)) + (LABELS[part][:, None] > 0) * [2, 1, 0, 0, 0] for part, n in SIZES.items()}
FORMS = {
    "non-sparse": lambda row: " ".join(map(str, row)),
    "sparse-integer": lambda row: " ".join(f"{index}:{value}" for index, value in enumerate(row, 1) if value),
    "sparse-binary": lambda row: " ".join(str(index) for index, value in enumerate(row, 1) if value),
}


def written(folder, form="non-sparse", *, without=(), **lines):
    """Write a dataset named toy, without some files or with other lines in its description."""
    folder.mkdir(exist_ok=True)
    about = {"kind": f"Data type: {form}", "width": "Number of features: 5", "head": "\tPos_ex\tNeg_ex\tTot_ex\tSum"}
    for part, labels in LABELS.items():
        positive = int((labels > 0).sum())
        about[part] = f"{part.title()}\t{positive}\t{len(labels) - positive}\t{len(labels)}\t1234.00"
        files = {"data": map(FORMS[form], ROWS[part]), "labels": map(str, labels)}
        for kind, content in files.items():
            if f"{part}.{kind}" not in without:
                (folder / f"toy_{part}.{kind}").write_text("\n".join(content) + "\n")
    (folder / "toy.param").write_text("\n".join((about | lines).values()) + "\n")
    return folder / "toy.param"


@pytest.mark.parametrize("form", FORMS)
def test_all_parts_are_read_in_order(tmp_path, form):
    data = read_file(written(tmp_path, form))
    rows = np.vstack([*ROWS.values()])
    assert issparse(data.X) == form.startswith("sparse")
    np.testing.assert_array_equal(
        data.X.toarray() if issparse(data.X) else data.X, rows > 0 if "binary" in form else rows
    )
    assert (data.name, data.class_names, data.feature_names) == ("toy", ("-1", "1"), ("1", "2", "3", "4", "5"))
    np.testing.assert_array_equal(data.y, np.concatenate([*LABELS.values()]) > 0)
    assert data.split.tolist() == [-1] * 40 + [-2] * 20 + [0] * 30


def test_without_test_labels_the_validation_part_is_the_test(tmp_path):
    path = written(tmp_path / "TOY", without=["test.labels", "valid.labels"])
    (tmp_path / "toy_valid.labels").write_text("\n".join(map(str, LABELS["valid"])))  # as in UCI's archive
    data = read_file(path)
    assert data.split.tolist() == [-1] * 40 + [0] * 20
    assert data.source == "file toy.param, parts train, valid"


def test_a_training_part_alone_is_split_like_any_table(tmp_path):
    assert read_file(written(tmp_path, without=["test.data", "valid.data"])).split is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"kind": ""}, "toy.param lacks 'Data type:'"),
        (
            {"width": "Number of features: 6"},
            "toy_train.data has 40 rows of 5 features.*toy.param says 40, 6, 40 and 20",
        ),
        ({"train": "Train 20 21 41"}, "toy_train.data has 40 rows.*toy.param says 41, 5, 41 and 20"),
        (
            {"valid": "Valid 11 9 20"},
            "toy_valid.labels 20 labels, 10 of them positive; toy.param says 20, 5, 20 and 11",
        ),
        ({"without": ["train.labels"]}, "toy.param needs toy_train.data and toy_train.labels in its folder"),
    ],
)
def test_what_does_not_agree(tmp_path, changes, message):
    with pytest.raises(DataError, match=message):
        read_file(written(tmp_path, **changes))


def test_damaged_parts(tmp_path):
    path = written(tmp_path)
    for text, message in (("1 2 x 4 5\n", "cannot be read"), ("1 2 nan 4 5\n" * 40, "missing or infinite")):
        (tmp_path / "toy_train.data").write_text(text)
        with pytest.raises(DataError, match=message):
            read_file(path)
    with pytest.raises(UsageError, match="has no names of columns"):
        read_file(path, target="1")


def test_an_import_keeps_the_parts(tmp_path):
    lookup = Lookup(DataOptions(cache=tmp_path / "cache"))
    list(import_path(written(tmp_path / "a"), lookup))
    (key,) = lookup.cache.entries()
    assert lookup.cache.get(key)[0].split.tolist() == read_file(tmp_path / "a" / "toy.param").split.tolist()
    with pytest.raises(UsageError, match="is sparse, and the cache holds dense tables"):
        list(import_path(written(tmp_path / "b", "sparse-integer"), lookup))


def test_tuning_scores_the_validation_rows_and_the_last_fit_has_them_too(tmp_path):
    registry = load_registry(only=["baselines"])
    written(tmp_path)
    (tmp_path / "s.toml").write_text("""
[suite]
name = "own"
[protocol]
scale = "none"
metrics = ["accuracy"]
[[datasets]]
use = ["file:toy.param"]
[[methods]]
label = "m"
classifier = "knn"
tune = { n_neighbors = [1, 3, 5, 9, 15, 30] }
""")
    plan = make_plan(load_suite(str(tmp_path / "s.toml"), registry), registry)
    (trial,) = plan.trials
    assert plan.datasets["toy.param"].own_splits.validation == 20
    result, _ = Worker(job_of(plan, tmp_path / "job"), registry).run(trial, {})
    X, y = np.vstack([ROWS["train"], ROWS["valid"]]), np.concatenate([LABELS["train"], LABELS["valid"]])
    split = PredefinedSplit(np.repeat([-1, 0], [40, 20]))
    oracle = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9, 15, 30]}, cv=split).fit(X, y)
    assert result.chosen == {"classifier.n_neighbors": oracle.best_params_["n_neighbors"]}
    np.testing.assert_array_equal(result.predictions, oracle.predict(ROWS["test"]) > 0)

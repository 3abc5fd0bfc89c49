"""Datasets with one mistake each, a plugin. `MISTAKES` names the one check that must find each."""

from dataclasses import replace

import numpy as np

from mfbench import Dataset, DatasetSpec, hookimpl

SIZE = {"n_samples": 6, "n_features": 3, "n_classes": 2}


def table(**changes):
    rng = np.random.default_rng(0)
    data = Dataset(
        name="table",
        X=np.column_stack([rng.normal(size=(6, 2)), [0, 1, 2, 0, 1, np.nan]]),
        y=np.array([0, 1, 0, 1, 0, 1]),
        class_names=("no", "yes"),
        feature_names=("a", "b", "kind"),
        categorical=np.array([False, False, True]),
        categories={"kind": ("x", "y", "z")},
        relevant=(0, 1),
        interactions=((0, 1),),
    )
    return replace(data, **changes)


def with_infinity():
    data = table()
    data.X[0, 0] = np.inf
    return data


def with_half_a_code():
    data = table()
    data.X[0, 2] = 0.5
    return data


_loads = []
_shared = table()


def second_load():
    _loads.append(None)
    return table(X=table().X + np.array([len(_loads), 0, 0]))


def by_hash_seed():
    return table(X=table().X + np.array([hash("a") % 1000, 0, 0]))


def raises():
    raise RuntimeError("no file")


# (name, loader, check, fields of the spec)
MISTAKES = [
    ("raises", raises, "dataset-loads", {}),
    ("not-a-dataset", lambda: {"X": [[1.0]]}, "dataset-loads", {}),
    ("integers", lambda: table(X=np.zeros((6, 3), dtype=np.int64)), "dataset-shape", {}),
    ("labels-not-codes", lambda: table(y=np.array(["no", "yes"] * 3)), "dataset-shape", {}),
    ("codes-from-one", lambda: table(y=table().y + 1), "dataset-shape", {}),
    ("small-codes", lambda: table(y=table().y.astype(np.int32)), "dataset-shape", {}),
    ("a-class-without-rows", lambda: table(class_names=("no", "perhaps", "yes")), "dataset-shape", {}),
    ("a-class-twice", lambda: table(class_names=("no", "no")), "dataset-shape", {}),
    ("a-row-too-few", lambda: table(y=table().y[1:]), "dataset-shape", {}),
    ("a-name-twice", lambda: table(feature_names=("a", "a", "kind")), "dataset-shape", {}),
    ("a-name-too-few", lambda: table(feature_names=("a", "kind")), "dataset-shape", {}),
    ("numbers-as-names", lambda: table(feature_names=(1, 2, "kind")), "dataset-shape", {}),
    ("a-short-mask", lambda: table(categorical=np.array([False, True])), "dataset-shape", {}),
    ("a-mask-of-numbers", lambda: table(categorical=np.array([0, 0, 1])), "dataset-shape", {}),
    ("labels-of-a-number", lambda: table(categories={"a": ("x",)}), "dataset-shape", {}),
    ("a-label-too-few", lambda: table(categories={"kind": ("x", "y")}), "dataset-shape", {}),
    ("a-label-twice", lambda: table(categories={"kind": ("x", "y", "x")}), "dataset-shape", {}),
    ("half-a-code", with_half_a_code, "dataset-shape", {}),
    ("infinity", with_infinity, "dataset-shape", {}),
    ("encoding", lambda: table(encoding="binary"), "dataset-shape", {}),
    ("a-short-response", lambda: table(response=np.zeros(5)), "dataset-shape", {}),
    ("no-rows", lambda: table(X=np.zeros((0, 3)), y=np.zeros(0, dtype=np.int64)), "dataset-shape", {}),
    ("wrong-size", table, "dataset-counts", {**SIZE, "n_samples": 7}),
    ("wrong-counts", table, "dataset-counts", {**SIZE, "class_counts": {"no": 2, "yes": 4}}),
    ("second-load", second_load, "dataset-again", {}),
    ("shared", lambda: _shared, "dataset-again", {}),
    ("hash-seed", by_hash_seed, "dataset-checksum", {}),
    ("no-licence", table, "dataset-provenance", {"license": ""}),
    ("no-origin", table, "dataset-provenance", {"source": ""}),
    ("truth-out-of-range", lambda: table(relevant=(0, 1, 3)), "dataset-truth", {}),
    ("negative-truth", lambda: table(relevant=(-1, 0, 1)), "dataset-truth", {}),
    ("truth-twice", lambda: table(relevant=(0, 1, 1)), "dataset-truth", {}),
    ("an-interaction-twice", lambda: table(interactions=((0, 1), (1, 0))), "dataset-truth", {}),
    ("an-interaction-with-itself", lambda: table(interactions=((1, 1),)), "dataset-truth", {}),
    ("an-irrelevant-interaction", lambda: table(interactions=((1, 2),)), "dataset-truth", {}),
]
SOUND = ["sound", "read-only", "remote"]


def read_only():
    _shared_frozen.X.flags.writeable = False
    return _shared_frozen


_shared_frozen = table()
for _array in (_shared_frozen.y, _shared_frozen.categorical):
    _array.flags.writeable = False


@hookimpl
def mfbench_datasets():
    origin = {"license": "CC0", "source": "made up"}
    rows = [(name, loader, fields) for name, loader, _, fields in MISTAKES]
    rows += [("sound", table, {**SIZE, "class_counts": {"no": 3, "yes": 3}}), ("read-only", read_only, SIZE)]
    rows += [("remote", None, {"openml_id": 1})]
    return [
        DatasetSpec(name=name, summary=name, **{"loader": loader, **origin, **fields}) for name, loader, fields in rows
    ]

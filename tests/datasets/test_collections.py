"""The papers' collections: one entry for each printed label, consistent sizes, agreement with the files of a mirror."""

import csv
import os
import re
import tomllib
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from in_turn import in_turn

from mfbench.model.specs import DatasetSpec
from mfbench_datasets import plugin

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = ROOT / "suites" / "published"
TABLE = tomllib.loads(Path(plugin.__file__).with_name("collections.toml").read_text(encoding="utf-8"))
SPECS = {spec.name: spec for spec in [*plugin.mfbench_datasets(), *plugin.collections()] if spec.name in TABLE}
FETCHED = {name: spec for name, spec in SPECS.items() if not spec.embedded}
LABELS = Counter((collection, label) for spec in SPECS.values() for collection, label in spec.collections.items())

FOLDER = os.environ.get("MFBENCH_DATA_DIR", "")
# In no collection: whole datasets of which the papers use a part, and a replacement.
WHOLE = {
    "breast-gravier",
    "crowdsourced-mapping",
    "ecoli",
    "image-segmentation",
    "lymphography",
    "urban-land-cover",
    "user-knowledge",
    "wine-quality-red",
}

# Datasets that cannot have the size that the paper prints; the note of each gives the reason.
DIFFERENT = {
    ("immigrate-uci", "LYM"): (142, 18),
    ("immigrate-uci", "PAR"): (195, 22),
    ("immigrate-uci", "STA"): (270, 13),
    ("immigrate-uci", "CRO"): (8872, 28),
    ("similarity", "Ionosphere"): (351, 34),
    ("similarity", "Musk-1"): (476, 166),
}


def rows(name):
    with (PUBLISHED / name).open(encoding="utf-8", newline="") as handle:
        return list(csv.DictReader(handle))


def printed():
    """Yield (collection, label, rows, features, classes or None) for every dataset whose size a paper prints."""
    for row in rows("immigrate2020_tableA1_datasets.csv"):
        kind = "gene" if row["note"].startswith("gene expression") else "uci"
        yield f"immigrate-{kind}", row["dataset"], int(row["n_instances"]), int(row["n_features"]), 2
    for row in rows("relief_similarity_table1_datasets.csv"):
        yield "similarity", row["dataset"], int(row["n_total"]), int(row["n_features"]), int(row["n_classes"])
    for file in ("sqpfw_table1.csv", "sqpfw_table2.csv"):
        for row in {row["dataset"]: row for row in rows(file)}.values():
            yield "sqpfw", row["dataset"], int(row["n"]), int(row["p"]), int(row["n_classes"])


PRINTED = list(printed())


def of_label(collection, label):
    (spec,) = [spec for spec in SPECS.values() if spec.collections.get(collection) == label]
    return spec


# -- consistency, without data -----------------------------------------------------------------------------------------


def test_every_key_is_a_field():
    fields = set(DatasetSpec.__dataclass_fields__) - {"name", "loader"}
    assert {key for entry in TABLE.values() for key in entry} <= fields


def test_entries_of_embedded_datasets_only_add_fields():
    for name in set(SPECS) - set(FETCHED):
        assert set(TABLE[name]) <= {"openml_id", "uci_id", "class_counts", "collections", "note"}


@in_turn("name", SPECS)
def test_sizes_add_up(name):
    spec = SPECS[name]
    assert spec.n_samples > 0 and spec.n_features > 0
    assert spec.n_classes is None if spec.task == "regression" else spec.n_classes > 1
    if spec.class_counts:
        assert sum(spec.class_counts.values()) == spec.n_samples
        assert len(spec.class_counts) == spec.n_classes
        assert min(spec.class_counts.values()) > 0
    if spec.keep_classes and spec.class_counts:
        assert set(spec.class_counts) <= set(spec.keep_classes)


@in_turn("name", SPECS)
def test_attribution(name):
    spec = SPECS[name]
    assert spec.summary and spec.source and spec.license and spec.citation
    for number in (spec.openml_id, spec.uci_id):
        assert number is None or (isinstance(number, int) and number > 0)
    if spec.openml_id is None and spec.uci_id is None:
        assert "gene" in spec.tags, "every other dataset has a repository number"
        assert spec.note


def test_numbers_belong_to_one_set():
    """Two names may share a number only if they are versions of the same dataset."""
    for key in ("openml_id", "uci_id"):
        names = {}
        for spec in SPECS.values():
            if getattr(spec, key) is not None:
                names.setdefault(getattr(spec, key), set()).add(re.sub(r"-(igt|sqp|uci)$", "", spec.name))
        # waveform-21 needs no network and has no entry here, so its two versions have no whole dataset.
        assert {number: shared for number, shared in names.items() if len(shared) > 1} == {}


def test_labels_are_unique():
    assert [label for label, count in LABELS.items() if count > 1] == []
    assert {collection for collection, _ in LABELS} == {
        "immigrate-uci",
        "immigrate-gene",
        "similarity",
        "sqpfw",
        "openml-cc18-small",
        "openml-ctr23",
        "nips-2003",
    }


def test_prepared_datasets_have_a_whole_one():
    for name, spec in SPECS.items():
        if (spec.keep_classes or spec.drop) and re.search(r"-(igt|sqp)$", name):
            whole = re.sub(r"-(igt|sqp)$", "", name)
            assert whole in SPECS or f"{whole}-uci" in SPECS, name
    assert {name for name, spec in SPECS.items() if not spec.collections} == WHOLE | {
        "auto-mpg",
        "real-estate-valuation",
    }


@in_turn("collection, label, n, p, k", PRINTED)
def test_printed_sizes(collection, label, n, p, k):
    spec = of_label(collection, label)
    expected = DIFFERENT.get((collection, label), (n, p))
    assert (spec.n_samples, spec.n_features, spec.n_classes) == (*expected, k)
    if (collection, label) in DIFFERENT:
        assert expected != (n, p)
        assert str(n if expected[0] != n else p) in spec.note, "the note gives the printed size"


@in_turn("file", sorted(path.name for path in PUBLISHED.glob("*.csv")))
def test_every_printed_label_has_an_entry(file):
    if file.startswith("immigrate"):
        labels = {label for collection, label in LABELS if collection.startswith("immigrate")}
    else:
        labels = {
            label for collection, label in LABELS if collection == file.split("_")[0].replace("relief", "similarity")
        }
    table = rows(file)
    assert table
    assert {row["dataset"] for row in table if "dataset" in row} <= labels


def test_the_twenty_of_the_paper():
    printed_labels = {row["dataset"] for row in rows("immigrate2020_table2.csv")}
    assert len(printed_labels) == 20
    assert {label for collection, label in LABELS if collection == "immigrate-uci"} == printed_labels | {
        "BRC",
        "VEC",
        "WQT",
    }


def test_cc18_part():
    """The datasets of the collection are small and belong to OpenML-CC18 (study 99)."""
    study = {
        3, 6, 11, 12, 14, 15, 16, 18, 22, 23, 28, 29, 31, 32, 37, 38, 44, 46, 50, 54, 151, 182, 188, 300, 307, 458, 469,
        554, 1049, 1050, 1053, 1063, 1067, 1068, 1461, 1462, 1464, 1468, 1475, 1478, 1480, 1485, 1486, 1487, 1489, 1494,
        1497, 1501, 1510, 1590, 4134, 4534, 4538, 6332, 23381, 23517, 40499, 40668, 40670, 40701, 40923, 40927, 40966,
        40975, 40978, 40979, 40982, 40983, 40984, 40994, 40996, 41027,
    }  # fmt: skip
    assert len(study) == 72
    part = [spec for spec in SPECS.values() if "openml-cc18-small" in spec.collections]
    assert len({spec.openml_id for spec in part}) == len(part) and {spec.openml_id for spec in part} <= study
    assert all(spec.n_samples <= 6000 and spec.n_features <= 100 for spec in part)


def test_openml_ctr23():
    """The collection is OpenML-CTR23 (study 353) without its datasets of more than 12,000 rows."""
    study = {
        41021, 44956, 44957, 44958, 44959, 44960, 44962, 44963, 44964, 44965, 44966, 44967, 44969, 44970, 44971, 44972,
        44973, 44974, 44975, 44976, 44977, 44978, 44979, 44980, 44981, 44983, 44984, 44987, 44989, 44990, 44992, 44993,
        44994, 45012, 45402,
    }  # fmt: skip
    larger = {44963, 44964, 44974, 44975, 44976, 44977, 44979, 44983, 44984, 44989, 44992, 44993, 45012}
    assert len(study) == 35
    part = [spec for spec in SPECS.values() if "openml-ctr23" in spec.collections]
    assert sorted(spec.openml_id for spec in part) == sorted(study - larger)
    assert all(spec.n_samples <= 12000 and spec.task == "regression" for spec in part)


@in_turn("name", sorted(set(SPECS) - set(FETCHED)))
def test_embedded_entries(name):
    module, function = SPECS[name].loader.split(":")
    data = getattr(import_module(module), function)()
    assert dict(zip(data.class_names, np.bincount(data.y).tolist(), strict=True)) == SPECS[name].class_counts


def test_wine_igt_is_a_part_of_wine():
    from mfbench_datasets import installed

    whole, part = installed.wine(), installed.wine_igt()
    assert np.array_equal(part.X, whole.X[whole.y < 2]) and part.X.flags.c_contiguous
    assert part.feature_names == whole.feature_names and part.class_names == ("1", "2")


# -- against a mirror --------------------------------------------------------------------------------------------------

needs_mirror = pytest.mark.skipif(not FOLDER, reason="MFBENCH_DATA_DIR is not set")


def parts_of(spec):
    return (spec.mirror_name or spec.name.replace("-", "_")).split("+")


def files_of(spec):
    return [Path(FOLDER) / f"{part}.csv.gz" for part in parts_of(spec)]


def prepared(spec):
    """Read and prepare by hand: join the rows of all parts, then drop columns and classes."""
    files = files_of(spec)
    frames = [pd.read_csv(file, dtype={"class": str}) for file in files]
    assert len({tuple(frame.columns) for frame in frames}) == 1
    table = pd.concat(frames, ignore_index=True).drop(columns=list(spec.drop), errors="ignore")
    return table[table["class"].isin(spec.keep_classes)] if spec.keep_classes else table


@needs_mirror
def test_the_mirror_has_datasets():
    assert any(file.is_file() for spec in FETCHED.values() for file in files_of(spec))


@needs_mirror
@in_turn("name", FETCHED)
def test_mirror_agrees_with_the_entry(name):
    spec = SPECS[name]
    if not all(file.is_file() for file in files_of(spec)):
        return
    table = prepared(spec)
    assert (len(table), table.shape[1] - 1, table["class"].nunique()) == (
        spec.n_samples,
        spec.n_features,
        spec.n_classes,
    )
    assert table["class"].value_counts().to_dict() == spec.class_counts


@needs_mirror
@in_turn("name", FETCHED)
def test_mirror_agrees_on_the_numbers(name):
    index = tomllib.loads((Path(FOLDER) / "index.toml").read_text(encoding="utf-8"))
    entries = [index[part] for part in parts_of(SPECS[name]) if part in index]
    for entry in entries if len(entries) == 1 else ():
        for key in ("openml_id", "uci_id"):
            if key in entry and getattr(SPECS[name], key) is not None:
                assert getattr(SPECS[name], key) == entry[key]


@needs_mirror
def test_missing_from_the_complete_mirror():
    """Of the five papers' datasets, the complete mirror may lack only gene datasets without a public number."""
    index = tomllib.loads((Path(FOLDER) / "index.toml").read_text(encoding="utf-8"))
    if "urban_land_cover_train" not in index:
        pytest.skip("not the complete mirror")
    missing = {name for name, spec in FETCHED.items() if not set(parts_of(spec)) <= set(index)}
    assert {
        name
        for name in missing
        if SPECS[name].task == "classification" and not {"openml-cc18-small", "nips-2003"} & {*SPECS[name].collections}
    } == {
        "prostate-igt",
        "glioma",
        "myeloma",
        "breast-vantveer",
        "kidney",
    }

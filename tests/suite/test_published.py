"""Published figures: found by name or path, read as data, matched by the papers' labels, refused with the place."""

import csv
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mfbench.errors import SuiteError
from mfbench.host.registry import load_registry
from mfbench.model.evaluation import Score
from mfbench.model.specs import Dataset
from mfbench.suite.loading import load_suite
from mfbench.suite.methods import PlannedDataset
from mfbench.suite.plan import make_plan
from mfbench.suite.published import (
    Description,
    PublishedCount,
    PublishedTable,
    match,
    match_counts,
    read_published,
    shipped_tables,
)

PUBLISHED = Path(__file__).resolve().parents[2] / "suites" / "published"

CSV = "dataset,method,value,note\nBLB,A,90,\nBLB,B,,not printed\nOTH,A,50.5,\n"
INDEX = """
[paper]
title = "A paper, table 1"
collections = ["papers"]
unit = "percent"
sizes = { table = "sizes", rows = "n", features = "p" }
"""


@pytest.fixture
def registry(toy_plugin, make_plugin, tmp_path):
    """Blobs is BLB of a collection, and a plugin ships a table about it."""
    folder = tmp_path / "plugin"
    (folder / "published").mkdir(parents=True)
    (folder / "published" / "paper.csv").write_text(CSV)
    (folder / "published" / "sizes.csv").write_text("dataset,n,p\nBLB,24,3\nOTH,31,3\n")
    (folder / "published" / "published.toml").write_text(INDEX)
    labels = {"blobs": "BLB", "other-blobs": "OTH"}

    def datasets():
        return [
            replace(spec, collections={"papers": labels[spec.name]} if spec.name in labels else {})
            for spec in toy_plugin.mfbench_datasets()
        ]

    module = make_plugin(
        "with_table",
        selectors=toy_plugin.mfbench_selectors,
        classifiers=toy_plugin.mfbench_classifiers,
        datasets=datasets,
        suites=[folder],
    )
    return load_registry(only=[], extra=[("with_table", module)])


@pytest.fixture
def plan(suite_file, registry):
    def make(published='"paper"', **parts):
        loaded = load_suite(suite_file(f"[report]\npublished = {published}", **parts), registry)
        return make_plan(loaded, registry)

    return make


class TestPlan:
    BOTH = '[[datasets]]\nuse = ["blobs", "other-blobs", "blobs(shift=3.0)"]'

    def test_figures_are_matched_by_the_papers_labels_in_the_unit_of_the_metric(self, plan):
        figures = plan().figures
        assert [(f.table, f.dataset, f.method, f.label, f.value) for f in figures] == [
            ("paper", "blobs", "A", "BLB", 0.9)
        ]
        assert figures[0].obstacle == ""

    def test_another_size_is_told_with_both_and_parameters_make_another_dataset(self, plan):
        figures = plan(datasets=self.BOTH).figures
        assert [f.dataset for f in figures] == ["blobs", "other-blobs"]
        assert figures[1].obstacle == "was published with 31 × 3, ours has 30 × 3"

    def test_a_label_may_go_on_after_the_name_of_the_method(self, plan):
        methods = "".join(
            f'[[methods]]\nlabel = "{label}"\nclassifier = "plain"\n' for label in ("A", "A per dataset", "AB")
        )
        assert [f.method for f in plan(methods=methods).figures] == ["A", "A per dataset"]

    def test_a_list_and_a_path_beside_the_suite(self, plan, tmp_path):
        (tmp_path / "own.csv").write_text("dataset,method,value\nblobs,B,0.25\n")
        figures = plan('["paper", "own.csv"]').figures
        assert [(f.table, f.method, f.label, f.value) for f in figures[1:]] == [("own.csv", "B", "blobs", 0.25)]

    def test_nothing_is_compared_unless_asked_for(self, planned):
        assert (planned().published, planned().figures) == ([], [])

    def test_it_changes_no_key(self, plan, planned, suite_file, registry):
        with_table = {t.key for t in plan().trials}
        assert with_table == {t.key for t in make_plan(load_suite(suite_file(), registry), registry).trials}


MISTAKES = {
    "unknown name": ('"papre"', "report.published: unknown published table 'papre': did you mean 'paper'"),
    "far off": (
        '["paper", "zzz"]',
        r"report.published\[1\]: unknown published table 'zzz': choose from paper \(or give",
    ),
    "a table of sizes": ('"sizes"', "unknown published table 'sizes'"),
    "no file": ('"gone.csv"', "report.published: .*gone.csv does not exist"),
    "no text": ("3", r"report.published: found 3 \(a whole number\), expected a string or a list"),
    "no code": ('"__import__"', "unknown published table '__import__'"),
    "no figures": ('"head.csv"', "head.csv needs the columns dataset, method, value; it has a, b"),
    "no number": ('"word.csv"', "word.csv, line 3: 'much' is not a number"),
    "twice": ('"twice.csv"', "twice.csv, line 3: B on blobs already has a figure"),
    "no CSV": ('"binary.csv"', "binary.csv cannot be read"),
}


@pytest.mark.parametrize(("published", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_one_sentence_with_its_place(plan, tmp_path, published, message):
    (tmp_path / "head.csv").write_text("a,b\n1,2\n")
    (tmp_path / "word.csv").write_text("dataset,method,value\nblobs,B,0.5\nblobs,A,much\n")
    (tmp_path / "twice.csv").write_text("dataset,method,value\nblobs,B,0.5\nblobs,B,0.6\n")
    (tmp_path / "binary.csv").write_bytes(b"dataset,method,value\n\xff\xfe\n")
    with pytest.raises(SuiteError, match=message) as caught:
        plan(published)
    assert "\n" not in str(caught.value)
    assert "own.toml: report.published" in str(caught.value)


@pytest.mark.parametrize(
    ("index", "message"),
    [
        ("[paper]\ntitel = 'x'", "published.toml: paper.titel: unknown key: did you mean 'title'"),
        ("[paper]\nunit = 'permille'", "published.toml: paper.unit: found 'permille'"),
        ("[paper", "published.toml: not valid TOML"),
        ("x = 1" + "0" * 5000, "published.toml: a whole number has thousands of digits"),
        (
            "[paper]\nmetric = 'mcc'",
            "'paper' contains mcc, which this suite does not measure; add it to protocol.metrics",
        ),
        (
            "[paper]\nsizes = { table = 'sizes', rows = 'm', features = 'p' }",
            "sizes.csv needs the columns dataset, m, p",
        ),
    ],
)
def test_a_mistake_in_the_index_is_told(plan, tmp_path, index, message):
    (tmp_path / "plugin" / "published" / "published.toml").write_text(index)
    with pytest.raises(SuiteError, match=message):
        plan()


def test_errors_become_accuracies(plan, tmp_path):
    (tmp_path / "plugin" / "published" / "published.toml").write_text(
        '[paper]\ncollections = ["papers"]\nunit = "error"'
    )
    (tmp_path / "plugin" / "published" / "paper.csv").write_text("dataset,method,value\nBLB,A,0.25\n")
    assert [figure.value for figure in plan().figures] == [0.75]


def test_figures_of_one_class_against_the_rest_are_compared_only_with_such():
    y = np.arange(6) % 3
    data = Dataset(
        name="d", X=np.zeros((6, 2)), y=y, class_names=("a", "b", "c"), feature_names=("u", "v"),
        categorical=np.zeros(2, bool),
    )  # fmt: skip
    about = Description(collections=["papers"], metric="one_vs_rest_accuracy")
    table = PublishedTable("t", about, {("D", "A"): 0.5}, {})
    score = Score(is_one_vs_rest=True)
    (figure,) = match(table, {"d": PlannedDataset("d", data, "", {"papers": "D"})}, ["A"], score)
    assert figure.obstacle.startswith("has 3 classes: was published as one problem per class")
    (figure,) = match(table, {"d": PlannedDataset("d", data, "", {"papers": "D"})}, ["A"], score, "one-vs-rest")
    assert figure.obstacle == ""
    two = replace(data, y=y % 2, class_names=("a", "b"))
    assert match(table, {"d": PlannedDataset("d", two, "", {"papers": "D"})}, ["A"], score)[0].obstacle == ""


@pytest.fixture(scope="module")
def built_in():
    return load_registry(only=["baselines", "datasets", "margin", "suites"])


class TestShipped:
    def test_every_table_of_figures_is_described_and_every_description_has_a_table(self, built_in):
        tables = shipped_tables(built_in)
        folder = next(iter(tables.values())).parent
        index = tomllib.loads((folder / "published.toml").read_text(encoding="utf-8"))
        assert set(index) == set(tables)

    def test_each_can_be_read_and_its_labels_are_those_of_its_collections(self, built_in, suite_file):
        names = list(shipped_tables(built_in))
        methods = '[[methods]]\nlabel = "A"\nclassifier = "knn"'
        text = f"[report]\npublished = {names!r}"
        head = '[suite]\nname = "own"\n[protocol]\nmetrics = ["accuracy", "one_vs_rest_accuracy"]\n'
        datasets = '[[datasets]]\nuse = ["iris"]'
        loaded = load_suite(suite_file(text, head=head, datasets=datasets, methods=methods), built_in)
        from mfbench.suite.published import load_published

        specs = [entry.spec for entry in built_in.listed("dataset").values()]
        for table in load_published(loaded, built_in):
            known = {spec.collections[c] for spec in specs for c in table.about.collections if c in spec.collections}
            assert {dataset for dataset, _ in table.values} <= known, table.name
            assert all(0.0 < value <= 1.0 for value in table.values.values()), table.name
            if table.shapes:
                assert {dataset for dataset, _ in table.values} <= set(table.shapes), table.name


@pytest.mark.parametrize(
    ("unit", "values", "rounding"), [("fraction", ("1.0", "0.667"), 5e-4), ("percent", ("87", "90.1"), 5e-4)]
)
def test_rounding_is_half_of_the_last_digit_printed(tmp_path, toy_registry, unit, values, rounding):
    (tmp_path / "own.csv").write_text("dataset,method,value\n" + "".join(f"D{i},A,{v}\n" for i, v in enumerate(values)))
    (tmp_path / "published.toml").write_text(f'[own]\nunit = "{unit}"\n')
    assert read_published("own.csv", toy_registry, tmp_path).rounding == pytest.approx(rounding)


class TestCounts:
    """Wins, ties and losses as printed."""

    def test_they_are_matched_by_the_labels_of_both_methods(self, tmp_path, toy_registry):
        (tmp_path / "own.csv").write_text("dataset,method,value\nblobs,A,0.9\n")
        (tmp_path / "published.toml").write_text('[own]\ncounts = { table = "wtl", of = "one" }\n')
        (tmp_path / "wtl.csv").write_text(
            "table,reference_method,opponent,reference_wins,ties,reference_losses\none,A,B,3,2,1\ntwo,A,B,9,9,9\n"
        )
        table = read_published("own.csv", toy_registry, tmp_path)
        assert match_counts(table, ["A nested", "B", "C"]) == [PublishedCount("own.csv", "A nested", "B", 3, 2, 1)]
        assert match_counts(table, ["A"]) == []

    def test_a_file_without_their_columns_is_a_mistake(self, tmp_path, toy_registry):
        (tmp_path / "own.csv").write_text("dataset,method,value\nblobs,A,0.9\n")
        (tmp_path / "published.toml").write_text('[own]\ncounts = { table = "own", of = "one" }\n')
        with pytest.raises(SuiteError, match=r"own\.csv needs the columns table, reference_method, opponent"):
            read_published("own.csv", toy_registry, tmp_path)

    def test_every_shipped_count_belongs_to_a_table(self):
        described = tomllib.loads((PUBLISHED / "published.toml").read_text(encoding="utf-8")).values()
        used = {(entry["counts"]["table"], entry["counts"]["of"]) for entry in described if "counts" in entry}
        shipped = {
            (path.stem, row["table"])
            for path in PUBLISHED.glob("*_wtl.csv")
            for row in csv.DictReader(path.open(encoding="utf-8"))
        }
        assert used == shipped

    def test_those_of_the_similarity_paper_are_counted_from_its_marks(self):
        counts = {}
        for row in csv.reader((PUBLISHED / "relief_similarity_tables_5_8_stest.csv").open(encoding="utf-8")):
            table, dataset, pair, rule, mark = row
            if table != "table" and dataset != "Letter":
                left, right = pair.split(" / ")
                key = (f"table{table} {rule}", f"{rule} ({left})", f"{rule} ({right})")
                counts.setdefault(key, [0, 0, 0])["=<".find(mark[0]) + 1 if mark[0] != ">" else 0] += 1
        with (PUBLISHED / "relief_similarity_wtl.csv").open(encoding="utf-8") as handle:
            shipped = {tuple(row[:3]): list(map(int, row[3:])) for row in list(csv.reader(handle))[1:]}
        assert shipped == counts

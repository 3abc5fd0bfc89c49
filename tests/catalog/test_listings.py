"""What there is, as tables; a dataset by its first rows."""

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.cells import cell_len

from mfbench import ClassifierSpec, Dataset, DatasetSpec, SelectorSpec
from mfbench.base.console import PlainConsole
from mfbench.data.lookup import LoadedDataset
from mfbench.errors import UnknownNameError
from mfbench.host.registry import load_registry
from mfbench_catalog.listings import show_dataset, show_datasets, show_plugin, show_plugins, show_suites

DATASET = Dataset(
    name="things",
    X=np.array([[1.5, 0.0], [np.nan, 1.0], [3.0, np.nan]]),
    y=np.array([0, 1, 1]),
    class_names=("no", "yes"),
    feature_names=("size", "colour"),
    categorical=np.array([False, True]),
    categories={"colour": ("red", "blue")},
    relevant=(1,),
    source="a shelf",
    license="CC0",
)


@pytest.fixture
def console():
    return PlainConsole(file=io.StringIO(), width=250)


@pytest.fixture
def registry(make_plugin, tmp_path):
    (tmp_path / "good.toml").write_text(
        '[suite]\nname = "good"\ntitle = "A good [suite]"\nprofile = "tiny"\n[profiles.tiny]\nfolds = 2\n'
        '[parts.half]\nonly = ["a"]\n'
        '[[datasets]]\nuse = ["a", "b"]\n[[datasets]]\nuse = ["c"]\n[[methods]]\nlabel = "A"\nclassifier = "knn"\n'
    )
    (tmp_path / "bad.toml").write_text("[suite]\nnaem = 1\n")
    module = make_plugin(
        "shelf",
        selectors=[
            SelectorSpec(name="sel", summary="Selects [all]", factory="m:C", paper="A. Author", tags=("margin",))
        ],
        classifiers=[ClassifierSpec(name="cla", summary="Classifies", factory="m:C", tags=("tree", "fast"))],
        datasets=[
            DatasetSpec(
                name="known", summary="Sized", loader="m:f", n_samples=3, n_features=2, n_classes=2, source="s"
            ),
            DatasetSpec(name="open", summary="Any size", license="CC0", collections={"shelf": "OPN"}),
        ],
        suites=[tmp_path],
    )
    return load_registry(only=[], extra=[("shelf", module)])


class TestPlugins:
    def test_every_method_in_one_line_with_summary_and_package(self, registry, console):
        show_plugins(registry, console)
        text = console.file.getvalue()
        for part in (
            "selectors (1)",
            "classifiers (1)",
            "sel",
            "Selects [all]",
            "cla",
            "Classifies",
            "shelf",
        ):
            assert part in text

    def test_a_method_that_lacks_a_package_says_how_to_install_it(self, make_plugin, console):
        spec = SelectorSpec(name="far", summary="Far rows", factory="m:Far", requires=("no_such",), install="far[all]")
        registry = load_registry(only=[], extra=[("far", make_plugin("far", selectors=[spec]))])
        show_plugins(registry, console)
        assert "needs no_such: pip install 'far[all]'; Far rows" in console.file.getvalue()
        show_plugin("far", registry, console)
        assert "needs       no_such: pip install 'far[all]'" in console.file.getvalue()

    def test_a_long_summary_is_cut_to_the_line(self, make_plugin):
        spec = SelectorSpec(name="far", summary="Far " + "rows " * 60, factory="m:Far")
        registry = load_registry(only=[], extra=[("far", make_plugin("far", selectors=[spec]))])
        console = PlainConsole(file=io.StringIO(), width=80)
        show_plugins(registry, console)
        (line,) = [line for line in console.file.getvalue().splitlines() if line.startswith(" far ") and "rows" in line]
        assert "…" in line and cell_len(line.rstrip()) <= 80

    def test_a_method_with_its_paper_and_everything_else(self, registry, console):
        show_plugin("sel", registry, console)
        text = console.file.getvalue()
        assert text.startswith("sel (selector)")
        assert "A. Author" in text and "Selects [all]" in text
        with pytest.raises(UnknownNameError, match="unknown method 'sell': did you mean 'sel'"):
            show_plugin("sell", registry, console)

    def test_tags_restrict(self, registry, console):
        show_plugins(registry, console, ["tree", "fast"])
        text = console.file.getvalue()
        assert "classifiers (1)" in text
        assert "selectors (1)" not in text
        assert "Selects" not in text

    def test_an_unknown_tag_is_answered_with_the_known_ones(self, registry, console):
        with pytest.raises(UnknownNameError, match="unknown tag 'margins': did you mean 'margin'"):
            show_plugins(registry, console, ["margins"])

    def test_entry_points_are_listed_with_the_way_to_leave_one_out(self, registry, console):
        show_plugins(registry, console)
        text = console.file.getvalue()
        assert "plugins (1)" in text
        assert "MFBENCH_LOAD_PLUGINS=all,-" in text


class TestSuites:
    def test_each_with_its_size_and_default_profile(self, registry, console):
        show_suites(registry, console)
        (line,) = [line for line in console.file.getvalue().splitlines() if line.startswith(" good ")]
        assert "A good [suite]" in line
        assert "quick, standard, full, tiny (default)" in line
        assert line.split("(default)")[1].split()[0] == "half"
        assert line.split("A good [suite]")[1].split()[:2] == ["3", "1"]

    def test_one_that_is_not_valid_is_told_and_the_others_stay(self, registry, console):
        show_suites(registry, console)
        text = console.file.getvalue()
        assert "not valid:" in text
        assert "good" in text


class TestDatasets:
    def test_sizes_or_a_question_mark(self, registry, console):
        show_datasets(registry, console)
        lines = {line.split()[0]: line for line in console.file.getvalue().splitlines() if line.strip()}
        assert lines["known"].split()[1:6] == ["Sized", "3", "2", "2", "embedded"]
        assert lines["open"].split() == ["open", "Any", "size", "?", "?", "?", "missing"]

    def test_one_collection_with_its_labels(self, registry, console):
        show_datasets(registry, console, collection="shelf")
        text = console.file.getvalue()
        assert "OPN" in text
        assert "Sized" not in text
        assert "0 embedded, 0 mirror, 0 cached, 1 missing" in text


class TestDataset:
    def text(self, dataset, console, rows=5):
        show_dataset(LoadedDataset(dataset, "cached"), console, rows)
        return console.file.getvalue()

    def test_facts(self, console):
        text = self.text(DATASET, console)
        for part in ("2 (1 categorical, as one-hot)", "no (1), yes (2)", "2 in 2 columns", "colour", "a shelf", "CC0"):
            assert part in text

    def test_first_rows_show_labels_numbers_and_holes(self, console):
        rows = [line.split() for line in self.text(DATASET, console).splitlines()[-5:]]
        assert [row for row in rows if row and row[-1] in ("no", "yes")] == [
            ["1.5", "red", "no"],
            ["?", "blue", "yes"],
            ["3", "?", "yes"],
        ]

    @pytest.mark.parametrize(("rows", "shown"), [(0, 0), (1, 1), (99, 3)])
    def test_the_number_of_rows(self, console, rows, shown):
        lines = self.text(DATASET, console, rows).splitlines()
        assert sum(line.split()[-1:] in (["no"], ["yes"]) for line in lines) == shown

    def test_a_plain_dataset(self, console):
        plain = replace(DATASET, X=np.ones((3, 2)), categorical=np.zeros(2, bool), relevant=None, source="", license="")
        text = self.text(plain, console)
        assert "none" in text
        assert "categorical" not in text
        assert text.count("–") == 4

    def test_the_licence_of_the_spec_where_the_data_have_none(self, console):
        spec = DatasetSpec(name="things", summary="", license="CC BY 4.0")
        show_dataset(LoadedDataset(replace(DATASET, license=""), "cached"), console, 0, spec)
        assert "CC BY 4.0" in console.file.getvalue()

    def test_as_many_columns_as_fit_and_the_class(self):
        wide = replace(
            DATASET,
            X=np.ones((3, 50)),
            feature_names=tuple(f"f{i}" for i in range(50)),
            categorical=np.zeros(50, bool),
            categories={},
            relevant=None,
        )
        console = PlainConsole(file=io.StringIO(), width=80)
        lines = self.text(wide, console).splitlines()
        assert all(len(line) <= 80 for line in lines)
        (head,) = [line.split() for line in lines if line.startswith(("f0", " f0")) and "class" in line]
        assert head == ["f0", "f1", "f2", "f3", "…", "class"]

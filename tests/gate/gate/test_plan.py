import pytest

from mfbench.errors import NothingPlannedError, SuiteError, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.additions import with_additions
from mfbench.suite.loading import load_suite
from mfbench_gate.gate.measure import plan_gate


def planned(name, profile="quick", only=(), part=None):
    registry = load_registry()
    return plan_gate(load_suite(name, registry, profile, part=part), registry, only)


def test_a_suite_of_folds_has_one_cell_for_each_method_and_dataset():
    plan = planned("uci", only=["iris", "1NN", "LDA"])
    assert [cell.name for cell in plan.cells] == ["1NN/iris", "LDA/iris"]
    assert [(trial.repeat, trial.fold) for trial in plan.cells[0].trials] == [(0, fold) for fold in range(5)]


def test_a_timing_suite_has_one_cell_for_each_size():
    plan = planned("timing", only=["REL"])
    sizes = [cell.place.size for cell in plan.cells]
    assert sizes == [
        "n=100, p=64",
        "n=200, p=64",
        "n=400, p=64",
        "n=800, p=64",
        *(f"n=800, p={p}" for p in (32, 16, 8)),
    ]
    assert all(len(cell.trials) == 2 for cell in plan.cells)
    assert all({trial.fold for trial in cell.trials} == {number} for number, cell in enumerate(plan.cells))


def test_a_part_of_a_suite():
    plan = planned("detection", "standard", ["RNK"], part="relevance")
    assert {cell.place.method for cell in plan.cells} == {"RNK"}
    assert {cell.place.dataset.partition("(")[0] for cell in plan.cells} == {"rfvm-simulation-1", "rfvm-simulation-2"}


def test_a_pattern_that_matches_nothing():
    with pytest.raises(UsageError, match="matches no dataset and no method"):
        planned("uci", only=["nothing-like-it"])


def test_an_added_class_is_measured_with_whatever_only_leaves():
    registry = load_registry()
    loaded = with_additions(load_suite("uci", registry, "quick"), registry, ["MINE = sklearn.svm:LinearSVC"])
    assert [cell.name for cell in plan_gate(loaded, registry, ["iris", "1NN"]).cells] == ["1NN/iris", "MINE/iris"]


def test_an_import_path_in_a_file_is_refused(tmp_path):
    (tmp_path / "own.toml").write_text(
        "[suite]\nname = 'own'\n[[datasets]]\nuse = ['iris']\n[[methods]]\nlabel = 'A'\nclassifier = 'mine:Mine'\n"
    )
    with pytest.raises(SuiteError, match=r"'A' names a class by its import path.* use --add"):
        planned(str(tmp_path / "own.toml"))


def test_methods_that_are_tuned_per_dataset_are_left_out_and_a_suite_of_them_is_refused():
    plan = planned("uci", "per-dataset", ["iris", "1NN", "REL"])
    assert {cell.place.method for cell in plan.cells} == {"1NN"}
    assert plan.suite.left_out["REL"].startswith("it is tuned per dataset")
    with pytest.raises(SuiteError, match="each of its methods is tuned per dataset"):
        planned("uci", "per-dataset", ["iris", "REL"])


def test_no_dataset_is_available(tmp_path):
    (tmp_path / "suite.toml").write_text(
        "[suite]\nname = 'none'\n[protocol]\nkind = 'repeated-cv'\n[profiles.quick]\n[[datasets]]\nuse = ['glioma']\n"
        "[[methods]]\nlabel = 'A'\nclassifier = 'dummy'\n"
    )
    with pytest.raises(NothingPlannedError, match=r"no dataset of 'none' can be used .*glioma"):
        planned(str(tmp_path / "suite.toml"))

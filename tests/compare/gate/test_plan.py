import pytest

from mfbench.compare.gate.plan import plan_gate
from mfbench.errors import NothingPlannedError, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.loading import load_suite


def planned(name, profile="quick", only=(), part=None):
    registry = load_registry()
    return plan_gate(load_suite(name, registry, profile, part=part), registry, only)


def test_a_suite_of_folds_has_one_cell_for_each_method_and_dataset():
    plan = planned("uci", only=["iris", "1NN", "LDA"])
    assert [cell.name for cell in plan.cells] == ["1NN/iris", "LDA/iris"]
    assert [(trial.repeat, trial.fold) for trial in plan.cells[0].trials] == [(0, fold) for fold in range(5)]


def test_a_timing_suite_has_one_cell_for_each_size():
    plan = planned("timing", only=["REL"])
    sizes = [cell.size for cell in plan.cells]
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
    assert {cell.method for cell in plan.cells} == {"RNK"}
    assert {cell.dataset.partition("(")[0] for cell in plan.cells} == {"rfvm-simulation-1", "rfvm-simulation-2"}


def test_a_pattern_that_matches_nothing():
    with pytest.raises(UsageError, match="matches no dataset and no method"):
        planned("uci", only=["nothing-like-it"])


def test_no_dataset_is_available(tmp_path):
    (tmp_path / "suite.toml").write_text(
        "[suite]\nname = 'none'\n[protocol]\nkind = 'repeated-cv'\n[profiles.quick]\n[[datasets]]\nuse = ['glioma']\n"
        "[[methods]]\nlabel = 'A'\nclassifier = 'dummy'\n"
    )
    with pytest.raises(NothingPlannedError, match=r"no dataset of 'none' can be used .*glioma"):
        planned(str(tmp_path / "suite.toml"))

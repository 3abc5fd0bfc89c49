from mfbench.host.registry import load_registry
from mfbench.suite.loading import load_suite
from mfbench_gate.comparison import CellVerdict, WorseLimits
from mfbench_gate.gate.gate import judge_answers
from mfbench_gate.gate.measure import plan_gate


def planned(name, only):
    registry = load_registry()
    return plan_gate(load_suite(name, registry, "quick"), registry, only)


def answers_of(plan, flips=0):
    """Return answers in which the head predicts some rows of every fold differently, and scores worse."""
    answers = {}
    for cell in plan.cells:
        for trial in cell.trials:
            for side in ("base", "head"):
                wrong = flips + trial.fold % 2 if side == "head" and flips else 0
                scores = dict.fromkeys(plan.suite.loaded.protocol.metrics, 1.0 - wrong / 20)
                key = (side, cell.place, trial.repeat, trial.fold)
                answers[key] = {"predictions": [1] * wrong + [0] * (20 - wrong), "scores": scores}
    return answers


def test_equal_predictions_are_no_worse():
    plan = planned("uci", ["iris", "1NN"])
    cells, changes = judge_answers(plan, answers_of(plan), WorseLimits(), 0.05)
    assert {(cell.measure, cell.verdict, cell.reason) for cell in cells} == {
        ("accuracy", CellVerdict.NO_WORSE, "predictions are identical"),
        ("balanced_accuracy", CellVerdict.NO_WORSE, "predictions are identical"),
    }
    assert changes == []


def test_changed_predictions_are_judged_against_the_limit():
    plan = planned("uci", ["iris", "1NN"])
    cells, changes = judge_answers(plan, answers_of(plan, flips=5), WorseLimits(), 0.05)
    assert {cell.verdict for cell in cells} == {CellVerdict.WORSE}
    assert [(change.method, change.dataset, change.n_changed) for change in changes] == [("1NN", "iris", 27)]


def test_sizes_are_judged_apart_and_named():
    plan = planned("timing", ["REL"])
    cells, changes = judge_answers(plan, answers_of(plan, flips=5), WorseLimits(), 0.05)
    assert [cell.size for cell in cells] == [cell.place.size for cell in plan.cells]
    assert {cell.dataset for cell in cells} == {plan.cells[0].place.dataset}
    assert {change.dataset for change in changes} == {f"{cell.place.dataset}/{cell.place.size}" for cell in plan.cells}


def test_one_side_alone_gives_no_score():
    plan = planned("uci", ["iris", "1NN"])
    answers = {place: answer for place, answer in answers_of(plan).items() if place[0] == "base"}
    assert judge_answers(plan, answers, WorseLimits(), 0.05) == ([], [])

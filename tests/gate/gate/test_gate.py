import pytest

from mfbench.errors import ExitCode, UsageError
from mfbench.host.registry import load_registry
from mfbench.suite.loading import load_suite
from mfbench_gate.comparison import CellVerdict, WorseLimits
from mfbench_gate.gate.environments import PreparedSide
from mfbench_gate.gate.gate import NO_TIME, UNCONFIRMED, Gate, confirming_blocks
from mfbench_gate.gate.measure import plan_gate
from mfbench_gate.gate.side import ReplicateError

SUITE = """
[suite]
name = "toy"
[protocol]
kind = "repeated-cv"
folds = 5
repeats = 1
metrics = ["accuracy"]
[profiles.quick]
folds = 5
repeats = 1
[[datasets]]
use = ["iris", "wine"]
[[methods]]
label = "A"
classifier = "dummy"
[[methods]]
label = "B"
classifier = "knn"
"""


@pytest.fixture
def loaded(tmp_path):
    path = tmp_path / "toy.toml"
    path.write_text(SUITE)
    registry = load_registry()
    return load_suite(str(path), registry), registry


@pytest.fixture
def gate(loaded, tmp_path, fake):
    """Return a function that runs a gate on a model instead of processes."""

    def run(model_and_start, only=(), **options):
        sides = PreparedSide("git:main", tmp_path, "abc"), PreparedSide("git:HEAD", tmp_path, "def", ("A note.",))
        said = []
        model, start = model_and_start
        plan = plan_gate(*loaded, only)
        made = Gate(plan, *sides, start, said.append, now=lambda: float(len(model.started)), **options)
        return made.run(), said

    return run


def verdicts(comparison, measure="fit"):
    return {cell.name: cell.verdict for cell in comparison.cells if cell.measure == measure}


def test_a_slowdown_is_found_and_the_rest_is_no_worse(gate, fake):
    comparison, said = gate(fake(ratios={"A": 1.2}))
    assert verdicts(comparison) == {
        "A/iris": CellVerdict.WORSE,
        "A/wine": CellVerdict.WORSE,
        "B/iris": CellVerdict.NO_WORSE,
        "B/wine": CellVerdict.NO_WORSE,
    }
    assert comparison.exit_code is ExitCode.REGRESSION
    assert all(cell.reason == "confirmed by 6 new pairs" for cell in comparison.with_verdict(CellVerdict.WORSE))
    assert "confirming 2 cells" in said


def test_equal_versions_pass(gate, fake):
    comparison, _ = gate(fake(noise=0.02))
    assert set(verdicts(comparison).values()) == {CellVerdict.NO_WORSE}
    assert comparison.exit_code is ExitCode.OK
    assert {cell.measure for cell in comparison.cells} == {"fit", "predict", "memory", "accuracy"}


def test_notes_say_how_many_pairs_a_verdict_needs(gate, fake):
    comparison, said = gate(fake())
    assert "A note." in comparison.notes
    # Four cells with three measures each, half of the level for costs, three analyses.
    assert any("a cell needs 12 to be called worse among 12 tests" in note for note in comparison.notes)
    assert any("verdicts after" in sentence for sentence in said)


def test_a_note_names_limits_of_metrics_that_the_suite_does_not_measure(gate, fake):
    notes = gate(fake(), budget=6.5, limits=WorseLimits(scores={"accuracy": 0.1, "mcc": 0.1}))[0].notes
    assert "Limits without an effect, because the suite does not measure them: mcc." in notes


def test_a_note_names_libraries_that_differ(gate, fake):
    assert not any("Versions differ" in note for note in gate(fake(), budget=6.5)[0].notes)
    assert "Versions differ: numpy 2.0 → 2.1." in gate(fake(numpy="2.1"), budget=6.5)[0].notes


def test_an_alarm_that_does_not_recur_is_undecided(gate, fake):
    model, start = fake(ratios={"A": 1.2})
    runs = {"n": 0}

    def recover():  # the disturbance ends when the first verdict has been reached
        runs["n"] += 1
        if model.started.count("head") > 2 * 8:
            model.ratios = {}

    model.on_run = recover
    comparison, _ = gate((model, start), only=["A", "iris"])
    (cell,) = [cell for cell in comparison.cells if cell.measure == "fit"]
    assert (cell.verdict, cell.reason) == (CellVerdict.UNDECIDED, UNCONFIRMED)
    assert comparison.exit_code is ExitCode.UNDECIDED


def test_a_confirmation_is_finished_although_the_budget_ends(gate, fake):
    # The pilot and five blocks take 22 s, and three blocks that confirm another 12 s.
    comparison, _ = gate(fake(ratios={"A": 1.2}), only=["A", "iris"], budget=30.0)
    (cell,) = comparison.with_verdict(CellVerdict.WORSE)
    assert (cell.measure, cell.reason) == ("fit", "confirmed by 6 new pairs")
    assert comparison.seconds == 34.0


def test_a_confirmation_that_hangs_is_cut_off_and_named(gate, fake):
    model, start = fake(ratios={"A": 1.2})

    def hang():
        if model.started.count("head") > 1 + 2 * 5:
            model.started += ["hanging"] * 30

    model.on_run = hang
    comparison, _ = gate((model, start), only=["A", "iris"], budget=30.0)
    (cell,) = [cell for cell in comparison.cells if cell.measure == "fit"]
    assert (cell.verdict, cell.reason) == (CellVerdict.UNDECIDED, NO_TIME)


def test_what_runs_no_code_of_the_project_is_neither_measured_nor_undecided(gate, fake):
    model, start = fake(judged={"A": [], "B": ["fit", "memory"]}, noise=0.0)
    comparison, _ = gate((model, start))
    assert {method for method, _ in model.order} == {"B"}
    assert {(cell.method, cell.measure) for cell in comparison.cells} == {
        ("B", "fit"), ("B", "memory"), ("B", "accuracy"),
    }  # fmt: skip
    assert any("because they run no code of the project: A." in note for note in comparison.notes)
    assert "The time to predict is not judged where the classifier is not the project's: B." in comparison.notes
    assert any("among 4 tests" in note for note in comparison.notes)  # which need fewer pairs than twelve
    model, start = fake(judged={"A": [], "B": []})
    assert gate((model, start))[0].exit_code is ExitCode.NOTHING_MEASURED


def test_decided_cells_are_not_measured_on(gate, fake):
    model, start = fake(noise=0.0)
    gate((model, start))
    # One analysis of 14 pairs: a pilot, seven blocks; nothing is left for the second one.
    assert model.started.count("base") == 1 + 2 * 7


def test_the_budget_ends_a_gate_with_what_is_known(gate, fake):
    comparison, _ = gate(fake(), budget=6.5)  # a process takes a second: two for the pilot, four for a block
    assert set(verdicts(comparison).values()) == {CellVerdict.UNDECIDED}
    assert comparison.exit_code is ExitCode.UNDECIDED
    assert "2 pairs; at least" in comparison.cells[0].reason
    assert gate(fake(), budget=6.5, undecided_ok=True)[0].exit_code is ExitCode.OK


@pytest.mark.parametrize("budget", [1.0, 2.5])  # it ends in the pilot, and in the first block
def test_a_budget_without_time_measures_nothing_and_says_so(gate, fake, budget):
    comparison, _ = gate(fake(), budget=budget)
    assert comparison.exit_code is ExitCode.NOTHING_MEASURED
    assert {o.reason.partition(";")[0] for o in comparison.omissions} == {
        "the budget ended before it could be measured"
    }


def test_a_process_that_cannot_start_later_ends_the_measurements_and_not_the_verdicts(gate, fake):
    model, start = fake()

    def failing(side):
        if len(model.started) > 10:
            raise ReplicateError("a process of python cannot start: no memory")
        return start(side)

    comparison, _ = gate((model, failing))
    assert any("ended early: a process of python cannot start" in note for note in comparison.notes)
    assert comparison.cells


def test_changed_predictions_are_reported_and_judged(gate, fake):
    comparison, _ = gate(fake(flipped={"B": 4}))
    assert [(c.method, c.dataset, c.n_rows, c.n_changed) for c in comparison.changes] == [
        ("B", "iris", 100, 20),
        ("B", "wine", 100, 20),
    ]
    scores = {cell.name: cell for cell in comparison.cells if cell.measure == "accuracy"}
    assert scores["A/iris"].verdict is CellVerdict.NO_WORSE
    assert scores["A/iris"].reason == "predictions are identical"
    assert scores["B/iris"].verdict is not CellVerdict.NO_WORSE
    assert scores["B/iris"].difference == pytest.approx(-0.2)


def test_a_method_of_one_version_is_left_out_and_the_rest_is_judged(gate, fake):
    comparison, _ = gate(fake(missing={"A": "unknown classifier 'dummy'"}))
    assert {o.name: o.reason for o in comparison.omissions} == {
        "A/iris": "is missing on the head: unknown classifier 'dummy'",
        "A/wine": "is missing on the head: unknown classifier 'dummy'",
    }
    assert set(verdicts(comparison)) == {"B/iris", "B/wine"}
    assert comparison.exit_code is ExitCode.OK


def test_a_method_that_fails_later_is_left_out_unless_it_was_judged_before(gate, fake):
    model, start = fake(ratios={"A": 1.2}, noise=0.0)
    model.noise = 0.2  # nothing is decided in the first analysis

    def fail():
        if model.started.count("head") > 2 * 8:
            model.failing = {"B": "no memory"}

    model.on_run = fail
    comparison, _ = gate((model, start), only=["B", "iris"])
    assert [(o.name, o.reason) for o in comparison.omissions] == [("B/iris", "failed on the head: no memory")]
    assert {cell.verdict for cell in comparison.cells if cell.measure == "fit"} <= {CellVerdict.NO_WORSE}


def test_nothing_that_runs_is_nothing_measured(gate, fake):
    comparison, _ = gate(fake(failing={"A": "no", "B": "no"}))
    assert comparison.exit_code is ExitCode.NOTHING_MEASURED


def test_limits_are_the_users(gate, fake):
    comparison, _ = gate(fake(ratios={"A": 1.2}), limits=WorseLimits(time=1.5))
    assert comparison.exit_code is ExitCode.OK


def test_only_restricts_methods_and_datasets(loaded):
    plan = plan_gate(*loaded, ["B", "wine"])
    assert [cell.name for cell in plan.cells] == ["B/wine"]
    assert len(plan.cells[0].trials) == 5
    with pytest.raises(UsageError, match="matches no dataset and no method"):
        plan_gate(*loaded, ["nothing"])


def test_confirmations_can_reject_at_any_level():
    for level in [0.5, 0.05, 0.01, 0.0001]:
        assert confirming_blocks(level) >= 3
        assert level >= 2.0 ** -(2 * confirming_blocks(level))


def test_a_small_level_finds_a_slowdown_too(gate, fake):
    comparison, _ = gate(fake(ratios={"A": 1.2}), only=["A", "iris"], level=0.001)
    assert comparison.exit_code is ExitCode.REGRESSION


def test_a_method_that_fails_while_it_is_confirmed_is_left_out(gate, fake):
    model, start = fake(ratios={"A": 1.2}, noise=0.0)

    def fail():
        if model.started.count("head") > 2 * 8:
            model.failing = {"A": "no memory"}

    model.on_run = fail
    comparison, _ = gate((model, start), only=["A", "iris"])
    assert [o.reason for o in comparison.omissions] == ["failed on the head: no memory"]
    assert not comparison.with_verdict(CellVerdict.WORSE)

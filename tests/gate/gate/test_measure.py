from mfbench.model.trials import Trial
from mfbench_gate.comparison import MeasuredCase
from mfbench_gate.gate import measure
from mfbench_gate.gate.measure import BASE, HEAD, Blocks, Measurements, TimedCell


def cell(method, folds=3):
    return TimedCell(MeasuredCase(method, "d"), tuple(Trial("", "d", method, 0, fold, 1) for fold in range(folds)))


def piloted(start, cells, clock="cpu"):
    blocks, into = Blocks(start, clock, seed=0), Measurements()
    blocks.pilot(cells, into)
    return blocks, into


def test_a_block_gives_two_pairs_of_each_cell_and_one_repetition_of_the_base(fake):
    model, start = fake(ratios={"A": 2.0}, noise=0.0)
    blocks, into = piloted(start, [cell("A"), cell("B")])
    blocks.run([cell("A"), cell("B")], into)
    costs = into.costs[MeasuredCase("A", "d"), "fit"]
    assert costs.base == [0.1, 0.1]
    assert costs.head == [0.2, 0.2]
    assert costs.repeated == [(0.1, 0.1)]
    assert {measure for _, measure in into.costs} == {"fit", "predict", "memory"}
    assert model.started == [BASE, HEAD, BASE, HEAD, HEAD, BASE]


def test_sides_take_turns_in_both_orders(fake):
    model, start = fake()
    blocks, into = piloted(start, [cell("A")])
    model.order.clear()
    for _ in range(20):
        blocks.run([cell("A")], into)
    sides = [side for _, side in model.order]
    quads = {tuple(sides[i : i + 4]) for i in range(0, len(sides), 4)}
    assert quads == {(BASE, HEAD, HEAD, BASE), (HEAD, BASE, BASE, HEAD)}


def test_cells_come_in_random_order(fake):
    model, start = fake()
    cells = [cell(name) for name in "ABCDE"]
    blocks, into = piloted(start, cells)
    firsts = set()
    for _ in range(20):
        model.order.clear()
        blocks.run(cells, into)
        firsts.add(model.order[0][0])
    assert len(firsts) > 2


def test_pairs_take_the_folds_in_turns(fake):
    _, start = fake()
    blocks, into = piloted(start, [cell("A")])
    for _ in range(2):
        blocks.run([cell("A")], into)
    assert {fold for *_, fold in into.answers} == {0, 1}


def test_the_clock_is_that_of_the_user(fake):
    _, start = fake(noise=0.0)
    blocks, into = piloted(start, [cell("A")], clock="wall")
    blocks.run([cell("A")], into)
    assert into.costs[MeasuredCase("A", "d"), "fit"].base == [0.2, 0.2]


def test_what_one_side_cannot_run_is_left_out_with_the_reason(fake):
    _model, start = fake(missing={"A": "unknown classifier 'a'"}, failing={"B": "ValueError: no"}, deadly={"C"})
    cells = [cell(name) for name in "ABCD"]
    blocks, into = piloted(start, cells)
    assert into.omissions == {
        "A/d": "is missing on the head: unknown classifier 'a'",
        "B/d": "failed on the head: ValueError: no",
        "C/d": "failed on the head: the process was killed by SIGSEGV",
    }
    blocks.run(cells, into)
    assert {place.method for place, _ in into.costs} == {"D"}


def test_a_failure_in_the_middle_leaves_out_its_cell_alone(fake):
    model, start = fake()
    blocks, into = piloted(start, [cell("A"), cell("B")])
    model.deadly.add("A")
    blocks.run([cell("A"), cell("B")], into)
    assert list(into.omissions) == ["A/d"]
    assert {place.method for place, _ in into.costs} == {"B"}


def test_a_block_in_which_the_machine_slept_does_not_count(fake, monkeypatch):
    _model, start = fake()
    blocks, into = piloted(start, [cell("A")])
    clock = iter([0.0, 60.0, 60.0, 60.0])
    monkeypatch.setattr(measure, "_seconds_asleep", lambda: next(clock))
    blocks.run([cell("A")], into)
    assert (into.n_spoilt, into.costs) == (1, {})
    blocks.run([cell("A")], into)
    assert into.n_spoilt == 1
    assert into.costs


def test_short_trials_are_repeated(fake):
    _, start = fake()
    _, into = piloted(start, [cell("A")])
    assert into.rounds == {"A/d": 1}

"""What a run would do and cost: counted as the run counts, and nothing is written."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from toy_protocols import SPECS, completed

from mfbench.model.earlier import EarlierRun
from mfbench.model.trials import Status, TrialResult
from mfbench.report.progress import Silent
from mfbench.run.forecast.estimate import WORKER, estimate
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.store import Store


@pytest.fixture
def made(prepared):
    """Return a function from options to the estimate of a plan of twelve trials."""
    plan, folder, registry = prepared
    return lambda **options: estimate(plan, folder, registry, RunOptions(**{"jobs": 2, **options}))


def test_without_a_store_everything_is_to_run_and_nothing_is_written(made, prepared):
    one = made()
    assert (one.suite, one.planned, one.stored, one.pending, one.jobs) == ("own", 12, 0, 12, 2)
    assert not prepared[1].parent.parent.exists()
    assert one.folder == prepared[1].as_posix()


def test_the_shares_add_up(made):
    one = made()
    assert [(share.name, share.trials) for share in one.datasets] == [("iris", 12)]
    assert sorted(share.name for share in one.methods) == list("ABCD")
    for shares in (one.datasets, one.methods):
        assert sum(share.seconds for share in shares) == pytest.approx(one.seconds)
        assert max(share.longest for share in shares) <= one.seconds
    assert [share.seconds for share in one.methods] == sorted((s.seconds for s in one.methods), reverse=True)
    assert one.worker_memory == WORKER + max(share.memory for share in one.methods)


def test_a_budget_is_filled_in_rounds_after_the_start(made):
    free = made()
    assert (free.budget, free.reached) == (0.0, 0)
    startup = free.wall - max(free.seconds / 2, max(share.longest for share in free.datasets))
    assert made(budget=startup / 2).reached == 0
    assert made(budget=3600.0).reached == 12
    reached = [made(budget=startup + part * free.seconds / 2).reached for part in (0.3, 0.6, 0.9)]
    assert 0 < reached[0] < reached[1] < reached[2] < 12


def test_methods_that_a_budget_does_not_reach_and_trials_beyond_their_limit_are_named(prepared):
    plan, folder, _ = prepared
    formulas = {"anova-f": "1e-3", "variance": "100", "knn": "1e-3", "naive-bayes": "1e-3"}
    find = SimpleNamespace(
        entry=lambda kind, name: SimpleNamespace(spec=SimpleNamespace(complexity=formulas[name], warm_up=False))
    )
    one = estimate(plan, folder, find, RunOptions(jobs=1, budget=60.0))
    assert (one.reached, one.unreached, one.too_long) == (9, ("C",), ())
    plan.loaded = replace(plan.loaded, protocol=plan.loaded.protocol.model_copy(update={"timeout": 50.0}))
    one = estimate(plan, folder, find, RunOptions(jobs=1, budget=600.0))
    assert (one.reached, one.unreached, one.too_long, one.time_limit) == (12, (), (("iris", "C", 3),), 50.0)


def test_more_workers_take_less_time_but_not_less_work(made):
    assert made(jobs=4).wall < made(jobs=1).wall
    assert made(jobs=4).seconds == made(jobs=1).seconds


def test_what_is_stored_counts_as_in_a_run(subtests, made, prepared):
    for options, pending in [({}, 0), ({"fresh": True}, 12), ({"retry_failed": True}, 3)]:
        with subtests.test(options=options, pending=pending):
            plan, folder, registry = prepared
            execute(plan, folder, registry, RunOptions(jobs=1), Silent())
            with Store(folder) as store:
                for trial in plan.trials[:3]:
                    store.add(trial, TrialResult(key=trial.key, status=Status.CRASH, duration=float("nan")))
            before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
            one = made(**options)
            assert (one.pending, one.stored) == (pending, 12 - pending)
            assert bool(one.datasets) == bool(pending)
            assert (one.wall == 0.0) == (pending == 0)
            assert {path: path.stat().st_mtime_ns for path in folder.iterdir()} == before


def test_a_method_that_is_added_finds_the_results_of_the_others(made, prepared):
    from mfbench.api import Request, prepare_suite

    plan, folder, registry = prepared
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    path = plan.loaded.path
    more, its_folder, _ = prepare_suite(Request(str(path), out=folder.parent.parent, add=["E = naive-bayes"]))
    one = estimate(more, its_folder, registry, RunOptions(jobs=1))
    assert (one.planned, one.stored, one.pending) == (15, 12, 3)
    assert [share.name for share in one.methods] == ["E"]


def test_a_plan_without_trials_costs_nothing(prepared):
    plan, folder, registry = prepared
    empty = replace(plan, trials=[], datasets={}, left_out={"iris": "no file"})
    one = estimate(empty, folder, registry, RunOptions(jobs=3))
    assert (one.planned, one.seconds, one.wall, one.left_out) == (0, 0.0, 0.0, {"iris": "no file"})


def test_results_of_other_sources_are_counted_by_run(prepared):
    plan, folder, registry = prepared
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    has_all = EarlierRun("claim", folder, is_requested=True)
    sources = [[has_all, has_all], [replace(has_all, name="again"), EarlierRun("silent", folder)]]
    one = estimate(plan, folder.parent / "new", registry, RunOptions(jobs=1, fresh=True), sources)
    assert (one.stored, one.elsewhere) == (12, (("claim", 12), ("again", 0)))
    one = estimate(plan, folder, registry, RunOptions(jobs=1), sources)
    assert (one.stored, one.elsewhere) == (12, (("claim", 0), ("again", 0)))
    plan.loaded = replace(plan.loaded, spec=SPECS["timing"], protocol=completed(kind="timing", steps=2))
    one = estimate(plan, folder.parent / "new", registry, RunOptions(jobs=1), sources)
    assert (one.stored, one.elsewhere) == (0, (("claim", 0), ("again", 0)))

"""A run under every protocol, from the suite to what is read from the store. Nothing is fitted when it is read."""

import errno
import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import binomtest
from small_runs import InProcess
from tampering import changed
from undisturbed import exactly_once, same_results

from mfbench.api import Request, Run, exit_code, prepare_suite
from mfbench.api.request import explain_keys
from mfbench.errors import NothingPlannedError, PluginError, RunError
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.report.contents import report_of
from mfbench.report.progress import Silent
from mfbench.run import runner
from mfbench.run.forecast.order import Budget
from mfbench.run.runner import RunOptions, execute, prepare
from mfbench.run.store.file import locked
from mfbench.run.store.metadata import RecordedShard
from mfbench.run.store.store import Store
from mfbench.stats.paired import s_test
from mfbench.suite.plan import Cost, Forecast
from mfbench_cluster.batch.slurm import shard_of

SUITE = """
[suite]
name = "own"
seed = 3
[protocol]
{protocol}
[[datasets]]
use = ["iris", "wine"]
[[methods]]
label = "A"
selector = "anova-f"
classifier = "knn"
{tune}
[[methods]]
label = "B"
classifier = "knn(n_neighbors=1)"
[[methods]]
label = "C"
selector = "anova-f"
classifier = "naive-bayes"
top = 2
"""
TUNE = "tune = { top = { first = 1.0, last = 0.1, count = 4 }, n_neighbors = [1, 3, 5] }"
OVR = 'metrics = ["one_vs_rest_accuracy", "accuracy"]\nscale = "none"\n'
PROTOCOLS = {
    "nested-cv": OVR + 'kind = "nested-cv"\nform = "published"',
    "nested-cv, sound": 'kind = "nested-cv"',
    "three-way": 'kind = "three-way"\nform = "published"\nrepeats = 3',
    "holdout": 'kind = "holdout"\nrepeats = 3\ninner_folds = 3',
    "timing": 'kind = "timing"\nsteps = 3\nrepeats = 2',
    "repeated-cv": 'kind = "repeated-cv"\nform = "published"\nfolds = 3\nrepeats = 2',
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return a function from a protocol's name to its plan and its run, made once."""
    made = {}

    def make(name):
        if name not in made:
            folder = tmp_path_factory.mktemp("runs")
            tune = "" if name == "timing" else TUNE
            (folder / "own.toml").write_text(SUITE.format(protocol=PROTOCOLS[name], tune=tune))
            plan, place, registry = prepare_suite(Request(str(folder / "own.toml"), out=folder / "out"))
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(runner, "LocalPool", InProcess)
                first = execute(plan, place, registry, RunOptions(jobs=1), Silent())
                again = execute(plan, place, registry, RunOptions(jobs=1), Silent())
            assert (first.executed, again.executed) == (len(plan.trials), 0)
            made[name] = plan, Run(place)
        return made[name]

    return make


@pytest.mark.parametrize("name", PROTOCOLS)
def test_a_run_of_every_protocol_is_what_its_plan_and_its_splits_say(stored, name):
    plan, run = stored(name)
    assert not len(run.failures), run.failures["error_message"].tolist()
    # Scores follow from the stored predictions, and every method is tested on the same rows.
    for dataset in ("iris", "wine"):
        tested = []
        for method in "ABC":
            frame = run.predictions(dataset, method)
            tested.append(frame[["repeat", "fold", "row", "truth"]])
            right = (frame["truth"] == frame["prediction"]).groupby([frame["repeat"], frame["fold"]]).mean()
            of_cell = run.trials[(run.trials["dataset"] == dataset) & (run.trials["method"] == method)]
            scores = of_cell.set_index(["repeat", "fold"])["accuracy"]
            np.testing.assert_allclose(right.sort_index(), scores.sort_index())
        assert tested[0].equals(tested[1]) and tested[0].equals(tested[2])
    # Sizes are those of the splits, and so is the ratio of the corrected test.
    for row in run.sizes.to_dict("records"):
        planned = plan.datasets[row["dataset"]].data
        split = plan.protocol.splits(row["dataset"], planned.y, row["repeat"])[row["fold"]]
        assert (row["n_train"], row["n_test"]) == (len(split.train), len(split.test))
        assert row["n_validation"] == (0 if split.tuning is None else len(split.tuning[1]))
        features = split.features(planned.n_features)
        assert row["n_features"] == (planned.n_features if features is None else len(features))
    whole = run.sizes[run.sizes["n_train"] == run.sizes.groupby("dataset")["n_train"].transform("max")]
    assert run.settings.ratio == pytest.approx((whole["n_test"] / whole["n_train"]).mean(), rel=0.05)
    # The report says how rows were split, and keys can be explained.
    report = report_of(run)
    assert run.protocol.description in report.setting
    assert any(section.tables for section in report.sections)
    assert any(section.notes for section in report.sections)
    assert f'"kind": "{plan.protocol.kind}"' in "\n".join(explain_keys(plan))


def test_the_s_test_follows_from_the_stored_decisions(stored):
    """Decisions of one class against the rest: three for each of the 150 rows of iris, tested once."""
    _, run = stored("nested-cv")
    one, other = (run.binary_decisions("iris", method) for method in "AC")
    assert len(one) == 450
    assert one[["repeat", "fold", "row", "class", "truth"]].equals(other[["repeat", "fold", "row", "class", "truth"]])
    a, b = (frame["truth"] == frame["decision"] for frame in (one, other))
    n, k = int((a != b).sum()), int((a & ~b).sum())
    assert n > 0
    pooled = [np.concatenate(run.decisions("iris", method)) for method in "AC"]
    assert s_test(*pooled, exact=True).p_value == pytest.approx(
        binomtest(max(k, n - k), n, alternative="greater").pvalue
    )


def test_a_mean_of_decisions_is_the_score(stored):
    _, run = stored("nested-cv")
    frame = run.binary_decisions("wine", "B")
    right = (frame["truth"] == frame["decision"]).groupby(frame["fold"]).mean()
    scores = run.trials[(run.trials["dataset"] == "wine") & (run.trials["method"] == "B")]["one_vs_rest_accuracy"]
    np.testing.assert_allclose(right, scores)


def test_labels_imply_decisions_where_none_were_made(stored):
    _, run = stored("nested-cv, sound")
    frame, labels = run.binary_decisions("iris", "B"), run.predictions("iris", "B")
    assert len(frame) == 3 * len(labels)
    said = frame[frame["decision"] == 1]
    assert said["class"].tolist() == labels["prediction"].tolist()
    assert said["row"].tolist() == labels["row"].tolist()


def test_the_trivial_accuracy_stands_beside_one_against_the_rest(stored):
    from mfbench.report.sections.scores import score_table

    _, run = stored("nested-cv")
    table = score_table(run)
    assert table.columns[:2] == ["dataset", "trivial"]
    assert [row[1].text for row in table.rows[:2]] == ["66.7", f"{100 * (119 + 107 + 130) / (3 * 178):.1f}"]
    assert all(len(row) == len(table.columns) for row in table.rows)
    assert "trivial" not in score_table(stored("nested-cv, sound")[1]).columns


def test_times_of_every_size_are_reported(stored):
    _, run = stored("timing")
    assert run.sizes.groupby("dataset")["fold"].nunique().tolist() == [5, 5]
    assert run.timing[["n_train", "n_features"]].drop_duplicates().values.tolist() == [[120, 4], [142, 13]]
    assert (run.timing["seconds"] > 0).all()
    titles = [table.title for section in report_of(run).sections for table in section.tables]
    assert titles[0] == "Time to fit at the largest size" and len(titles) == 3
    assert run.trials.loc[run.trials["fold"] == 4, "selected"].isna().all()


def test_a_run_removes_its_work_files_and_records_what_it_needs(prepared):
    plan, folder, registry = prepared
    told = []

    class Watch(Silent):
        def finished(self, trial: Trial, result: TrialResult) -> None:
            told.append((trial.key, result.status))

    progress = execute(plan, folder, registry, RunOptions(jobs=1), Watch())
    assert progress.executed == len(plan.trials) == len(told)
    assert {status for _, status in told} == {Status.OK}
    assert not (folder / ".work").exists()
    assert (folder / "environment.json").is_file()
    again = execute(plan, folder, registry, RunOptions(jobs=1), Watch())
    assert (again.resumed, again.executed) == (len(plan.trials), 0)
    assert plan.protocol.identity == "repeated-cv:3:0"
    fresh = execute(plan, folder, registry, RunOptions(jobs=1, fresh=True), Watch())
    assert (fresh.resumed, fresh.executed) == (0, len(plan.trials))


def test_a_start_that_runs_nothing_keeps_where_the_results_are_from(prepared):
    plan, folder, registry = prepared

    def workers():
        stored = json.loads((folder / "environment.json").read_text())["jobs"]
        assert stored == Run(folder).meta.environment.jobs
        return stored

    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    execute(plan, folder, registry, RunOptions(jobs=2), Silent())
    assert workers() == 1, "two workers would have had nothing to do"
    execute(plan, folder, registry, RunOptions(jobs=2, retry_failed=True), Silent())
    assert workers() == 1, "nothing had failed"
    with changed(folder) as db:
        db.execute("DELETE FROM trials")
    execute(plan, folder, registry, RunOptions(jobs=2), Silent())
    assert workers() == 2


def test_a_failure_stays_until_its_repetition_has_a_result(prepared):
    plan, folder, registry = prepared
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    with changed(folder) as db:
        db.execute("UPDATE trials SET status = 'error'")

    def end(*_):
        raise KeyboardInterrupt

    watch = Silent()
    watch.started = end
    with pytest.raises(KeyboardInterrupt):
        execute(plan, folder, registry, RunOptions(jobs=2, retry_failed=True), watch)
    run = Run(folder)
    assert set(run.trials["status"]) == {"error"} and len(run.trials) == len(plan.trials)
    assert run.meta.environment.jobs == 1
    again = execute(plan, folder, registry, RunOptions(jobs=2, retry_failed=True), Silent())
    assert again.executed == len(plan.trials) and set(Run(folder).trials["status"]) == {"ok"}
    assert Run(folder).meta.environment.jobs == 2


@pytest.mark.parametrize("fresh", [False, True])
def test_a_plan_that_cannot_be_made_does_not_replace_a_stored_one(tmp_path, monkeypatch, fresh):
    monkeypatch.setattr(runner, "LocalPool", InProcess)
    (tmp_path / "own.toml").write_text(SUITE.format(protocol="folds = 2", tune=""))
    plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), only=["iris", "B"], out=tmp_path))
    execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    before = Run(folder).trials
    assert len(before) == len(plan.trials)
    broken = replace(plan, trials=[], methods={}, left_out={"B": "it cannot be imported"})
    with pytest.raises(
        NothingPlannedError, match=r"(?s)nothing of 'own' can be run.*stay as they are.*B: it cannot"
    ) as raised:
        execute(broken, folder, registry, RunOptions(jobs=1, fresh=fresh), Silent())
    assert raised.value.exit_code == 3
    assert Run(folder).trials.equals(before)


def test_an_empty_plan_is_recorded_where_there_is_no_other(tmp_path, monkeypatch):
    (tmp_path / "own.toml").write_text(SUITE.format(protocol="folds = 2", tune=""))
    plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), only=["iris", "B"], out=tmp_path))
    broken = replace(plan, trials=[], methods={}, left_out={"B": "it cannot be imported"})
    for _ in range(2):
        execute(broken, folder, registry, RunOptions(jobs=1), Silent())
    assert exit_code(Run(folder)) == 3
    assert Run(folder).left_out == {"B": "it cannot be imported"}


class TestSteps:
    def test_a_prepared_run_has_a_store_without_a_start(self, prepared):
        plan, folder, registry = prepared
        with prepare(plan, folder, registry, RunOptions(jobs=3), Silent()) as start:
            assert (start.jobs, start.described.jobs, start.budget) == (3, 3, None)
            assert not start.store.has_plan() and plan.forecast is not None
            with pytest.raises(RunError, match="another mfbench is running"), locked(folder):
                pass

    def test_what_is_pending_is_recorded_before_it_is_run(self, prepared):
        plan, folder, registry = prepared
        started = []
        observer = Silent()
        observer.started = lambda plan, done, pending: started.append((done, pending))
        with prepare(plan, folder, registry, RunOptions(jobs=1), observer) as start:
            pending = start.pending(())
            assert started == [([], pending)] and {trial.key for trial in pending} == {t.key for t in plan.trials}
            assert start.store.has_plan() and start.store.meta().environment.jobs == 1
            start.store.add(pending[0], TrialResult(key=pending[0].key))
        with prepare(plan, folder, registry, RunOptions(jobs=1), observer) as start:
            rest = start.pending(())
            assert len(rest) == len(pending) - 1 and start.progress.resumed == 1

    def test_what_a_budget_leaves_is_counted_at_the_end(self, prepared):
        plan, folder, registry = prepared
        with prepare(plan, folder, registry, RunOptions(jobs=1, budget=7.0), Silent()) as start:
            pending = start.pending(())
            start.work([])
            progress = start.finish(pending)
            assert (progress.executed, progress.pending) == (0, len(plan.trials))
            assert start.store.recorded("ended_budget", 0.0) == 7.0


class TestBudget:
    @pytest.fixture
    def clock(self, monkeypatch):
        """Stop the clock of budgets, and return it."""
        clock = SimpleNamespace(now=0.0)
        monkeypatch.setattr(runner, "LocalPool", InProcess)
        monkeypatch.setattr(runner, "Budget", lambda seconds, **options: Budget(seconds, now=lambda: clock.now))
        return clock

    def test_it_ends_the_run_with_a_fair_table_and_the_next_start_completes_it(self, tmp_path, clock):
        """Each trial takes a second; 2 datasets × 3 methods × 6 folds."""

        class Ticks(Silent):
            def finished(self, trial: Trial, result: TrialResult) -> None:
                clock.now += 1.0

        (tmp_path / "own.toml").write_text(SUITE.format(protocol=PROTOCOLS["repeated-cv"], tune=""))

        def start(out, **options):
            plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path / out))
            return execute(plan, folder, registry, RunOptions(jobs=1, **options), Ticks()), folder

        first, folder = start("budget", budget=13.0)
        assert (first.executed, first.pending) == (13, 23)
        run = Run(folder)
        assert run.meta.ended_budget == 13.0
        counts = run.outcomes[run.outcomes["status"].notna()].groupby(["dataset", "method"]).size()
        assert sorted(counts) == [2, 2, 2, 2, 2, 3]
        assert run.scores["planned"].tolist() == [2] * 6 and run.scores["complete"].all()
        assert exit_code(run) == 0
        assert "because the budget of 13s ended" in "\n".join(report_of(run).sections[-1].notes)
        second, _ = start("budget", budget=3600.0)
        assert (second.resumed, second.executed, second.pending) == (13, 23, 0)
        assert Run(folder).meta.ended_budget == 0.0
        _, other = start("undisturbed")
        exactly_once(folder)
        same_results(folder, other)

    def test_the_cheapest_methods_come_first(self, prepared, monkeypatch):
        """Methods A and B share the fit of a selector, so they are one group."""
        plan, folder, registry = prepared
        seconds = {"A": 8.0, "B": 2.0, "C": 9.0, "D": 1.0}
        costs = SimpleNamespace(of=lambda trial: Cost(seconds[trial.method], 0))
        monkeypatch.setattr(runner, "forecast", lambda *_: Forecast(costs, 1))
        monkeypatch.setattr(runner, "LocalPool", InProcess)
        ran = []

        class Watch(Silent):
            def finished(self, trial: Trial, result: TrialResult) -> None:
                ran.append(trial.method)

        execute(plan, folder, registry, RunOptions(jobs=1, budget=3600.0), Watch())
        assert "".join(ran) == "DABC" * 3

    def test_one_without_any_time_measures_nothing(self, tmp_path, clock):
        (tmp_path / "own.toml").write_text(SUITE.format(protocol="folds = 2", tune=""))
        plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path))
        clock.now = 5.0

        class Late(Silent):
            def started(self, *_):
                clock.now += 1.0

        class Patient(InProcess):
            def collect(self):
                yield from super().collect() if not self.budget.is_over else ()

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(runner, "LocalPool", Patient)
            progress = execute(plan, folder, registry, RunOptions(jobs=1, budget=0.5), Late())
        assert (progress.executed, progress.pending) == (0, len(plan.trials))
        assert exit_code(Run(folder)) == 3


def test_a_share_records_its_positions_and_the_splits_of_its_folds(prepared):
    plan, folder, registry = prepared
    part = shard_of(plan, 1, 2, folder.name, registry)
    own = folder.with_name(part.shard.folder_name)
    execute(part, own, registry, RunOptions(jobs=1), Silent())
    with Store(own, read_only=True) as store:
        rows = list(store.raw("SELECT position, key FROM plan ORDER BY position"))
        assert rows == [(position, plan.trials[position].key) for position in part.shard.positions]
        assert store.finished() == {trial.key for trial in part.trials}
        assert store.meta().shard == RecordedShard.of_shard(part.shard)
        assert list(store.meta().methods) == list(plan.methods)
        assert len(store.datasets()) == 1 and len(list(store.raw("SELECT * FROM splits"))) == 3


def test_an_empty_share_of_a_plan_is_recorded(prepared):
    plan, folder, registry = prepared
    empty = shard_of(plan, 30, 30, folder.name, registry)
    for _ in range(2):
        execute(empty, folder.with_name(empty.shard.folder_name), registry, RunOptions(jobs=1), Silent())
    with Store(folder.with_name(empty.shard.folder_name), read_only=True) as store:
        assert not store.has_plan() and store.meta().shard.n_trials == 12
        assert list(store.raw("SELECT * FROM splits")) == []


def test_the_arrays_that_a_killed_run_left_are_removed_though_nothing_is_pending(tmp_path):
    (tmp_path / "own.toml").write_text(SUITE.format(protocol="folds = 2", tune=""))
    plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        execute(plan, folder, registry, RunOptions(jobs=1), Silent())
        (folder / ".work").mkdir()
        (folder / ".work" / "array").touch()
        assert execute(plan, folder, registry, RunOptions(jobs=1), Silent()).executed == 0
    assert not (folder / ".work").exists()


def test_a_damaged_result_is_named_and_computed_again(tmp_path):
    (tmp_path / "own.toml").write_text(SUITE.format(protocol="folds = 2", tune=""))
    plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path))
    remarks = []

    class Watch(Silent):
        def remarked(self, remark):
            remarks.append(remark)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runner, "LocalPool", InProcess)
        execute(plan, folder, registry, RunOptions(jobs=1), Watch())
        assert not remarks
        before = Run(folder).scores
        with Store(folder) as store, store.writing() as db:
            db.execute("UPDATE trials SET scores = '{}' WHERE key = ?", [plan.trials[0].key])
        (remark,) = Run(folder).remarks
        assert "damaged and count as not run" in remark and Run(folder).n_pending == 1
        assert execute(plan, folder, registry, RunOptions(jobs=1), Watch()).executed == 1
    assert len(remarks) == 1 and Run(folder).scores.equals(before)


def test_a_file_that_has_no_room_is_named_and_the_reader_that_has_gone_is_not_explained(prepared, monkeypatch):
    plan, folder, registry = prepared
    for names, expected in [((), rf"all files of {folder}: No space left; .*TMPDIR"), (["/a/b"], "use /a/b: No space")]:
        with pytest.raises(RunError, match=expected), prepare(plan, folder, registry, RunOptions(), Silent()):
            raise OSError(errno.ENOSPC, "No space left", *names)
    with pytest.raises(BrokenPipeError), prepare(plan, folder, registry, RunOptions(), Silent()):
        raise BrokenPipeError


class Twice(InProcess):
    """Gives a result again."""

    def collect(self):
        for ended in super().collect():
            yield from (ended, ended)


def test_a_result_that_is_not_awaited_is_not_stored(prepared, monkeypatch):
    monkeypatch.setattr(runner, "LocalPool", Twice)
    plan, folder, registry = prepared
    with pytest.raises(PluginError, match="the executor 'local' gives a result that is not awaited: Trial"):
        execute(plan, folder, registry, RunOptions(jobs=1), Silent())
    assert (Run(folder).trials["status"] == "ok").sum() == 1

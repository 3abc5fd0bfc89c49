"""Results of earlier runs in a run of a changed suite: the same to the bit, and never more than is stated."""

import shutil
from dataclasses import replace

import pytest
from small_runs import SUITE, InProcess
from tampering import changed

from mfbench.api import Request, Run, prepare_suite
from mfbench.api.request import explain_keys
from mfbench.errors import RunError, UsageError
from mfbench.model.earlier import EarlierRun
from mfbench.model.trials import Status
from mfbench.report.brief import problems
from mfbench.report.progress import Silent
from mfbench.run import runner
from mfbench.run.reuse import earlier_runs, opened_sources, remarks_on_reuse
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.file import FILE_NAME, SCHEMA_VERSION
from mfbench.run.store.metadata import Reused
from mfbench.run.store.store import Store

MINE = "MINE = variance -> top 2 -> knn(n_neighbors=3)"
METHODS, FOLDS = 4, 3
BASE = METHODS * FOLDS


EXECUTED = []


class Recording(InProcess):
    """Writes down the method of each trial."""

    def collect(self):
        for trial, result in super().collect():
            EXECUTED.append(trial.method)
            yield trial, result


class Listening(Silent):
    """Writes down the remarks before the start."""

    def __init__(self):
        self.remarks = []

    def remarked(self, remark):
        self.remarks.append(remark)

    def started(self, plan, done, pending):
        self.remarks.append(f"start with {len(done)} done")


class Interrupting(Silent):
    """Ends a run before its first trial."""

    def started(self, plan, done, pending):
        raise KeyboardInterrupt


@pytest.fixture(scope="module")
def first_runs(tmp_path_factory):
    """The folders of runs of suites without additions, each executed by the first test that needs it."""
    return tmp_path_factory.mktemp("first"), {}


@pytest.fixture
def run(tmp_path, monkeypatch, first_runs):
    """Return a function that runs the suite with additions, and returns the methods that were executed and the run."""
    monkeypatch.setattr(runner, "LocalPool", Recording)
    (tmp_path / "own.toml").write_text(SUITE)

    def start(*add, options=None, text=SUITE, observer=None, sources=(), **more):
        (tmp_path / "own.toml").write_text(text)
        kept, known = first_runs
        is_first = not (add or options or observer or sources or more or (tmp_path / "out").exists())
        if is_first and text in known:
            number, methods = known[text]
            shutil.copytree(kept / str(number), tmp_path / "out")
            (folder,) = (tmp_path / "out" / "own").iterdir()
            return sorted(set(methods)), len(methods), Run(folder)
        plan, folder, registry = prepare_suite(
            Request(str(tmp_path / "own.toml"), add=add, out=tmp_path / "out", **more)
        )
        EXECUTED.clear()
        execute(plan, folder, registry, options or RunOptions(jobs=1), observer or Silent(), sources)
        if is_first:
            known[text] = len(known), list(EXECUTED)
            shutil.copytree(tmp_path / "out", kept / str(known[text][0]))
        return sorted(set(EXECUTED)), len(EXECUTED), Run(folder)

    return start


def rows(run, condition="1"):
    with Store(run.path, read_only=True) as store:
        return {row[0]: row for row in store.raw(f"SELECT * FROM trials WHERE {condition}")}


def change(run, statement):
    with changed(run.path) as db:
        db.execute(statement)


def test_only_what_was_added_is_executed_and_the_rest_is_the_same_to_the_bit(run):
    _, count, base = run()
    assert count == BASE
    methods, count, mine = run(MINE)
    assert (methods, count) == (["MINE"], FOLDS)
    old, new = rows(base), rows(mine)
    assert old == {key: new[key] for key in old} and len(new) == BASE + FOLDS
    assert mine.remarks == [
        f"12 of 15 results are from earlier runs, and so are their times: 12 from {base.path.name}."
    ]
    assert mine.remarks[0] in problems(mine)
    assert not base.remarks and rows(base) == old


def test_another_start_executes_nothing_and_states_the_same(run):
    run()
    _, _, first = run(MINE)
    _, count, again = run(MINE)
    assert count == 0 and again.path == first.path and again.remarks == first.remarks


def test_what_a_run_had_from_another_is_from_where_it_was_measured(run):
    _, _, base = run()
    _, _, mine = run(MINE)
    methods, _, other = run(MINE, "M2 = knn(n_neighbors=7)")
    assert methods == ["M2"]
    assert {name: len(keys) for name, keys in other.meta.reused.keys.items()} == {
        base.path.name: BASE,
        mine.path.name: FOLDS,
    }


def test_an_edit_of_the_suite_measures_what_it_changes(run):
    run()
    observer = Listening()
    edited = SUITE.replace('label = "B"\nselector = "anova-f"', 'label = "B"\nselector = "variance"')
    methods, count, mine = run(text=edited, observer=observer)
    assert (methods, count) == (["B"], FOLDS)
    note = "9 of 12 results are reused from earlier runs; --fresh measures everything again."
    assert observer.remarks == [note, "start with 9 done"]
    assert mine.remarks[0].startswith("9 of 12 results are from earlier runs, and so are their times: 9 from full-")


def test_a_suite_with_another_name_uses_the_runs_beside_it(run, tmp_path):
    _, _, base = run()
    broken = tmp_path / "out" / "broken" / "full-1"
    broken.mkdir(parents=True)
    (broken / FILE_NAME).write_bytes(b"no database" * 1000)
    copy = SUITE.replace('name = "own"', 'name = "copy"')
    _, count, mine = run(text=copy)
    assert count == 0 and mine.path.parent.name == "copy"
    assert mine.remarks == [
        f"12 of 12 results are from earlier runs, and so are their times: 12 from own/{base.path.name}."
    ]


def test_a_run_outside_of_a_folder_of_reports_uses_no_run_around_it(run, tmp_path):
    run()
    plan, _, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path / "out"))
    (tmp_path / "out" / "elsewhere").mkdir()
    EXECUTED.clear()
    execute(plan, tmp_path / "out" / "elsewhere" / "run", registry, RunOptions(jobs=1), Silent())
    assert len(EXECUTED) == BASE


def test_a_share_looks_at_whole_runs_alone(run, tmp_path):
    _, _, base = run()
    text = SUITE.replace('label = "B"\nselector = "anova-f"', 'label = "B"\nselector = "variance"')
    (tmp_path / "own.toml").write_text(text)
    shares = [
        prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path / "out", shard=f"{i}/2"))[:2] for i in (1, 2)
    ]
    shares[0][1].mkdir()
    shutil.copy(base.path / FILE_NAME, shares[0][1])
    assert list(earlier_runs(*shares[1])) == [EarlierRun(base.path.name, base.path)]


def test_an_added_dataset_leaves_the_others_as_they_are(run, tmp_path):
    run()
    lines = "".join(f"{i},{i % 5},{'ab'[i % 2]}\n" for i in range(30))
    (tmp_path / "mine.csv").write_text(f"x,y,class\n{lines}")
    methods, count, more = run(add_data=f"file:{tmp_path}/mine.csv")
    assert count == BASE and len(methods) == METHODS
    assert set(more.outcomes["dataset"]) == {"iris", "mine.csv"} and "12 of 24" in more.remarks[0]


def test_fresh_measures_everything_again(run):
    run()
    run(MINE)
    _, count, mine = run(MINE, options=RunOptions(jobs=1, fresh=True))
    assert count == BASE + FOLDS and not mine.remarks


def test_times_are_never_those_of_another_run_if_they_are_what_is_measured(run):
    text = SUITE.replace("folds = 3\nrepeats = 1", 'kind = "timing"\nsteps = 2\nrepeats = 2').replace(
        "[profiles.quick]\nfolds = 3\n", ""
    )
    _, first, _ = run(text=text)
    _, count, mine = run(MINE, text=text)
    assert count > first and not mine.remarks


@pytest.mark.parametrize(
    ("status", "is_reused"),
    [("error", True), ("timeout", False), ("memory", False), ("crash", False)],
)
def test_failures_are_used_again_only_if_a_repetition_cannot_avoid_them(run, status, is_reused):
    _, _, base = run()
    change(base, f"UPDATE trials SET status = '{status}' WHERE key IN (SELECT key FROM plan WHERE method = 'D')")
    methods, _, _ = run(MINE)
    assert methods == (["MINE"] if is_reused else ["D", "MINE"])


def test_retrying_failures_measures_them_here(run):
    _, _, base = run()
    change(base, "UPDATE trials SET status = 'error' WHERE key IN (SELECT key FROM plan WHERE method = 'D')")
    run(MINE)
    methods, _, mine = run(MINE, options=RunOptions(jobs=1, retry_failed=True))
    assert methods == ["D"] and set(mine.outcomes["status"]) == {"ok"}
    assert "9 of 15" in mine.remarks[0], "what was measured again is not from elsewhere"


def test_a_start_that_plans_less_forgets_nothing(run, tmp_path):
    text = SUITE.replace('use = ["iris"]', 'use = ["iris", "monks-1"]')
    _, _, base = run(text=text)
    claim = bundled(base, tmp_path)
    _, _, mine = elsewhere(run, claim, tmp_path=tmp_path, text=text)
    plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), out=tmp_path / "out"))
    plan.trials = [trial for trial in plan.trials if trial.dataset == "iris"]
    execute(plan, folder, registry, RunOptions(jobs=1), Silent(), [[claim]])
    assert "12 of 12 results are from unverified bundles" in Run(folder).remarks[0]
    _, count, mine = run(text=text)
    assert count == 0 and "24 of 24 results are from unverified bundles" in mine.remarks[0]


def test_what_was_measured_again_is_not_from_a_bundle(run, tmp_path):
    _, _, base = run()
    statement = "UPDATE trials SET status = 'error' WHERE key IN (SELECT key FROM plan WHERE method = 'D')"
    claim = bundled(base, tmp_path, statement)
    _, _, mine = elsewhere(run, claim, tmp_path=tmp_path)
    assert "12 of 12 results are from unverified bundles" in mine.remarks[0]
    # A start that ends before it repeats anything leaves the failures of the bundle and their record.
    with pytest.raises(KeyboardInterrupt):
        run(options=RunOptions(jobs=1, retry_failed=True), sources=[[claim]], observer=Interrupting())
    assert "12 of 12 results are from unverified bundles" in Run(mine.path).remarks[0]
    methods, _, mine = run(options=RunOptions(jobs=1, retry_failed=True))
    assert methods == ["D"] and "9 of 12 results are from unverified bundles" in mine.remarks[0]
    change(mine, "DELETE FROM trials WHERE key IN (SELECT key FROM plan WHERE method = 'A')")
    methods, _, mine = run()
    assert methods == ["A"] and "6 of 12 results are from unverified bundles" in mine.remarks[0]
    with Store(mine.path) as store:
        assert not store.repair()


def test_a_failure_is_replaced_by_the_result_of_a_bundle(run, tmp_path):
    _, _, base = run()
    claim = bundled(base, tmp_path)
    change(base, "UPDATE trials SET status = 'error' WHERE key IN (SELECT key FROM plan WHERE method = 'D')")
    _, count, mine = run(options=RunOptions(jobs=2, retry_failed=True), sources=[[claim]])
    assert count == 0 and set(mine.outcomes["status"]) == {"ok"}
    assert "3 of 12 results are from unverified bundles" in mine.remarks[0]
    assert mine.meta.environment.jobs == 1, "nothing was run here with two workers"


def test_a_method_whose_key_differs_is_measured(run):
    run()
    text = SUITE.replace('label = "B"\nselector = "anova-f"', 'label = "B"\nselector = "variance"')
    methods, _, _ = run(MINE, text=text)
    assert methods == ["B", "MINE"]


def test_a_damaged_run_is_passed_over_with_a_remark(run):
    _, _, base = run()
    good = base.path.parent / "another"
    shutil.copytree(base.path, good)
    for path in base.path.glob(f"{FILE_NAME}*"):
        path.unlink()
    (base.path / FILE_NAME).write_bytes(b"no database" * 1000)
    methods, _, mine = run(MINE)
    assert methods == ["MINE"], "the other run has the results too"
    assert mine.remarks[0].endswith("12 from another.")
    assert mine.remarks[1].startswith(
        f"Results of {base.path.name} were not used again, because the run cannot be read"
    )


@pytest.mark.parametrize(
    "statement",
    [
        f"PRAGMA user_version = {SCHEMA_VERSION + 1}",
        "UPDATE meta SET value = '{'",
        "DELETE FROM meta",
        "ALTER TABLE trials ADD COLUMN attempts",
    ],
)
def test_a_run_that_cannot_be_read_costs_time_and_nothing_else(run, statement):
    _, _, base = run()
    change(base, statement)
    _, count, mine = run(MINE)
    assert count == BASE + FOLDS and set(mine.outcomes["status"]) == {"ok"}
    assert len(mine.remarks) == 1 and mine.remarks[0].startswith(f"Results of {base.path.name} were not used again")


def test_a_run_that_is_being_written_is_read_as_it_is(run):
    _, _, base = run()
    with Store(base.path) as store, store.writing() as db:
        db.execute("DELETE FROM trials")
        methods, _, _ = run(MINE)
    assert methods == ["MINE"]


def test_machines_and_workers_that_differ_are_named(run):
    _, _, base = run()
    change(
        base, "UPDATE meta SET value = json_set(value, '$.jobs', 8, '$.cpu', 'an abacus') WHERE name = 'environment'"
    )
    _, _, mine = run(MINE)
    assert "(an abacus" in mine.remarks[0] and "8 workers)" in mine.remarks[0]


def test_a_run_that_was_interrupted_goes_on_where_it_stopped(run, tmp_path, monkeypatch):
    _, _, base = run()

    class InterruptingLater(Silent):
        def finished(self, trial, result):
            raise KeyboardInterrupt

    plan, folder, registry = prepare_suite(Request(str(tmp_path / "own.toml"), add=MINE, out=tmp_path / "out"))
    with pytest.raises(KeyboardInterrupt):
        execute(plan, folder, registry, RunOptions(jobs=1), InterruptingLater())
    assert Run(folder).remarks[0].startswith("12 of 13 results are from earlier runs, and so are their times: 12 from")
    shutil.rmtree(base.path)
    methods, count, mine = run(MINE)
    assert (methods, count, mine.path) == (["MINE"], FOLDS - 1, folder)
    assert "12 of 15" in mine.remarks[0]


def test_keys_of_an_added_method_can_be_explained(run, tmp_path):
    plan, _, _ = prepare_suite(Request(str(tmp_path / "own.toml"), add=MINE, out=tmp_path))
    (text,) = [text for text in explain_keys(plan) if '"method": "MINE"' in text]
    assert '"expression": "knn({\'n_neighbors\': 3})"' in text


def test_a_store_without_a_start_has_nothing_from_elsewhere(tmp_path):

    with Store(tmp_path / "new") as store:
        assert store.reused() == Reused()


def test_a_result_that_is_not_there_is_not_counted():
    reused = Reused(keys={"a": ["1", "2"], "b": ["3"]}, passed_over=["Over."])
    assert remarks_on_reuse(reused, ["9"]) == ["Over."]
    assert remarks_on_reuse(reused, ["1", "9"])[0].startswith("1 of 2 results are from earlier runs")
    assert Status.ERROR in runner.RETRIED


def bundled(run, tmp_path, change=None):
    """Return the results of a bundle of a run, in which somebody may have changed the store."""
    folder = tmp_path / "bundled"
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(run.path, folder)
    if change is not None:
        with changed(folder) as db:
            db.execute(change)
    return EarlierRun("claim.zip (sha256 0123)", folder, is_verified=False, is_requested=True, has_origins=False)


def elsewhere(run, claim, *add, tmp_path, **more):
    """Run the suite where there are no other runs."""
    shutil.rmtree(tmp_path / "out")
    return run(*add, **{"sources": [[claim]], **more})


def test_results_of_a_bundle_are_used_and_named(run, tmp_path):
    _, _, base = run()
    old, claim = rows(base), bundled(base, tmp_path)
    methods, count, mine = elsewhere(run, claim, MINE, tmp_path=tmp_path)
    assert (methods, count) == (["MINE"], FOLDS)
    new = rows(mine)
    assert old == {key: new[key] for key in old}
    remark = "12 of 15 results are from unverified bundles, and so are their times: 12 from claim.zip (sha256 0123)."
    assert mine.remarks == [remark]
    # The record stays when the run is started again without the bundle, and its own results come first.
    _, count, mine = run(MINE)
    assert count == 0 and mine.remarks == [remark]
    _, count, mine = run(sources=[[claim]])
    assert count == 0 and "from unverified bundles" in mine.remarks[0]
    _, count, mine = run(options=RunOptions(jobs=1, fresh=True), sources=[[claim]])
    assert count == 0


def test_results_of_a_bundle_stay_unverified_in_a_run_that_copies_them(run, tmp_path):
    _, _, base = run()
    claim = bundled(base, tmp_path)
    elsewhere(run, claim, tmp_path=tmp_path)
    _, count, mine = run(MINE)
    assert count == FOLDS and mine.meta.reused.bundles == [claim.name]
    assert "12 of 15 results are from unverified bundles" in mine.remarks[0]


def test_earlier_runs_and_bundles_are_told_apart(run, tmp_path):
    _, _, base = run()
    claim = bundled(base, tmp_path)
    change(base, "DELETE FROM trials WHERE key IN (SELECT key FROM plan WHERE method = 'A')")
    _, count, mine = run(MINE, sources=[[claim]])
    assert count == FOLDS
    assert mine.remarks == [
        "12 of 15 results are from earlier runs and unverified bundles, and so are their times: 9 from "
        f"{base.path.name}, 3 from claim.zip (sha256 0123)."
    ]


def test_results_with_other_keys_are_executed_and_the_reason_is_named(run, tmp_path):
    _, _, base = run()
    claim = bundled(base, tmp_path)
    with Store(claim.folder) as store:
        code = store.recorded("code", {})
        code["libraries"]["numpy"] = "1.0"
        store.record("code", code)
    with changed(claim.folder) as db:
        db.execute("UPDATE plan SET key = 'x' || key WHERE method = 'A'")
        db.execute("UPDATE trials SET key = 'x' || key WHERE 'x' || key IN (SELECT key FROM plan)")
    observer = Listening()
    methods, count, mine = elsewhere(run, claim, tmp_path=tmp_path, observer=observer)
    assert (methods, count) == (["A"], FOLDS)
    (note,) = mine.remarks[1:]
    assert observer.remarks == [note, f"start with {BASE - FOLDS} done"]
    assert note.startswith("3 results of claim.zip (sha256 0123) could not be used here, where these differ: numpy ")
    assert note.endswith(" instead of 1.0.")


def test_a_bundle_of_another_suite_is_named_before_the_start(run, tmp_path):
    _, _, base = run()
    claim = bundled(base, tmp_path, "UPDATE plan SET dataset = 'another'")
    observer = Listening()
    _, count, mine = elsewhere(run, claim, tmp_path=tmp_path, observer=observer)
    assert count == BASE
    note = f"{claim.name} has no result of a trial of this run: it is of suite own, profile full."
    assert observer.remarks[-2:] == [note, "start with 0 done"]
    assert note in mine.remarks


@pytest.mark.parametrize(
    ("statement", "number"),
    [
        ("UPDATE plan SET method = CASE method WHEN 'A' THEN 'B' ELSE 'A' END WHERE method IN ('A', 'B')", 2 * FOLDS),
        ("UPDATE plan SET fold = 2 - fold WHERE method = 'A'", FOLDS - 1),
        ("UPDATE datasets SET sha256 = 'other'", BASE),
    ],
)
def test_a_result_is_used_only_if_the_bundle_gives_its_key_to_the_same_trial(run, tmp_path, statement, number):
    _, _, base = run()
    claim = bundled(base, tmp_path, statement)
    _, count, mine = elsewhere(run, claim, tmp_path=tmp_path)
    assert count == number
    assert any(
        note
        == f"{number} results of claim.zip (sha256 0123) could not be used here, because its plan gives their keys "
        "to other trials."
        for note in mine.remarks
    )


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        (
            'UPDATE datasets SET n_features = 50, class_names = json(\'["a", "b", "c", "d"]\')',
            "n_features, class_names",
        ),
        (
            "UPDATE splits SET test = (SELECT s.test FROM splits s WHERE s.fold = 1) WHERE fold = 0",
            "rows of repeat 0, fold 0",
        ),
    ],
)
def test_a_result_is_used_only_if_the_bundle_has_the_same_data_and_folds(run, tmp_path, statement, what):
    _, _, base = run()
    claim = bundled(base, tmp_path, statement)
    observer = Listening()
    _, count, mine = elsewhere(run, claim, tmp_path=tmp_path, observer=observer)
    assert count == BASE
    reason = f"the bundle's data of iris are not those here: {what}"
    note = f"12 results of {claim.name} could not be used here, because {reason}."
    assert observer.remarks == [note, "start with 0 done"] and mine.remarks == [note]


def test_times_are_not_taken_from_a_bundle(run, tmp_path):
    text = SUITE.replace("folds = 3\nrepeats = 1", 'kind = "timing"\nrepeats = 1\nsteps = 2')
    text = text.replace("[profiles.quick]\nfolds = 3\n", "")
    _, planned, base = run(text=text)
    claim = bundled(base, tmp_path)
    _, count, mine = elsewhere(run, claim, tmp_path=tmp_path, text=text)
    assert count == planned and "No results of claim.zip" in mine.remarks[0]


# -- sources of results ------------------------------------------------------------------------------------------------


def generator(events, *runs, error=None):
    """Yield runs as a plugin does, and write down what happens."""
    events.append("opened")
    try:
        if error is not None:
            raise error
        yield from runs
    finally:
        events.append("closed")


def test_a_source_is_open_while_it_is_used(run, tmp_path):
    _, _, base = run()
    claim = bundled(base, tmp_path)

    def source():
        yield claim
        shutil.rmtree(claim.folder)

    _, count, _ = elsewhere(run, claim, MINE, tmp_path=tmp_path, sources=[source(), ()])
    assert count == FOLDS and not claim.folder.exists()


def test_sources_are_closed_after_an_error(run, tmp_path, monkeypatch):
    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(runner, "reuse_results", fail)
    events, other = [], EarlierRun("other", tmp_path / "other")
    with pytest.raises(KeyboardInterrupt):
        run(MINE, sources=[generator(events, other, other)])
    assert events == ["opened", "closed"]


def test_a_source_that_refuses_does_so_before_anything_is_written_and_the_others_are_closed(run, tmp_path):
    events, other = [], EarlierRun("other", tmp_path / "other")
    with pytest.raises(UsageError, match="refused"):
        run(MINE, sources=[generator(events, other, other), generator(events, error=UsageError("refused"))])
    assert events == ["opened", "opened", "closed", "closed"]
    assert not (tmp_path / "out").exists()


def test_sources_are_asked_in_their_order():
    with opened_sources([iter("ab"), (), "c"]) as runs:
        assert "".join(runs) == "abc"


@pytest.mark.parametrize(
    ("traits", "sentences"),
    [
        ({}, ["9 of 12 results are reused from earlier runs; --fresh measures everything again."]),
        ({"is_requested": True}, ["3 results of other could not be used here, where these differ: data"]),
        ({"is_verified": False}, ["9 of 12 results are reused from earlier runs"]),
    ],
)
def test_what_a_source_states_about_a_run_decides_what_is_remarked(run, tmp_path, traits, sentences):
    _, _, base = run()
    folder = bundled(base, tmp_path).folder
    with changed(folder) as db:
        db.execute("UPDATE plan SET key = 'x' || key WHERE method = 'A'")
        db.execute("UPDATE trials SET key = 'x' || key WHERE 'x' || key IN (SELECT key FROM plan)")
    observer = Listening()
    methods, _, mine = elsewhere(run, EarlierRun("other", folder, **traits), tmp_path=tmp_path, observer=observer)
    assert methods == ["A"] and len(observer.remarks) == len(sentences) + 1
    assert all(one.startswith(sentence) for one, sentence in zip(observer.remarks, sentences, strict=False))
    kind = "earlier runs" if traits.get("is_verified", True) else "unverified bundles"
    assert mine.remarks[0].startswith(f"9 of 12 results are from {kind}, ")


@pytest.mark.parametrize("has_origins", [True, False])
def test_results_of_other_runs_count_as_theirs_or_as_those_of_the_run_that_has_them(run, tmp_path, has_origins):
    _, _, base = run()
    _, _, mine = run(MINE)
    claim = replace(bundled(mine, tmp_path), has_origins=has_origins)
    _, _, other = elsewhere(run, claim, MINE, tmp_path=tmp_path)
    expected = {claim.name: FOLDS, base.path.name: BASE} if has_origins else {claim.name: BASE + FOLDS}
    assert {name: len(keys) for name, keys in other.meta.reused.keys.items()} == expected


def test_a_run_that_the_user_named_must_be_readable(run, tmp_path):
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / FILE_NAME).write_bytes(b"no database" * 1000)
    with pytest.raises(RunError):
        run(sources=[[EarlierRun("broken", folder, is_requested=True)]])
    _, count, _ = run(sources=[[EarlierRun("broken", folder)]])
    assert count == BASE

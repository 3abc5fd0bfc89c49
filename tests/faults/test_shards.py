"""Faults of shards and merges: a shard run twice, merges that are killed or meet, damaged stores.

Whatever happens, a merge leaves the old or the new state, and the same command completes it.
"""

import random
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest
from undisturbed import exactly_once, same_results

from mfbench.api import Request, prepare_suite
from mfbench.api.request import load_run
from mfbench.errors import RunError
from mfbench.report.progress import Silent
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.file import FILE_NAME, REMNANT, locked
from mfbench.run.store.store import Store
from mfbench_cluster.api import merge_stores

sys.path.append(str(Path(__file__).parents[1] / "run"))
from small_runs import SUITE

# A merge in a process of its own, which ends itself by SIGKILL at a point of the writing.
KILLED = """
import os, signal, sys
from pathlib import Path
from mfbench.run import merging
from mfbench_cluster.api import merge_stores

target, point, *sources = sys.argv[1:]
calls = 0

def die():
    os.kill(os.getpid(), signal.SIGKILL)

insert, replace = merging.insert, Path.replace

def counting(db, table, rows, **options):
    global calls
    calls += 1
    if f"insert {calls}" == point:
        die()
    insert(db, table, rows, **options)
    if f"inserted {table}" == point:
        die()

def moving(self, other):
    if point == "before the move":
        die()
    result = replace(self, other)
    if point == "after the move":
        die()
    return result

merging.insert, Path.replace = counting, moving
merge_stores([Path(source) for source in sources], Path(target))
if point == "at the end":
    die()
"""
POINTS = [
    *(f"insert {number}" for number in range(1, 10)),
    *(f"inserted {table}" for table in ("meta", "plan", "datasets", "splits", "trials")),
    "before the move",
    "after the move",
    "at the end",
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A run, and its two shards: their stores are made of the run, as `execute` would store them."""
    folder = tmp_path_factory.mktemp("runs")
    (folder / "own.toml").write_text(SUITE)
    suite = str(folder / "own.toml")
    plan, whole, registry = prepare_suite(Request(suite, out=folder / "out"))
    execute(plan, whole, registry, RunOptions(jobs=1), Silent())
    shards = []
    for number in (1, 2):
        part, own, _ = prepare_suite(Request(suite, out=folder / "out", shard=f"{number}/2"), registry=registry)
        copy_results(whole, own, part)
        execute(part, own, registry, RunOptions(jobs=1), Silent())  # which has nothing to run
        shards.append(own)
    return whole, shards


def copy_results(source, target, plan):
    keys = [trial.key for trial in plan.trials]
    with Store(source, read_only=True) as store, Store(target) as copy, copy.writing() as db:
        rows = store.raw(f"SELECT * FROM trials WHERE key IN ({', '.join('?' * len(keys))})", keys)
        for row in rows:
            db.execute(f"INSERT INTO trials VALUES ({', '.join('?' * len(row))})", row)


def state(folder):
    """Return how many trials a run folder plans, 0 without a run; a damaged store is an error."""
    if not (folder / FILE_NAME).exists():
        return 0
    with sqlite3.connect(folder / FILE_NAME) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        n_results = db.execute("SELECT COUNT(*) FROM plan JOIN trials USING (key)").fetchone()[0]
        n_planned = db.execute("SELECT COUNT(*) FROM plan").fetchone()[0]
    assert n_results == n_planned
    return n_planned


def merge_until(point, target, *sources):
    words = [sys.executable, "-c", KILLED, str(target), point, *map(str, sources)]
    return subprocess.run(words, capture_output=True, text=True).returncode


@pytest.mark.sampled(3, reason="a process for each point at which a merge is killed")
@pytest.mark.parametrize("existing", [False, True])
@pytest.mark.parametrize("point", POINTS)
def test_a_merge_can_be_killed_at_any_point(runs, tmp_path, point, existing):
    whole, shards = runs
    target = tmp_path / "own" / "run"
    sizes = [state(shard) for shard in shards]
    if existing:
        merge_stores(shards[:1], target)
    code = merge_until(point, target, *shards)
    assert code in ((0, -signal.SIGKILL) if "move" in point or "insert" in point else (-signal.SIGKILL,))
    assert state(target) in ({sizes[0]} if existing else {0}) | {sum(sizes)}
    if (target / FILE_NAME).exists():
        assert load_run(target.parent).path == target, "what a killed merge leaves beside a run is not a run"
    with locked(target):
        assert not list(target.glob(f"{REMNANT}*"))
    merge_stores(shards, target)
    exactly_once(target)
    same_results(target, whole)


@pytest.mark.nightly(reason="twenty merges, each killed at a random moment")
def test_a_merge_can_be_killed_at_any_moment(runs, tmp_path):
    whole, shards = runs
    words = [sys.executable, "-m", "mfbench", "merge", *map(str, shards), "--into"]
    begin = time.monotonic()
    subprocess.run([*words, str(tmp_path / "first")], check=True, capture_output=True)
    usual = time.monotonic() - begin
    generator = random.Random(19)
    for attempt in range(20):
        target = tmp_path / f"run-{attempt % 4}"
        process = subprocess.Popen([*words, str(target)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(usual * generator.uniform(0.5, 1.1))
        process.kill()
        process.wait()
        assert state(target) in (0, 12)
    for number in range(4):
        merge_stores(shards, tmp_path / f"run-{number}")
        exactly_once(tmp_path / f"run-{number}")
        same_results(tmp_path / f"run-{number}", whole)


def test_two_merges_at_once(runs, tmp_path):
    """The one that comes second is refused in one sentence, and changes nothing."""
    whole, shards = runs
    target = tmp_path / "run"
    words = [sys.executable, "-m", "mfbench", "merge", *map(str, shards), "--into", str(target)]
    both = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    answers = [process.communicate() for process in both]
    codes = sorted(process.returncode for process in both)
    assert codes in ([0, 0], [0, 1]), answers
    for (_, error), process in zip(answers, both, strict=True):
        sentence = f"mfbench: another mfbench is running in {target}; wait for it to finish"
        assert error.startswith(sentence) if process.returncode else error == ""
    exactly_once(target)
    same_results(target, whole)


def test_a_merge_while_a_report_is_open(runs, tmp_path):
    whole, shards = runs
    merge_stores(shards[:1], tmp_path / "run")
    with Store(tmp_path / "run", read_only=True) as reader:
        reader.freeze()
        before = len(reader.finished())
        merge_stores(shards, tmp_path / "run")
        assert len(reader.finished()) == before
    exactly_once(tmp_path / "run")
    same_results(tmp_path / "run", whole)


def test_a_shard_that_runs_twice_has_each_trial_once(runs, tmp_path):
    whole, shards = runs
    elsewhere = tmp_path / "elsewhere"
    for shard in shards:  # the same shard on another machine, in a store of its own
        (elsewhere / shard.name).mkdir(parents=True)
        with sqlite3.connect(shard / FILE_NAME) as db, sqlite3.connect(elsewhere / shard.name / FILE_NAME) as copy:
            db.backup(copy)
        with Store(elsewhere / shard.name) as store, store.writing() as copy:
            copy.execute("UPDATE trials SET duration = duration + 1, fit_wall = fit_wall * 2, checksum = NULL")
    twins = [elsewhere / shard.name for shard in shards]
    merge_stores([shards[0], twins[0], twins[1], shards[1]], tmp_path / "run")
    exactly_once(tmp_path / "run")
    same_results(tmp_path / "run", whole)


def test_a_store_that_is_cut_off_is_one_sentence_and_harms_nothing(runs, tmp_path):
    whole, shards = runs
    target, damaged = tmp_path / "run", tmp_path / "damaged"
    merge_stores(shards[:1], target)
    before = state(target)
    damaged.mkdir()
    with sqlite3.connect(shards[1] / FILE_NAME) as db, sqlite3.connect(damaged / "whole") as copy:
        db.backup(copy)
    content = (damaged / "whole").read_bytes()
    for share in (0.9, 0.5, 0.1, 0.01):
        (damaged / FILE_NAME).write_bytes(content[: int(share * len(content))])
        with pytest.raises(RunError) as caught:
            merge_stores([shards[0], damaged], target)
        assert str(caught.value).startswith(str(damaged)) and "\n" not in str(caught.value)
        assert state(target) == before
    merge_stores(shards, target)
    same_results(target, whole)


def test_a_source_in_progress_is_read_in_one_state(runs, tmp_path):
    whole, shards = runs
    live = tmp_path / "live"
    live.mkdir()
    with sqlite3.connect(shards[1] / FILE_NAME) as db, sqlite3.connect(live / FILE_NAME) as copy:
        db.backup(copy)
    with Store(live) as store:  # a run that has its store open, with results in the log alone
        with store.writing() as db:
            db.execute("DELETE FROM trials WHERE key IN (SELECT key FROM plan ORDER BY position LIMIT 2)")
        merged = merge_stores([shards[0], live], tmp_path / "run")
        assert merged.n_trials - merged.n_results == 2
    merge_stores(shards, tmp_path / "run")
    exactly_once(tmp_path / "run")
    same_results(tmp_path / "run", whole)

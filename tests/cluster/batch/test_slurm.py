"""Job arrays for Slurm: shards of the trials that are missing, and scripts that bash and a stand-in sbatch execute."""

import json
import os
import shlex
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from mfbench.api import Request, prepare_suite
from mfbench.errors import UsageError
from mfbench.model.trials import TrialResult
from mfbench.report.progress import Silent
from mfbench.run.runner import RunOptions, execute
from mfbench.run.store.store import Store
from mfbench.run.workers.trial_queue import fit_groups
from mfbench_cluster.batch import slurm
from mfbench_cluster.batch.slurm import SlurmOptions, read_shard, slurm_seconds, write_batch

HOSTILE = 'it\'s a "batch" $(touch PWNED) `x` \\ * ;&|'
COMMAND = ["mfbench", "batch", "slurm", "own.toml"]


def test_values_that_are_not_valid_are_one_sentence(subtests):
    for changes, sentence in [
        ({"time": "two hours"}, "--time 'two hours' is not a time that Slurm reads"),
        ({"time": "0"}, "--time '0'"),
        ({"time": "1:00:00\n#SBATCH --x"}, "--time"),
        ({"shards": 3, "shard_seconds": 60.0}, "choose one of --shards and --shard-time"),
    ]:
        with subtests.test(changes=changes, sentence=sentence), pytest.raises(UsageError, match=sentence):
            SlurmOptions(**changes)


def test_times_are_read_as_by_slurm(subtests):
    for text, seconds in [
        ("90", 5400),
        ("1:30", 90),
        ("2:00:00", 7200),
        ("1-0", 86400),
        ("1-2:30", 95400),
        ("1-0:0:5", 86405),
        ("x", 0),
    ]:
        with subtests.test(text=text, seconds=seconds):
            assert slurm_seconds(text) == seconds


def test_the_number_of_shards_follows_from_their_time():
    assert SlurmOptions(time="2:00:00").n_shards(36_000) == 10
    assert SlurmOptions(time="2:00:00", cpus=4).n_shards(36_000) == 3
    assert SlurmOptions(shard_seconds=600).n_shards(36_000) == 60
    assert SlurmOptions(shards=7).n_shards(1) == 7
    assert SlurmOptions().n_shards(0) == 1


def shards_of(folder):
    files = sorted((folder / "shards").iterdir(), key=lambda path: int(path.stem))
    return [read_shard(path) for path in files]


def test_shards_have_each_missing_trial_once_and_divide_no_group(prepared, tmp_path):
    plan, folder, registry = prepared
    with Store(folder) as store:
        for trial in plan.trials[:5]:
            store.add(trial, TrialResult(key=trial.key))
    batch = write_batch(plan, folder, registry, SlurmOptions(shards=3), tmp_path / "batch", COMMAND)
    assert (batch.n_trials, batch.n_stored, len(batch.seconds)) == (12, 5, 3)
    assert min(batch.seconds) > 0
    shards = shards_of(tmp_path / "batch")
    keys = [key for shard in shards for key in shard.keys]
    assert sorted(keys) == sorted(trial.key for trial in plan.trials[5:])
    assert [(shard.number, shard.of, shard.run, shard.suite) for shard in shards] == [
        (number, 3, folder.name, "own") for number in (1, 2, 3)
    ]
    by_key = {trial.key: trial for trial in plan.trials}
    group_of = fit_groups(plan, registry)
    homes = {}
    for shard in shards:
        for key in shard.keys:
            group = group_of(by_key[key])
            assert group is None or homes.setdefault(group, shard.number) == shard.number


def test_there_are_no_empty_shards_and_nothing_is_written_if_nothing_is_missing(prepared, tmp_path):
    plan, folder, registry = prepared
    batch = write_batch(plan, folder, registry, SlurmOptions(shards=50), tmp_path / "batch", COMMAND)
    assert len(batch.seconds) == 9 == len(shards_of(tmp_path / "batch"))  # A and B share fits on three folds
    with Store(folder) as store:
        for trial in plan.trials:
            store.add(trial, TrialResult(key=trial.key))
    assert write_batch(plan, folder, registry, SlurmOptions(), tmp_path / "other", COMMAND).seconds == []
    assert not (tmp_path / "other").exists()


def test_a_batch_is_written_again_but_not_over_another_one(prepared, tmp_path):
    plan, folder, registry = prepared
    place = tmp_path / "batch"
    write_batch(plan, folder, registry, SlurmOptions(shards=2), place, COMMAND)
    write_batch(plan, folder, registry, SlurmOptions(shards=2, time="9:00:00"), place, COMMAND)
    assert "--time=9:00:00" in (place / "job.sh").read_text()
    with pytest.raises(UsageError, match="batch holds a batch of another run or other files; choose another folder w"):
        write_batch(plan, folder.with_name("other"), registry, SlurmOptions(), place, COMMAND)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.tex").write_text("")
    with pytest.raises(UsageError, match="full holds a batch of another run or other files"):
        write_batch(plan, folder, registry, SlurmOptions(), tmp_path / "full", COMMAND)


def test_a_batch_replaces_an_earlier_one_of_the_same_run_and_keeps_its_results(prepared, tmp_path):
    plan, folder, registry = prepared
    place = tmp_path / "my batch"
    assert write_batch(plan, folder, registry, SlurmOptions(shards=3), place, COMMAND).earlier == ""
    first = shards_of(place)
    with Store(first[2].folder(place / "runs")):
        pass
    assert write_batch(plan, folder, registry, SlurmOptions(shards=3), place, COMMAND).earlier == ""
    earlier = write_batch(plan, folder, registry, SlurmOptions(shards=2), place, COMMAND).earlier
    assert len(shards_of(place)) == 2 == len(list((place / "shards").iterdir()))
    assert earlier == f"{shlex.quote(str(place / 'runs' / 'own' / f'{folder.name}-shard-'))}*"
    listed = subprocess.run(["bash", "-c", f"ls -d {earlier}"], capture_output=True, text=True, check=True).stdout
    assert listed.splitlines() == [str(first[2].folder(place / "runs"))]


@pytest.fixture
def recorder(tmp_path, monkeypatch):
    """Let the scripts call a program that writes down its words; return a function that runs one and returns them."""
    program = tmp_path / "record words"
    program.write_text(f"#!{sys.executable}\nimport json, os, sys\nprint(json.dumps([os.getcwd(), *sys.argv[1:]]))\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(slurm, "_own_command", lambda: [str(program)])

    def run(script, **environment):
        answer = subprocess.run(
            ["bash", script], env={**os.environ, **environment}, capture_output=True, text=True, check=True
        )
        return json.loads(answer.stdout)

    return run


def test_hostile_names_reach_mfbench_as_they_are(tmp_path, monkeypatch, recorder):
    from small_runs import SUITE

    here = tmp_path / f"here {HOSTILE.replace('/', '')}"
    here.mkdir()
    monkeypatch.chdir(here)
    Path("own suite.toml").write_text(
        SUITE.replace('name = "own"', 'name = "own"').replace('"A"', '"A $(touch PWNED)"')
    )
    plan, folder, registry = prepare_suite(Request("own suite.toml", only=["A $*", "iris"], out="out $HOME"))
    options = SlurmOptions(shards=2, memory="2G", options=["--partition=long $(touch PWNED)", "--mail-user=a@b"])
    write_batch(plan, folder, registry, options, Path(HOSTILE), COMMAND, strict=True)
    place = here / HOSTILE
    words = recorder(place / "job.sh", SLURM_ARRAY_TASK_ID="2")
    assert words == [
        str(here), "suite", "own suite.toml", "--profile", "full", "--only", "A $*", "--only", "iris", "--strict",
        "--out", str(place / "runs"), "--jobs", "1", "--no-page", "--shard", str(place / "shards" / "2.json"),
    ]  # fmt: skip
    answer = subprocess.run(["bash", place / "merge.sh"], capture_output=True, text=True, check=True)
    assert answer.stdout == "No shard has stored anything yet.\n"
    stores = [shard.folder(place / "runs") for shard in shards_of(place)]
    others = [stores[0].with_name(f"{stores[0].name}0"), stores[0].with_name("half-started")]
    for store in [*stores, *others]:
        store.mkdir(parents=True)
        (store / "results.sqlite").write_text("")
    assert recorder(place / "merge.sh") == [
        str(here), "merge", "--into", str(folder.resolve()), *map(str, sorted(stores)),
    ]  # fmt: skip
    assert not list(tmp_path.rglob("PWNED"))
    head = (place / "job.sh").read_text().split("cd --")[0].splitlines()
    assert all(line.startswith("#") for line in head), "no text of the user is a command"
    for line in (
        "--array=1-2", "--time=2:00:00", "--signal=B:TERM@30", "--cpus-per-task=1", "--mem=2G",
        "--output=logs/%A_%a.log", "--partition=long $(touch PWNED)",
    ):  # fmt: skip
        assert f"#SBATCH {line}" in head


SUITE_TAIL = """
[[methods]]
label = "FOREST"
classifier = "random-forest(n_estimators=150)"
"""


@pytest.fixture
def cluster(tmp_path):
    """Return a function that submits a batch to the stand-in and returns the exit code and seconds of each task."""
    tools, records = tmp_path / "bin", tmp_path / "records"
    tools.mkdir()
    records.mkdir()
    program = tools / "sbatch"
    script = Path(__file__).with_name("sbatch.py")
    program.write_text(f'#!/bin/bash\nexec {shlex.quote(sys.executable)} {shlex.quote(str(script))} "$@"\n')
    program.chmod(0o755)

    def submit(place, terminate="0:0"):
        environment = {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_FAKE": str(records)}
        before = len(list(records.iterdir()))
        answer = subprocess.run(
            ["bash", place / "submit.sh"],
            env={**environment, "TERMINATE": terminate},
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert answer.returncode == 0, answer.stderr
        jobs = [(records / f"job-{before + number}").read_text().splitlines()[1:] for number in (1, 2)]
        return [[(int(code), float(seconds)) for _, code, seconds in map(str.split, job)] for job in jobs]

    return submit


@pytest.mark.slow(reason="several commands of mfbench, one after the other")
def test_an_array_that_is_stopped_and_submitted_again_is_the_undivided_run(tmp_path, monkeypatch, cluster):
    from small_runs import SUITE

    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(SUITE.replace("repeats = 1", "repeats = 2") + SUITE_TAIL)
    plan, whole, registry = prepare_suite(Request("own.toml", out="undivided"))
    execute(plan, whole, registry, RunOptions(jobs=1), Silent())
    place = tmp_path / HOSTILE
    words = ["batch", "slurm", "own.toml", "--into", str(place), "--shards", "3"]
    command = [sys.executable, "-m", "mfbench", *words]
    answer = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "30 trials; 0 have a result in reports/own/" in answer.stdout
    assert "3 shards of about" in answer.stdout
    merged = tmp_path / "reports" / "own" / whole.name

    jobs, merges = cluster(place, terminate="2:3")
    assert [code for code, _ in jobs] == [0, 130, 0] and merges == [(0, 0.0)]
    assert jobs[1][1] < 29, "the signal comes 30 s before the end"
    with Store(merged, read_only=True) as store:
        n_before = len(store.finished())
        kept = dict(store.raw("SELECT key, duration FROM trials"))
    assert n_before + 3 > 20 and n_before < 30

    (remains,) = {path.name for path in place.glob("logs/*_2.log") if "Interrupted. To resume" in path.read_text()}
    jobs, _ = cluster(place)
    assert [code for code, _ in jobs] == [0, 0, 0]
    ended = "every trial has a result; nothing to do"
    logs = {path.name: path.read_text() for path in place.glob("logs/*.log")}
    assert [ended in logs[f"{int(remains.split('_')[0]) + 2}_{task}.log"] for task in (1, 2, 3)] == [True, False, True]

    sys.path.append(str(Path(__file__).parents[2] / "faults"))
    from undisturbed import exactly_once, same_results

    exactly_once(merged)
    same_results(merged, tmp_path / whole)
    with Store(merged, read_only=True) as store:
        again = dict(store.raw("SELECT key, duration FROM trials"))
    assert {key: again[key] for key in kept} == kept, "what was stored was not measured again"
    answer = subprocess.run([*command[:-4], "--into", "more"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert "30 trials; 30 have a result" in answer.stdout and "Nothing to run." in answer.stdout


@pytest.mark.slow(reason="a command of mfbench")
def test_a_shard_of_an_edited_suite_refuses_to_run(tmp_path, monkeypatch, prepared):
    plan, folder, registry = prepared
    write_batch(plan, folder, registry, SlurmOptions(shards=2), tmp_path / "batch", COMMAND)
    path = tmp_path / "own.toml"
    path.write_text(path.read_text().replace("top = 1", "top = 2"))
    environment = {**os.environ, "SLURM_ARRAY_TASK_ID": "1"}
    answer = subprocess.run(["bash", tmp_path / "batch" / "job.sh"], env=environment, capture_output=True, text=True)
    assert answer.returncode == 2
    assert answer.stderr.count("\n") == 1 and answer.stderr.endswith("run: mfbench batch slurm own.toml\n")

"""The tasks of a batch: their files, whoever wrote them, and the trials that they name."""

import json

import pytest

from mfbench.errors import ExitCode, RunError, UsageError
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.store.store import Store
from mfbench_cluster.batch.tasks import BatchTask, ended_exit_code, read_task, task_of

KEYS = [f"{number:032x}" for number in range(3)]
CONTENT = {
    "format": 1,
    "suite": "own",
    "run": "quick-1a2b3c4d",
    "batch": "0123abcd",
    "number": 2,
    "of": 3,
    "command": ["mfbench", "batch", "slurm", "own suite.toml"],
    "keys": KEYS,
}


def test_a_task_survives_its_file(tmp_path):
    path = tmp_path / "2.json"
    path.write_text(json.dumps(CONTENT))
    task = read_task(path)
    assert json.loads(task.model_dump_json()) == CONTENT
    assert task.folder(tmp_path) == tmp_path / "own" / "quick-1a2b3c4d-task-2-of-3-0123abcd"


def test_hostile_content_is_one_sentence(subtests, tmp_path):
    for content in [
        "",
        "[]",
        "null",
        "{" * 100_000,
        "[" * 100_000,
        '{"format": 1}',
        "\x00\xff",
        *(
            json.dumps({**CONTENT, **change})
            for change in (
                {"format": 2},
                {"number": 4},
                {"number": 0},
                {"number": "1"},
                {"number": 1.5},
                {"of": 10**9},
                {"keys": []},
                {"keys": [*KEYS, KEYS[0]]},
                {"keys": ["x" * 32]},
                {"keys": [KEYS[0] + "\n"]},
                {"keys": KEYS[0]},
                {"keys": [1]},
                {"suite": "../own"},
                {"suite": ".."},
                {"run": "/etc"},
                {"run": ""},
                {"batch": "../../x"},
                {"more": 1},
                {"command": [["rm"]]},
            )
        ),
    ]:
        with subtests.test(content=content):
            path = tmp_path / "1.json"
            path.write_text(content, encoding="latin-1")
            with pytest.raises(UsageError, match=r"1\.json is not a task of mfbench: ") as caught:
                read_task(path)
            assert str(caught.value).isprintable() and len(str(caught.value)) < 500


def test_a_file_that_is_too_large_or_not_there(tmp_path, monkeypatch):
    path = tmp_path / "1.json"
    with pytest.raises(UsageError, match=r"cannot read the task .*1\.json: No such file or directory"):
        read_task(path)
    with pytest.raises(UsageError, match=r"cannot read the task .*: Is a directory"):
        read_task(tmp_path)
    monkeypatch.setattr("mfbench_cluster.batch.tasks.LARGEST", 100)
    path.write_text(json.dumps(CONTENT))
    with pytest.raises(UsageError, match="too large"):
        read_task(path)


def task_for(plan, folder, positions, **changes):
    keys = [plan.trials[position].key for position in positions]
    return BatchTask(**{**CONTENT, "suite": "own", "run": folder.name, "keys": keys, **changes})


def test_a_plan_restricted_to_a_task(prepared):
    plan, folder, _ = prepared
    part = task_of(plan, task_for(plan, folder, [7, 2]), folder.name)
    assert part.trials == [plan.trials[2], plan.trials[7]]
    assert (part.share.kind, part.share.positions, part.share.n_trials) == ("task", (2, 7), len(plan.trials))


def test_trials_of_other_versions_name_the_command_that_writes_the_batch(prepared):
    plan, folder, _ = prepared
    task = task_for(plan, folder, [0, 1]).model_copy(update={"keys": [plan.trials[0].key, KEYS[0]]})
    with pytest.raises(RunError) as caught:
        task_of(plan, task, folder.name)
    assert str(caught.value) == (
        "1 of 2 trials of task 2 of 3 are not in the plan of these versions of code, libraries and data; to write "
        "the batch again, run: mfbench batch slurm 'own suite.toml'"
    )
    plan.left_out["wine"] = "no network"
    with pytest.raises(RunError, match="are not in the plan here, where wine: no network; to write"):
        task_of(plan, task, folder.name)
    with pytest.raises(UsageError, match="task 2 of 3 belongs to the run own/other, not to own/"):
        task_of(plan, task_for(plan, folder, [0], run="other"), folder.name)


def test_a_task_whose_trials_all_have_a_result_has_ended(subtests, tmp_path):
    for number, (statuses, code) in enumerate(
        [
            ([], None),
            (["ok", "ok"], None),
            (["ok", "ok", "ok"], ExitCode.OK),
            (["ok", "error", "ok"], ExitCode.FAILED),
            (["error", "timeout", "crash"], ExitCode.NOTHING_MEASURED),
        ]
    ):
        with subtests.test(statuses=statuses, code=code):
            task, runs = BatchTask(**CONTENT), tmp_path / str(number)
            assert ended_exit_code(task, runs) is None
            with Store(task.folder(runs)) as store:
                for key, status in zip(KEYS, statuses, strict=False):
                    store.add(Trial(key, "iris", "A", 0, 0, 1), TrialResult(key=key, status=Status(status)))
            assert ended_exit_code(task, runs) == code

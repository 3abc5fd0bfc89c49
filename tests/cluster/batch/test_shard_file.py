"""The files of the shards of a batch, and the trials that they name."""

import json

import pytest

from mfbench.errors import ExitCode, RunError, UsageError
from mfbench.model.trials import Status, Trial, TrialResult
from mfbench.run.store.store import Store
from mfbench_cluster.batch.slurm import ShardFile, ended_exit_code, read_shard, shard_in

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


def test_a_shard_survives_its_file(tmp_path):
    path = tmp_path / "2.json"
    path.write_text(json.dumps(CONTENT))
    file = read_shard(path)
    assert json.loads(file.model_dump_json()) == CONTENT
    assert file.folder(tmp_path) == tmp_path / "own" / "quick-1a2b3c4d-shard-2-of-3-0123abcd"


def test_damaged_content_is_one_sentence(subtests, tmp_path):
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
                {"number": "1"},
                {"number": 1.5},
                {"keys": []},
                {"keys": KEYS[0]},
                {"keys": [1]},
                {"more": 1},
                {"command": [["rm"]]},
            )
        ),
    ]:
        with subtests.test(content=content):
            path = tmp_path / "1.json"
            path.write_text(content, encoding="latin-1")
            with pytest.raises(UsageError, match=r"1\.json is not a shard that 'mfbench batch' wrote: ") as caught:
                read_shard(path)
            assert str(caught.value).isprintable() and len(str(caught.value)) < 500


def test_a_file_that_is_not_there(tmp_path):
    path = tmp_path / "1.json"
    with pytest.raises(UsageError, match=r"cannot read the shard .*1\.json: No such file or directory"):
        read_shard(path)
    with pytest.raises(UsageError, match=r"cannot read the shard .*: Is a directory"):
        read_shard(tmp_path)


def shard_for(plan, folder, positions, **changes):
    keys = [plan.trials[position].key for position in positions]
    return ShardFile(**{**CONTENT, "suite": "own", "run": folder.name, "keys": keys, **changes})


def test_a_plan_restricted_to_a_shard(prepared):
    plan, folder, _ = prepared
    part = shard_in(plan, shard_for(plan, folder, [7, 2]), folder.name)
    assert part.trials == [plan.trials[2], plan.trials[7]]
    assert (part.shard.batch, part.shard.positions, part.shard.n_trials) == ("0123abcd", (2, 7), len(plan.trials))


def test_trials_of_other_versions_name_the_command_that_writes_the_batch(prepared):
    plan, folder, _ = prepared
    file = shard_for(plan, folder, [0, 1]).model_copy(update={"keys": [plan.trials[0].key, KEYS[0]]})
    with pytest.raises(RunError) as caught:
        shard_in(plan, file, folder.name)
    assert str(caught.value) == (
        "1 of 2 trials of shard 2 of 3 are not in the plan of these versions of code, libraries and data; to write "
        "the batch again, run: mfbench batch slurm 'own suite.toml'"
    )
    plan.left_out["wine"] = "no network"
    with pytest.raises(RunError, match="are not in the plan here, where wine: no network; to write"):
        shard_in(plan, file, folder.name)
    with pytest.raises(UsageError, match="shard 2 of 3 belongs to the run own/other, not to own/"):
        shard_in(plan, shard_for(plan, folder, [0], run="other"), folder.name)


def test_a_shard_whose_trials_all_have_a_result_has_ended(subtests, tmp_path):
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
            file, runs = ShardFile(**CONTENT), tmp_path / str(number)
            assert ended_exit_code(file, runs) is None
            with Store(file.folder(runs)) as store:
                for key, status in zip(KEYS, statuses, strict=False):
                    store.add(Trial(key, "iris", "A", 0, 0, 1), TrialResult(key=key, status=Status(status)))
            assert ended_exit_code(file, runs) == code

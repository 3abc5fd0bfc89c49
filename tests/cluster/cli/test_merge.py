"""`mfbench merge`: words become calls, and mistakes one sentence."""

import pytest

from mfbench.cli import main
from mfbench.run.store.metadata import RecordedShard
from mfbench.run.store.store import Store


def leave(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


@pytest.fixture
def shard(tmp_path, make_metadata, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "reports" / "own" / "quick-1a-shard-2-of-3"
    shard = RecordedShard(numbers=[2], of=3, run="quick-1a", digest="d", n_trials=9)
    with Store(folder) as store:
        store.begin(make_metadata(shard=shard), [], [])
    return folder.relative_to(tmp_path)


def test_shards_are_merged_into_the_whole_run(shard, capsys):
    assert leave("merge", shard) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Shards 1 and 3 of 3 are missing.",
        "Merged 1 store into reports/own/quick-1a: 9 of 9 trials have no result.",
        "To run what is missing: mfbench suite own --profile quick",
        "To show the report: mfbench report reports/own/quick-1a",
    ]
    assert leave("merge", shard, "--into", "own folder") == 0
    assert capsys.readouterr().out.splitlines()[-1] == "To show the report: mfbench report 'own folder'"


def test_a_mistake_is_one_sentence(subtests, shard, tmp_path, make_metadata, capsys):
    with Store(tmp_path / "plain") as store:
        store.begin(make_metadata(), [], [])
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "results.sqlite").write_bytes(b"x" * 5000)
    for words, code, sentence in [
        (["merge", "nowhere"], 2, "nowhere holds no run (no results.sqlite); name the folders of runs"),
        (["merge", "plain"], 2, "these are not the shards of one run; name the folder of the merged run with --into"),
        (["merge", "damaged", "--into", "x"], 1, "damaged/results.sqlite is damaged"),
    ]:
        with subtests.test(words=words, code=code, sentence=sentence):
            assert leave(*words) == code
            error = capsys.readouterr().err
            assert error.startswith(f"mfbench: {sentence}") and error.count("\n") == 1

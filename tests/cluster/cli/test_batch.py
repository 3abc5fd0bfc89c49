"""`mfbench batch`: words become calls, and mistakes one sentence."""

import pytest

from mfbench.cli import main
from mfbench_cluster.batch.slurm import read_shard

SUITE = """
[suite]
name = "small"
[protocol]
folds = 3
[[datasets]]
use = ["iris"]
[[methods]]
label = "1NN"
classifier = "knn(n_neighbors=1)"
"""


def leave(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


@pytest.fixture(autouse=True)
def suite(tmp_path, monkeypatch):
    (tmp_path / "small.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)


def test_a_batch_is_written(tmp_path, capsys, monkeypatch):
    words = ["batch", "slurm", "small.toml", "--into", "my batch", "--shards", "2", "--mem", "2G"]
    monkeypatch.setattr("sys.argv", ["/somewhere/mfbench", *words])
    assert leave(*words) == 0
    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("3 trials; 0 have a result in reports/small/")
    assert second.startswith("2 shards of about ") and second.endswith(" each, predicted")
    assert last == "To submit them, run: bash 'my batch/submit.sh'"
    assert read_shard(tmp_path / "my batch" / "shards" / "2.json").command == ["mfbench", *words]


def test_an_earlier_batch_is_replaced_and_its_results_are_named(tmp_path, capsys):
    assert leave("batch", "slurm", "small.toml", "--into", "b", "--shards", "3") == 0
    shard = read_shard(tmp_path / "b" / "shards" / "1.json")
    shard.folder(tmp_path / "b" / "runs").mkdir(parents=True)
    capsys.readouterr()
    assert leave("batch", "slurm", "small.toml", "--into", "b", "--shards", "2") == 0
    out = capsys.readouterr().out
    assert "An earlier batch was replaced. What its shards have stored is kept; to merge it, run:\n" in out
    assert f"  mfbench merge b/runs/small/{shard.run}-shard-* --into reports/small/{shard.run}\n" in out


def test_a_shard_that_is_too_long_is_announced(capsys):
    assert leave("batch", "slurm", "small.toml", "--into", "b", "--shards", "1", "--time", "0:01") == 0
    assert "The prediction exceeds --time" in capsys.readouterr().out  # by the start alone
    assert leave("batch", "slurm", "small.toml", "--into", "b", "--shards", "1", "--time", "0:10") == 0
    assert "The prediction exceeds --time" not in capsys.readouterr().out  # three short trials
    assert leave("batch", "slurm", "small.toml", "--into", "c", "--shard-time", "1h") == 0
    assert "1 shard of about" in capsys.readouterr().out


def test_a_mistake_is_one_sentence(subtests, capsys, tmp_path):
    for words, part in [
        (["small.toml"], "Missing option '--into'"),
        (["small.toml", "--into", "b", "--time", "soon"], "--time 'soon' is not a time that Slurm reads"),
        (["small.toml", "--into", "b", "--shard-time", "soon"], "'soon' is not a duration"),
        (["small.toml", "--into", "b", "--shards", "2", "--shard-time", "1h"], "choose one of --shards and"),
        (
            ["small.toml", "--into", "."],
            ". holds a batch of another run or other files; choose another folder with",
        ),
        (["no-suite", "--into", "b"], "no-suite"),
    ]:
        with subtests.test(words=words, part=part):
            assert leave("batch", "slurm", *words) == 2
            assert part in capsys.readouterr().err
            assert not (tmp_path / "b").exists()

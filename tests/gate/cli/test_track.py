"""`mfbench track`: words become calls, and mistakes one sentence."""

import json

import pytest

from mfbench.cli import main
from mfbench_gate import api as tracking
from mfbench_gate.history.storage import add_entries, read_entries


def leave(*words):
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return int(left.value.code or 0)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        (["track", "add"], "Missing argument 'RUN'"),
        (["track", "add", "nowhere"], "Missing option '--history'"),
        (["track", "add", "nowhere", "--history", "h"], "holds no run"),
        (["track", "show"], "Missing option '--history'"),
        (["track", "show", "--history", "h"], "there is no history h"),
        (["track", "merge", "none", "--history", "h"], "there is no history none"),
    ],
)
def test_the_command_line_names_the_mistake(words, part, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert leave(*words) == 2
    assert part in capsys.readouterr().err


def test_a_file_that_is_not_a_history(capsys, tmp_path):
    (tmp_path / "h").write_text("text " * 1000)
    assert leave("track", "show", "--history", tmp_path / "h") == 1
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "is not a history" in error


def test_add_show_and_merge(capsys, tmp_path, timed_run, timed, monkeypatch):
    monkeypatch.setattr(tracking, "calibrate", lambda: None)
    run = timed_run({("iris", "A"): [timed(1.0)]})
    history = tmp_path / "h"
    assert leave("track", "add", run.path, "--history", history, "--commit", "abcdef0") == 0
    assert capsys.readouterr().out.startswith("added 1 measurement of commit abcdef0 on a processor")
    assert leave("track", "show", "--history", history, "--measure", "accuracy", "--method", "A*", "--json") == 0
    assert [series["measure"] for series in json.loads(capsys.readouterr().out)["series"]] == ["accuracy"]
    assert leave("track", "show", "--history", history) == 0
    assert "A change needs 3 runs before and 3 after it" in capsys.readouterr().out
    assert leave("track", "merge", history, "--history", tmp_path / "all") == 0
    assert capsys.readouterr().out == "added 1 measurement of 1 run; 0 measurements already there\n"
    assert read_entries(tmp_path / "all") == read_entries(history)


def test_changes_and_their_commands_on_the_terminal_and_as_json(capsys, tmp_path, make_entry):
    add_entries(tmp_path / "h", [make_entry(k, 1.0 + 0.01 * (k % 2) + 0.3 * (k >= 6)) for k in range(12)])
    assert leave("track", "show", "--history", tmp_path / "h") == 0
    text = capsys.readouterr().out
    assert "between 0000005 and 0000006" in text
    assert "git bisect start" in text
    assert leave("track", "show", "--history", tmp_path / "h", "--json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["schema"]["name"] == "mfbench-history"
    assert [len(series["changes"]) for series in content["series"]] == [1]


def test_patterns_that_match_nothing(capsys, tmp_path, make_entry):
    add_entries(tmp_path / "h", [make_entry(0)])
    assert leave("track", "show", "--history", tmp_path / "h", "--dataset", "wine") == 2
    assert "no measurement matches" in capsys.readouterr().err

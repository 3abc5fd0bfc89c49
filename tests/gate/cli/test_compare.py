"""`mfbench compare`: two results, formats, exit codes, and mistakes as one sentence."""

import json

import pytest

from mfbench.cli import main


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files of pytest-benchmark in the working directory."""
    monkeypatch.chdir(tmp_path)
    for name, seconds in (("a.json", 1.0), ("b.json", 3.0)):
        content = {"version": "5.1.0", "benchmarks": [{"fullname": "fit", "stats": {"median": seconds}}]}
        (tmp_path / name).write_text(json.dumps(content))
    return tmp_path


def run(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(["compare", *words])
    output = capsys.readouterr()
    return left.value.code, output.out, output.err


def test_two_files_are_a_trend_and_exit_with_success(files, capsys):
    code, out, _ = run(["a.json", "b.json"], capsys)
    assert code == 0
    assert out.startswith("\nNo verdict: 1 cell without measurements that compare\n")
    assert "+200.0 %" in out


def test_every_format_can_be_requested(files, capsys):
    names = ["markdown", "junit", "pytest-benchmark", "github-action-benchmark", "bencher"]
    words = [word for name in names for word in (f"--{name}", f"out/{name}.txt")]
    code, out, _ = run(["a.json", "b.json", "--json", *words], capsys)
    assert code == 0
    assert json.loads(out)["cells"][0]["ratio"] == 3.0
    assert sorted(path.stem for path in (files / "out").iterdir()) == sorted(names)


def test_a_mistake_is_one_sentence(subtests, files, capsys):
    for words, sentence in [
        (["a.json"], "Missing argument 'B'"),
        (["a.json", "nowhere"], "holds no run"),
        (["a.json", "b.json", "--limit", "tme=1.1"], "unknown measure 'tme': did you mean 'time'"),
        (["a.json", "b.json", "--level", "2"], "the level 2 is not between 0 and 0.5"),
        (["a.json", "b.json", "--undecided", "maybe"], "'maybe' is not one of"),
        (["a.json", "b.json", "--only", "x*"], "--only 'x*' matches nothing"),
    ]:
        with subtests.test(words=words, sentence=sentence):
            code, _, err = run(words, capsys)
            assert code == 2
            assert sentence in err
            assert "Traceback" not in err

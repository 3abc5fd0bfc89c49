"""`mfbench suite` and `mfbench report`; tests/e2e/ runs them from outside."""

import pytest

from mfbench.cli import main
from mfbench.cli.runs import report
from mfbench.errors import UsageError


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"runs": ["a"], "as_json": True, "as_md": True}, "choose one of"),
        ({}, "name either a run or, with --published, a table"),
        ({"runs": ["a"], "published": "b"}, "name either a run or"),
        ({"runs": ["a"], "output": "x"}, "--output needs one of"),
        ({"runs": ["nowhere"]}, "holds no run"),
        ({"runs": ["a"], "form_of_figures": "pdf"}, "--format is the form of the files of --figures: name a folder"),
        ({"runs": ["a"], "opens": True, "as_json": True}, "--open and --figures stand alone"),
        ({"runs": ["a"], "opens": True, "full": True}, "--open and --figures stand alone"),
        ({"runs": ["a"], "opens": True, "figures": "x"}, "--open and --figures stand alone"),
        ({"runs": ["a"], "figures": "x", "statistics": True}, "--open and --figures stand alone"),
    ],
)
def test_options_that_do_not_fit(options, reason, tmp_path):
    with pytest.raises(UsageError, match=reason):
        report(**options, out=tmp_path)


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


@pytest.fixture
def small(tmp_path, monkeypatch):
    """Return a function that runs ``mfbench suite small.toml`` with options and returns its exit code."""
    (tmp_path / "small.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main(["suite", "small.toml", "--jobs", "1", "--no-page", *words])
        return int(left.value.code or 0)

    return run


def test_a_method_and_a_file_are_added_on_the_command_line(small, tmp_path, capsys):
    rows = "".join(f"{'no' if i % 2 else 'yes'},{i},{i % 3}\n" for i in range(30))
    (tmp_path / "mine.csv").write_text(f"outcome,a,b\n{rows}")
    assert small() == 0
    capsys.readouterr()
    words = ["--add", "MINE = anova-f -> top 2 -> knn", "--add", "M2 = lda", "--reference", "MINE"]
    assert small(*words, "--add-data", "file:mine.csv", "--target", "outcome") == 0
    out = capsys.readouterr().out
    assert "3 done before" in out and "3 of 18 results are from earlier runs" in out
    assert "wins, ties, losses of MINE" in out and "mine.csv" in out
    assert len(list((tmp_path / "reports" / "small").iterdir())) == 2
    with pytest.raises(SystemExit) as left:
        main(["report", "small", "--md"])
    assert left.value.code == 0
    shown = capsys.readouterr().out
    assert "anova-f → top 2 → knn" in shown and "--add 'MINE = anova-f -> top 2 -> knn'" in shown


def test_the_keys_of_an_addition_are_explained_and_nothing_runs(small, tmp_path, capsys):
    assert small("--add", "MINE = sklearn.svm:LinearSVC(C=2.0)", "--explain-key") == 0
    assert '"factory": "sklearn.svm:LinearSVC"' in capsys.readouterr().out
    assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--add", "MINE ="], 2, '--add "MINE =": write LABEL = CLASSIFIER'),
        (["--add", "1NN = knn"], 2, "--add \"1NN = knn\": '1NN' is already the label of a method of the suite"),
        (["--add", "M = knnn"], 2, '--add "M = knnn": unknown classifier'),
        (["--add", "M = my_module:Mine"], 2, "does not import from the working directory"),
        (
            ["--add", "M = sklearn.svm:NoSuchClass"],
            1,
            "--add \"M = sklearn.svm:NoSuchClass\": 'sklearn.svm:NoSuchClass' of scikit-learn",
        ),
        (["--reference", "2NN"], 2, "--reference: no method has the label '2NN': did you mean '1NN'"),
        (["--target", "y"], 2, "--target 'y' is the label column of an added dataset"),
        (["--add-data", "file:none.csv"], 2, '--add-data "file:none.csv": '),
    ],
)
def test_an_addition_that_is_not_valid_is_one_sentence_and_nothing_runs(small, words, code, message, capsys, tmp_path):
    (tmp_path / "my_module.py").write_text("class Mine: pass")
    assert small(*words) == code
    error = capsys.readouterr().err
    assert message in error and error.count("\n") == 1
    assert not (tmp_path / "reports").exists()

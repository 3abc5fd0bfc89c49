"""`mfbench suite` and `mfbench report`; tests/e2e/ runs them from outside."""

import os
import re
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest

from mfbench import load_run
from mfbench.cli import main
from mfbench.cli.runs import report
from mfbench.errors import MfbenchError, UsageError
from mfbench.run.forecast.order import Budget

sys.path.append(str(Path(__file__).parents[1] / "run"))
from small_claims import in_process

__all__ = ["in_process"]  # a fixture


def test_options_that_do_not_fit(subtests, tmp_path):
    for options, reason in [
        ({"runs": ["a"], "as_json": True, "as_md": True}, "choose one of"),
        ({}, "name either a run or, with --published, a table"),
        ({"runs": ["a"], "published": "b"}, "name either a run or"),
        ({"runs": ["a"], "output": "x"}, "--output needs one of"),
        ({"runs": ["nowhere"]}, "holds no run"),
        ({"published": "immigrate2020_table2", "as_curves": True}, "--curves and --metric need a run, not a published"),
        ({"runs": ["a"], "form_of_figures": "pdf"}, "--format is the form of the files of --figures: name a folder"),
        ({"runs": ["a"], "opens": True, "as_json": True}, "--open stands alone"),
        ({"runs": ["a"], "opens": True, "full": True}, "--open stands alone"),
        ({"runs": ["a"], "opens": True, "figures": "x"}, "--open stands alone"),
        ({"runs": ["a"], "figures": "x", "statistics": True}, "--figures stands alone, or goes with --md"),
        ({"runs": ["a"], "figures": "x", "as_json": True}, "--figures stands alone, or goes with --md"),
        ({"runs": ["a"], "figures": "x", "as_md": True, "full": True}, "--figures stands alone, or goes with --md"),
    ]:
        with subtests.test(options=options, reason=reason), pytest.raises(UsageError, match=reason):
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
def small(tmp_path, monkeypatch, in_process):
    """Return a function that runs ``mfbench suite small.toml`` with options and returns its exit code."""
    (tmp_path / "small.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main(["suite", "small.toml", "--jobs", "1", "--no-page", *words])
        return int(left.value.code or 0)

    return run


def test_a_run_goes_on_when_its_reader_has_gone_and_ends_with_its_own_code(small, tmp_path, monkeypatch):
    with (tmp_path / "small.toml").open("a") as suite:
        suite.write('[[methods]]\nlabel = "FAILS"\nclassifier = "knn(n_neighbors=1000)"\n')
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as stream:  # noqa: PTH123
        monkeypatch.setattr(sys, "stdout", stream)
        assert small() == 1
    (folder,) = (tmp_path / "reports" / "small").iterdir()
    assert load_run(folder).trials["status"].value_counts().to_dict() == {"ok": 3, "error": 3}


NO_SPACE = MfbenchError("cannot write P: No space left on device")


@pytest.mark.parametrize(("error", "code"), [(NO_SPACE, 0), (KeyError("a bug"), 1)])
def test_a_page_that_cannot_be_written_is_not_a_failure_of_the_run(small, monkeypatch, capsys, error, code):
    monkeypatch.setattr("mfbench.report.present.write_page", Mock(side_effect=error))
    with pytest.raises(SystemExit) as left:
        main(["suite", "small.toml", "--jobs", "1"])
    assert int(left.value.code or 0) == code
    later = re.search(
        rf"stored, but not the page: {error}\. To write it later: mfbench (.+) FILE", capsys.readouterr().out
    )
    assert (later is None) == (code == 1)
    if later is not None:
        with pytest.raises(SystemExit):
            main([*later[1].split(), "later.html"])
        assert Path("later.html").stat().st_size > 0


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


def test_an_option_that_is_not_valid_is_one_sentence_and_nothing_runs(subtests, small, capsys, tmp_path):
    for words, code, message in [
        (["--add", "MINE ="], 2, '--add "MINE =": write LABEL = LEARNER'),
        (["--add", "1NN = knn"], 2, "--add \"1NN = knn\": '1NN' is already the label of a method of the suite"),
        (["--add", "M = knnn"], 2, '--add "M = knnn": unknown classifier'),
        (["--add", "M = my_module:Mine"], 2, "does not import from the working directory"),
        (
            ["--add", "M = sklearn.svm:NoSuchClass"],
            1,
            "--add \"M = sklearn.svm:NoSuchClass\": 'sklearn.svm:NoSuchClass' of scikit-learn",
        ),
        (["--reference", "2NN"], 2, "--reference: no method has the label '2NN': did you mean '1NN'"),
        (["--target", "y"], 2, "--target 'y' is the target column of an added dataset"),
        (["--executor", "loca"], 2, "unknown executor 'loca': did you mean 'local'? (see 'mfbench plugins')"),
        (["--scheduler", "there:1"], 2, "--scheduler there:1 needs --executor"),
        (["--scheduler", ""], 2, "--scheduler is empty: write an address, or leave the option out"),
        (["--wait-for-workers", "1h"], 2, "--wait-for-workers needs --executor"),
        (["--executor", "dask", "--wait-for-workers", "soon"], 2, "'soon' is not a duration"),
        (["--executor", "dask", "--scheduler", "bogus", "--dry-run"], 2, "'bogus' is not an address of a Dask sched"),
        (["--executor", "dask", "--scheduler", "tcp://here:abc"], 2, "'tcp://here:abc' is not an address of a Dask"),
        (["--add-data", "file:none.csv"], 2, '--add-data "file:none.csv": '),
    ]:
        with subtests.test(words=words, code=code, message=message):
            (tmp_path / "my_module.py").write_text("class Mine: pass")
            assert small(*words) == code
            error = capsys.readouterr().err
            assert message in error and error.count("\n") == 1
            assert not (tmp_path / "reports").exists()


class TestDryRun:
    @pytest.fixture
    def no_cache(self, tmp_path, monkeypatch):
        """Let the cache be a folder that does not exist, and the network a mistake."""
        monkeypatch.setenv("MFBENCH_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr("mfbench.data.lookup.Lookup._download", None)

    def test_it_runs_and_writes_nothing(self, small, tmp_path, capsys, no_cache):
        before = sorted(tmp_path.rglob("*"))
        assert small("--dry-run") == 0
        assert "small, profile full: 3 trials, 0 stored in reports/small/" in capsys.readouterr().out
        assert sorted(tmp_path.rglob("*")) == before

    def test_it_says_what_fits_into_a_budget(self, small, capsys):
        assert small("--dry-run", "--budget", "1h") == 0
        assert "\nWithin the budget of 1h: all of them\n" in capsys.readouterr().out
        assert small("--dry-run", "--budget", "1s") == 0
        assert "\nWithin the budget of 1s: none of them, as the start takes longer\n" in capsys.readouterr().out

    def test_what_is_stored_is_not_run_again(self, small, capsys):
        assert small() == 0
        capsys.readouterr()
        assert small("--dry-run") == 0
        assert "Nothing is left to run." in capsys.readouterr().out

    def test_data_that_would_be_downloaded_are_named(self, small, tmp_path, capsys, no_cache):
        (tmp_path / "small.toml").write_text(SUITE.replace('"iris"', '"iris", "pima"'))
        assert small("--dry-run") == 0
        assert "Left out as unavailable: pima; to download, run: mfbench datasets pull" in capsys.readouterr().out
        assert not (tmp_path / "cache").exists()

    def test_a_plan_without_trials_has_its_own_code(self, small, tmp_path, capsys, no_cache):
        (tmp_path / "small.toml").write_text(SUITE.replace('"iris"', '"pima"'))
        assert small("--dry-run") == 3
        assert "nothing is planned" in capsys.readouterr().out

    def test_what_does_not_fit_is_a_usage_error(self, subtests, small, tmp_path):
        for words in [["--explain-key"], ["--only", "nothing"], ["--profile", "none"]]:
            with subtests.test(words=words):
                assert small("--dry-run", *words) == 2
                assert not (tmp_path / "reports").exists()


@pytest.mark.parametrize("budget", ["0s", "0h0m"])
def test_a_budget_of_nothing_is_one_sentence(capsys, budget):
    with pytest.raises(SystemExit) as left:
        main(["suite", "uci", "--budget", budget])
    assert left.value.code == 2
    assert f"{budget!r} leaves no time: write a longer duration, such as 10m" in capsys.readouterr().err


def test_a_budget_that_is_none_is_one_sentence(subtests, capsys):
    for budget in ["0", "-5m", "10", "soon", "1h1h"]:
        with subtests.test(budget=budget):
            with pytest.raises(SystemExit) as left:
                main(["suite", "uci", "--budget", budget])
            assert left.value.code == 2
            err = capsys.readouterr().err
            assert f"{budget!r} is not a duration: write a number with s, m or h" in err
            assert len(err.splitlines()) == 1


def test_a_budget_that_ends_names_the_command_that_goes_on(tmp_path, capsys, monkeypatch):
    """No time passes in this test: the budget is over as soon as the run has begun."""
    (tmp_path / "small.toml").write_text(SUITE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Budget, "is_over", property(lambda self: bool(list(tmp_path.rglob("environment.json")))))
    words = ["suite", "small.toml", "--budget", "1h30m", "--jobs", "1", "--no-page"]
    monkeypatch.setattr(sys, "argv", ["mfbench", *words])
    with pytest.raises(SystemExit) as left:
        main(words)
    out = capsys.readouterr().out
    assert left.value.code == 3
    assert "The budget of 1h30m ended after 0 of 3 trials. It is shorter than the start of the workers" in out
    assert f"give a longer one. To go on, run: mfbench {' '.join(words)}\n" in out
    assert "Not run yet: 3 of 3 trials, because the budget of 1h30m ended." in out
    assert "Not reached: every method on iris." in out


def test_what_is_not_a_shard_is_one_sentence(subtests, small, capsys):
    for text in ["0/3", "4/3", "a/b", "3"]:
        with subtests.test(text=text):
            assert small("--shard", text) == 2
            error = capsys.readouterr().err
            assert error.startswith(f"mfbench: --shard {text!r} is not a shard") and error.count("\n") == 1


def test_a_shard_without_trials_ends_cleanly(small, tmp_path, capsys):
    """A job array must not fail because there are more shards than groups of trials."""
    assert small("--shard", "40/40") == 0
    assert "Nothing to run: the plan has fewer groups of trials than shards." in capsys.readouterr().out
    (folder,) = (tmp_path / "reports" / "small").iterdir()
    assert folder.name.endswith("-shard-40-of-40") and (folder / "results.sqlite").is_file()


def test_a_file_that_is_no_shard(small, tmp_path, capsys):
    (tmp_path / "b.json").write_text("[]")
    assert small("--shard", "b.json") == 2
    assert "b.json is not a shard that 'mfbench batch' wrote: " in capsys.readouterr().err

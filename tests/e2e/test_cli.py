"""The command line from outside, as a user meets it."""

import csv
import io
import json
import subprocess
import sys
import textwrap

import pytest

METHODS = {"1NN": "knn(n_neighbors=1)", "NBC": "naive-bayes"}


def test_a_run_prints_its_report_and_the_same_command_again_measures_nothing(host, small_suite):
    small_suite(host, METHODS)
    first = host.run("suite", "own.toml", "--jobs", "2")
    assert first.returncode == 0, first.stderr
    assert "sound W/T/L" in first.stdout
    assert "12/12 trials" in first.stdout
    again = host.run("suite", "own.toml")
    assert "12 done before" in again.stdout
    assert first.stdout.partition("\n\n")[2] == again.stdout.partition("\n\n")[2]


@pytest.mark.slow(reason="three runs of the command line")
def test_scores_do_not_depend_on_the_number_of_workers(host):
    host.suite(
        """
        [suite]
        name = "own"
        [protocol]
        folds = 3
        repeats = 2
        [profiles.quick]
        folds = 3
        repeats = 2
        [[datasets]]
        use = ["monks-1", "led-24(n_samples=200)"]
        [[methods]]
        label = "RFF"
        selector = "relieff(n_samples=30)"
        classifier = "random-forest(n_estimators=5)"
        tune = { top = [2, 4] }
        [[methods]]
        label = "RND"
        selector = "random"
        classifier = "adaboost(n_estimators=5)"
        top = 0.5
        """
    )
    tables = []
    for jobs in ("1", "2"):
        assert host.run("suite", "own.toml", "--jobs", jobs, "--out", f"out{jobs}").returncode == 0
        result = host.run("report", f"out{jobs}/own", "--csv")
        tables.append(result.stdout)
    assert tables[0] == tables[1]
    assert len(list(csv.DictReader(io.StringIO(tables[0])))) == 4


@pytest.mark.slow(reason="a run and two reports")
def test_exports_agree(host, small_suite, tmp_path):
    small_suite(host, METHODS)
    assert host.run("suite", "own.toml").returncode == 0
    content = json.loads(host.run("report", "own", "--json").stdout)
    assert [row["method"] for row in content["scores"]] == ["1NN", "NBC"] * 2
    assert host.run("report", "own", "--md", "--output", "sub/report.md").returncode == 0
    text = (tmp_path / "sub" / "report.md").read_text()
    assert "mfbench suite own.toml --profile full" in text
    for row in content["scores"]:
        assert f"{100 * row['mean']:.1f} ± {100 * row['sd']:.1f}" in text


@pytest.mark.slow(reason="several runs of the command line")
def test_a_file_is_a_dataset(host, tmp_path):
    rows = "\n".join(f"{i},{i % 2},{'yes' if i % 2 else 'no'}" for i in range(40))
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "mine.csv").write_text(f"number,parity,answer\n{rows}\n")
    host.suite(
        """
        [suite]
        name = "own"
        [[datasets]]
        use = ["file:mine.csv"]
        target = "answer"
        [[methods]]
        label = "T"
        classifier = "decision-tree"
        """,
        "data/own.toml",
    )
    result = host.run("suite", "data/own.toml")
    assert result.returncode == 0, result.stderr
    assert "100.0 ± 0.0" in result.stdout
    shown = host.run("datasets", "show", "file:data/mine.csv")
    assert "no (20), yes (20)" in shown.stdout


def test_a_mistake_is_one_sentence_and_an_exit_code(subtests, host):
    head = '[suite]\nname = "bad"\n[[datasets]]\nuse = ["iris"]\n[[methods]]\nlabel = "A"\n'
    host.suite(head + 'classifier = "knnn"\n', "bad.toml")
    host.suite(head + 'clasifier = "knn"\n', "worse.toml")
    host.suite(head + 'classifier = "knn(n_neighbours=3)"\n', "param.toml")
    knn = head + 'classifier = "knn"\n'
    host.suite(knn.replace('"iris"', '"iris()", "iris"'), "twice.toml")
    host.suite(knn.replace('"bad"', '"bad"\nprofile = "../../x"'), "escape.toml")
    host.suite(knn.replace('"iris"', '"file:~no-such-user/x.csv"'), "nobody.toml")
    host.suite(knn + "tune = {}\n", "empty.toml")
    host.suite(knn + f"tune = {{ p = {'[' * 600}{']' * 600} }}\n", "deep.toml")
    host.suite(knn.replace('"bad"', f'"bad"\nseed = 0x{"f" * 6000}'), "huge.toml")
    for words, complaint in [
        (["suite", "ucy"], "unknown suite 'ucy': did you mean 'uci'?"),
        (["suite", "no.toml"], "there is no suite file 'no.toml'"),
        (["suite", "uci", "--profile", "quik"], "did you mean 'quick'?"),
        (["suite", "uci", "--only", "zebra"], "matches no dataset and no method"),
        (["suite", "uci", "--seed", "-1"], "--seed -1 is out of range"),
        (["suite", "bad.toml"], "bad.toml: methods[0].classifier: unknown classifier 'knnn': did you mean 'knn'"),
        (["suite", "worse.toml"], "worse.toml: methods[0].clasifier: unknown key: did you mean 'classifier'?"),
        (["suite", "param.toml"], "unknown parameter 'n_neighbours' of 'knn': did you mean 'n_neighbors'?"),
        (["report", "nowhere"], "holds no run"),
        (["suite", "twice.toml"], "'iris' is listed twice, also as 'iris()'"),
        (["suite", "escape.toml"], "escape.toml: suite.profile: found '../../x'"),
        (["suite", "nobody.toml"], "cannot find 'file:~no-such-user/x.csv'"),
        (["suite", "empty.toml"], "empty.toml: methods[0].tune: found an empty"),
        (["suite", "deep.toml"], "deep.toml: "),
        (["suite", "huge.toml"], "huge.toml: suite.seed: found a number of thousands of digits"),
        (["report", "uci", "--json", "--csv"], "choose one of"),
        (["datasets", "show", "irys"], "unknown dataset 'irys': did you mean 'iris'?"),
        (["datasets", "show", "file:none.csv"], "none.csv"),
        (["plugins", "--tag", "margins"], "did you mean 'margin'?"),
    ]:
        with subtests.test(words=words, complaint=complaint):
            result = host.run(*words)
            assert complaint in result.stderr
            assert "Traceback" not in result.stderr
            assert result.returncode == 2
            assert len(result.stderr.splitlines()) <= 2


def test_debug_shows_the_traceback(host):
    result = host.run("--debug", "suite", "ucy")
    assert "Traceback" in result.stderr and "UnknownNameError" in result.stderr


def test_a_reader_that_leaves_early_is_no_error(host):
    command = f"{' '.join(host.command('plugins'))} | head -1"
    result = subprocess.run(command, shell=True, env=host.environment, capture_output=True, text=True)
    assert "Traceback" not in result.stderr and "Error" not in result.stderr


def test_looking_around_imports_no_numeric_library():
    script = textwrap.dedent(
        """
        import sys
        from mfbench.cli import main
        for words in (["--help"], ["plugins"], ["datasets", "list"], ["suite", "--help"]):
            try:
                main(words)
            except SystemExit as leave:
                assert not leave.code, leave.code
            loaded = {"numpy", "scipy", "sklearn", "pandas", "numba", "xgboost"} & set(sys.modules)
            assert not loaded, (words, loaded)
        print("finished")
        """
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert result.returncode == 0 and result.stdout.endswith("finished\n"), result.stderr


def test_a_broken_plugin_is_named_and_the_rest_works(host):
    host.plugin("broken_plugin", "raise RuntimeError('no luck')")
    result = host.run("plugins")
    assert result.returncode == 0
    assert "warning: plugin 'broken_plugin'" in result.stderr and "no luck" in result.stderr
    assert "relieff" in result.stdout
    strict = host.run("plugins", "--strict")
    assert strict.returncode == 1 and "no luck" in strict.stderr


@pytest.mark.slow(reason="several runs of the command line")
def test_a_plugin_whose_estimator_cannot_be_imported_costs_its_methods_only(host, small_suite):
    host.plugin(
        "half_plugin",
        """
        from mfbench import ClassifierSpec, hookimpl

        @hookimpl
        def mfbench_classifiers():
            return [ClassifierSpec(name="absent", summary="", factory="no_such_module:Thing")]
        """,
    )
    small_suite(host, {"1NN": "knn(n_neighbors=1)", "A": "absent"})
    result = host.run("suite", "own.toml")
    assert result.returncode == 1
    assert "Left out: A: 'absent'" in result.stdout and "6/6 trials" in result.stdout
    assert host.run("suite", "own.toml", "--strict").returncode == 1


def test_a_misspelt_hook_is_named(host):
    host.plugin(
        "typo_plugin",
        """
        from mfbench import hookimpl

        @hookimpl
        def mfbench_selektors():
            return []
        """,
    )
    result = host.run("plugins")
    assert "unknown hook 'mfbench_selektors': did you mean 'mfbench_selectors'" in result.stderr
    assert "relieff" in result.stdout


def test_the_schema_is_json(host):
    schema = json.loads(host.run("suites", "--schema").stdout)
    assert set(schema["properties"]) >= {"suite", "protocol", "datasets", "methods", "report"}


def test_keys_are_explained_without_a_run(host, small_suite, tmp_path):
    small_suite(host, {"1NN": "knn(n_neighbors=1)"})
    result = host.run("suite", "own.toml", "--explain-key", "--only", "iris")
    content = json.loads(result.stdout)
    assert {"code accuracy", "package scikit-learn"} <= set(content["depends_on"]["code"])
    assert not (tmp_path / "reports").exists()

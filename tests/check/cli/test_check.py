"""`mfbench check`: tables, documents, exit codes, and mistakes as one sentence."""

import json
from xml.etree import ElementTree

import pytest

from mfbench.cli import main
from mfbench_check.display import CheckOutcome, CheckReport, CheckVerdict

FAILED = CheckVerdict(
    subject="a", kind="selector", package="p", check="fit", outcome=CheckOutcome.FAIL, expected="x", seen="y"
)


def run(words, capsys):
    with pytest.raises(SystemExit) as left:
        main(["check", *words])
    output = capsys.readouterr()
    return left.value.code, output.out, output.err


@pytest.fixture
def options(monkeypatch):
    """The options that the command passes on; the run has one failure."""
    passed = {}

    def check_plugins(names, **keywords):
        passed.update(keywords, names=names)
        keywords["follow"](FAILED, 1)
        return CheckReport((FAILED,))

    monkeypatch.setattr("mfbench_check.api.check_plugins", check_plugins)
    return passed


def test_a_failure_exits_with_one_and_is_shown(options, capsys):
    code, out, _ = run(["a", "b", "--package", "p", "--seed", "3", "--jobs", "2", "--timeout", "9"], capsys)
    assert code == 1
    assert "✗ a (selector): fit" in out
    expected = {"names": ["a", "b"], "package": "p", "seed": 3, "jobs": 2, "timeout": 9.0, "skip": {}, "strict": False}
    assert {key: options[key] for key in expected} == expected


def test_documents_are_written(options, capsys, tmp_path):
    code, out, _ = run(["--json", "--junit", str(tmp_path / "new" / "junit.xml")], capsys)
    assert (code, json.loads(out)["counts"]["fail"]) == (1, 1)
    assert ElementTree.parse(tmp_path / "new" / "junit.xml").find("testsuite/testcase/failure") is not None


def test_skipped_checks_have_reasons(options, capsys):
    run(["--skip", "growth=slow", "--skip", "fit=broken"], capsys)
    assert options["skip"] == {"growth": "slow", "fit": "broken"}


def test_a_real_run(capsys):
    code, out, _ = run(["monks-1", "--json"], capsys)
    assert code == 0
    assert {one["check"] for one in json.loads(out)["verdicts"]} >= {"dataset-shape", "dataset-checksum"}


def test_without_third_parties_nothing_is_checked(capsys, monkeypatch):
    monkeypatch.setenv("MFBENCH_LOAD_PLUGINS", "baselines")
    code, out, _ = run([], capsys)
    assert code == 3
    assert "--package mfbench" in " ".join(out.split())


@pytest.mark.parametrize("name", ["broken-dist", "broken_dist", "broken"])
def test_an_installed_package_that_cannot_be_imported_has_failed(name, capsys, monkeypatch, tmp_path):
    info = tmp_path / "broken_dist-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: broken-dist\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[mfbench]\nbroken = broken_dist_plugin\n")
    (tmp_path / "broken_dist_plugin.py").write_text("import os\nos._exit(5)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delenv("MFBENCH_LOAD_PLUGINS", raising=False)
    for words in (["--package", name] if name != "broken" else [], [name], ["--strict", name]):
        code, out, err = run(words, capsys)
        assert code == 1
        assert "the process ended with exit code 5" in " ".join((out + err).split())


def test_the_list_has_every_check(capsys):
    code, out, _ = run(["--list"], capsys)
    assert code == 0
    assert "importances-finite" in out


def test_a_mistake_is_one_sentence_and_exits_with_two(subtests, capsys):
    for words, part in [
        (["knnn"], "did you mean 'knn'"),
        (["--package", "mfbnch"], "unknown package 'mfbnch': did you mean 'mfbench'"),
        (["knn", "--skip", "growth"], "--skip 'growth' has no reason"),
        (["knn", "--skip", "grwoth=slow"], "did you mean 'growth'"),
        (["knn", "--timeout", "0"], "the time limit 0 s is not positive"),
        (["knn", "--seed", "-1"], "the seed -1 is out of range"),
        (["--sede", "1"], "No such option"),
    ]:
        with subtests.test(words=words, part=part):
            code, _, err = run(words, capsys)
            assert code == 2
            assert part in err
            assert "Traceback" not in err


def test_a_folder_is_refused_as_a_file_before_anything_is_checked(options, capsys, tmp_path):
    code, out, err = run(["knn", "--junit", str(tmp_path)], capsys)
    assert (code, out) == (2, "")
    assert "is a folder: give the path of a file" in err
    assert not options


def test_an_interrupted_run_tells_how_far_it_came(options, monkeypatch, capsys):
    def interrupted(names, **keywords):
        keywords["follow"](FAILED, 2)
        raise KeyboardInterrupt

    monkeypatch.setattr("mfbench_check.api.check_plugins", interrupted)
    code, _, err = run(["knn"], capsys)
    assert code == 130
    assert "Interrupted after 1 check, 1 failed; nothing was written" in err

"""`mfbench new-plugin`: what it writes, prints and refuses."""

import pytest

from mfbench.cli import main
from mfbench_check.scaffold.render import PARTS, render


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Return a function that runs the command in an empty folder: exit code, output, errors."""
    monkeypatch.chdir(tmp_path)

    def run(*words):
        with pytest.raises(SystemExit) as left:
            main(["new-plugin", *words])
        return int(left.value.code), *capsys.readouterr()

    return run


def written(folder):
    return {p.relative_to(folder).as_posix(): p.read_text("utf-8") for p in folder.rglob("*") if p.is_file()}


def test_without_options_the_package_has_all_parts(run, tmp_path):
    code, out, err = run("demo")
    assert (code, err) == (0, "")
    assert written(tmp_path / "mfbench-demo") == render("demo")
    lines = out.splitlines()
    assert lines[0] == f"wrote {len(render('demo'))} files to mfbench-demo:"
    assert [line.strip() for line in lines[1:-4]] == list(render("demo"))
    assert lines[-4:] == [
        "next:",
        "  pip install -e './mfbench-demo[test,lint]'",
        "  mfbench check demo",
        "  python -m pytest mfbench-demo",
    ]


@pytest.mark.parametrize("part", PARTS)
def test_an_option_chooses_its_part(run, tmp_path, part):
    assert run("demo", f"--{part}")[0] == 0
    assert written(tmp_path / "mfbench-demo") == render("demo", [part])


def test_options_add_up(run, tmp_path):
    assert run("demo", "--suite", "--dataset")[0] == 0
    assert written(tmp_path / "mfbench-demo") == render("demo", ["dataset", "suite"])


def test_the_folder_can_be_chosen_and_is_quoted_in_the_commands(run, tmp_path):
    code, out, _ = run("demo", "--into", "my work/package")
    assert code == 0
    assert written(tmp_path / "my work" / "package") == render("demo")
    assert "  pip install -e './my work/package[test,lint]'\n" in out
    assert "  python -m pytest 'my work/package'\n" in out
    _, out, _ = run("demo", "--into", str(tmp_path / "other"))
    assert f"  pip install -e '{tmp_path / 'other'}[test,lint]'\n" in out


def test_a_folder_with_files_is_refused(run, tmp_path):
    (tmp_path / "mfbench-demo").mkdir()
    (tmp_path / "mfbench-demo" / "mine.txt").write_text("mine")
    code, out, err = run("demo")
    assert (code, out) == (2, "")
    assert err == "mfbench: mfbench-demo is not empty: choose another folder with --into, or delete it\n"
    assert written(tmp_path) == {"mfbench-demo/mine.txt": "mine"}


def test_a_name_that_cannot_be_used_is_one_sentence_and_writes_nothing(subtests, run, tmp_path):
    for words, message in [
        (["class"], "the name 'class' is not valid: it is a keyword of Python"),
        (["My Method"], "the name 'My Method' is not valid: use lower-case letters"),
        (["margin"], "a package mfbench_margin is installed already: choose another name than 'margin'"),
        (["relieff"], "a selector 'relieff' is registered already"),
        (["uci"], "a suite 'uci' is registered already"),
    ]:
        with subtests.test(words=words, message=message):
            code, out, err = run(*words)
            assert (code, out) == (2, "")
            assert err.startswith(f"mfbench: {message}")
            assert err.count("\n") == 1
            assert not list(tmp_path.iterdir())


def test_a_registered_name_is_refused_for_the_chosen_parts_only(run):
    assert run("relieff", "--dataset")[0] == 0

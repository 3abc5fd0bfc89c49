"""The files of a plugin package: every combination of parts is valid, clean and complete."""

import importlib.util
import itertools
import keyword
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from mfbench import __version__
from mfbench.errors import MfbenchError, UsageError
from mfbench.host import hookspecs
from mfbench.suite.loading import parse_suite
from mfbench_check.scaffold.render import PARTS, REPOSITORY, package_of, render, write

ROOT = Path(__file__).resolve().parents[3]
# Each alone, each pair, all but each, and all.
SIZES = (1, 2, len(PARTS) - 1, len(PARTS))
COMBINATIONS = [parts for n in SIZES for parts in itertools.combinations(PARTS, n)]
every_combination = pytest.mark.parametrize("parts", COMBINATIONS, ids="+".join)


def of_type(files, suffix):
    return {path: text for path, text in files.items() if path.endswith(suffix)}


@every_combination
def test_every_file_is_valid_and_nothing_of_the_template_is_left(parts):
    files = render("my-method", parts)
    for path, text in files.items():
        assert not re.search(r"{%|%}|(?<!\$){{|{#", path + text), path
        assert text == "" or (text.endswith("\n") and not text.endswith("\n\n")), path
        assert "\n\n\n" not in text or path.endswith(".py"), path
    for path, text in of_type(files, ".py").items():
        compile(text, path, "exec")
    for path, text in of_type(files, ".toml").items():
        content = tomllib.loads(text)
        if "suite" in content:
            parse_suite(text, path)
    for path, text in of_type(files, ".yml").items():
        assert yaml.safe_load(text), path


@every_combination
def test_the_package_has_the_chosen_parts_and_no_others(parts):
    files = render("my-method", parts)
    package = "src/mfbench_my_method"
    has = {
        part: f"{package}/{part}.py" in files for part in ("selector", "classifier", "regressor", "metric", "splitter")
    }
    has |= {"dataset": f"{package}/data.py" in files, "suite": f"{package}/suites/my-method.toml" in files}
    assert {part for part in has if has[part]} == set(parts)
    hooks = {f"mfbench_{part}s" for part in parts}
    assert set(re.findall(r"^def (\w+)", files[f"{package}/plugin.py"], re.MULTILINE)) == hooks
    assert hooks <= set(vars(hookspecs))
    assert {"tests/test_plugin.py", "README.md", "pyproject.toml", ".copier-answers.yml"} <= set(files)
    suites = {"gate.toml": {"selector", "classifier"} & set(parts), "gate-numbers.toml": {"regressor"} & set(parts)}
    assert {path for path in files if path.startswith("benchmarks/")} == {
        f"benchmarks/{s}" for s in suites if suites[s]
    }
    assert ("gate" in yaml.safe_load(files[".github/workflows/ci.yml"])["jobs"]) == any(suites.values())
    assert (f"{package}/suites/my-method-numbers.toml" in files) == ({"suite", "regressor"} <= set(parts))


@pytest.mark.skipif(not importlib.util.find_spec("ruff"), reason="ruff is not installed")
@pytest.mark.parametrize("name", ["a", "my-method", "a-name-of-thirty-characters-xy"])
def test_every_combination_passes_ruff_whatever_the_name_is(tmp_path, name):
    for parts in COMBINATIONS:
        write(render(name, parts), tmp_path / "+".join(parts))
    for words in (["check", "--no-cache", "."], ["format", "--check", "--no-cache", "."]):
        done = subprocess.run([sys.executable, "-m", "ruff", *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout


def test_the_entry_point_names_the_module_with_the_hooks():
    files = render("my-method")
    project = tomllib.loads(files["pyproject.toml"])["project"]
    assert project["name"] == "mfbench-my-method"
    assert project["entry-points"]["mfbench"] == {"my-method": "mfbench_my_method.plugin"}
    assert package_of("my-method") == "mfbench_my_method"
    assert "src/mfbench_my_method/plugin.py" in files


def test_the_package_works_with_this_minor_version_and_the_next():
    major, minor, *_ = (int(part) for part in re.findall(r"\d+", __version__))
    requirements = tomllib.loads(render("demo")["pyproject.toml"])["project"]["dependencies"]
    (host,) = [one for one in map(Requirement, requirements) if one.name == "mfbench"]
    assert str(host.specifier) == f"<{major}.{minor + 2},>={major}.{minor}"


def test_the_answers_are_those_that_copier_update_needs():
    answers = yaml.safe_load(render("demo", ["dataset"])[".copier-answers.yml"])
    assert answers == {
        "_commit": f"v{__version__}",
        "_src_path": REPOSITORY,
        "name": "demo",
        **{part: part == "dataset" for part in PARTS},
    }


def test_a_name_that_yaml_could_misread_remains_text():
    for name in ["true", "null", "nan", "e1"]:
        assert yaml.safe_load(render(name)[".copier-answers.yml"])["name"] == name


def test_the_repository_is_that_of_the_documented_action():
    action = re.search(r"uses: (mfbench/\w+)@\w+", (ROOT / "docs" / "gate.md").read_text(encoding="utf-8"))
    assert f"https://github.com/{action[1]}" == REPOSITORY
    assert action[0] in render("demo")[".github/workflows/ci.yml"]


def test_the_gate_uses_inputs_that_the_action_has():
    inputs = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))["inputs"]
    workflow = yaml.safe_load(render("demo")[".github/workflows/ci.yml"])
    assert workflow["permissions"] == {"contents": "read"}
    steps = [s for s in workflow["jobs"]["gate"]["steps"] if s.get("uses", "").startswith("mfbench/")]
    assert len(steps) == 2
    for step in steps:
        assert set(step["with"]) <= set(inputs)
        assert step["with"]["suite"] in render("demo")
    assert "secrets" not in render("demo")[".github/workflows/ci.yml"]


def test_a_bad_name_is_refused_with_the_reason():
    for name, message in [
        ("", "begin with a letter"),
        ("Demo", "use lower-case letters"),
        ("my_method", "use lower-case letters"),
        ("my method", "use lower-case letters"),
        ("3d", "begin with a letter"),
        ("-a", "begin with a letter"),
        ("a-", "single hyphens"),
        ("a--b", "single hyphens"),
        ("méthode", "use lower-case letters"),
        ("../up", "use lower-case letters"),
        ("{{ 7 }}", "use lower-case letters"),
        ("a\n", "use lower-case letters"),
        ("mfbench", "leave out mfbench"),
        ("mfbench-demo", "leave out mfbench"),
        ("all", "MFBENCH_LOAD_PLUGINS"),
        ("a" * 31, "at most 30 characters"),
        *((word, "keyword of Python") for word in keyword.kwlist if word.islower()),
    ]:
        with pytest.raises(UsageError, match=message) as raised:
            render(name)
        assert str(raised.value).startswith(f"the name {name!r} is not valid: ")
        assert "\n" not in str(raised.value)


def test_a_package_without_parts_is_refused():
    with pytest.raises(UsageError, match="include at least one of selector"):
        render("demo", [])


def test_files_are_written_into_a_new_folder_an_empty_one_and_an_empty_repository(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    for name in ("new/below", "empty", "repository"):
        write({"a/b.txt": "text\n"}, tmp_path / name)
        assert (tmp_path / name / "a" / "b.txt").read_bytes() == b"text\n"


def test_a_folder_with_files_stays_as_it_is(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="is not empty: choose another folder with --into, or delete it"):
        write({"mine.txt": "theirs"}, tmp_path)
    with pytest.raises(UsageError, match="is a file"):
        write({"a": ""}, tmp_path / "mine.txt")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["mine"]


def test_a_folder_that_cannot_be_made_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(MfbenchError, match="cannot be written: Not a directory"):
        write({"a": ""}, tmp_path / "file" / "below")

"""The action for GitHub and the workflows: valid, harmless, and in step with the command."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from typer.main import get_command

from mfbench.cli.entry import app

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
WORKFLOWS = {
    "repository": (ROOT / ".github" / "workflows" / "gate.yml").read_text(encoding="utf-8"),
    "documents": re.search(r"```yaml\n(.*?)```", (ROOT / "docs" / "gate.md").read_text(encoding="utf-8"), re.DOTALL)[1],
}
(STEP,) = ACTION["runs"]["steps"]


@pytest.mark.parametrize("text", WORKFLOWS.values(), ids=WORKFLOWS)
def test_workflows_need_no_rights_and_use_inputs_that_exist(text):
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"}
    assert "secrets" not in text
    assert workflow[True] == "pull_request"  # YAML reads the word "on" as true
    steps = workflow["jobs"]["gate"]["steps"]
    (gate,) = [step for step in steps if step.get("uses", "").startswith(("./", "mfbench/"))]
    needed = {name for name, content in ACTION["inputs"].items() if content.get("required")}
    assert needed <= set(gate["with"]) <= set(ACTION["inputs"])
    (checkout,) = [step for step in steps if step.get("uses", "").startswith("actions/checkout")]
    assert checkout["with"]["fetch-depth"] == 0


def test_the_site_is_built_by_the_documented_command_and_only_its_deployment_has_rights():
    text = (ROOT / ".github" / "workflows" / "site.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"} and "secrets" not in text
    build, deploy = (workflow["jobs"][name] for name in ("build", "deploy"))
    assert "permissions" not in build and deploy["permissions"] == {"pages": "write", "id-token": "write"}
    assert all("run" not in step for step in deploy["steps"])
    commands = [step["run"] for step in build["steps"] if "run" in step]
    (upload,) = [step for step in build["steps"] if "upload-pages-artifact" in step.get("uses", "")]
    assert commands[-1] == f"python docs/site/build.py {upload['with']['path']}"
    assert commands[-1] in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_tests_run_by_the_command_of_the_readme_on_every_python_of_the_package():
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"} and "secrets" not in text
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    linux, smoke = (workflow["jobs"][name] for name in ("linux", "smoke"))
    assert linux["steps"][-1]["run"] == re.search(r"## Test it\n.*?```sh\n(.*?)\n```", readme, re.DOTALL)[1]
    assert "continue-on-error" not in linux
    classifiers = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    pythons = [line.rpartition(" ")[2] for line in classifiers if "Python :: 3." in line]
    assert linux["strategy"]["matrix"]["python"] == pythons
    assert f"is tested with Python {pythons[0]} to {pythons[-1]}" in " ".join(readme.split())
    words = shlex.split(smoke["steps"][-1]["run"])
    known = {option for parameter in get_command(app).commands["suite"].params for option in parameter.opts}
    assert words[:2] == ["mfbench", "suite"] and {word for word in words if word.startswith("-")} <= known


def test_a_release_tries_what_it_built_and_only_two_jobs_have_rights():
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"} and "secrets" not in text
    jobs = workflow["jobs"]
    rights = {name: job["permissions"] for name, job in jobs.items() if "permissions" in job}
    assert rights == {"publish": {"id-token": "write"}, "announce": {"contents": "write"}}
    # What may publish runs no code of the repository, and nothing is published that was not tried.
    assert all("run" not in step for step in jobs["publish"]["steps"])
    assert [jobs[name].get("needs") for name in ("build", "try", "publish", "announce")] == [
        None,
        "build",
        "try",
        "publish",
    ]
    tests = yaml.safe_load((ROOT / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    assert jobs["try"]["strategy"]["matrix"]["python"] == tests["jobs"]["linux"]["strategy"]["matrix"]["python"]


@pytest.mark.parametrize("name", ["nightly", "outside"])
def test_these_workflows_run_the_script_of_their_name_by_schedule(name):
    text = (ROOT / ".github" / "workflows" / f"{name}.yml").read_text(encoding="utf-8")
    workflow = yaml.safe_load(text)
    assert workflow["permissions"] == {"contents": "read"} and "secrets" not in text
    assert workflow[True]["schedule"]
    script = workflow["jobs"][name]["steps"][-1]["run"]
    assert script == f".ci/{name}"
    assert os.access(ROOT / script, os.X_OK) and script in (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def test_the_script_contains_no_input_as_text():
    assert "${{" not in STEP["run"]
    inputs = {re.search(r"inputs\.(\w+)", value)[1] for value in STEP["env"].values()}
    assert inputs == set(ACTION["inputs"])


def test_the_script_uses_options_that_exist():
    command = get_command(app).commands["gate"]
    known = {option for parameter in command.params for option in parameter.opts}
    assert set(re.findall(r"(--[a-z-]+)", STEP["run"])) <= known


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")
@pytest.mark.parametrize("code", [0, 4])
def test_the_script_passes_its_inputs_on_and_reports_the_verdict(tmp_path, code):
    python = tmp_path / "python"
    python.write_text(
        f"#!{sys.executable}\nimport sys\nopen('words', 'w').write('\\n'.join(sys.argv[1:]))\n"
        f"open('mfbench-gate.md', 'w').write('table')\nsys.exit({code})\n"
    )
    python.chmod(0o755)
    inputs = {"SUITE": "a b.toml", "BASE": "git:$(touch trapped)", "HEAD": "git:HEAD", "BUDGET": "5m"}
    inputs |= {"ADD": "A = my:A -> knn\nB = my:B(n=2)\n"}
    inputs |= {"LIMIT": "time=1.1", "UNDECIDED": "ok", "PYTHON": str(python)}
    variables = {f"GATE_{name}": value for name, value in inputs.items()}
    files = {name: str(tmp_path / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    script = ["bash", "-e", "-c", STEP["run"]]
    done = subprocess.run(script, cwd=tmp_path, env={**os.environ, **variables, **files}, check=False)
    assert done.returncode == code
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:6] == ["-m", "mfbench", "gate", "git:$(touch trapped)", "git:HEAD", "a b.toml"]
    assert words[-6:] == ["--add", "A = my:A -> knn", "--add", "B = my:B(n=2)", "--limit", "time=1.1"]
    assert (tmp_path / "GITHUB_OUTPUT").read_text() == f"verdict={code}\n"
    assert (tmp_path / "GITHUB_STEP_SUMMARY").read_text() == "table"
    assert not (tmp_path / "trapped").exists()

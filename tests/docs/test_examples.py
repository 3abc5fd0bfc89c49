"""The code of the documents works: blocks run, suites are valid, and the packages that they show can be used."""

import configparser
import os
import runpy
import subprocess
import sys
import tomllib

import listings
import pytest
from documents import PAGES, ROOT, code_blocks

from mfbench.data import mirror
from mfbench.host import registry
from mfbench.suite.loading import parse_suite
from mfbench_papers.paper import Paper


def _run(arguments, folder, **variables):
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env={**os.environ, "MFBENCH_LOAD_PLUGINS": "all", **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_python_blocks_run(page, tmp_path, monkeypatch, capsys):
    blocks = [body for _, body in code_blocks(page, "python", named=False)]
    if not blocks:
        return
    script = tmp_path / "example.py"
    script.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv(registry.LOAD_VARIABLE, raising=False)
    # In this process, but as the main script, so that workers import it as they would a user's.
    runpy.run_path(str(script), run_name="__main__")
    # A block that only defines a hook prints nothing.
    assert bool(capsys.readouterr().out) == any("print(" in block for block in blocks)


@pytest.mark.parametrize("page", [str(page.relative_to(ROOT)) for page in PAGES])
def test_toml_blocks(page):
    for file, body in code_blocks(page, "toml", named=False) + code_blocks(page, "toml", named=True):
        content = tomllib.loads(body)
        if "project" in content:
            continue
        if "citation" in content:
            Paper.model_validate(content)
            continue
        if file == "index.toml":
            assert content and all(mirror._Card.model_validate(table) for table in content.values())
            continue
        if "suite" not in content:
            body = '[suite]\nname = "x"\n' + body
        if "methods" not in content:
            body += '[[methods]]\nlabel = "x"\nclassifier = "knn"\n'
        parse_suite(body, f"{page} {file}")


def test_example_suite_resolves(tmp_path):
    from mfbench.api import Request, prepare_suite

    bodies = [body for _, body in code_blocks("suites.md", "toml", named=False) if "[suite]" in body]
    (tmp_path / "demo.toml").write_text(bodies[0], encoding="utf-8")
    built_in = listings.built_in_registry()
    plan, folder, _ = prepare_suite(
        Request(str(tmp_path / "demo.toml"), profile="tiny", out=tmp_path), registry=built_in
    )
    assert len(plan.trials) == 2 * 3 * 3
    assert not plan.left_out
    assert folder.parent.name == "demo"


def _install(page, folder):
    """Write a page's example package, and what an installation adds to it: metadata with the entry points.

    A file that is shown in several pieces has them one after the other.
    """
    for language in ("toml", "python"):
        for file, body in code_blocks(page, language, named=True):
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("a", encoding="utf-8") as file_:
                file_.write(f"{body}\n")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = configparser.ConfigParser()
    points.read_dict(project["entry-points"])
    with (info / "entry_points.txt").open("w") as file:
        points.write(file)
    (info / "RECORD").write_text("".join(f"{path.relative_to(folder)},,\n" for path in folder.rglob("*.py")))
    return project


@pytest.mark.slow(reason="installs a package and runs its tests")
def test_plugin_guide_package(tmp_path):
    _install("plugins.md", tmp_path)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    assert "passed" in _run(command, tmp_path, PYTHONPATH=str(tmp_path))


def test_features_of_the_plugin_guide(tmp_path):
    _install("plugins.md", tmp_path)
    script = tmp_path / "example.py"
    script.write_text(
        """
import contextlib, io, os, sys
from pathlib import Path
import mfbench
from mfbench.cli import main
from mfbench.engines import Executor
from mfbench.host.features import feature_hooks


def ran(*words):
    with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
        main(list(words))
    return printed.getvalue()


if __name__ == "__main__":
    chosen = {"only": ["GAP"], "profile": "quick", "jobs": 1}
    run = mfbench.run_suite("corner", **chosen)
    costs = mfbench.run_suite("corner", metric=["cost(miss=10)", "cost"], **chosen).trials
    assert (costs["cost(miss=10)"] >= costs["cost"]).all() and costs["cost"].max() > 0
    assert "longest_trials" in dir(mfbench) and len(mfbench.longest_trials("reports/corner")) == 5
    assert "List the longest trials of a run." in ran("--help")
    assert len(ran("longest", "reports/corner", "--n", "3").splitlines()) == 4
    Path("far.link").write_text(str(run.path))
    assert mfbench.load_run("far.link").path == run.path
    os.environ["SHARED_RUNS"] = "reports"
    again = mfbench.run_suite("corner", out="elsewhere", **chosen)
    assert any("unverified" in remark and "shared quick" in remark for remark in again.remarks), again.remarks
    Path("stays.csv").write_text("a,b,day,y\\n" + "".join(f"{n % 7},{n % 5},{n},{n % 2}\\n" for n in range(60)))
    Path("stays.toml").write_text(
        '[suite]\\nname = "stays"\\n[protocol]\\nfolds = 3\\nsplitter = "latest(gap=2)"\\n[[datasets]]\\n'
        'use = ["file:stays.csv"]\\ntime = "day"\\n[[methods]]\\nlabel = "GAP"\\nselector = "median-gap"\\n'
        'classifier = "knn"\\ntune = { top = [1, 2] }\\n'
    )
    latest = mfbench.run_suite("stays.toml", jobs=1, strict=True)
    assert latest.failures.empty and {len(rows) for rows in latest.test_rows("stays.csv").values()} == {15}
    assert latest.sizes["n_train"].tolist() == [43]
    Path("apart.toml").write_text(
        Path("stays.toml").read_text().replace('folds = 3\\nsplitter = "latest(gap=2)"', 'kind = "blocks"\\ngap = 2')
        .replace('time = "day"', "")
    )
    blocks = mfbench.run_suite("apart.toml", jobs=1, strict=True)
    assert blocks.failures.empty and set(blocks.sizes["n_train"]) == {44, 46}
    os.environ["REHEARSE"] = "yes"
    asked = dict.fromkeys(("engine", "job", "plan", "registry", "options"))
    made = feature_hooks().first("mfbench_pool", **asked)
    made.start(None)
    assert list(made.collect()) == [] and made.close() is None
    assert not feature_hooks().problems
    print("done")
""",
        encoding="utf-8",
    )
    assert _run([str(script)], tmp_path, PYTHONPATH=str(tmp_path)).endswith("done\n")

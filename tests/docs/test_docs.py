"""The documentation is true: it names the real objects, its code runs, its generated parts are current."""

import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import mfbench
from mfbench.data import mirror, reference, sources
from mfbench.data.prepare import Columns
from mfbench.errors import ExitCode
from mfbench.host import hookspecs, registry
from mfbench.model.sections import Cell, Chart, Section, Table
from mfbench.model.specs import ClassifierSpec, Dataset, DatasetSpec, SelectorSpec
from mfbench.model.trials import Status
from mfbench.report.contents import report_of
from mfbench.report.render.csv import to_csv
from mfbench.report.render.json import to_json
from mfbench.run.store import file as store_file
from mfbench.run.store.store import store
from mfbench.suite import published, schema
from mfbench.suite.forms import KINDS
from mfbench.suite.loading import load_suite, parse_suite
from mfbench.suite.scores import METRICS
from mfbench_check.listing import all_checks
from mfbench_gate.history import changes
from mfbench_gate.history import file as history_file

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
# A block, and the file name in the line before it if there is one.
BLOCK = re.compile(r"(?:^`([\w./-]+)`\n\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _load_generator():
    spec = importlib.util.spec_from_file_location("docs_generated", Path(__file__).with_name("generated.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


generated = _load_generator()


def text_of(name):
    path = ROOT / name if (ROOT / name).is_file() else DOCS / name
    return path.read_text(encoding="utf-8")


def section(name, heading):
    """Return a document's text from a heading to the next one of the same or a higher level."""
    level = len(heading) - len(heading.lstrip("#"))
    _, found, rest = text_of(name).partition(f"\n{heading}\n")
    assert found, f"{name} has no heading {heading!r}"
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def rows(text):
    """Return the table rows of a text, by the first cell without backticks."""
    cells = [re.split(r"(?<!\\)\|", line)[1:-1] for line in text.splitlines() if line.startswith("|")]
    table = [[cell.strip() for cell in row] for row in cells]
    return {row[0].strip("`"): row for row in table if not set(row[0]) <= set("-: ")}


def first_table(text):
    return re.search(r"(?:^\|.*\n)+", text, re.MULTILINE)[0]


def listed(text, header):
    return {name for name in rows(text) if name != header}


def code_blocks(name, language, *, named):
    return [
        (file, body) for file, kind, body in BLOCK.findall(text_of(name)) if kind == language and bool(file) == named
    ]


# -- every name is documented, and every documented name exists --------------------------------------------------------


def test_hooks():
    real = {name for name in vars(hookspecs) if name.startswith("mfbench_")}
    assert set(re.findall(r"^### `(\w+)`$", section("plugins.md", "## Hooks"), re.MULTILINE)) == real


@pytest.mark.parametrize(
    ("heading", "classes"),
    [
        ("### `SelectorSpec` and `ClassifierSpec`", [SelectorSpec, ClassifierSpec]),
        ("### `DatasetSpec`", [DatasetSpec]),
        ("### `Dataset`", [Dataset]),
        ("### `Section`", [Section]),
        ("### `Table`", [Table]),
        ("### `Cell`", [Cell]),
        ("### `Chart`", [Chart]),
    ],
)
def test_spec_fields(heading, classes):
    real = {name for cls in classes for name in cls.__dataclass_fields__}
    assert listed(section("plugins.md", heading), "field") == real


def test_environment_variables():
    real = {value for name, value in vars(registry).items() if name.endswith("_VARIABLE")}
    documented = section("plugins.md", "## Trying a plugin without installing it")
    assert real == listed(documented, "variable")


def test_sources_of_data():
    text = text_of("data.md")
    for variable in (sources.DATA_VARIABLE, sources.CACHE_VARIABLE):
        assert f"`{variable}`" in text
    references = "\n".join(listed(text.split("## ")[0], "reference"))
    for prefix in reference.PREFIXES:
        assert f"`{prefix}" in references or references.startswith(prefix) or f"\n{prefix}" in references


def test_keys_of_a_mirror():
    documented = rows(section("data.md", "## Mirrors"))
    documented.pop("key")
    assert {name: row[1] for name, row in documented.items()} == {
        **dict.fromkeys(mirror._OPTIONAL, "no"),
        **dict.fromkeys(mirror._REQUIRED, "yes"),
    }


TABLES = {
    "### `[suite]`": schema.Header,
    "### `[protocol]`": schema.ProtocolSettings,
    "### `[profiles.NAME]`": schema.Profile,
    "### `[[datasets]]`": schema.Datasets,
    "### `[[methods]]`": schema.Method,
    "### `[report]`": schema.Report,
}


@pytest.mark.parametrize("heading", TABLES)
def test_suite_keys(heading):
    fields = TABLES[heading].model_fields
    documented = rows(first_table(section("suites.md", heading)))
    documented.pop("key")
    assert set(documented) == set(fields)
    for name, field in fields.items():
        assert documented[name][2] == _documented_default(field), f"default of {heading} {name}"


def _documented_default(field):
    if field.is_required():
        return "required"
    return "–" if field.default is None else f"`{json.dumps(field.default)}`"


def test_suite_tables():
    fields = schema.Suite.model_fields
    documented = rows(section("suites.md", "## Tables of a file").split("###")[0])
    assert set(documented) - {"table"} == set(fields)
    for name, field in fields.items():
        assert (documented[name][2] == "required") == field.is_required()


def test_keys_of_published_tables():
    documented = rows(section("suites.md", "## Published figures"))
    documented.pop("key")
    assert {name: row[2] for name, row in documented.items()} == {
        name: _documented_default(field) for name, field in published.Description.model_fields.items()
    }


def test_standard_profiles():
    documented = rows(section("suites.md", "### `[profiles.NAME]`"))
    for kind, about in KINDS.items():
        expected = [
            ", ".join(f"{key} {value}" for key, value in changes.items()) for changes in about.profiles.values()
        ]
        assert documented[kind][1:] == expected, kind


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_protocol_has_a_page_with_its_keys(kind):
    text = text_of(f"protocols/{kind}.md")
    assert text.startswith(f"# `{kind}`\n")
    documented = rows(first_table(text))
    documented.pop("key")
    about = KINDS[kind]
    assert set(documented) == set(about.sound)
    for key, row in documented.items():
        forms = [about.values(form)[key] for form in (("sound", "published") if about.published else ("sound",))]
        assert row[1 : 1 + len(forms)] == ["1/3" if value == 1 / 3 else _plain(value) for value in forms]
    listed_keys = rows(section("suites.md", "### Kinds of protocol"))
    assert f"protocols/{kind}.md" in section("suites.md", "### Kinds of protocol")
    assert any(set(re.findall(r"`([\w]+)`", row[-1])) == set(about.sound) for row in listed_keys.values())


def _plain(value):
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else f"`{json.dumps(value)}`"


def test_top_rules():
    documented = "\n".join(listed(section("suites.md", "## `top`: how many features are kept"), "value"))
    for rule in ("positive", "all", "all-weighted"):
        assert f'"{rule}"' in documented


def test_statuses():
    assert listed(section("results.md", "## Statuses"), "status") == {str(status) for status in Status}


def test_metrics():
    documented = rows(section("results.md", "## Columns of a trial"))
    for name in METRICS:
        assert name in documented
        assert f"`{name}`" in section("suites.md", "### `[protocol]`")


def test_exit_codes():
    documented = rows(section("results.md", "## Exit codes"))
    assert {(code, row[1].strip("`")) for code, row in documented.items() if code != "code"} == {
        (str(int(code)), code.name) for code in ExitCode
    }
    assert listed(section("README.md", "## Guard CI"), "code") == {str(int(code)) for code in ExitCode}


def test_exit_codes_of_checks():
    codes = (ExitCode.OK, ExitCode.FAILED, ExitCode.USAGE, ExitCode.NOTHING_MEASURED)
    assert listed(section("checks.md", "## Exit codes"), "code") == {str(int(code)) for code in codes}


def test_every_check_is_documented():
    documented = set(re.findall(r"^#### `([\w-]+)`$", section("checks.md", "## All checks"), re.MULTILINE))
    assert documented == {check.id for check in all_checks()}


def test_store_tables():
    real = set(re.findall(r"CREATE TABLE (\w+)", store_file.SCHEMA))
    assert listed(section("architecture.md", "## The store"), "table") == real


def test_history_tables():
    real = {re.search(r"CREATE TABLE (\w+)", statement)[1] for statement in history_file.SCHEMA}
    documented = section("track.md", "## The file")
    assert listed(documented, "table") == real
    assert f"{history_file.APPLICATION_ID:#x}" in documented


def test_change_points():
    documented = section("track.md", "## How changes are found")
    assert f"c = {changes.FACTOR:g}\n" in documented
    assert f"95 % interval at c = {changes.FACTOR:g}" in documented


ROOMS = "## The rooms of `mfbench/`"


def test_rooms():
    documented = listed(first_table(section("architecture.md", ROOMS)), "room")
    package = ROOT / "mfbench"
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    modules = {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
    assert documented == folders | modules


def test_room_order_is_that_of_the_import_contract():
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    table = first_table(section("architecture.md", ROOMS))
    documented = [name.removesuffix("/").removesuffix(".py") for name in rows(table)]
    real = [layer.removeprefix("mfbench.") for layer in reversed(layers)]
    assert [name for name in documented if name in real] == real


def test_public_names():
    public = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    for name in set(mfbench.__all__) - {"__version__"}:
        assert re.search(rf"\b{name}\b", public), name


def test_changelog_names_this_version():
    assert f"## [{mfbench.__version__}] - " in text_of("CHANGELOG.md")
    assert "## [Unreleased]" in text_of("CHANGELOG.md")


# -- what a run returns ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    suite = tmp_path_factory.mktemp("suite") / "small.toml"
    suite.write_text(
        '[suite]\nname = "small"\n[protocol]\nfolds = 2\n[profiles.quick]\nfolds = 2\nrepeats = 1\n'
        '[[datasets]]\nuse = ["iris"]\n'
        '[[methods]]\nlabel = "V"\nselector = "variance"\nclassifier = "knn"\ntop = 2\n'
        '[[methods]]\nlabel = "K"\nclassifier = "knn"\n',
        encoding="utf-8",
    )
    return mfbench.run_suite(str(suite), out=tmp_path_factory.mktemp("out"), jobs=1)


def test_result_columns(run):
    table = section("results.md", "## Columns of a trial").partition("The metrics:")[0]
    documented = listed(table, "column")
    assert set(store.RESULT_COLUMNS) <= documented
    assert documented == (set(run.trials.columns) - set(run.metrics)) | {
        "scores",
        "interactions",
        "candidates",
        "curve",
    }


def test_run_members(run):
    documented = rows(section("results.md", "## From Python"))
    real = {name for name in {*dir(run), "path", "meta", "left_out"} if not name.startswith("_")}
    assert {name.partition("(")[0] for name in documented} - {"member of `Run"} == real
    frames = {"scores": run.scores, "summary()": run.summary(), "wins_ties_losses()": run.wins_ties_losses()}
    frames["predictions(dataset, method)"] = run.predictions("iris", "V")
    for name, frame in frames.items():
        columns = set(re.findall(r"`(\w+)`", documented[name][1]))
        assert columns | {"dataset", "method"} == set(frame.columns) | {"dataset", "method"}, name


def test_json_keys(run):
    report = report_of(run, registry.load_registry(only=[]), everything=True)
    assert listed(section("results.md", "## Exports"), "key") == set(json.loads(to_json(report)))


def test_export_formats():
    report = next(command for words, command in generated.commands() if words == "mfbench report")
    formats = {option for param in report.params if param.name.startswith("as_") for option in param.opts}
    assert formats == set(
        re.findall(r"`(?:mfbench report RUN )?(--(?!output)\w+)`", section("results.md", "## Exports"))
    )


def test_csv_columns(run):
    header = to_csv(report_of(run, everything=True)).splitlines()[0].split(",")
    places = ["dataset", "method"]
    assert header == [*run.scores.columns, *run.wins_ties_losses().drop(columns=places).columns]
    documented = section("results.md", "## Exports")
    assert all(f"`{name}`" in documented for name in ("difference", "low", "high", "p_value", "verdict"))


def test_run_folder(run):
    documented = listed(section("results.md", "## The run folder"), "file")
    assert {path.name for path in run.path.iterdir()} <= documented


def test_key_ingredients():
    from mfbench.suite.methods import ResolvedMethod, Step
    from mfbench.suite.plan import key_ingredients
    from mfbench.suite.planned_dataset import PlannedDataset

    built_in = generated.built_in_registry()
    data = mfbench.load_dataset("iris", registry=built_in)
    assert Columns.of(data).encoding == "one-hot"
    method = ResolvedMethod("K", None, Step(registry.parse("knn")), "all")
    real = key_ingredients(PlannedDataset("iris", data, "0"), method, schema.ProtocolSettings(), built_in)
    documented = listed(section("architecture.md", "## Trial keys"), "ingredient")
    assert {name.strip("` ") for row in documented for name in row.split(",")} - {"coordinates"} == set(real)


# -- generated parts ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def expected():
    return generated.expected()


@pytest.mark.parametrize("name", ["checks.md", "cli.md", "methods.md"])
def test_generated_blocks(name, expected):
    found = generated.blocks(text_of(name))
    assert found == expected[name], "run: python tests/docs/generated.py"


def test_every_command_and_option_is_documented():
    for words, command in generated.commands():
        documented = section("cli.md", f"## {words}")
        for option in [option for param in command.params for option in param.opts if option.startswith("-")]:
            assert f"`{option}" in documented, f"{words} {option}"


def test_every_built_in_has_a_paragraph():
    built_in = generated.built_in_registry()
    for heading, table in [
        ("## Selectors", built_in.selectors),
        # A method that is both is described with the selectors.
        ("## Classifiers", set(built_in.classifiers) - set(built_in.selectors)),
        ("## Datasets", built_in.datasets),
    ]:
        found = re.findall(r"^### `([\w-]+)`\n\n[\w`]", section("methods.md", heading), re.MULTILINE)
        assert sorted(found) == sorted(table)


def test_commands_in_documents_exist():
    known = {words for words, _ in generated.commands()}
    groups = {words.rpartition(" ")[0] for words in known}
    for page in PAGES:
        for words in re.findall(r"`mfbench ((?:[a-z]+(?:-[a-z]+)* ?)+)", page.read_text(encoding="utf-8")):
            first, *rest = words.split()
            names = known if rest else known | groups
            assert " ".join(["mfbench", first, *rest[:1]]) in names or f"mfbench {first}" in known, f"{page}: {words}"


# -- code blocks -------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            name, marks=[pytest.mark.slow(reason="compiles most methods")] if name == "docs/methods.md" else []
        )
        for name in (str(page.relative_to(ROOT)) for page in PAGES)
    ],
)
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
        if file == "index.toml":
            assert not any(mirror._fault(name, table) for name, table in content.items())
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
    built_in = generated.built_in_registry()
    plan, folder, _ = prepare_suite(
        Request(str(tmp_path / "demo.toml"), profile="tiny", out=tmp_path), registry=built_in
    )
    assert len(plan.trials) == 2 * 3 * 3
    assert not plan.left_out
    assert folder.parent.name == "demo"


def _install(page, folder):
    """Write a page's example package and what an installation adds to it: metadata with the entry points."""
    for language in ("toml", "python"):
        for file, body in code_blocks(page, language, named=True):
            path = folder / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(body, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    info = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    lines = [f"{name} = {value}" for name, value in project["entry-points"]["mfbench"].items()]
    (info / "entry_points.txt").write_text("\n".join(["[mfbench]", *lines, ""]))
    (info / "RECORD").write_text("".join(f"{path.relative_to(folder)},,\n" for path in folder.rglob("*.py")))
    return project


def test_readme_plugin(tmp_path):
    project = _install("README.md", tmp_path)
    script = (
        "import mfbench\nfrom mfbench.host.registry import load_registry\n"
        "entry = load_registry(strict=True).selector('gap')\n"
        "iris = mfbench.load_dataset('iris')\n"
        "gap = mfbench.make('gap').fit(iris.X, iris.y)\n"
        "print(entry.plugin.distribution, gap.feature_importances_.shape)\n"
    )
    assert _run(["-c", script], tmp_path, PYTHONPATH=str(tmp_path)).strip() == f"{project['name']} (4,)"


@pytest.mark.slow(reason="installs a package and runs its tests")
def test_plugin_guide_package(tmp_path):
    _install("plugins.md", tmp_path)
    command = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"]
    assert "passed" in _run(command, tmp_path, PYTHONPATH=str(tmp_path))


# -- commands and links ------------------------------------------------------------------------------------------------


def test_readme_commands():
    commands = [body for _, body in code_blocks("README.md", "sh", named=False)]
    assert len(commands) == 2
    for command in commands:
        assert command.count("\n") == 1, "one line to copy"
        assert command.startswith("python3 -m venv .venv && .venv/bin/pip install ")
    run_it, test_it = commands
    assert run_it.endswith("mfbench suite uci\n")
    assert test_it.endswith("-m pytest -n logical --dist loadgroup\n")
    extras = tomllib.loads(text_of("pyproject.toml"))["project"]["optional-dependencies"]
    assert {name for names in re.findall(r"\.\[([\w,]+)\]", test_it) for name in names.split(",")} <= set(extras)


def test_readme_numbers():
    text = " ".join(text_of("README.md").split())
    built_in = generated.built_in_registry()
    counts = [len(built_in.selectors), len(built_in.classifiers), len(built_in.datasets)]
    assert "{} selectors, {} classifiers and {} datasets".format(*counts) in text
    uci = load_suite("uci", built_in)
    n_datasets = sum(len(group.use) for group in uci.suite.datasets)
    folds = uci.protocol.folds * uci.protocol.repeats
    assert f"{n_datasets} datasets, {len(uci.suite.methods)} methods, {folds} folds each" in text


@pytest.mark.skipif(os.name == "nt", reason="a bash script")
def test_ci_takes_the_test_command_from_the_readme():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    shown = subprocess.run(["bash", script, "--show"], capture_output=True, text=True, check=True).stdout
    assert shown == code_blocks("README.md", "sh", named=False)[-1][1]


def _anchors(page):
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
    prose = BLOCK.sub("", page.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", prose):
        if target.startswith("https://"):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file).resolve() if file else page
        assert path.is_file(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in _anchors(path), f"{page.name} links to {target}"

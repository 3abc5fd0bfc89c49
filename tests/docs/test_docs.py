"""The documentation is true: it names the real objects, and its links resolve."""

import inspect
import json
import os
import re
import subprocess
import tomllib

import listings
import pages
import pytest
from documents import BLOCK, DOCS, PAGES, ROOT, code_blocks, first_table, listed, rows, section, text_of
from toy_protocols import SPECS

import mfbench
import mfbench_papers.paper
from mfbench.data import cache, mirror, reference
from mfbench.data.prepare import Columns
from mfbench.errors import ExitCode
from mfbench.host import discovery, features, hookspecs, registry
from mfbench.model.evaluation import CURVE_METRICS, MetricSpec
from mfbench.model.specs import ClassifierSpec, Dataset, DatasetSpec, SelectorSpec
from mfbench.model.trials import Predictions, Status
from mfbench.report.contents import report_of
from mfbench.report.render.files import schema as json_schema
from mfbench.report.render.files import to_csv, to_json
from mfbench.run.store import file as store_file
from mfbench.run.store import store
from mfbench.suite import published, schema
from mfbench.suite.loading import load_suite
from mfbench_check.catalog import all_checks
from mfbench_gate.history import storage as history_file
from mfbench_gate.history import trends

CODE = (".py", ".toml", ".yml", ".jinja")

# -- every name is documented, and every documented name exists --------------------------------------------------------


def test_hooks():
    real = {name for name in vars(hookspecs) if name.startswith("mfbench_")}
    assert set(re.findall(r"^### `(\w+)`$", section("plugins.md", "## Hooks"), re.MULTILINE)) == real


def test_spec_fields():
    real = {name for cls in (SelectorSpec, ClassifierSpec) for name in cls.__dataclass_fields__}
    assert listed(section("plugins.md", "### `SelectorSpec` and `ClassifierSpec`"), "field") == real


def test_fields_that_the_guide_names_exist():
    for cls, text in (
        (
            DatasetSpec,
            section(
                "plugins.md", "### `ExecutorSpec`, `SplitterSpec`, `ProtocolSpec`, `DatasetSpec` and `Dataset`"
            ).split("\n- ")[2],
        ),
        (
            Dataset,
            section(
                "plugins.md", "### `ExecutorSpec`, `SplitterSpec`, `ProtocolSpec`, `DatasetSpec` and `Dataset`"
            ).split("\n- ")[3],
        ),
    ):
        assert set(re.findall(r"`([a-z]\w*)`", text)) <= set(cls.__dataclass_fields__)
    fields = {*MetricSpec.__dataclass_fields__, *Predictions.__dataclass_fields__}
    assert set(re.findall(r"`([a-z]\w*)`", section("plugins.md", "### `MetricSpec` and `Predictions`"))) <= fields


def test_environment_variables():
    real = {value for name, value in vars(registry).items() if name.endswith("_VARIABLE")}
    documented = section("plugins.md", "## Trying a plugin without installing it")
    assert real == listed(documented, "variable")


def test_sources_of_data():
    text = text_of("data.md")
    for variable in (cache.DATA_VARIABLE, cache.CACHE_VARIABLE):
        assert f"`{variable}`" in text
    references = "\n".join(listed(text.split("## ")[0], "reference"))
    for prefix in reference.PREFIXES:
        assert f"`{prefix}" in references or references.startswith(prefix) or f"\n{prefix}" in references


def test_keys_of_a_mirror():
    documented = rows(section("data.md", "## Mirrors"))
    documented.pop("key")
    assert {name: row[1] for name, row in documented.items()} == {
        name: "yes" if field.is_required() else "no" for name, field in mirror._Card.model_fields.items()
    }


TABLES = {
    "### `[suite]`": schema.Header,
    "### `[protocol]`": schema.ProtocolSettings,
    "### `[[datasets]]`": schema.Datasets,
    "### `[[methods]]`": schema.Method,
    "### `[report]`": schema.ReportSettings,
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


def test_keys_of_profiles():
    text = " ".join(section("suites.md", "### `[profiles.NAME]`").split())
    sentence = text.partition("It may set ")[2].partition(". A key")[0]
    assert set(re.findall(r"`(\w+)`", sentence)) == set(schema.Profile.model_fields)


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
    for kind, about in SPECS.items():
        expected = [
            ", ".join(f"{key} {value}" for key, value in changes.items()) for changes in about.profiles.values()
        ]
        assert documented[kind][1:] == expected, kind


@pytest.mark.parametrize("kind", SPECS)
def test_every_kind_of_protocol_has_a_section_with_its_keys(kind):
    documented = rows(first_table(section("suites.md", f"### `{kind}`")))
    documented.pop("key")
    about = SPECS[kind]
    assert set(documented) == set(about.keys)
    for key, row in documented.items():
        forms = [about.values(form)[key] for form in (("sound", "published") if about.published else ("sound",))]
        assert row[1 : 1 + len(forms)] == ["1/3" if value == 1 / 3 else _plain(value) for value in forms]
    kinds = rows(first_table(section("suites.md", "## Protocols")))
    assert set(re.findall(r"`([\w]+)`", kinds[f"[`{kind}`](#{kind})"][-1])) == set(about.keys)


def _plain(value):
    if value is None:
        return "–"
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else f"`{json.dumps(value)}`"


def test_top_rules():
    documented = "\n".join(listed(section("suites.md", "## `top`: how many features are kept"), "value"))
    for rule in ("positive", "all", "all-weighted"):
        assert f'"{rule}"' in documented


def test_statuses():
    assert listed(section("results.md", "## Statuses"), "status") == {str(status) for status in Status}


def test_metrics():
    documented = rows(section("results.md", "## Columns of a trial"))
    own = [name for name in listings.built_in_registry().listed("metric") if ":" not in name]
    for name in [*own, *CURVE_METRICS, "sklearn:NAME"]:
        assert name in documented
        assert f"`{name}`" in section("suites.md", "### Metrics")


def test_exit_codes():
    documented = rows(section("results.md", "## Exit codes"))
    assert {(code, row[1].strip("`")) for code, row in documented.items() if code != "code"} == {
        (str(int(code)), code.name) for code in ExitCode
    }


def test_store_tables():
    assert listed(section("architecture.md", "## The store"), "table") == {*store_file.SCHEMA}


def test_history_tables():
    real = {re.search(r"CREATE TABLE (\w+)", statement)[1] for statement in history_file.SCHEMA}
    documented = section("gate.md", "### The file")
    assert listed(documented, "table") == real
    assert f"{history_file.APPLICATION_ID:#x}" in documented


def test_change_points():
    documented = section("gate.md", "### How changes are found")
    assert f"c = {trends.FACTOR:g}\n" in documented
    assert f"95 % interval at c = {trends.FACTOR:g}" in documented


def test_rooms_are_those_of_the_import_contract_in_its_order():
    contracts = tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    table = first_table(section("architecture.md", "## The rooms of `mfbench/`"))
    names = [name.removesuffix("/").removesuffix(".py") for name in rows(table)][1:]
    rank = {
        name.removeprefix("mfbench."): -number for number, layer in enumerate(layers) for name in layer.split(" | ")
    }
    assert names[-1] == "testing"  # the address of what a package above offers
    assert [rank[name] for name in names[:-1]] == sorted(rank.values())


def test_rooms():
    documented = listed(first_table(section("architecture.md", "## The rooms of `mfbench/`")), "room")
    package = ROOT / "mfbench"
    folders = {f"{path.parent.name}/" for path in package.glob("*/__init__.py")}
    modules = {path.name for path in package.glob("*.py") if not path.name.startswith("__")}
    assert {name for name in documented if not name.startswith("mfbench_")} == folders | modules


def test_doors():
    documented = listed(section("architecture.md", "## The doors"), "group")
    host = {discovery.GROUP, discovery.ALWAYS, features.COMMANDS, features.NAMES, features.HOOKS}
    assert documented == host | {mfbench_papers.paper.GROUP}


def test_public_names():
    public = set(re.findall(r"^\.\. auto\w+:: (\w+)$", pages.python_page(), re.MULTILINE))
    assert public == set(dir(mfbench)) - {"__version__"}


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
    """The table has the members that are used most; all of them have a docstring, which the site shows."""
    documented = rows(section("results.md", "## From Python"))
    real = {name for name in {*dir(run), "path", "meta", "left_out", "unavailable"} if not name.startswith("_")}
    cells = " ".join(row[0] for row in list(documented.values())[1:])
    assert set(re.findall(r"`(\w+)(?:\(.*?\))?`", cells)) <= real
    undocumented = {name for name in real if not (inspect.getdoc(getattr(mfbench.Run, name, None)) or "")}
    assert all(re.search(rf"^ *{name} : ", mfbench.Run.__doc__, re.MULTILINE) for name in undocumented)
    frames = {"scores": run.scores, "summary()": run.summary(), "wins_ties_losses()": run.wins_ties_losses()}
    frames["predictions(dataset, method)"] = run.predictions("iris", "V")
    for name, frame in frames.items():
        columns = set(re.findall(r"`(\w+)`", documented[name][1]))
        assert columns | {"dataset", "method"} == set(frame.columns) | {"dataset", "method"}, name


def test_json_keys(run):
    """The schema that the document names describes every key."""
    report = json.loads(to_json(report_of(run, registry.load_registry(only=[]), everything=True)))
    assert set(json_schema()["$defs"]["run"]["properties"]) == set(report)
    documented = rows(section("results.md", "### JSON"))
    assert {row[0].strip("`") for row in documented.values()} - {"name"} >= {report["schema"]["name"]}


def test_export_formats():
    report = next(command for words, command in listings.commands() if words == "mfbench report")
    formats = {option for param in report.params if param.name.startswith("as_") for option in param.opts}
    assert formats == set(re.findall(r"^- `(--\w+)`", section("results.md", "## Exports"), re.MULTILINE))


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
    from mfbench.suite.methods import PlannedDataset, ResolvedMethod, Step
    from mfbench.suite.plan import key_ingredients

    built_in = listings.built_in_registry()
    data = mfbench.load_dataset("iris", registry=built_in)
    assert Columns.of(data).encoding == "one-hot"
    method = ResolvedMethod("K", None, Step(registry.parse("knn"), "classifier"), "all")
    real = key_ingredients(PlannedDataset("iris", data, "0"), method, schema.ProtocolSettings(), built_in)
    documented = listed(section("architecture.md", "## Trial keys"), "ingredient")
    assert {name.strip("` ") for row in documented for name in row.split(",")} - {"coordinates"} == set(real)


# -- references that the site makes from the code ----------------------------------------------------------------------


@pytest.fixture(scope="module")
def made():
    return pages.made_pages() | pages.additions()


def test_every_command_and_option_is_documented(made):
    page = made["docs/cli.md"]
    for words, command in listings.commands():
        _, found, rest = page.partition(f"\n## {words}\n")
        assert found and command.help, words
        for param in command.params:
            assert param.help, f"{words} --help: {param.name}"
            for option in [option for option in param.opts if option.startswith("-")]:
                assert f"`{option}" in rest.partition("\n## ")[0], f"{words} {option}"


def test_every_check_is_documented(made):
    documented = re.findall(r"^### `([\w-]+)`\n\n\S", made["docs/checks.md"], re.MULTILINE)
    assert sorted(documented) == sorted(check.id for check in all_checks())


def test_every_method_and_dataset_is_documented(made):
    built_in = listings.built_in_registry()
    selectors, classifiers = re.findall(r"^## \w+\n\n(.*?)(?=^## |^```|\Z)", made["docs/methods.md"], re.M | re.S)[:2]
    (metrics,) = re.findall(r"^## Metrics\n\n(.*?)(?=^## |^```|\Z)", made["docs/methods.md"], re.M | re.S)
    assert set(rows(metrics)) - {"name"} == set(built_in.listed("metric"))
    for table, entries in ((selectors, built_in.listed("selector")), (classifiers, built_in.listed("classifier"))):
        assert re.findall(r"^\| .*?\[`([\w-]+)`\]\(", table, re.MULTILINE) == sorted(entries)
    datasets = rows(made["docs/datasets.md"])
    assert set(datasets) - {"name"} == set(built_in.listed("dataset"))
    for name, entry in built_in.listed("dataset").items():
        row, spec = " ".join(datasets[name]), entry.spec
        labels = [f"`{collection}`: {label}" for collection, label in spec.collections.items()]
        for text in (spec.summary, spec.note, spec.license, *labels):
            assert " ".join(text.split()).replace("|", "\\|") in row, name


def test_every_column_of_a_published_table_is_documented(made):
    suites = set(re.findall(r"^## `([\w-]+)`$", made["docs/columns.md"], re.MULTILINE))
    texts = {path.stem: path.read_text(encoding="utf-8") for path in (ROOT / "suites").glob("*.toml")}
    assert suites == {name for name, text in texts.items() if "[profiles.as-published]" in text}


def test_every_bundle_is_listed(made):
    bundles = {str(path.relative_to(ROOT)) for path in ROOT.glob("reports/*/claim.zip")}
    assert {name for name in rows(made["reports/README.md"]) if name.endswith(".zip")} == bundles != set()


def test_commands_in_documents_exist():
    known = {words for words, _ in listings.commands()}
    groups = {words.rpartition(" ")[0] for words in known}
    for page in PAGES:
        for words in re.findall(r"`mfbench ((?:[a-z]+(?:-[a-z]+)* ?)+)", page.read_text(encoding="utf-8")):
            first, *rest = words.split()
            names = known if rest else known | groups
            assert " ".join(["mfbench", first, *rest[:1]]) in names or f"mfbench {first}" in known, f"{page}: {words}"


def test_modules_in_documents_exist():
    modules = "\n".join(
        f"/{path.relative_to(ROOT)}"
        for name in ("mfbench", "plugins", "docs", "tests")
        for path in (ROOT / name).rglob("*.py")
    )
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        shown = {file for file, _, _ in BLOCK.findall(text)}
        for name in set(re.findall(r"`((?:[\w-]+/)+\w+\.py)`", BLOCK.sub("", text))) - shown:
            assert f"/{name}\n" in f"{modules}\n", f"{page}: {name}"


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
    built_in = listings.built_in_registry()
    counts = [len(built_in.listed("selector")), len(built_in.listed("classifier")), len(built_in.listed("dataset"))]
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


def test_documents_that_the_code_names_exist():
    """Links of messages, docstrings, suites and workflows."""
    folders = ("mfbench", "plugins", "suites", ".ci", ".github", "tests")
    paths = [
        path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in CODE or not path.suffix
    ]
    for path in [*paths, ROOT / "action.yml", ROOT / "pyproject.toml"]:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        for name, anchor in re.findall(r"\bdocs/([\w/-]+\.md)(?:#([\w-]+))?", text):
            if path.name != "test_lint.py" and f'"docs/{name}"' not in text:
                assert (DOCS / name).is_file(), f"{path} names docs/{name}"
                assert not anchor or anchor in _anchors(DOCS / name), f"{path} names docs/{name}#{anchor}"
